//! Streams of bytes, exact to the last one: under a random model, and against a peer that is slow.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use super::both;
use super::fixture::SplitMix;
use super::peer::{connect, listen, open, span, until};
use crate::{
    EngineChoice, MIN_RECEIVE_BYTES, SocketEvent, SocketOptions, SocketPiece, SocketSpan, Sockets,
};

both!(
    echoes_are_exact,
    echoes_are_exact_with_a_small_inbox,
    echoes_are_exact_with_a_small_send_buffer,
    echoes_are_exact_with_few_pieces_a_call,
    echoes_are_exact_on_older_set_ups,
    a_slow_reader_does_not_stop_receiving,
);

const PLACES: u32 = 3;
const BUFFERS: u32 = 6;
const BUFFER_BYTES: u32 = 20_000;

/// Sends everything back in runs of random length until the other end ends.
fn echo(mut peer: TcpStream, seed: u64) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut random = SplitMix(seed);
        let mut buffer = vec![0; 50_000];
        loop {
            let most = 1 + random.below(50_000) as usize;
            let count = peer.read(&mut buffer[..most]).unwrap();
            if count == 0 {
                return;
            }
            let split = random.below(count as u64) as usize;
            peer.write_all(&buffer[..split]).unwrap();
            peer.write_all(&buffer[split..count]).unwrap();
        }
    })
}

/// One place and what should come back on it.
#[derive(Default)]
struct Stream {
    sent: Vec<u8>,
    received: Vec<u8>,
    direct: Option<SocketSpan>,
    is_armed: bool,
    seen_direct: bool,
}

struct Model {
    sockets: Sockets,
    random: SplitMix,
    streams: Vec<Stream>,
    bytes: Vec<u8>,
}

impl Model {
    /// Sends own bytes and payload in random pieces.
    fn send(&mut self, place: u32) {
        let mut pieces = Vec::new();
        let mut whole = Vec::new();
        for _ in 0..1 + self.random.below(8) {
            if self.random.below(2) == 0 {
                let mut own = vec![0; self.random.below(300) as usize];
                self.random.fill(&mut own);
                whole.extend_from_slice(&own);
                self.bytes.extend_from_slice(&own);
                pieces.push(SocketPiece::Bytes(own.len() as u32));
            } else {
                let offset = self.random.below(u64::from(BUFFER_BYTES)) as u32;
                let length = self.random.below(u64::from(BUFFER_BYTES - offset) + 1) as u32;
                let span = span(self.random.below(BUFFERS.into()) as u32, offset, length);
                // Only before its first use in this send: the contents count when it is sent.
                let is_named = pieces.iter().any(|piece| {
                    matches!(piece, SocketPiece::Payload(other) if other.buffer == span.buffer)
                });
                if let Some(bytes) = self.sockets.pool().bytes_mut(span).filter(|_| !is_named) {
                    self.random.fill(bytes);
                }
                // Otherwise it is being sent, or a receive is filling it.
                let Some(bytes) = self.sockets.pool().bytes(span) else { continue };
                whole.extend_from_slice(bytes);
                pieces.push(SocketPiece::Payload(span));
            }
        }
        if !whole.is_empty() {
            self.sockets.send(place, &mut self.bytes, pieces.into_iter()).unwrap();
            assert!(self.bytes.is_empty());
            self.streams[place as usize].sent.extend_from_slice(&whole);
        } else {
            assert!(self.bytes.is_empty());
        }
    }

    fn arm(&mut self, place: u32) {
        let stream = &mut self.streams[place as usize];
        let free = (0..BUFFERS).find(|index| self.sockets.pool().buffer_mut(*index).is_some());
        if let Some(buffer) = free.filter(|_| self.random.below(2) == 0) {
            // What is in the inbox comes before what will be in the buffer.
            let (rest, _) = self.sockets.received(place);
            stream.received.extend_from_slice(rest);
            let rest = rest.len();
            self.sockets.consume(place, rest);
            let offset = self.random.below(u64::from(BUFFER_BYTES) - 1) as u32;
            let length = 1 + self.random.below(u64::from(BUFFER_BYTES - offset - 1)) as u32;
            stream.direct = Some(span(buffer, offset, length));
        }
        self.sockets.receive(place, stream.direct).unwrap();
        stream.is_armed = true;
    }

    fn received(&mut self, place: u32, direct: u32) {
        let stream = &mut self.streams[place as usize];
        stream.is_armed = false;
        match stream.direct.take() {
            Some(span) => {
                let span = SocketSpan { length: direct, ..span };
                stream.received.extend_from_slice(self.sockets.pool().bytes(span).unwrap());
                stream.seen_direct |= direct > 0;
            }
            None => assert_eq!(direct, 0),
        }
        // Some is left now and then, but never so much that the inbox fills up.
        let (inbox, _) = self.sockets.received(place);
        let least = (inbox.len() / 2) as u64;
        let count = (least + self.random.below(inbox.len() as u64 + 1 - least)) as usize;
        stream.received.extend_from_slice(&inbox[..count]);
        self.sockets.consume(place, count);
    }

    fn wait(&mut self) {
        let mut out = Vec::new();
        let wait_ns = if self.random.below(3) == 0 { None } else { Some(1_000_000) };
        self.sockets.wait(wait_ns, &mut out).unwrap();
        for event in out {
            match event {
                SocketEvent::Received { place, direct } => self.received(place, direct),
                SocketEvent::Sent { .. } => {}
                SocketEvent::Connected { .. } | SocketEvent::Closed { .. } => panic!("{event:?}"),
            }
        }
    }
}

fn run(choice: EngineChoice, seed: u64, sends: u32, shape: impl FnOnce(&mut SocketOptions)) {
    let mut sockets = open(choice, |options| {
        options.places = PLACES;
        (options.buffers, options.buffer_bytes) = (BUFFERS, BUFFER_BYTES);
        shape(options);
    });
    let server = listen();
    let mut peers = Vec::new();
    for place in 0..PLACES {
        let peer = connect(&mut sockets, place, &server);
        peers.push(echo(peer, seed + u64::from(place)));
    }
    let streams = (0..PLACES).map(|_| Stream::default()).collect();
    let mut model = Model { sockets, random: SplitMix(seed), streams, bytes: Vec::new() };
    let mut sent = [0; PLACES as usize];
    // Bounded: each iteration without an event waits a millisecond.
    for _ in 0..1_000_000 {
        for place in 0..PLACES {
            if !model.streams[place as usize].is_armed {
                model.arm(place);
            }
            let sent = &mut sent[place as usize];
            if *sent < sends && !model.sockets.is_sending(place) {
                model.send(place);
                *sent += 1;
            }
        }
        model.wait();
        for place in 0..PLACES {
            // What is left over counts as received at the end.
            let stream = &model.streams[place as usize];
            let all = stream.received.len() + model.sockets.received(place).0.len();
            assert!(all <= stream.sent.len());
        }
        let is_whole = |(place, stream): (usize, &Stream), sockets: &mut Sockets| {
            stream.received.len() + sockets.received(place as u32).0.len() == stream.sent.len()
        };
        let Model { sockets, streams, .. } = &mut model;
        if sent == [sends; PLACES as usize]
            && streams.iter().enumerate().all(|pair| is_whole(pair, sockets))
        {
            break;
        }
    }
    for (place, mut stream) in model.streams.into_iter().enumerate() {
        stream.received.extend_from_slice(model.sockets.received(place as u32).0);
        assert!(stream.received == stream.sent, "place {place}: other bytes than were sent");
        assert!(stream.seen_direct && stream.sent.len() > 100_000, "the run has to meet it all");
        model.sockets.close(place as u32);
    }
    for peer in peers {
        peer.join().unwrap();
    }
}

fn echoes_are_exact(choice: EngineChoice) {
    for seed in 1..=3 {
        run(choice, seed, 100, |_| {});
    }
}

fn echoes_are_exact_with_a_small_inbox(choice: EngineChoice) {
    run(choice, 4, 50, |options| options.receive_bytes = MIN_RECEIVE_BYTES);
}

fn echoes_are_exact_with_a_small_send_buffer(choice: EngineChoice) {
    run(choice, 5, 50, |options| options.knobs.send_buffer_bytes = Some(1));
}

fn echoes_are_exact_with_few_pieces_a_call(choice: EngineChoice) {
    run(choice, 6, 100, |options| options.knobs.pieces_a_call = 2);
}

fn echoes_are_exact_on_older_set_ups(choice: EngineChoice) {
    for skip_rungs in [1, 2] {
        run(choice, 7, 50, |options| options.knobs.skip_rungs = skip_rungs);
    }
}

/// The peer first writes without reading, while far more is being sent to it than the connection
/// can hold; then it reads.
fn a_slow_reader_does_not_stop_receiving(choice: EngineChoice) {
    const TO_PEER: usize = 128 * 65_536;
    const FROM_PEER: usize = 1 << 20;
    let mut sockets = open(choice, |options| options.knobs.send_buffer_bytes = Some(16_384));
    let server = listen();
    small_receive_buffer(&server.0);
    let mut peer = connect(&mut sockets, 0, &server);
    let (may_read, reading) = mpsc::channel();
    let slow = thread::spawn(move || {
        let mut content = vec![0; FROM_PEER];
        SplitMix(2).fill(&mut content);
        peer.write_all(&content).unwrap();
        reading.recv().unwrap();
        let mut got = vec![0; 4 + TO_PEER];
        peer.read_exact(&mut got).unwrap();
        got
    });

    let mut pieces = vec![SocketPiece::Bytes(4)];
    let mut sent = b"head".to_vec();
    for number in 0..128 {
        let buffer = number % 4;
        if let Some(bytes) = sockets.pool().buffer_mut(buffer).filter(|_| number < 4) {
            SplitMix(number.into()).fill(bytes);
        }
        sent.extend_from_slice(sockets.pool().bytes(span(buffer, 0, 65_536)).unwrap());
        pieces.push(SocketPiece::Payload(span(buffer, 0, 65_536)));
    }
    sockets.send(0, &mut b"head".to_vec(), pieces.into_iter()).unwrap();

    let mut received = Vec::new();
    let mut out = Vec::new();
    until(&mut sockets, &mut out, |sockets, _| {
        let (inbox, _) = sockets.received(0);
        received.extend_from_slice(inbox);
        let count = inbox.len();
        sockets.consume(0, count);
        sockets.receive(0, None).unwrap();
        received.len() == FROM_PEER
    });
    let mut expected = vec![0; FROM_PEER];
    SplitMix(2).fill(&mut expected);
    assert!(received == expected);
    assert!(sockets.is_sending(0), "nobody has read yet");
    assert!(!out.contains(&SocketEvent::Sent { place: 0 }));
    assert!((0..4).all(|index| sockets.pool().buffer_mut(index).is_none()));

    may_read.send(()).unwrap();
    until(&mut sockets, &mut out, |_, out| out.contains(&SocketEvent::Sent { place: 0 }));
    assert!(slow.join().unwrap() == sent);
    assert!((0..4).all(|index| sockets.pool().buffer_mut(index).is_some()));
}

/// Makes accepted connections buffer little unread data.
fn small_receive_buffer(listener: &std::net::TcpListener) {
    use std::os::fd::AsRawFd;
    // Far less than is sent, but enough that it does not wait for delayed acknowledgements.
    let bytes: libc::c_int = 32_768;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the option's value is one int that lives through the call.
    let outcome = unsafe {
        let option = (&raw const bytes).cast();
        let descriptor = listener.as_raw_fd();
        libc::setsockopt(descriptor, libc::SOL_SOCKET, libc::SO_RCVBUF, option, length)
    };
    assert_eq!(outcome, 0);
}
