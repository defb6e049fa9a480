//! What the two ends measure together.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stormeter_probe::{
    Client, Direction, Layout, Limits, Observed, ProbeError, RefusalReason, Sink, Streams,
    Transfer, cells_csv,
};

use crate::far::{Far, PATIENCE, SHORT, key};
use crate::peer::Peer;

const LAYOUT: Layout = Layout { rows: 3, repeats: 4 };

#[test]
fn round_trips_of_every_size_fill_their_rows() {
    let far = Far::start(Limits::default(), None);
    let sizes = [1, 64, 1024, 4096, 100_000, 1_000_000, 10_000_000];
    let cells = far.client().round_trips(&sizes, LAYOUT).unwrap();
    let measured: Vec<_> = cells.iter().map(|cell| cell.length_bytes).collect();
    assert_eq!(measured, sizes);
    for cell in &cells {
        assert_eq!(cell.observed, Observed::RoundTrip);
        assert_eq!(cell.samples_ns.len(), 12);
        assert!(cell.samples_ns.iter().all(|&ns| ns > 0));
        let rows: Vec<_> = cell.rows().iter().map(|r| (r.row, r.summary.n)).collect();
        assert_eq!(rows, [(1, 4), (2, 4), (3, 4)]);
    }
    assert_eq!(cells_csv(&cells).lines().count(), 1 + sizes.len() * 12);
    far.ended().unwrap();
}

#[test]
fn transfers_go_both_ways_into_memory_and_onto_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let far = Far::start(Limits::default(), Some(directory.path()));
    for direction in [Direction::Send, Direction::Fetch] {
        for sink in [Sink::Memory, Sink::Disk] {
            let transfer = Transfer {
                direction,
                sink,
                length_bytes: 1_000_000,
                sync: true,
                cold: true,
                layout: LAYOUT,
            };
            let cell = far.client().transfer(&transfer).unwrap();
            assert_eq!(cell.samples_ns.len(), 12);
            // Fields that do not apply are not set.
            let sync = direction == Direction::Send && sink == Sink::Disk;
            let cold = direction == Direction::Fetch && sink == Sink::Disk;
            assert_eq!(cell.observed, Observed::Transfer { direction, sink, sync, cold });
            far.ended().unwrap();
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        }
    }
}

#[test]
fn streams_move_bytes_both_ways_each_over_its_own_connection() {
    let far = Far::start(Limits::default(), None);
    for direction in [Direction::Send, Direction::Fetch] {
        let streams = Streams { streams: 3, direction, warm_up: SHORT, window: SHORT };
        let moved = far.client().throughput(&streams).unwrap();
        assert_eq!(moved.stream_bytes.len(), 3);
        assert_eq!((moved.warm_up_ns, moved.window_ns), (300_000_000, 300_000_000));
        assert!(moved.total_bytes() > 0);
        for _ in 0..3 {
            far.ended().unwrap();
        }
    }
}

#[test]
fn more_streams_than_connections_are_refused() {
    let far = Far::start(Limits { connections: 2, ..Limits::default() }, None);
    let streams = Streams { streams: 3, direction: Direction::Send, warm_up: SHORT, window: SHORT };
    let error = far.client().throughput(&streams).unwrap_err();
    assert!(matches!(error, ProbeError::Busy), "{error}");
}

#[test]
fn a_stream_whose_far_end_is_stopped_fails_and_does_not_hang() {
    for direction in [Direction::Send, Direction::Fetch] {
        let mut far = Far::start(Limits::default(), None);
        let client = far.client();
        // Longer than any test: only the failure ends it.
        let window = Duration::from_secs(3600);
        let streams = Streams { streams: 2, direction, warm_up: SHORT, window };
        let error = std::thread::scope(|scope| {
            let measuring = scope.spawn(|| client.throughput(&streams).unwrap_err());
            // Both streams are running if neither has ended for a while.
            assert!(far.ended_within(SHORT).is_none());
            far.stop();
            measuring.join().unwrap()
        });
        assert!(matches!(error, ProbeError::Closed { .. }), "{error}");
    }
}

#[test]
fn a_far_end_that_takes_everything_and_acknowledges_nothing_is_given_up() {
    let socket = std::net::TcpListener::bind(crate::far::LOOPBACK).unwrap();
    let address = socket.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut peer = Peer::introducing(socket.accept().unwrap().0);
        peer.read(16);
        peer.write(&[0; 16]);
        std::io::copy(&mut peer.0, &mut std::io::sink()).unwrap_or(0)
    });
    let limits = Limits { stall: SHORT, ..Limits::default() };
    let client = Client::new(&address, key(), limits, Arc::default());
    let window = Duration::from_secs(3600);
    let streams = Streams { streams: 1, direction: Direction::Send, warm_up: SHORT, window };
    let (tell, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(client.throughput(&streams)));
    // Not joined: a stream that is not given up would run for an hour.
    let error = result.recv_timeout(PATIENCE).expect("it should be given up").unwrap_err();
    let during = "waiting for acknowledgements of a stream";
    assert!(matches!(error, ProbeError::Silent { during: d, .. } if d == during), "{error}");
}

#[test]
fn what_would_measure_nothing_is_refused() {
    let far = Far::start(Limits::default(), None);
    let none = Layout { rows: 0, repeats: 4 };
    for (sizes, layout) in [(&[0], LAYOUT), (&[1], none)] {
        let error = far.client().round_trips(sizes, layout).unwrap_err();
        assert!(matches!(error, ProbeError::Nothing { .. }), "{error}");
    }
    for (streams, window) in [(0, SHORT), (1, Duration::ZERO)] {
        let streams = Streams { streams, direction: Direction::Send, warm_up: SHORT, window };
        let error = far.client().throughput(&streams).unwrap_err();
        assert!(matches!(error, ProbeError::Nothing { .. }), "{error}");
    }
}

#[test]
fn a_refusal_tells_the_client_what_to_do() {
    let far = Far::start(Limits { transfer_bytes: 1000, ..Limits::default() }, None);
    let error = far.client().round_trips(&[1001], LAYOUT).unwrap_err();
    let limit = RefusalReason::TooLong { limit_bytes: 1000 };
    assert!(matches!(error, ProbeError::Refused(reason) if reason == limit), "{error}");
    assert!(error.to_string().contains("at most 1000 bytes"), "{error}");
}

#[test]
fn a_client_that_is_asked_to_stop_stops() {
    let far = Far::start(Limits::default(), None);
    let stop = Arc::new(AtomicBool::new(true));
    let client = Client::new(&far.address.to_string(), key(), Limits::default(), stop);
    let error = client.round_trips(&[1], LAYOUT).unwrap_err();
    assert!(matches!(error, ProbeError::Stopped { .. }), "{error}");
}

#[test]
fn without_a_listener_the_address_is_named() {
    let free = std::net::TcpListener::bind(crate::far::LOOPBACK).unwrap().local_addr().unwrap();
    let client = Client::new(&free.to_string(), key(), Limits::default(), Arc::default());
    let error = client.round_trips(&[1], LAYOUT).unwrap_err().to_string();
    assert!(error.contains(&free.to_string()) && error.contains("net listens"), "{error}");
}
