//! Shared by the tests of connections: the other end, and waiting for expected events.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use super::fixture::LONG_NS;
use crate::{EngineChoice, SocketEvent, SocketOptions, SocketPiece, SocketSpan, Sockets};

/// Opens sockets; `shape` sets options beyond four buffers of 64 KiB and two places.
pub(super) fn open(choice: EngineChoice, shape: impl FnOnce(&mut SocketOptions)) -> Sockets {
    let mut options = SocketOptions::new().buffers(4, 65_536).places(2);
    shape(&mut options);
    Sockets::open(choice, options).unwrap()
}

pub(super) fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Waits until the events satisfy a condition. A wait that is long enough for anything may end with
/// nothing now and then, but not forever.
pub(super) fn until(
    sockets: &mut Sockets,
    out: &mut Vec<SocketEvent>,
    mut satisfy: impl FnMut(&mut Sockets, &[SocketEvent]) -> bool,
) {
    let mut in_vain = 0;
    while !satisfy(sockets, out) {
        let before = out.len();
        sockets.wait(Some(LONG_NS), out).unwrap();
        in_vain += u32::from(out.len() == before);
        assert!(in_vain < 20, "nothing comes any more, after {out:?}");
    }
}

/// Waits for one event of the place other than the end of a send, and returns it.
pub(super) fn next_of(sockets: &mut Sockets, place: u32) -> SocketEvent {
    let wanted =
        |event: &&SocketEvent| event.place() == place && !matches!(event, SocketEvent::Sent { .. });
    let mut out = Vec::new();
    until(sockets, &mut out, |_, out| out.iter().any(|event| wanted(&event)));
    *out.iter().find(wanted).unwrap()
}

/// Connects a place and returns the other end of the connection.
pub(super) fn connect(
    sockets: &mut Sockets,
    place: u32,
    (listener, address): &(TcpListener, SocketAddr),
) -> TcpStream {
    sockets.connect(place, *address).unwrap();
    assert_eq!(next_of(sockets, place), SocketEvent::Connected { place });
    let (peer, _) = listener.accept().unwrap();
    peer.set_read_timeout(Some(Duration::from_nanos(LONG_NS))).unwrap();
    peer.set_write_timeout(Some(Duration::from_nanos(LONG_NS))).unwrap();
    peer
}

/// Receives until this many bytes are in the inbox, removes them and returns them.
pub(super) fn take(sockets: &mut Sockets, place: u32, bytes: usize) -> Vec<u8> {
    while sockets.received(place).0.len() < bytes {
        sockets.receive(place, None).unwrap();
        let event = next_of(sockets, place);
        assert_eq!(event, SocketEvent::Received { place, direct: 0 });
    }
    let taken = sockets.received(place).0[..bytes].to_vec();
    sockets.consume(place, bytes);
    taken
}

/// Sends own bytes only.
pub(super) fn send_bytes(sockets: &mut Sockets, place: u32, bytes: &[u8]) {
    let pieces = [SocketPiece::Bytes(bytes.len() as u32)];
    sockets.send(place, &mut bytes.to_vec(), pieces.into_iter()).unwrap();
}

pub(super) fn span(buffer: u32, offset: u32, length: u32) -> SocketSpan {
    SocketSpan { buffer, offset, length }
}
