//! The life of connections: refusals, all kinds of ends, reuse of places, dropping, falling back.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use super::both;
use super::fixture::LONG_NS;
use super::peer::{connect, listen, next_of, open, send_bytes, span, take, until};
use crate::{
    EngineChoice, EngineError, MAX_PLACES, MIN_RECEIVE_BYTES, Note, SocketError, SocketEvent,
    SocketOptions, SocketPiece, Sockets, Unavailable,
};

both!(
    what_is_out_of_range_is_refused,
    a_refused_connection_is_closed_and_its_place_free,
    a_reset_is_told,
    an_orderly_end_is_told_after_the_last_bytes,
    a_send_to_a_peer_that_has_gone_fails,
    a_place_is_used_again_at_once,
    an_armed_receive_owns_its_buffer,
    a_sending_place_shares_its_buffers_and_takes_no_other_send,
    a_full_inbox_refuses,
    what_lies_in_the_inbox_stays_while_more_is_received,
    the_end_of_a_whole_send_ends_no_wait,
    waiting_ends_with_nothing,
    two_vectors_alternate,
    drop_with_everything_in_flight,
);

/// More than any connection can have in flight.
const FLOOD: [SocketPiece; 512] =
    [SocketPiece::Payload(crate::SocketSpan { buffer: 0, offset: 0, length: 65_536 }); 512];

fn what_is_out_of_range_is_refused(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let server = listen();
    let none = SocketError::Place { place: 2, places: 2 };
    let unconnected = SocketError::NotConnected { place: 1 };
    assert_eq!(sockets.connect(2, server.1), Err(none));
    for (place, refusal) in [(2, none), (1, unconnected)] {
        let mut bytes = b"abc".to_vec();
        let pieces = [SocketPiece::Bytes(3)];
        assert_eq!(sockets.send(place, &mut bytes, pieces.into_iter()), Err(refusal));
        assert_eq!(bytes, b"abc");
        assert_eq!(sockets.receive(place, None), Err(refusal));
        assert!(!sockets.is_sending(place));
        assert!(sockets.received(place).0.is_empty());
        sockets.consume(place, 1);
        sockets.close(place);
    }
    let mut peer = connect(&mut sockets, 0, &server);
    assert_eq!(sockets.connect(0, server.1), Err(SocketError::InUse { place: 0 }));
    let good = SocketPiece::Payload(span(0, 0, 1));
    let outside = |buffer, offset, length| {
        let piece = SocketPiece::Payload(span(buffer, offset, length));
        (vec![SocketPiece::Bytes(3), good, piece], SocketError::Span { buffer, offset, length })
    };
    let cases = [
        (vec![good, SocketPiece::Bytes(2)], SocketError::Pieces { named: 2, given: 3 }),
        (vec![SocketPiece::Bytes(4), good], SocketError::Pieces { named: 4, given: 3 }),
        (
            vec![SocketPiece::Bytes(u32::MAX)],
            SocketError::Pieces { named: u32::MAX.into(), given: 3 },
        ),
        outside(4, 0, 1),
        outside(0, 65_536, 1),
        outside(0, 0, 65_537),
        outside(0, u32::MAX, u32::MAX),
    ];
    for (pieces, refusal) in cases {
        let mut bytes = b"abc".to_vec();
        assert_eq!(sockets.send(0, &mut bytes, pieces.into_iter()), Err(refusal));
        assert_eq!(bytes, b"abc");
    }
    let empty = [SocketPiece::Bytes(0), SocketPiece::Payload(span(0, 5, 0))];
    let nothing = sockets.send(0, &mut Vec::new(), empty.into_iter());
    assert_eq!(nothing, Err(SocketError::Nothing));
    let (buffer, offset, length) = (0, 65_530, 7);
    let refusal = SocketError::Span { buffer, offset, length };
    assert_eq!(sockets.receive(0, Some(span(buffer, offset, length))), Err(refusal));
    // Refusals have no effect: the buffer is free and the connection works.
    assert!(sockets.pool().buffer_mut(0).is_some() && !sockets.is_sending(0));
    assert!(sockets.pool().bytes(span(0, 1, 65_536)).is_none());
    assert!(sockets.pool().bytes_mut(span(u32::MAX, u32::MAX, u32::MAX)).is_none());
    send_bytes(&mut sockets, 0, b"works");
    peer.write_all(b"so").unwrap();
    assert_eq!(take(&mut sockets, 0, 2), b"so");
    let mut got = [0; 5];
    peer.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"works");
}

fn a_refused_connection_is_closed_and_its_place_free(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let (listener, nobody) = listen();
    drop(listener);
    for _ in 0..3 {
        sockets.connect(1, nobody).unwrap();
        let closed = SocketEvent::Closed { place: 1, errno: libc::ECONNREFUSED };
        assert_eq!(next_of(&mut sockets, 1), closed);
    }
    let mut peer = connect(&mut sockets, 1, &listen());
    peer.write_all(b"x").unwrap();
    assert_eq!(take(&mut sockets, 1, 1), b"x");
}

fn a_reset_is_told(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let peer = connect(&mut sockets, 0, &listen());
    sockets.receive(0, None).unwrap();
    send_bytes(&mut sockets, 0, b"never read");
    // Closing with unread bytes resets (RFC 1122, 4.2.2.13).
    assert_eq!(peer.peek(&mut [0; 16]).unwrap(), 10);
    drop(peer);
    let closed = SocketEvent::Closed { place: 0, errno: libc::ECONNRESET };
    assert_eq!(next_of(&mut sockets, 0), closed);
    assert_eq!(sockets.receive(0, None), Err(SocketError::NotConnected { place: 0 }));
}

fn an_orderly_end_is_told_after_the_last_bytes(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let mut peer = connect(&mut sockets, 0, &listen());
    peer.write_all(b"the last").unwrap();
    drop(peer);
    assert_eq!(take(&mut sockets, 0, 4), b"the ");
    until(&mut sockets, &mut Vec::new(), |sockets, out| {
        let closed = out.contains(&SocketEvent::Closed { place: 0, errno: 0 });
        if !closed {
            sockets.receive(0, None).unwrap();
        }
        closed
    });
    // Received data is not lost with the connection, but with the next one.
    assert_eq!(sockets.received(0).0, b"last");
    let _peer = connect(&mut sockets, 0, &listen());
    assert!(sockets.received(0).0.is_empty());
}

fn a_send_to_a_peer_that_has_gone_fails(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let peer = connect(&mut sockets, 0, &listen());
    drop(peer);
    // The first ones are accepted before the reset arrives.
    let mut out = Vec::new();
    for _ in 0..10_000 {
        if out.iter().any(|event| matches!(event, SocketEvent::Closed { .. })) {
            break;
        }
        if !sockets.is_sending(0) {
            send_bytes(&mut sockets, 0, b"anybody there?");
        }
        sockets.wait(Some(1_000_000), &mut out).unwrap();
    }
    let Some(SocketEvent::Closed { errno, .. }) = out.last() else { panic!("{out:?}") };
    assert!([libc::EPIPE, libc::ECONNRESET].contains(errno), "{errno}");
}

fn a_place_is_used_again_at_once(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let server = listen();
    for round in 0..20u8 {
        let mut peer = connect(&mut sockets, 0, &server);
        sockets.receive(0, Some(span(1, 0, 65_536))).unwrap();
        sockets.send(0, &mut Vec::new(), FLOOD.into_iter()).unwrap();
        if round % 2 == 0 {
            sockets.wait(None, &mut Vec::new()).unwrap();
        }
        assert!(sockets.is_sending(0));
        let late = peer.write_all(b"too late");
        sockets.close(0);
        assert!(!sockets.is_sending(0));
        // An older connection that is still being torn down must have no effect here.
        let mut next = connect(&mut sockets, 0, &server);
        next.write_all(&[round; 3]).unwrap();
        assert_eq!(take(&mut sockets, 0, 3), [round; 3]);
        late.unwrap();
        let mut sink = vec![0; 1 << 20];
        let ended = loop {
            match peer.read(&mut sink) {
                Ok(0) => break None,
                Ok(_) => {}
                Err(error) => break Some(error.kind()),
            }
        };
        assert!(ended.is_none_or(|kind| kind == ErrorKind::ConnectionReset), "{ended:?}");
        until(&mut sockets, &mut Vec::new(), |sockets, _| {
            [0, 1].iter().all(|index| sockets.pool().buffer_mut(*index).is_some())
        });
        assert!(sockets.pool().buffer_mut(1).unwrap().iter().all(|byte| *byte == 0) || round > 0);
        sockets.close(0);
    }
    if let Sockets::Ring(ring) = &sockets {
        assert!(ring.lines() <= 3, "{} lines for one place", ring.lines());
    }
}

fn an_armed_receive_owns_its_buffer(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let mut peer = connect(&mut sockets, 0, &listen());
    let direct = span(2, 100, 5);
    sockets.receive(0, Some(direct)).unwrap();
    let receiving = Err(SocketError::Receiving { place: 0 });
    // Before and after its submission.
    for _ in 0..2 {
        assert!(sockets.pool().bytes(direct).is_none());
        assert!(sockets.pool().bytes_mut(span(2, 0, 1)).is_none());
        assert!(sockets.pool().buffer_mut(2).is_none());
        assert!(sockets.pool().buffer_mut(1).is_some());
        assert_eq!(sockets.receive(0, Some(span(1, 0, 5))), receiving);
        assert_eq!(sockets.receive(0, None), receiving);
        let pieces = [SocketPiece::Payload(span(1, 0, 1)), SocketPiece::Payload(direct)];
        let busy = Err(SocketError::Busy { buffer: 2 });
        assert_eq!(sockets.send(0, &mut Vec::new(), pieces.into_iter()), busy);
        assert!(sockets.pool().buffer_mut(1).is_some());
        sockets.wait(None, &mut Vec::new()).unwrap();
    }
    peer.write_all(b"12345rest").unwrap();
    let mut got = 0;
    while got < 5 {
        let SocketEvent::Received { direct, .. } = next_of(&mut sockets, 0) else { panic!() };
        got += direct;
        if got < 5 {
            sockets.receive(0, Some(span(2, 100 + got, 5 - got))).unwrap();
        }
    }
    assert_eq!(take(&mut sockets, 0, 4), b"rest");
    assert_eq!(sockets.pool().bytes(span(2, 99, 7)).unwrap(), b"\x0012345\0");
    assert!(sockets.pool().buffer_mut(2).is_some());
}

fn a_sending_place_shares_its_buffers_and_takes_no_other_send(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let server = listen();
    let (_peer, mut other) = (connect(&mut sockets, 0, &server), connect(&mut sockets, 1, &server));
    sockets.pool().buffer_mut(0).unwrap()[..4].copy_from_slice(b"both");
    sockets.send(0, &mut Vec::new(), FLOOD.into_iter()).unwrap();
    for _ in 0..2 {
        let again = sockets.send(0, &mut Vec::new(), FLOOD.into_iter());
        assert_eq!(again, Err(SocketError::Sending { place: 0 }));
        assert!(sockets.pool().buffer_mut(0).is_none());
        assert_eq!(sockets.pool().bytes(span(0, 0, 4)).unwrap(), b"both");
        let direct = sockets.receive(0, Some(span(0, 0, 4)));
        assert_eq!(direct, Err(SocketError::Busy { buffer: 0 }));
        sockets.wait(None, &mut Vec::new()).unwrap();
    }
    let pieces = [SocketPiece::Payload(span(0, 0, 4))];
    sockets.send(1, &mut Vec::new(), pieces.into_iter()).unwrap();
    let mut got = [0; 4];
    other.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"both");
    // The other's send has ended, this one's has not.
    until(&mut sockets, &mut Vec::new(), |sockets, _| !sockets.is_sending(1));
    assert!(sockets.pool().buffer_mut(0).is_none());
}

fn a_full_inbox_refuses(choice: EngineChoice) {
    let mut sockets = open(choice, |options| options.receive_bytes = MIN_RECEIVE_BYTES);
    let mut peer = connect(&mut sockets, 0, &listen());
    peer.write_all(&[1; 5000]).unwrap();
    let full = Err(SocketError::InboxFull { place: 0 });
    while sockets.received(0).0.len() < 4096 {
        sockets.receive(0, None).unwrap();
        next_of(&mut sockets, 0);
    }
    assert_eq!(sockets.receive(0, None), full);
    // There is space in a buffer, and then none of it is put behind the full inbox.
    sockets.receive(0, Some(span(3, 0, 8))).unwrap();
    assert_eq!(next_of(&mut sockets, 0), SocketEvent::Received { place: 0, direct: 8 });
    assert_eq!(sockets.pool().bytes(span(3, 7, 2)).unwrap(), [1, 0]);
    sockets.consume(0, 1);
    assert_eq!(take(&mut sockets, 0, 4095), [1; 4095]);
    assert_eq!(take(&mut sockets, 0, 896), [1; 896]);
}

fn what_lies_in_the_inbox_stays_while_more_is_received(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let mut peer = connect(&mut sockets, 0, &listen());
    peer.write_all(b"abcdef").unwrap();
    assert_eq!(take(&mut sockets, 0, 3), b"abc");
    sockets.receive(0, None).unwrap();
    sockets.wait(None, &mut Vec::new()).unwrap();
    sockets.receive(0, None).unwrap();
    assert_eq!(sockets.received(0).0, b"def");
    sockets.consume(0, 2);
    assert_eq!(sockets.received(0).0, b"f");
    sockets.consume(0, usize::MAX);
    assert!(sockets.received(0).0.is_empty());
    peer.write_all(b"gh").unwrap();
    assert_eq!(take(&mut sockets, 0, 2), b"gh");
}

fn the_end_of_a_whole_send_ends_no_wait(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let mut peer = connect(&mut sockets, 0, &listen());
    let answering = std::thread::spawn(move || {
        let mut got = [0; 4];
        for _ in 0..50 {
            peer.read_exact(&mut got).unwrap();
            peer.write_all(&got).unwrap();
        }
    });
    for number in 0..50u32 {
        send_bytes(&mut sockets, 0, &number.to_be_bytes());
        sockets.receive(0, None).unwrap();
        let mut out = Vec::new();
        sockets.wait(Some(LONG_NS), &mut out).unwrap();
        assert_eq!(out[0], SocketEvent::Sent { place: 0 });
        assert_eq!(out.len(), 2, "one wait must bring the answer: {out:?}");
        assert_eq!(take(&mut sockets, 0, 4), number.to_be_bytes());
    }
    answering.join().unwrap();
}

fn waiting_ends_with_nothing(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let mut out = Vec::new();
    for connected in [false, true] {
        for wait in [None, Some(0), Some(1), Some(2_000_000)] {
            sockets.wait(wait, &mut out).unwrap();
            assert!(out.is_empty());
        }
        if !connected {
            let peer = connect(&mut sockets, 0, &listen());
            sockets.receive(0, None).unwrap();
            std::mem::forget(peer);
        }
    }
}

fn two_vectors_alternate(choice: EngineChoice) {
    let mut sockets = open(choice, |_| {});
    let mut peer = connect(&mut sockets, 0, &listen());
    let mut bytes = Vec::new();
    let mut seen = Vec::new();
    for number in 0..6u8 {
        bytes.resize(1000, number);
        seen.push(bytes.as_ptr());
        sockets.send(0, &mut bytes, [SocketPiece::Bytes(1000)].into_iter()).unwrap();
        assert!(bytes.is_empty());
        let mut got = [0; 1000];
        peer.read_exact(&mut got).unwrap();
        assert_eq!(got, [number; 1000]);
        until(&mut sockets, &mut Vec::new(), |sockets, _| !sockets.is_sending(0));
    }
    assert_eq!(seen[2..4], seen[4..6], "no vector is allocated once two have grown");
}

/// A listener whose queue is full: the kernel drops further connection attempts.
fn full_listener() -> (TcpListener, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // SAFETY: a system call on a descriptor that is open; listening again only sets the queue's
    // length (listen(2)).
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
    let waiting = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (listener, waiting)
}

fn drop_with_everything_in_flight(choice: EngineChoice) {
    for submitted in [false, true] {
        let mut sockets = open(choice, |_| {});
        let mut peer = connect(&mut sockets, 0, &listen());
        sockets.receive(0, Some(span(1, 0, 100))).unwrap();
        sockets.send(0, &mut Vec::new(), FLOOD.into_iter()).unwrap();
        // Nothing answers there, so this one is still connecting if it was started at all.
        let (full, _waiting) = full_listener();
        let _ = sockets.connect(1, full.local_addr().unwrap());
        if submitted {
            sockets.wait(None, &mut Vec::new()).unwrap();
        }
        let mapping = Arc::downgrade(match &sockets {
            Sockets::Ring(ring) => ring.mapping(),
            Sockets::Epoll(epoll) => epoll.mapping(),
        });
        drop(sockets);
        assert!(mapping.upgrade().is_none(), "the memory must be free after an orderly end");
        let _ = std::io::copy(&mut peer, &mut std::io::sink());
    }
}

#[test]
fn drop_leaves_memory_that_may_still_be_written() {
    if let Err(reason) = crate::available() {
        eprintln!("left out: {reason}");
        return;
    }
    let mut sockets = open(EngineChoice::Uring, |options| options.knobs.patience_ms = 1);
    let _peer = connect(&mut sockets, 0, &listen());
    sockets.receive(0, None).unwrap();
    let Sockets::Ring(mut ring) = sockets else { panic!("a ring was asked for") };
    ring.count_one_more_in_flight();
    let mapping = Arc::downgrade(ring.mapping());
    drop(ring);
    assert!(mapping.upgrade().is_some(), "the memory must outlive what may write to it");
}

#[test]
fn auto_falls_back_with_the_reason_and_works() {
    let options = SocketOptions::new().buffers(3, 5000).simulate_refusal(Some(libc::EPERM));
    let mut sockets = Sockets::open(EngineChoice::Auto, options).unwrap();
    assert!(matches!(sockets, Sockets::Epoll(_)));
    assert_eq!(sockets.notes(), [Note::SocketsRefused(Unavailable::Forbidden), Note::Epoll]);
    assert!(Unavailable::Forbidden.to_string().contains("kernel.io_uring_disabled=0"));
    assert_eq!((sockets.buffer_count(), sockets.buffer_bytes()), (3, 8192));
    let mut peer = connect(&mut sockets, 0, &listen());
    peer.write_all(b"there").unwrap();
    assert_eq!(take(&mut sockets, 0, 5), b"there");
}

#[test]
fn a_demanded_ring_is_refused() {
    let options = SocketOptions::new().simulate_refusal(Some(libc::ENOSYS));
    let refused = Sockets::open(EngineChoice::Uring, options).map(drop);
    assert!(matches!(refused, Err(EngineError::Unavailable(Unavailable::Missing))));
}

#[test]
fn limits_are_checked_for_each_choice() {
    for choice in [EngineChoice::Auto, EngineChoice::Uring, EngineChoice::Positional] {
        for asked in [0, MAX_PLACES + 1] {
            let error = Sockets::open(choice, SocketOptions::new().places(asked)).map(drop);
            assert!(matches!(error, Err(EngineError::Places { asked: given }) if given == asked));
        }
        for asked in [0, MIN_RECEIVE_BYTES - 1, u32::MAX] {
            let error = Sockets::open(choice, SocketOptions::new().receive_bytes(asked)).map(drop);
            let told =
                matches!(error, Err(EngineError::ReceiveBytes { asked: given }) if given == asked);
            assert!(told);
        }
        let error = Sockets::open(choice, SocketOptions::new().buffers(1, 0)).map(drop);
        assert!(matches!(error, Err(EngineError::BufferBytes { asked: 0 })));
    }
}
