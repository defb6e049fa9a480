//! Flushes and durable writes on the wire: when a COMMIT is sent, what ends a flush, and what does not.

use stormeter_disk::{Completion, DeviceError, Kind, StorageEvent};
use stormeter_nfs::{NfsError, NfsStatus, Stability};
use stormeter_wire::{Session, SessionState};

use crate::ends::{Ends, OK, call};

/// Arguments of a COMMIT of a whole file.
const WHOLE: &str = "0000000000000000 00000000";
const FLUSHED: Completion = Completion { slot: 5, result: 0 };

/// A COMMIT on the wire.
fn commit(xid: u32) -> Vec<u8> {
    call(0x8000_0040, xid, 21, WHOLE)
}

/// A WRITE of `data` on the wire.
fn write(xid: u32, offset: u64, stable: u32, data: &str) -> Vec<u8> {
    let arguments = format!("{offset:016x} 00000004 {stable:08x} 00000004 \"{data}\"");
    call(0x8000_004c, xid, 7, &arguments)
}

impl Ends {
    fn written(&mut self, xid: u32, stable: u32, life: &str) {
        let results = format!("00000000 00000000 00000004 {stable:08x} \"{life}\"");
        self.receive(&format!("80000034 {xid:08x} {OK} {results}")).unwrap();
    }

    fn committed(&mut self, xid: u32, life: &str) {
        self.receive(&format!("8000002c {xid:08x} {OK} 00000000 00000000 \"{life}\"")).unwrap();
    }

    fn refused(&mut self, xid: u32, status: u32) -> Result<usize, NfsError> {
        let head = "00000001 00000000 00000000 00000000 00000000";
        self.receive(&format!("80000024 {xid:08x} {head} {status:08x} 00000000 00000000"))
    }

    /// Writes four bytes, which the server takes.
    fn write(&mut self, xid: u32, offset: u64, data: &str, life: &str) {
        self.memory.buffers[1][..4].copy_from_slice(data.as_bytes());
        self.submit(Kind::Write, offset, 4);
        assert_eq!(self.sent(), write(xid, offset, 0, data));
        self.written(xid, 0, life);
        assert_eq!(self.outcome(), Ok(4));
    }

    fn flush(&mut self) {
        self.submit(Kind::Flush, 0, 0);
    }

    fn break_and_connect(&mut self) {
        self.session.disconnected(1);
        self.out.clear();
        self.session.connected(2, &self.memory, &mut self.out);
    }

    fn restarts(&mut self) -> usize {
        let restarted =
            |event: &StorageEvent| matches!(event, StorageEvent::ServerRestarted { .. });
        self.session.incidents().iter().filter(|one| restarted(&one.event)).count()
    }
}

/// An unstable session on which "data" was written at 0 by call 7.
fn one_written() -> Ends {
    let mut ends = Ends::new(Stability::Unstable);
    ends.write(7, 0, "data", "life-one");
    ends
}

#[test]
fn with_nothing_to_commit_a_flush_makes_no_call() {
    for stability in [Stability::FileSync, Stability::DataSync, Stability::Unstable] {
        let mut ends = Ends::new(stability);
        // The server makes stable at once what it may keep in memory.
        ends.submit(Kind::Write, 0, 4);
        ends.written(7, 2, "life-one");
        assert_eq!(ends.outcome(), Ok(4));
        ends.sent();
        ends.flush();
        assert_eq!((ends.session.outstanding(), ends.session.deadline_ns()), (1, Some(0)));
        ends.tick(0).unwrap();
        assert_eq!((ends.outcome(), ends.session.outstanding()), (Ok(0), 0));
        assert!(ends.out.is_empty());
    }
}

#[test]
fn a_flush_ends_when_its_commit_is_answered() {
    let mut ends = one_written();
    ends.flush();
    assert_eq!((ends.sent(), ends.session.outstanding()), (commit(8), 1));
    ends.tick(0).unwrap();
    assert!(ends.done.is_empty());
    ends.committed(8, "life-one");
    assert_eq!((ends.outcome(), ends.session.uncommitted_bytes()), (Ok(0), 0));
    assert_eq!(ends.session.incidents(), []);
}

#[test]
fn outstanding_writes_are_not_covered() {
    let mut ends = one_written();
    ends.submit(Kind::Write, 8, 4);
    ends.sent();
    ends.flush();
    assert_eq!(ends.sent(), commit(9));
    ends.written(8, 0, "life-one");
    assert_eq!(ends.outcome(), Ok(4));
    ends.committed(9, "life-one");
    assert_eq!((ends.outcome(), ends.session.uncommitted_bytes()), (Ok(0), 4));
    ends.flush();
    assert_eq!(ends.sent(), commit(10));
}

#[test]
fn flushes_share_a_commit_that_covers_them_all() {
    let mut ends = one_written();
    ends.flush();
    ends.flush();
    assert_eq!(ends.sent(), commit(8));
    ends.write(9, 8, "more", "life-one");
    ends.flush();
    assert_eq!(ends.sent(), commit(10), "the first does not cover what came after it");
    ends.committed(8, "life-one");
    assert_eq!(ends.done, [FLUSHED, FLUSHED]);
    ends.committed(10, "life-one");
    assert_eq!(ends.done, [FLUSHED; 3]);
}

#[test]
fn after_a_restart_a_flush_ends_when_the_data_is_written_again() {
    let mut ends = one_written();
    ends.flush();
    ends.sent();
    ends.committed(8, "life-two");
    assert!(ends.done.is_empty());
    // Another flush needs no other call: the data is on its way.
    ends.flush();
    assert_eq!(ends.sent(), write(9, 0, 2, "data"));
    ends.written(9, 2, "life-two");
    assert_eq!(ends.done, [FLUSHED, FLUSHED]);
    assert_eq!((ends.restarts(), ends.session.uncommitted_bytes()), (1, 0));
}

#[test]
fn a_refused_commit_fails_its_flush_and_what_it_covered_is_written_again() {
    for (status, errno, words) in [(5, 5, "NFS3ERR_IO"), (28, 28, "NOSPC")] {
        let mut ends = one_written();
        ends.flush();
        ends.sent();
        ends.refused(8, status).unwrap();
        assert_eq!(ends.outcome(), Err(DeviceError(errno)));
        let incidents = ends.session.incidents();
        let StorageEvent::Refused { io, said } = &incidents[0].event else {
            panic!("{incidents:?}")
        };
        assert!(said.as_str().contains(words) && io.kind == Kind::Flush, "{incidents:?}");
        assert_eq!(ends.session.uncommitted_bytes(), 4);
        assert_eq!(ends.session.state(), SessionState::Ready);
        // The same instance may have dropped what it could not write.
        ends.flush();
        assert_eq!(ends.sent(), commit(9));
        ends.committed(9, "life-one");
        assert!(ends.done.is_empty());
        assert_eq!(ends.sent(), write(10, 0, 2, "data"));
        ends.written(10, 2, "life-one");
        assert_eq!((ends.outcome(), ends.restarts()), (Ok(0), 0));
    }
}

#[test]
fn a_refused_commit_of_which_no_flush_would_tell_ends_the_connection() {
    let mut ends = one_written();
    ends.session.close(0, &ends.memory, &mut ends.out);
    assert_eq!(ends.sent(), commit(8));
    assert_eq!(ends.refused(8, 5), Err(NfsError::Status(NfsStatus::Io)));

    // On a new connection the log is verified for more than the flush.
    let mut ends = one_written();
    ends.flush();
    ends.break_and_connect();
    assert_eq!(ends.sent(), commit(9));
    assert_eq!(ends.refused(9, 5), Err(NfsError::Status(NfsStatus::Io)));
    assert_eq!(ends.outcome(), Err(DeviceError::IO));
}

#[test]
fn a_flush_survives_its_connection() {
    let mut ends = one_written();
    ends.flush();
    ends.break_and_connect();
    assert_eq!(ends.sent(), commit(9));
    ends.committed(9, "life-one");
    assert_eq!((ends.outcome(), ends.session.state()), (Ok(0), SessionState::Ready));
}

#[test]
fn a_flush_waits_while_the_server_asks_to_wait() {
    let mut ends = one_written();
    ends.flush();
    ends.sent();
    ends.refused(8, 10_008).unwrap();
    ends.flush();
    assert!(ends.done.is_empty() && ends.out.is_empty());
    ends.tick(100_000_000).unwrap();
    assert_eq!(ends.sent(), commit(9));
    ends.committed(9, "life-one");
    assert_eq!(ends.done, [FLUSHED, FLUSHED]);
}

#[test]
fn once_data_was_given_up_no_flush_succeeds() {
    let mut ends = one_written();
    ends.flush();
    ends.session.disconnected(1);
    ends.out.clear();
    let mut given_up = Vec::new();
    ends.session.surrender(&mut given_up);
    assert_eq!((given_up[0].kind, given_up.len()), (Kind::Flush, 1));
    ends.session.connected(2, &ends.memory, &mut ends.out);
    ends.flush();
    ends.tick(2).unwrap();
    assert_eq!(ends.outcome(), Err(DeviceError::IO));
}

#[test]
fn a_durable_write_is_file_sync_on_every_session() {
    for stability in [Stability::FileSync, Stability::DataSync, Stability::Unstable] {
        let mut ends = Ends::new(stability);
        ends.memory.buffers[1][..4].copy_from_slice(b"data");
        ends.submit(Kind::DurableWrite, 8, 4);
        assert_eq!(ends.sent(), write(7, 8, 2, "data"));
        ends.written(7, 2, "life-one");
        assert_eq!((ends.outcome(), ends.session.uncommitted_bytes()), (Ok(4), 0));
        assert_eq!(ends.session.commits_at_once(), None);
        for (xid, answered) in [(8, 0), (9, 1)] {
            ends.submit(Kind::DurableWrite, 8, 4);
            ends.written(xid, answered, "life-one");
            assert_eq!(ends.outcome(), Err(DeviceError::IO));
        }
        let incidents = ends.session.incidents();
        let StorageEvent::LessStable { asked, .. } = &incidents[0].event else {
            panic!("{incidents:?}")
        };
        assert_eq!(asked.as_str(), "FileSync");
    }
}

#[test]
fn a_session_knows_whether_the_server_commits_at_once() {
    let mut ends = Ends::new(Stability::Unstable);
    for (xid, answered, known) in [(7, 2, true), (8, 1, true), (9, 0, false), (10, 2, false)] {
        ends.submit(Kind::Write, 8, 4);
        ends.written(xid, answered, "life-one");
        assert_eq!(ends.outcome(), Ok(4));
        assert_eq!(ends.session.commits_at_once(), Some(known));
    }
}

#[test]
fn older_data_never_replaces_newer_even_for_a_moment() {
    // The newer data is stable, or taken by the new instance.
    for (kind, stable) in [(Kind::Write, 0), (Kind::DurableWrite, 2)] {
        let mut ends = one_written();
        ends.memory.buffers[1][..2].copy_from_slice(b"mo");
        ends.submit(kind, 2, 2);
        ends.sent();
        let results = format!("00000000 00000000 00000002 {stable:08x} \"life-two\"");
        ends.receive(&format!("80000034 00000008 {OK} {results}")).unwrap();
        assert_eq!(ends.outcome(), Ok(2));
        assert_eq!(ends.sent(), write(9, 0, 2, "damo"));
        ends.flush();
        // After a break the answer to the first COMMIT tells it again.
        ends.break_and_connect();
        assert_eq!(ends.sent(), commit(10));
        ends.committed(10, "life-two");
        assert_eq!(ends.sent(), write(11, 0, 2, "damo"));
        ends.written(11, 2, "life-two");
        if kind == Kind::Write {
            let arguments = "0000000000000002 00000002 00000002 00000002 \"mo\" 0000";
            assert_eq!(ends.sent(), call(0x8000_004c, 12, 7, arguments));
            ends.receive(&format!(
                "80000034 0000000c {OK} 00000000 00000000 00000002 00000002 \"life-two\""
            ))
            .unwrap();
        }
        assert_eq!((ends.outcome(), ends.session.uncommitted_bytes()), (Ok(0), 0));
        assert!(ends.out.is_empty());
    }
}

#[test]
fn flushes_do_not_keep_a_full_log_from_being_committed() {
    let mut ends = Ends::with(|options| {
        options.stability = Stability::Unstable;
        options.write_max_bytes = 4;
        options.log_bytes = 16;
    });
    ends.write(7, 0, "data", "life-one");
    ends.flush();
    assert_eq!(ends.sent(), commit(8));
    ends.submit(Kind::Write, 8, 4);
    ends.sent();
    ends.written(9, 0, "life-one");
    assert_eq!(ends.sent(), commit(10));
}

#[test]
fn one_restart_is_told_once_and_brings_no_more_commits() {
    let mut ends = one_written();
    ends.flush();
    assert_eq!(ends.sent(), commit(8));
    ends.write(9, 8, "more", "life-one");
    ends.flush();
    assert_eq!(ends.sent(), commit(10));
    ends.write(11, 16, "last", "life-one");
    ends.committed(8, "life-two");
    ends.flush();
    assert!(ends.out.is_empty(), "the last COMMIT has to be answered first");
    ends.committed(10, "life-two");
    let again = [write(12, 0, 2, "data"), write(13, 8, 2, "more"), write(14, 16, 2, "last")];
    assert_eq!(ends.sent(), again.concat());
    for xid in 12..15 {
        ends.written(xid, 2, "life-two");
    }
    assert_eq!((ends.done.len(), ends.restarts()), (3, 1));
    ends.done.clear();
    // A write tells of the next one; COMMITs under way then tell nothing new.
    ends.write(15, 0, "data", "life-two");
    ends.flush();
    assert_eq!(ends.sent(), commit(16));
    ends.submit(Kind::Write, 8, 4);
    ends.sent();
    ends.written(17, 0, "life-thr");
    assert_eq!(ends.outcome(), Ok(4));
    ends.committed(16, "life-thr");
    ends.sent();
    for xid in 18..20 {
        ends.written(xid, 2, "life-thr");
    }
    assert_eq!((ends.outcome(), ends.restarts()), (Ok(0), 1));
    assert_eq!(ends.session.state(), SessionState::Ready);
}
