//! Faults on whole messages, with hand-made messages at both ends of a socket.

use std::io::{Read, Write};
use std::net::TcpStream;

use stormeter_peers::{Fault, Framing, nfs_procedure};

use crate::Behind;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn record(body: &[u32]) -> Vec<u8> {
    [words(&[0x8000_0000 | u32::try_from(body.len() * 4).unwrap()]), words(body)].concat()
}

/// A call to an NFS procedure.
fn call(xid: u32, procedure: u32) -> Vec<u8> {
    record(&[xid, 0, 2, 100_003, 3, procedure, 0, 0, 0, 0])
}

/// A reply with a result of three words.
fn reply(xid: u32) -> Vec<u8> {
    record(&[xid, 1, 0, 0, 0, 0, 0, 11, 22])
}

/// A PDU from the target: opcode, flags, tag, StatSN, `MaxCmdSN`, data.
fn unit(code: u8, flags: u8, tag: u32, numbers: (u32, u32), data: &[u8]) -> Vec<u8> {
    let mut unit = vec![0; 48];
    unit[0] = code;
    unit[1] = flags;
    unit[7] = u8::try_from(data.len()).unwrap();
    unit[16..20].copy_from_slice(&tag.to_be_bytes());
    unit[24..28].copy_from_slice(&numbers.0.to_be_bytes());
    unit[32..36].copy_from_slice(&numbers.1.to_be_bytes());
    unit.extend(data);
    unit
}

fn receive(from: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).unwrap();
    bytes
}

/// What the client receives of what the server sends, and how many faults happened.
fn through(
    framing: Framing,
    faults: &[(Fault, u64)],
    calls: &[u8],
    sent: &[u8],
    length: usize,
) -> (Vec<u8>, u64) {
    let behind = Behind::start(framing);
    for (fault, times) in faults {
        behind.proxy.plan_times(*fault, *times).unwrap();
    }
    let (mut client, mut server) = behind.pair();
    client.write_all(calls).unwrap();
    receive(&mut server, calls.len());
    server.write_all(sent).unwrap();
    server.shutdown(std::net::Shutdown::Write).unwrap();
    let got = receive(&mut client, length);
    // Not a byte more.
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
    (got, behind.proxy.fired())
}

fn rpc(fault: Fault, sent: &[u8], length: usize) -> (Vec<u8>, u64) {
    through(Framing::Rpc, &[(fault, 1)], &call(1, 6), sent, length)
}

fn iscsi(fault: Fault, times: u64, sent: &[u8], length: usize) -> (Vec<u8>, u64) {
    through(Framing::Iscsi, &[(fault, times)], &[], sent, length)
}

#[test]
fn a_reply_is_doubled() {
    let sent = [reply(1), reply(2)].concat();
    let got = rpc(Fault::DuplicateReply, &sent, sent.len() + reply(1).len());
    assert_eq!(got, ([reply(1), reply(1), reply(2)].concat(), 1));
    let (data, response) = (unit(0x25, 0, 7, (0, 9), b"abcd"), unit(0x21, 0x80, 7, (1, 9), b""));
    // PDUs other than answers to a command are left alone.
    let ping = unit(0x20, 0x80, 0, (0, 9), b"");
    let sent = [ping.clone(), data.clone(), response.clone()].concat();
    let got = iscsi(Fault::DuplicateReply, 1, &sent, sent.len() + data.len());
    assert_eq!(got, ([ping, data.clone(), data, response].concat(), 1));
}

#[test]
fn two_replies_change_places_and_one_alone_does_not_wait_for_ever() {
    let sent = [reply(1), reply(2), reply(3)].concat();
    let got = rpc(Fault::SwapReplies, &sent, sent.len());
    assert_eq!(got, ([reply(2), reply(1), reply(3)].concat(), 1));
    assert_eq!(rpc(Fault::SwapReplies, &reply(1), reply(1).len()), (reply(1), 0));
    // Without the end of the stream to release it, the time limit does.
    let behind = Behind::start(Framing::Rpc);
    behind.proxy.plan(Fault::SwapReplies).unwrap();
    let (mut client, mut server) = behind.pair();
    server.write_all(&reply(1)).unwrap();
    assert_eq!(receive(&mut client, reply(1).len()), reply(1));
    assert_eq!(behind.proxy.fired(), 0);
}

#[test]
fn a_reply_gets_an_unexpected_number() {
    let (got, fired) = rpc(Fault::ChangeReplyId, &reply(1), reply(1).len());
    assert_eq!(fired, 1);
    assert_ne!(got[4..8], reply(1)[4..8]);
    assert_eq!((&got[..4], &got[8..]), (&reply(1)[..4], &reply(1)[8..]));
    let sent = unit(0x21, 0x80, 7, (1, 9), b"");
    let (got, fired) = iscsi(Fault::ChangeReplyId, 1, &sent, sent.len());
    assert_eq!(fired, 1);
    assert_ne!(got[16..20], sent[16..20]);
    assert_eq!((&got[..16], &got[20..]), (&sent[..16], &sent[20..]));
}

#[test]
fn a_length_becomes_impossible() {
    let (got, fired) = rpc(Fault::ImpossibleLength, &reply(1), reply(1).len());
    assert_eq!((&got[..4], &got[4..], fired), (&[0xff; 4][..], &reply(1)[4..], 1));
    let sent = unit(0x25, 0x81, 7, (1, 9), b"abcd");
    let (got, fired) = iscsi(Fault::ImpossibleLength, 1, &sent, sent.len());
    assert_eq!((&got[5..8], &got[8..], fired), (&[0xff; 3][..], &sent[8..], 1));
}

#[test]
fn only_the_procedure_named_fails_and_only_so_often() {
    let calls = [call(1, 1), call(2, 6), call(3, 6), call(4, 6)].concat();
    let sent = [reply(1), reply(2), reply(3), reply(4)].concat();
    let fault = Fault::NfsStatus { procedure: nfs_procedure::READ, status: 10_008 };
    let failed = |xid| record(&[xid, 1, 0, 0, 0, 0, 10_008, 0]);
    let expected = [reply(1), failed(2), failed(3), reply(4)].concat();
    let got = through(Framing::Rpc, &[(fault, 2)], &calls, &sent, expected.len());
    assert_eq!(got, (expected, 2));
}

#[test]
fn a_status_comes_in_place_of_data_or_of_a_good_response() {
    let sent = [unit(0x25, 0x81, 7, (5, 9), b"abcd"), unit(0x21, 0x80, 8, (6, 9), b"")].concat();
    let (got, fired) = iscsi(Fault::ScsiStatus { status: 0x28 }, 2, &sent, 96);
    assert_eq!(fired, 2);
    for (response, tag) in got.chunks(48).zip([7, 8]) {
        assert_eq!(response[..8], [0x21, 0x80, 0, 0x28, 0, 0, 0, 0]);
        assert_eq!(response[16..20], words(&[tag]));
    }
}

#[test]
fn numbers_of_the_session_go_wrong() {
    let data = unit(0x25, 0x80, 7, (0, 9), b"abcd");
    let response = unit(0x21, 0x80, 7, (5, 9), b"");
    let sent = [data.clone(), response.clone()].concat();
    let (got, fired) = iscsi(Fault::StatSn { add: 2 }, 1, &sent, sent.len());
    // Data without status has no StatSN.
    assert_eq!((&got[..52], fired), (&data[..], 1));
    assert_eq!(got[52 + 24..52 + 28], words(&[7]));
    let r2t = unit(0x31, 0x80, 7, (5, 9), b"");
    let fault = Fault::R2t { offset_bytes: 0x1000, length_bytes: 0x2000 };
    let (got, fired) = iscsi(fault, 1, &r2t, r2t.len());
    assert_eq!((&got[40..48], fired), (&words(&[0x1000, 0x2000])[..], 1));
}

#[test]
fn the_window_stands_still_and_opens_again() {
    let sent: Vec<u8> = (0..4).flat_map(|at| unit(0x21, 0x80, at, (at, 9 + at), b"")).collect();
    let (got, fired) = iscsi(Fault::FreezeMaxCmdSn, 2, &sent, sent.len());
    let windows: Vec<&[u8]> = got.chunks(48).map(|unit| &unit[32..36]).collect();
    assert_eq!(windows, [words(&[9]), words(&[9]), words(&[9]), words(&[12])]);
    assert_eq!(fired, 2);
}

#[test]
fn data_is_corrupted_and_its_digest_is_not_corrected() {
    let mut login = unit(0x23, 0x87, 0, (0, 1), b"DataDigest=CRC32C\0\0\0");
    login[7] = 18;
    let data = [unit(0x25, 0x81, 7, (1, 9), b"abcd"), b"hash".to_vec()].concat();
    let next = unit(0x21, 0x80, 8, (2, 9), b"");
    let sent = [login.clone(), data.clone(), next.clone()].concat();
    let fault = Fault::CorruptData { min_bytes: 4 };
    let (got, fired) = iscsi(fault, 1, &sent, sent.len());
    assert_eq!(fired, 1);
    let at: Vec<usize> = (0..sent.len()).filter(|at| sent[*at] != got[*at]).collect();
    let begin = login.len() + 48;
    assert!(matches!(at[..], [one] if (begin..begin + 4).contains(&one)), "{at:?}");
}
