//! Sessions against hand-written streams in the style of common servers: Linux (knfsd) sends
//! attributes with every reply and one fragment; Ganesha may leave attributes out; others split
//! large replies into fragments.

use stormeter_disk::{DeviceError, Incident, Kind, Operation, StorageEvent};
use stormeter_nfs::{NfsError, Stability};
use stormeter_wire::{Session, SessionState};

use crate::ends::{Ends, OK, call};
use crate::hex::{ATTRIBUTES, hex};

const BEFORE: &str = "00000001 0000000000002000 65000002 00000002 65000003 00000003 ";

#[test]
fn linux_reads_and_writes() {
    let mut ends = Ends::new(Stability::FileSync);
    ends.submit(Kind::Read, 0x1_2345_6000, 6);
    assert_eq!(ends.sent(), call(0x8000_0040, 7, 6, "0000000123456000 00000006"));
    let reply = format!(
        "80000088 00000007 {OK} 00000001 {ATTRIBUTES} 00000006 00000000 00000006 \"stored\" 0000"
    );
    assert_eq!(ends.receive(&reply), Ok(140));
    assert_eq!(ends.outcome(), Ok(6));
    assert_eq!(&ends.memory.buffers[1][..8], b"stored\0\0");

    ends.memory.buffers[1][..6].copy_from_slice(b"change");
    ends.submit(Kind::Write, 4096, 6);
    let arguments = "0000000000001000 00000006 00000002 00000006 \"change\" 0000";
    assert_eq!(ends.sent(), call(0x8000_0050, 8, 7, arguments));
    let reply = format!(
        "800000a0 00000008 {OK} {BEFORE} 00000001 {ATTRIBUTES} 00000006 00000002 \"knfsd-vf\""
    );
    assert_eq!(ends.receive(&reply), Ok(164));
    assert_eq!(ends.outcome(), Ok(6));
    assert_eq!(ends.session.outstanding(), 0);
    assert_eq!(ends.session.incidents(), []);
}

#[test]
fn bare_replies_and_fragments() {
    let mut ends = Ends::new(Stability::FileSync);
    ends.submit(Kind::Read, 0, 6);
    // Split within the XID, within the header and within the payload; an empty fragment at the end.
    let reply = "00000002 0000  00000014 0007 00000001 00000000 00000000 00000000 0000
                 00000015 0000 00000000 00000000 00000006 00000001 000000
                 00000004 06 \"sto\" 00000005 \"red\" 0000 80000000";
    let length = hex(reply).len();
    assert_eq!(ends.receive(reply), Ok(length));
    assert_eq!(ends.outcome(), Ok(6));
    assert_eq!(&ends.memory.buffers[1][..8], b"stored\0\0");
    ends.submit(Kind::Write, 0, 6);
    ends.receive(&format!(
        "80000034 00000008 {OK} 00000000 00000000 00000006 00000002 \"ganesha \""
    ))
    .unwrap();
    assert_eq!(ends.outcome(), Ok(6));
}

#[test]
fn the_end_of_the_file_shortens_a_read() {
    let mut ends = Ends::new(Stability::FileSync);
    ends.submit(Kind::Read, 0, 100);
    ends.receive(&format!("80000030 00000007 {OK} 00000000 00000004 00000000 00000004 \"abcd\""))
        .unwrap();
    assert!(ends.done.is_empty(), "the rest is asked for");
    ends.sent();
    ends.receive(&format!(
        "80000030 00000008 {OK} 00000000 00000002 00000001 00000002 \"ef\" 0000"
    ))
    .unwrap();
    // The padding bytes do not belong to the next reply.
    assert_eq!(ends.outcome(), Ok(6));
    assert_eq!(&ends.memory.buffers[1][..6], b"abcdef");
}

#[test]
fn refusals_become_errors_of_the_operation() {
    for (status, errno, words) in
        [(0x1c, 28, "NOSPC"), (70, 116, "STALE"), (69, 122, "DQUOT"), (30, 30, "ROFS")]
    {
        let mut ends = Ends::new(Stability::FileSync);
        ends.submit(Kind::Write, 8192, 4);
        let head = "00000001 00000000 00000000 00000000 00000000";
        ends.receive(&format!("80000024 00000007 {head} {status:08x} 00000000 00000000")).unwrap();
        assert_eq!(ends.outcome(), Err(DeviceError(errno)));
        let incidents = ends.session.incidents();
        let StorageEvent::Refused { io, said } = &incidents[0].event else {
            panic!("{incidents:?}")
        };
        assert!(said.as_str().contains(words) && io.offset_bytes == 8192, "{incidents:?}");
    }
    let mut ends = Ends::new(Stability::FileSync);
    ends.submit(Kind::Read, 0, 4);
    ends.receive("80000014 00000007 00000001 00000001 00000001 00000005").unwrap();
    assert_eq!(ends.outcome(), Err(DeviceError(13)));
}

#[test]
fn a_server_that_does_not_keep_its_word_is_found_out() {
    for committed in [0, 1] {
        let mut ends = Ends::new(Stability::FileSync);
        ends.submit(Kind::Write, 0, 4);
        ends.receive(&format!(
            "80000034 00000007 {OK} 00000000 00000000 00000004 {committed:08x} \"verifier\""
        ))
        .unwrap();
        assert_eq!(ends.outcome(), Err(DeviceError::IO));
        let incidents = ends.session.incidents();
        assert!(matches!(incidents[0].event, StorageEvent::LessStable { .. }), "{incidents:?}");
    }
}

#[test]
fn numbers_that_cannot_be_end_the_connection() {
    let read = |results: &str| {
        let mut ends = Ends::new(Stability::FileSync);
        ends.submit(Kind::Read, 0, 4);
        let results = hex(results).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mark = 0x8000_0000 | (28 + results.len() as u32 / 2);
        ends.receive(&format!("{mark:08x} 00000007 {OK} {results}")).unwrap_err()
    };
    assert_eq!(
        read("00000000 00000008 00000000 00000008 \"too much\""),
        NfsError::MovedTooMuch { asked_bytes: 4, moved_bytes: 8 }
    );
    assert_eq!(
        read("00000000 00000004 00000000 00000003 \"abc\" 00"),
        NfsError::CountDiffers { count: 4, carried: 3 }
    );
    assert_eq!(
        read("00000000 00000000 00000000 00000000"),
        NfsError::MovedNothing { asked_bytes: 4 }
    );
    assert!(matches!(read("00000000 00000003 00000000 00000003 \"abc\""), NfsError::Xdr(_)));
    assert!(matches!(read("00000000 00000004"), NfsError::Xdr(_)));
    assert!(matches!(read("00000002"), NfsError::Xdr(_)));
    let mut ends = Ends::new(Stability::FileSync);
    ends.submit(Kind::Write, 0, 4);
    let reply = format!("80000034 00000007 {OK} 00000000 00000000 00000005 00000002 \"verifier\"");
    assert_eq!(
        ends.receive(&reply),
        Err(NfsError::MovedTooMuch { asked_bytes: 4, moved_bytes: 5 })
    );
    let mut ends = Ends::new(Stability::FileSync);
    assert!(matches!(ends.receive("ffffffff"), Err(NfsError::Record(_))));
    assert!(matches!(ends.receive("7fffffff"), Err(NfsError::Record(_))));
}

#[test]
fn unexpected_replies_are_passed_over_for_a_while() {
    let mut ends = Ends::new(Stability::FileSync);
    let stray = "80000010 00000006 00000001 00000000 00000000";
    for _ in 0..1000 {
        assert_eq!(ends.receive(stray), Ok(20));
    }
    let unknown = Incident { times: 1000, ..Incident::new(StorageEvent::UnknownReply) };
    assert_eq!(ends.session.incidents(), [unknown]);
    assert_eq!(ends.receive(stray), Err(NfsError::UnknownReplies { count: 1001 }));
}

#[test]
fn silence_and_patience_have_their_times() {
    let second = 1_000_000_000;
    let mut ends = Ends::new(Stability::FileSync);
    assert_eq!(ends.session.deadline_ns(), None);
    ends.submit(Kind::Read, 0, 4);
    assert_eq!(ends.session.deadline_ns(), Some(10 * second));
    assert_eq!(ends.tick(10 * second - 1), Ok(()));
    assert_eq!(ends.tick(10 * second), Err(NfsError::Silent { waited_ns: 10 * second }));

    let mut ends = Ends::new(Stability::FileSync);
    ends.submit(Kind::Read, 0, 4);
    let mut due_ns = 0;
    for (xid, delay_ms) in (7..).zip([100, 200, 400, 800, 1600, 2000, 2000]) {
        assert_eq!(ends.sent(), call(0x8000_0040, xid, 6, "0000000000000000 00000004"));
        let Ends { session, memory, out, done } = &mut ends;
        let head = "00000001 00000000 00000000 00000000 00000000 00002718 00000000";
        let reply = hex(&format!("80000020 {xid:08x} {head}"));
        session.receive(&reply, due_ns, memory, out, done).unwrap();
        due_ns += delay_ms * 1_000_000;
        assert_eq!(ends.session.deadline_ns(), Some(due_ns));
        ends.tick(due_ns - 1).unwrap();
        assert!(ends.out.is_empty());
        ends.tick(due_ns).unwrap();
    }
    let asked = Incident { times: 7, ..Incident::new(StorageEvent::AskedToWait) };
    assert_eq!(ends.session.incidents(), [asked]);
}

#[test]
fn what_was_out_goes_out_again_under_the_same_number() {
    let mut ends = Ends::new(Stability::FileSync);
    assert_eq!(ends.session.state(), SessionState::Ready);
    ends.submit(Kind::Read, 0, 4);
    let first = ends.sent();
    ends.session.disconnected(1);
    assert_eq!(
        (ends.session.state(), ends.session.deadline_ns()),
        (SessionState::Disconnected, None)
    );
    ends.submit(Kind::Read, 8, 4);
    assert!(ends.out.is_empty());
    ends.session.connected(2, &ends.memory, &mut ends.out);
    let mut expected = first;
    expected.extend(call(0x8000_0040, 8, 6, "0000000000000008 00000004"));
    assert_eq!(ends.sent(), expected);
    let resent = Incident::new(StorageEvent::Resent { requests: 1 });
    assert_eq!(ends.session.incidents(), [resent]);
    ends.session.disconnected(3);
    let mut given_up = Vec::new();
    ends.session.surrender(&mut given_up);
    assert_eq!(given_up.iter().map(|one| one.offset_bytes).collect::<Vec<_>>(), [0, 8]);
    assert_eq!(ends.session.outstanding(), 0);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let mut ends = Ends::new(Stability::FileSync);
    ends.submit(Kind::Read, u64::MAX, 4);
    assert_eq!((ends.session.outstanding(), ends.session.deadline_ns()), (1, Some(0)));
    assert!(ends.out.is_empty());
    ends.tick(0).unwrap();
    assert_eq!(ends.outcome(), Err(DeviceError(22)));
    let operation = Operation {
        offset_bytes: 0,
        length_bytes: 1,
        disk: 1,
        slot: 5,
        buffer: 0,
        kind: Kind::Read,
    };
    ends.session.submit(&operation, 0, &ends.memory, &mut ends.out);
    ends.tick(0).unwrap();
    assert_eq!(ends.outcome(), Err(DeviceError(19)));
}

#[test]
fn unstable_data_is_committed_at_the_end() {
    let mut ends = Ends::new(Stability::Unstable);
    ends.memory.buffers[1][..4].copy_from_slice(b"data");
    ends.submit(Kind::Write, 0, 4);
    ends.sent();
    ends.receive(&format!(
        "80000034 00000007 {OK} 00000000 00000000 00000004 00000000 \"life-one\""
    ))
    .unwrap();
    assert_eq!((ends.outcome(), ends.session.uncommitted_bytes()), (Ok(4), 4));
    assert!(ends.out.is_empty());
    ends.session.close(0, &ends.memory, &mut ends.out);
    assert_eq!(ends.session.state(), SessionState::Closing);
    assert_eq!(ends.sent(), call(0x8000_0040, 8, 21, "0000000000000000 00000000"));
    // Another server instance: the data is lost and is written again, stably.
    ends.receive(&format!("8000002c 00000008 {OK} 00000000 00000000 \"life-two\"")).unwrap();
    let arguments = "0000000000000000 00000004 00000002 00000004 \"data\"";
    assert_eq!(ends.sent(), call(0x8000_004c, 9, 7, arguments));
    ends.receive(&format!(
        "80000034 00000009 {OK} 00000000 00000000 00000004 00000002 \"life-two\""
    ))
    .unwrap();
    assert_eq!(ends.session.state(), SessionState::Closed);
}

#[test]
fn a_write_that_tells_of_a_restart_has_the_log_written_again_at_once() {
    let mut ends = Ends::new(Stability::Unstable);
    for (offset, xid, life) in [(0, 7, "life-one"), (8, 8, "life-two")] {
        ends.memory.buffers[1][..4].copy_from_slice(b"data");
        ends.submit(Kind::Write, offset, 4);
        ends.sent();
        let results = format!("00000000 00000000 00000004 00000000 \"{life}\"");
        ends.receive(&format!("80000034 {xid:08x} {OK} {results}")).unwrap();
        assert_eq!(ends.outcome(), Ok(4));
    }
    let again = |xid, offset| {
        let arguments = format!("{offset:016x} 00000004 00000002 00000004 \"data\"");
        call(0x8000_004c, xid, 7, &arguments)
    };
    assert_eq!(ends.sent(), [again(9, 0), again(10, 8)].concat());
    assert_eq!(ends.session.state(), SessionState::Opening);
    let incidents = ends.session.incidents();
    let event = &incidents[0].event;
    assert!(matches!(event, StorageEvent::ServerRestarted { .. }), "{incidents:?}");
}

#[test]
fn an_answer_before_the_question_is_not_believed() {
    let mut ends = Ends::new(Stability::Unstable);
    ends.submit(Kind::Write, 0, 4);
    ends.receive(&format!(
        "80000034 00000007 {OK} 00000000 00000000 00000004 00000000 \"life-one\""
    ))
    .unwrap();
    assert_eq!(ends.outcome(), Ok(4));
    ends.submit(Kind::Write, 8, 4);
    ends.session.disconnected(1);
    ends.out.clear();
    ends.session.connected(2, &ends.memory, &mut ends.out);
    // A COMMIT has been sent, the second write has not.
    assert_eq!(ends.sent(), call(0x8000_0040, 9, 21, "0000000000000000 00000000"));
    ends.receive(&format!(
        "80000034 00000008 {OK} 00000000 00000000 00000004 00000000 \"life-one\""
    ))
    .unwrap();
    assert!(ends.done.is_empty());
    ends.receive(&format!("8000002c 00000009 {OK} 00000000 00000000 \"life-one\"")).unwrap();
    let arguments = "0000000000000008 00000004 00000000 00000004 00000000";
    assert_eq!(ends.sent(), call(0x8000_004c, 8, 7, arguments));
}
