//! The limits also apply to a peer that knows the key.

use stormeter_probe::{Limits, ProbeError, RefusalReason};

use crate::far::{Far, SHORT};
use crate::peer::{Peer, request};

fn limits() -> Limits {
    Limits { transfer_bytes: 1_000_000, repetitions: 10, ..Limits::default() }
}

fn refused(request: &[u8]) -> (u8, u64, RefusalReason) {
    let far = Far::start(limits(), None);
    let mut peer = Peer::introduced(far.address);
    let (code, value) = peer.ask(request);
    peer.assert_closed();
    match far.ended() {
        Err(ProbeError::Refused(reason)) => (code, value, reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_length_beyond_the_limit_is_refused() {
    for operation in [1, 2, 3] {
        for length in [1_000_001, u64::MAX] {
            let (code, value, reason) = refused(&request(operation, 0, 0, 1, length));
            assert_eq!((code, value), (1, 1_000_000));
            assert_eq!(reason, RefusalReason::TooLong { limit_bytes: 1_000_000 });
        }
    }
}

#[test]
fn more_repetitions_than_the_limit_are_refused() {
    let (code, value, reason) = refused(&request(1, 0, 0, 11, 1));
    assert_eq!((code, value), (2, 10));
    assert_eq!(reason, RefusalReason::TooMany { limit: 10 });
}

#[test]
fn an_unknown_request_is_refused() {
    for bytes in [request(0, 0, 0, 1, 1), request(9, 0, 0, 1, 1), request(2, 7, 0, 1, 1)] {
        assert_eq!(refused(&bytes), (6, 0, RefusalReason::Unknown));
    }
}

#[test]
fn a_block_longer_than_allowed_ends_a_stream() {
    let far = Far::start(limits(), None);
    let mut peer = Peer::introduced(far.address);
    assert_eq!(peer.ask(&request(4, 0, 0, 0, 0)), (0, 0));
    peer.write(&(128_u32 << 10).to_be_bytes());
    peer.write(&vec![0; 128 << 10]);
    assert_eq!(peer.read(8), 131_072_u64.to_be_bytes());
    peer.write(&(131_073_u32).to_be_bytes());
    assert!(matches!(far.ended().unwrap_err(), ProbeError::Protocol { .. }));
    peer.assert_closed();
}

#[test]
fn a_stream_acknowledges_what_it_has_received() {
    let far = Far::start(limits(), None);
    let mut peer = Peer::introduced(far.address);
    peer.ask(&request(4, 0, 0, 0, 0));
    for (length, total) in [(5_u32, 5_u64), (100_000, 100_005), (1, 100_006)] {
        peer.write(&length.to_be_bytes());
        peer.write(&vec![1; length as usize]);
        assert_eq!(peer.read(8), total.to_be_bytes());
    }
    peer.write(&[0; 4]);
    assert_eq!(peer.read(8), u64::MAX.to_be_bytes());
    // And the session continues.
    assert_eq!(peer.ask(&request(1, 0, 0, 1, 3)), (0, 0));
    peer.write(b"abc");
    assert_eq!(peer.read(3).len(), 3);
    drop(peer);
    far.ended().unwrap();
}

#[test]
fn a_message_comes_back_only_when_all_of_it_has_arrived() {
    let far = Far::start(limits(), None);
    let mut peer = Peer::introduced(far.address);
    peer.ask(&request(1, 0, 0, 1, 300_000));
    peer.write(&[0; 299_999]);
    peer.0.set_read_timeout(Some(SHORT)).unwrap();
    let early = std::io::Read::read(&mut peer.0, &mut [0]);
    assert_eq!(early.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    peer.0.set_read_timeout(Some(crate::far::PATIENCE)).unwrap();
    peer.write(&[0]);
    assert_eq!(peer.read(300_000).len(), 300_000);
}

#[test]
fn silence_in_a_payload_and_between_requests_has_an_end() {
    let far = Far::start(Limits { stall: SHORT, ..limits() }, None);
    let mut peer = Peer::introduced(far.address);
    peer.ask(&request(1, 0, 0, 1, 1000));
    peer.write(&[0; 999]);
    let ended = far.ended().unwrap_err();
    assert!(matches!(ended, ProbeError::Silent { during: "receiving a payload", .. }), "{ended}");

    let far = Far::start(Limits { answer: SHORT, ..limits() }, None);
    let _peer = Peer::introduced(far.address);
    let ended = far.ended().unwrap_err();
    assert!(matches!(ended, ProbeError::Silent { during: "waiting for a request", .. }), "{ended}");
}

#[test]
fn a_peer_that_does_not_read_is_not_waited_for() {
    let far = Far::start(Limits { stall: SHORT, transfer_bytes: u64::MAX, ..limits() }, None);
    let mut peer = Peer::introduced(far.address);
    // Far more than both sockets' buffers can hold.
    assert_eq!(peer.ask(&request(3, 0, 0, 1, 1 << 40)), (0, 0));
    peer.read(1);
    peer.write(&[1]);
    let ended = far.ended().unwrap_err();
    assert!(matches!(ended, ProbeError::Silent { during: "sending a payload", .. }), "{ended}");
}

#[test]
fn stopping_ends_a_session_that_waits() {
    let mut far = Far::start(limits(), None);
    let mut peer = Peer::introduced(far.address);
    far.stop();
    assert!(matches!(far.ended().unwrap_err(), ProbeError::Stopped { .. }));
    peer.assert_closed();
}

#[test]
fn something_else_than_a_go_ends_the_session() {
    let far = Far::start(limits(), None);
    let mut peer = Peer::introduced(far.address);
    peer.ask(&request(3, 0, 0, 1, 10));
    assert_eq!(peer.read(1), [1]);
    peer.write(&[9]);
    assert!(matches!(far.ended().unwrap_err(), ProbeError::Protocol { .. }));
}
