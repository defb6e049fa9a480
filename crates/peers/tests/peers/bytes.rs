//! Faults on bytes and connections, seen from both ends of a socket.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use stormeter_peers::{Direction, Fault, Framing, Recording};

use crate::{Behind, PATIENCE, connect, pattern};

fn receive(from: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).unwrap();
    bytes
}

fn is_reset(from: &mut TcpStream) -> bool {
    from.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::ConnectionReset)
}

fn is_finished(from: &mut TcpStream) -> bool {
    matches!(from.read(&mut [0]), Ok(0))
}

/// Whether nothing arrives for a while and the connection stays open.
fn is_silent(from: &mut TcpStream) -> bool {
    from.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let silent = from.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    from.set_read_timeout(Some(PATIENCE)).unwrap();
    silent
}

#[test]
fn without_a_fault_everything_passes_and_is_recorded() {
    let behind = Behind::start(Framing::None);
    let (mut client, mut server) = behind.pair();
    let request = pattern(300_000);
    let sending = std::thread::spawn({
        let request = request.clone();
        move || {
            client.write_all(&request).unwrap();
            client
        }
    });
    assert_eq!(receive(&mut server, request.len()), request);
    let mut client = sending.join().unwrap();
    server.write_all(b"answer").unwrap();
    assert_eq!(receive(&mut client, 6), b"answer");
    drop(server);
    assert!(is_finished(&mut client));
    assert_eq!((behind.proxy.connections(), behind.proxy.fired()), (1, 0));
    let recording = Recording { from_client: request, to_client: b"answer".to_vec() };
    assert_eq!(behind.proxy.recordings(), [recording]);
}

#[test]
fn reset_breaks_both_sides_behind_the_byte() {
    let behind = Behind::start(Framing::None);
    let direction = Direction::ToServer;
    behind.proxy.plan(Fault::Reset { direction, after_bytes: 3 }).unwrap();
    let (mut client, mut server) = behind.pair();
    client.write_all(b"abcdef").unwrap();
    assert_eq!(receive(&mut server, 3), b"abc");
    assert!(is_reset(&mut server));
    assert!(is_reset(&mut client));
    assert_eq!(behind.proxy.fired(), 1);
    // The next connection is not affected.
    let (mut client, mut server) = behind.pair();
    client.write_all(b"abcdef").unwrap();
    assert_eq!(receive(&mut server, 6), b"abcdef");
}

#[test]
fn all_connections_are_reset_at_once() {
    let behind = Behind::start(Framing::None);
    let mut pairs = [behind.pair(), behind.pair()];
    behind.proxy.reset_all();
    for (client, server) in &mut pairs {
        assert!(is_reset(client) && is_reset(server));
    }
}

#[test]
fn a_reset_of_the_servers_reaches_the_client() {
    let behind = Behind::start(Framing::None);
    let (mut client, server) = behind.pair();
    client.write_all(b"unread").unwrap();
    // Closing with unread bytes would be a reset, so they must have arrived.
    let mut one = [0];
    server.peek(&mut one).unwrap();
    drop(server);
    assert!(is_reset(&mut client));
}

#[test]
fn stall_swallows_what_comes_behind_the_byte() {
    let behind = Behind::start(Framing::None);
    let (mut client, mut server) = behind.pair();
    server.write_all(b"before").unwrap();
    assert_eq!(receive(&mut client, 6), b"before");
    // For an existing connection bytes are counted from here.
    let direction = Direction::ToClient;
    behind.proxy.plan(Fault::Stall { direction, after_bytes: 2 }).unwrap();
    server.write_all(b"abcdef").unwrap();
    assert_eq!(receive(&mut client, 2), b"ab");
    assert!(is_silent(&mut client));
    server.write_all(b"more").unwrap();
    client.write_all(b"the other way").unwrap();
    assert_eq!(receive(&mut server, 13), b"the other way");
    assert!(is_silent(&mut client));
    assert_eq!(behind.proxy.fired(), 1);
}

#[test]
fn truncate_ends_the_stream_in_order() {
    let behind = Behind::start(Framing::None);
    let direction = Direction::ToClient;
    behind.proxy.plan(Fault::Truncate { direction, after_bytes: 4 }).unwrap();
    let (mut client, mut server) = behind.pair();
    server.write_all(b"abcdef").unwrap();
    assert_eq!(receive(&mut client, 4), b"abcd");
    assert!(is_finished(&mut client));
    assert_eq!(behind.proxy.fired(), 1);
}

#[test]
fn one_bit_of_the_byte_is_flipped_however_the_bytes_come() {
    for piece in [1, 2, 9] {
        let behind = Behind::start(Framing::None);
        let direction = Direction::ToServer;
        behind.proxy.plan(Fault::FlipBit { direction, at_byte: 4 }).unwrap();
        let (mut client, mut server) = behind.pair();
        let sent = pattern(9);
        let mut got = Vec::new();
        for bytes in sent.chunks(piece) {
            client.write_all(bytes).unwrap();
            got.extend(receive(&mut server, bytes.len()));
        }
        let flipped: Vec<u32> = sent.iter().zip(&got).map(|(a, b)| (a ^ b).count_ones()).collect();
        assert_eq!(flipped, [0, 0, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(behind.proxy.fired(), 1);
    }
}

#[test]
fn delay_holds_back_a_number_of_chunks() {
    const DELAY: Duration = Duration::from_millis(60);
    let behind = Behind::start(Framing::None);
    behind.proxy.plan(Fault::Delay { direction: Direction::ToServer, delay: DELAY }).unwrap();
    let (mut client, mut server) = behind.pair();
    let begin = Instant::now();
    client.write_all(b"late").unwrap();
    assert_eq!(receive(&mut server, 4), b"late");
    // A lower bound: a busy machine may take longer.
    assert!(begin.elapsed() >= DELAY);
    assert_eq!(behind.proxy.fired(), 1);
}

#[test]
fn a_connection_may_be_accepted_and_lead_nowhere() {
    let behind = Behind::start(Framing::None);
    behind.proxy.plan(Fault::AcceptOnly).unwrap();
    let mut client = connect(behind.proxy.address());
    client.write_all(b"hello?").unwrap();
    assert!(is_silent(&mut client));
    assert_eq!(behind.proxy.fired(), 1);
    behind.listener.set_nonblocking(true).unwrap();
    assert_eq!(behind.listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_number_of_new_connections_are_reset() {
    let behind = Behind::start(Framing::None);
    behind.proxy.plan_after(Fault::Refuse, 1, 2).unwrap();
    let (mut first, mut server) = behind.pair();
    for _ in 0..2 {
        // The reset may arrive before connect returns.
        let refused = TcpStream::connect(behind.proxy.address());
        assert!(refused.map_or(true, |mut client| is_reset(&mut client)));
    }
    let _ = behind.pair();
    assert_eq!((behind.proxy.connections(), behind.proxy.fired()), (4, 2));
    first.write_all(b"still here").unwrap();
    assert_eq!(receive(&mut server, 10), b"still here");
}

#[test]
fn closed_it_refuses_and_opened_it_serves_on_the_same_port() {
    let mut behind = Behind::start(Framing::None);
    let (mut client, mut server) = behind.pair();
    behind.proxy.close();
    let refused = TcpStream::connect(behind.proxy.address()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    client.write_all(b"still here").unwrap();
    assert_eq!(receive(&mut server, 10), b"still here");
    behind.proxy.open().unwrap();
    let _ = behind.pair();
}

#[test]
fn new_connections_lead_to_the_set_server_and_without_one_are_reset() {
    let behind = Behind::start(Framing::None);
    let other = Behind::start(Framing::None);
    behind.proxy.set_server(other.proxy.address());
    let mut client = connect(behind.proxy.address());
    let (mut server, _) = other.listener.accept().unwrap();
    client.write_all(b"x").unwrap();
    assert_eq!(receive(&mut server, 1), b"x");
    behind.proxy.set_server("127.0.0.1:1".parse().unwrap());
    let unserved = TcpStream::connect(behind.proxy.address());
    assert!(unserved.map_or(true, |mut client| is_reset(&mut client)));
}

#[test]
fn cleared_faults_do_not_happen_and_others_names_are_refused() {
    let behind = Behind::start(Framing::None);
    let direction = Direction::ToServer;
    behind.proxy.plan(Fault::Reset { direction, after_bytes: 0 }).unwrap();
    behind.proxy.clear();
    let (mut client, mut server) = behind.pair();
    client.write_all(b"x").unwrap();
    assert_eq!(receive(&mut server, 1), b"x");
    assert_eq!(behind.proxy.fired(), 0);
    let error = behind.proxy.plan(Fault::DuplicateReply).unwrap_err().to_string();
    assert!(error.contains("DuplicateReply") && error.contains("None"), "{error}");
    assert!(behind.proxy.plan(Fault::CorruptData { min_bytes: 1 }).is_err());
}

#[test]
fn dropping_it_ends_all_connections_and_gives_the_port_back() {
    let behind = Behind::start(Framing::None);
    let (mut client, mut server) = behind.pair();
    let address = behind.proxy.address();
    drop(behind.proxy);
    assert!(is_reset(&mut client) && is_reset(&mut server));
    assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}
