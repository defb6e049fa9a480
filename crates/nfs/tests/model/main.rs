//! The session connected in memory to a server that does everything that a server may: no byte is
//! lost or misplaced, for any seed.

#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]

mod client;
mod covered;
mod random;
mod server;

use client::{Client, Plan};
use server::Faults;
use stormeter_disk::{Kind, StorageEvent};
use stormeter_nfs::Stability;

/// Everything that keeps the data reliable.
const NASTY: Faults = Faults {
    short: 150,
    jukebox: 60,
    duplicate: 20,
    wrong_xid: 20,
    fragment: 300,
    swallow: 4,
    fail_read: 20,
    fail_commit: 0,
    silent_restart: 0,
    eager: 150,
    lying: 0,
    verifier_bytes: false,
    bare: false,
};

fn all(seeds: std::ops::Range<u64>, plan: impl Fn(u64) -> Plan) -> Vec<Client> {
    seeds.map(|seed| Client::new(plan(seed)).run()).collect()
}

fn reported(clients: &[Client], is_it: impl Fn(&StorageEvent) -> bool) -> bool {
    clients.iter().any(|client| client.incidents.iter().any(|one| is_it(&one.event)))
}

fn restarted(event: &StorageEvent) -> bool {
    matches!(event, StorageEvent::ServerRestarted { .. })
}

#[test]
fn a_quiet_server_is_asked_once_for_each_piece() {
    let clients = all(0..20, Plan::new);
    for client in &clients {
        assert_eq!(client.incidents, []);
        assert_eq!(client.errors, [""; 0]);
    }
    assert!(clients.iter().any(|client| client.directly() > 0), "large payload goes directly");
}

#[test]
fn bytes_may_come_one_by_one() {
    all(0..8, |seed| Plan { operations: 12, most_bytes: 1, ..Plan::new(seed) });
    let faults = Faults { verifier_bytes: true, fragment: 500, ..Faults::default() };
    all(0..8, |seed| Plan { operations: 12, most_bytes: 3, faults, ..Plan::new(seed) });
    let faults = Faults { bare: true, short: 300, ..Faults::default() };
    all(0..8, |seed| Plan { operations: 30, most_bytes: 7, faults, ..Plan::new(seed) });
}

#[test]
fn stable_writes_bear_everything() {
    let clients =
        all(0..150, |seed| Plan { faults: NASTY, breaks: 10, restarts: 500, ..Plan::new(seed) });
    assert!(reported(&clients, |event| matches!(event, StorageEvent::Resent { .. })));
    assert!(reported(&clients, |event| *event == StorageEvent::AskedToWait));
    assert!(reported(&clients, |event| *event == StorageEvent::UnknownReply));
    let failed = |event: &StorageEvent| match event {
        StorageEvent::Refused { said, .. } => said.as_str().contains("NFS3ERR_IO"),
        _ => false,
    };
    assert!(reported(&clients, failed));
    let silent = |client: &Client| client.errors.iter().any(|one| one.contains("not answered"));
    assert!(clients.iter().any(silent), "a swallowed reply ends the connection");
}

#[test]
fn unstable_writes_bear_restarts() {
    let clients = all(0..200, |seed| Plan {
        stability: Stability::Unstable,
        faults: if seed % 2 == 0 { NASTY } else { Faults::default() },
        breaks: 10,
        restarts: 700,
        reads: 300,
        ..Plan::new(seed)
    });
    assert!(reported(&clients, restarted));
}

#[test]
fn unstable_writes_bear_unnoticed_restarts() {
    // Reads between the restart and its detection may return old data: nothing is read.
    let clients = all(0..200, |seed| Plan {
        stability: Stability::Unstable,
        faults: Faults { silent_restart: 10, jukebox: 20, short: 50, ..Faults::default() },
        breaks: if seed % 2 == 0 { 0 } else { 5 },
        reads: 0,
        ..Plan::new(seed)
    });
    assert!(reported(&clients, restarted));
}

#[test]
fn unstable_writes_are_committed_by_the_half_log() {
    let clients =
        all(0..10, |seed| Plan { stability: Stability::Unstable, reads: 0, ..Plan::new(seed) });
    for client in clients {
        let asked = &client.server.asked;
        assert_eq!(asked.stable_writes, 0);
        // 200 writes of 20 KiB on average, a commit for every 32 KiB or more.
        assert!((10..=400).contains(&asked.commits), "{} commits", asked.commits);
    }
}

#[test]
fn a_server_that_makes_everything_stable_is_never_asked_to_commit() {
    let clients = all(0..10, |seed| Plan {
        stability: Stability::Unstable,
        faults: Faults { eager: 1000, ..Faults::default() },
        ..Plan::new(seed)
    });
    assert!(clients.iter().all(|client| client.server.asked.commits == 0));
}

/// Durable writes and flushes among other writes; restarts lose what is unstable.
fn flushing(seed: u64) -> Plan {
    Plan {
        stability: Stability::Unstable,
        operations: 300,
        reads: 200,
        durable: 200,
        flushes: 250,
        ..Plan::new(seed)
    }
}

#[test]
fn what_a_flush_covers_survives_a_restart() {
    let clients = all(0..60, |seed| Plan {
        faults: if seed % 2 == 0 { NASTY } else { Faults::default() },
        breaks: 10,
        restarts: 700,
        ..flushing(seed)
    });
    assert!(reported(&clients, restarted));
    assert!(clients.iter().map(|client| client.flushed).sum::<u32>() > 2_000);
}

#[test]
fn what_a_flush_covers_survives_an_unnoticed_restart() {
    let clients = all(0..60, |seed| Plan {
        faults: Faults { silent_restart: 10, jukebox: 20, short: 50, ..Faults::default() },
        breaks: if seed % 2 == 0 { 0 } else { 5 },
        reads: 0,
        ..flushing(seed)
    });
    assert!(reported(&clients, restarted));
}

#[test]
fn a_flush_that_fails_is_made_up_for_by_the_next() {
    // Between a COMMIT that fails and the next, old data may be read: nothing is.
    let clients = all(0..60, |seed| Plan {
        faults: Faults { fail_commit: 150, short: 50, eager: 100, ..Faults::default() },
        breaks: if seed % 2 == 0 { 0 } else { 5 },
        restarts: 500,
        reads: 0,
        ..flushing(seed)
    });
    let failed = |event: &StorageEvent| match event {
        StorageEvent::Refused { io, .. } => io.kind == Kind::Flush,
        _ => false,
    };
    assert!(reported(&clients, failed));
}

#[test]
fn with_stable_writes_flushes_make_no_calls() {
    for stability in [Stability::FileSync, Stability::DataSync] {
        let clients = all(0..20, |seed| Plan { stability, ..flushing(seed) });
        assert!(clients.iter().all(|client| client.server.asked.commits == 0));
        assert!(clients.iter().all(|client| client.flushed > 30));
    }
}
