//! Without the key a peer gets nothing, and no peer can block a listener or a client.

use std::net::TcpListener;
use std::thread;

use stormeter_probe::{Key, Layout, Limits, ProbeError};

use crate::far::{Far, LOOPBACK, SHORT, key};
use crate::peer::{Peer, greeting, proof, request};

const ONCE: Layout = Layout { rows: 1, repeats: 1 };

/// A fake listener, and the client's error when it meets that.
fn client_meets(misbehave: impl FnOnce(Peer) + Send) -> ProbeError {
    let socket = TcpListener::bind(LOOPBACK).unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let limits = Limits { handshake: SHORT, ..Limits::default() };
    let client = stormeter_probe::Client::new(&address, key(), limits, std::sync::Arc::default());
    thread::scope(|scope| {
        scope.spawn(|| misbehave(Peer::of(socket.accept().unwrap().0)));
        client.round_trips(&[1], ONCE).unwrap_err()
    })
}

#[test]
fn with_the_key_a_client_is_served() {
    let far = Far::start(Limits::default(), None);
    assert_eq!(far.client().round_trips(&[1], ONCE).unwrap().len(), 1);
    far.ended().unwrap();
}

#[test]
fn a_wrong_key_is_refused_and_both_ends_say_so() {
    let far = Far::start(Limits::default(), None);
    let other = Key::from_text("another key, long enough").unwrap();
    let client = far.client_with(other, Limits::default());
    let error = client.round_trips(&[1], ONCE).unwrap_err();
    assert!(matches!(error, ProbeError::KeyRefused), "{error}");
    let ended = far.ended().unwrap_err();
    assert!(matches!(ended, ProbeError::Unproven), "{ended}");
}

#[test]
fn without_a_proof_a_request_is_not_even_read() {
    let far = Far::start(Limits::default(), None);
    let mut peer = Peer::connect(far.address);
    peer.read(44);
    peer.write(&[greeting(1, 7), vec![0; 32]].concat());
    let verdict = peer.read(33);
    assert_eq!(verdict, [&[2][..], &[0; 32]].concat(), "no proof is given to who has none");
    assert!(matches!(far.ended().unwrap_err(), ProbeError::Unproven));
    peer.assert_closed();

    let mut peer = Peer::connect(far.address);
    peer.read(44);
    peer.write(&request(1, 0, 0, 1, 1));
    peer.write(&[0; 28]);
    peer.assert_closed();
    assert!(matches!(far.ended().unwrap_err(), ProbeError::NotStormeter));
}

#[test]
fn a_proof_that_was_overheard_is_worth_nothing() {
    let far = Far::start(Limits::default(), None);
    let client = greeting(1, 7);
    let mut peer = Peer::connect(far.address);
    let overheard = proof("stormeter net 1 client", &peer.read(44), &client);
    let said = [client, overheard].concat();
    peer.write(&said);
    assert_eq!(peer.read(33)[0], 0);
    let mut again = Peer::connect(far.address);
    again.read(44);
    again.write(&said);
    assert_eq!(again.read(33)[0], 2);
}

#[test]
fn a_client_is_not_taken_in_by_its_own_proof() {
    let error = client_meets(|mut peer| {
        let mine = greeting(1, 9);
        peer.write(&mine);
        let said = peer.read(76);
        peer.write(&[&[0], &said[44..]].concat());
    });
    assert!(matches!(error, ProbeError::Unproven), "{error}");
    // Nor when its greeting is reflected too.
    let error = client_meets(|mut peer| {
        peer.write(&greeting(1, 9));
        let said = peer.read(76);
        peer.write(
            &[&[0], &proof("stormeter net 1 client", &said[..44], &said[..44])[..]].concat(),
        );
    });
    assert!(matches!(error, ProbeError::Unproven), "{error}");
}

#[test]
fn the_listeners_own_proof_is_no_clients() {
    let far = Far::start(Limits::default(), None);
    let mut peer = Peer::connect(far.address);
    let listener = peer.read(44);
    let client = greeting(1, 7);
    let reflected = proof("stormeter net 1 listener", &listener, &client);
    peer.write(&[client, reflected].concat());
    assert_eq!(peer.read(33)[0], 2);
}

#[test]
fn another_version_is_named_at_both_ends() {
    let far = Far::start(Limits::default(), None);
    let mut peer = Peer::connect(far.address);
    peer.read(44);
    peer.write(&greeting(2, 7));
    assert_eq!(peer.read(33)[0], 1);
    let ended = far.ended().unwrap_err();
    assert!(matches!(ended, ProbeError::Version { theirs: 2, ours: 1 }), "{ended}");

    let error = client_meets(|mut peer| peer.write(&greeting(0, 7)));
    assert!(matches!(error, ProbeError::Version { theirs: 0, ours: 1 }), "{error}");
    assert!(error.to_string().contains("same stormeter"), "{error}");
}

#[test]
fn garbage_ends_a_connection_at_once() {
    let far = Far::start(Limits::default(), None);
    let mut peer = Peer::connect(far.address);
    peer.read(44);
    peer.write(&b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".repeat(4));
    assert!(matches!(far.ended().unwrap_err(), ProbeError::NotStormeter));
    peer.assert_closed();

    let error = client_meets(|mut peer| {
        peer.write(&[b'x'; 44]);
    });
    assert!(matches!(error, ProbeError::NotStormeter), "{error}");
}

#[test]
fn who_says_nothing_is_not_waited_for() {
    let far = Far::start(Limits { handshake: SHORT, ..Limits::default() }, None);
    let peer = Peer::connect(far.address);
    let ended = far.ended().unwrap_err();
    assert!(matches!(ended, ProbeError::Silent { limit, .. } if limit == SHORT), "{ended}");
    drop(peer);

    let (release, held) = std::sync::mpsc::channel::<()>();
    let error = thread::scope(|scope| {
        let socket = TcpListener::bind(LOOPBACK).unwrap();
        let address = socket.local_addr().unwrap().to_string();
        scope.spawn(move || {
            let _silent = socket.accept().unwrap();
            held.recv().unwrap_err();
        });
        let limits = Limits { handshake: SHORT, ..Limits::default() };
        let client =
            stormeter_probe::Client::new(&address, key(), limits, std::sync::Arc::default());
        let error = client.round_trips(&[1], ONCE).unwrap_err();
        drop(release);
        error
    });
    assert!(matches!(error, ProbeError::Silent { .. }), "{error}");
}

#[test]
fn a_byte_now_and_then_does_not_hold_a_place() {
    let far = Far::start(Limits { handshake: SHORT, ..Limits::default() }, None);
    let mut peer = Peer::connect(far.address);
    peer.read(44);
    let said = greeting(1, 7);
    // Each byte arrives well within the limit; all of them take several times as long.
    let ended = said.iter().take(43).find_map(|&byte| {
        peer.write(&[byte]);
        far.ended_within(SHORT / 6)
    });
    let ended = ended.expect("the limit is on the whole exchange").unwrap_err();
    assert!(matches!(ended, ProbeError::Silent { .. }), "{ended}");
}

#[test]
fn one_client_too_many_is_refused_with_the_reason() {
    let far = Far::start(Limits { connections: 1, ..Limits::default() }, None);
    let first = Peer::introduced(far.address);
    let error = far.client().round_trips(&[1], ONCE).unwrap_err();
    assert!(matches!(error, ProbeError::Busy), "{error}");
    assert!(matches!(far.ended().unwrap_err(), ProbeError::Busy));
    drop(first);
    far.ended().unwrap();
    far.client().round_trips(&[1], ONCE).unwrap();
}
