//! NFS: NFS-Ganesha behind a proxy that does to the connection what networks and bad servers do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stormeter_peers::{Direction, Fault, Framing, Ganesha, GaneshaOptions, Proxy, nfs_procedure};

use crate::fixture::{Load, Moment, Outcome, compare, try_compare};

const IO: u32 = 5;
const NO_SPACE: u32 = 28;
const STALE: u32 = 70;
const JUKEBOX: u32 = 10008;
/// More often than anything is asked for here.
const ALWAYS: u64 = 1 << 40;
/// Nothing here is to be waited for so long.
const PATIENT: &str = "timeout=60s";
/// Giving up is to be quick.
const IMPATIENT: &str = "timeout=1s";
/// The same, but longer than the longest wait between two attempts to connect.
const LESS_IMPATIENT: &str = "timeout=2s";

/// An export behind a proxy.
struct Export {
    ganesha: Ganesha,
    proxy: Proxy,
    url: String,
}

fn export(options: &str) -> Export {
    let ganesha = Ganesha::start(&GaneshaOptions::default()).unwrap();
    let proxy = Proxy::start(ganesha.nfs_address(), Framing::Rpc, 1).unwrap();
    let (address, path) = (proxy.address(), ganesha.export_path().display());
    let url = format!("nfs://{address}{path}?mountport={}&{options}", ganesha.mount_port());
    Export { ganesha, proxy, url }
}

#[track_caller]
fn assert_removed(ganesha: &Ganesha, outcome: &Outcome) {
    let left = entries(ganesha.export_path());
    assert!(left.is_empty(), "{left:?}: {:?}", outcome.notes);
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    directory.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Ganesha's write verifier is the second of its start: a server that is back within that second
/// cannot be told from the one before.
fn wait_for_second_after(second: u64) {
    while unix_s() <= second {
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// The files of the disks on an export, with what they hold.
fn disks(export: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = entries(export).into_iter().flat_map(|folder| entries(&folder));
    let disks = files.filter(|file| file.metadata().unwrap().len() >= 1 << 20);
    disks.map(|file| (file.clone(), std::fs::read(file).unwrap())).collect()
}

fn status(procedure: u32, status: u32) -> Fault {
    Fault::NfsStatus { procedure, status }
}

#[test]
fn a_server_killed_and_restarted_is_waited_for() {
    // On a busy machine the end may come between the last answer and the next requests: none is
    // outstanding then, and there is nothing to be sent again.
    for _ in 0..5 {
        let Export { mut ganesha, proxy: _proxy, url } = export(PATIENT);
        let outcome = compare(&url, Load::default(), |moment| {
            if moment == Moment::Row(0, 1) {
                ganesha.restart().unwrap();
            }
        });
        outcome.assert_recovered(0, &["ConnectionLost", "Reconnected"]);
        outcome.assert_recovered(1, &[]);
        outcome.assert_valid();
        assert_removed(&ganesha, &outcome);
        let incidents = outcome.incidents(0);
        if !incidents.contains("ConnectionLost { outstanding: 0,") {
            assert!(incidents.contains("Resent"), "{incidents}");
            return;
        }
    }
    panic!("no request was outstanding at any of five ends");
}

/// The server loses all that it was not asked to commit, as it would with the power.
#[test]
fn what_a_restarted_server_has_lost_is_written_again() {
    let Export { mut ganesha, proxy: _proxy, url } = export(&format!("sync=unstable&{PATIENT}"));
    let started_s = unix_s();
    let mut before = BTreeMap::new();
    let mut has_lost = false;
    let outcome = compare(&url, Load::default(), |moment| match moment {
        Moment::Begin(0) => before = disks(ganesha.export_path()),
        Moment::Row(0, 3) => {
            ganesha.kill();
            wait_for_second_after(started_s);
            has_lost = before.len() == 2 && before != disks(ganesha.export_path());
            for (file, content) in &before {
                std::fs::write(file, content).unwrap();
            }
            ganesha.restart().unwrap();
        }
        _ => {}
    });
    assert!(has_lost);
    outcome.assert_recovered(0, &["ServerRestarted", "Reconnected"]);
    outcome.assert_recovered(1, &[]);
    outcome.assert_valid();
    assert_removed(&ganesha, &outcome);
}

#[test]
fn broken_connections_are_made_again_and_requests_sent_again() {
    let (to_client, to_server) = (Direction::ToClient, Direction::ToServer);
    let faults = [
        (Fault::Reset { direction: to_client, after_bytes: 3001 }, "Connection reset by peer"),
        (Fault::Reset { direction: to_server, after_bytes: 9001 }, "Connection reset by peer"),
        (Fault::Truncate { direction: to_client, after_bytes: 5003 }, "the server closed"),
        (Fault::ImpossibleLength, "2147483647 bytes"),
    ];
    let export = export(PATIENT);
    let load = Load { blocks: faults.len() as u32, ..Load::default() };
    let outcome = compare(&export.url, load, |moment| match moment {
        Moment::Row(trial, 1) => export.proxy.plan(faults[trial as usize].0).unwrap(),
        Moment::End(trial) => assert_eq!(export.proxy.fired(), u64::from(trial) + 1),
        _ => {}
    });
    for (trial, (_, reported)) in faults.iter().enumerate() {
        outcome.assert_recovered(trial, &["1 × ", "ConnectionLost", reported, "Reconnected"]);
    }
    outcome.assert_valid();
    assert_removed(&export.ganesha, &outcome);
}

#[test]
fn replies_in_another_order_or_twice_change_nothing() {
    let export = export(PATIENT);
    let mut fired = 0;
    let outcome = compare(&export.url, Load::default(), |moment| match moment {
        Moment::Row(0, 1) => export.proxy.plan_times(Fault::SwapReplies, 20).unwrap(),
        Moment::Row(1, 1) => export.proxy.plan_times(Fault::DuplicateReply, 20).unwrap(),
        Moment::End(_) => {
            assert!(export.proxy.fired() > fired);
            fired = export.proxy.fired();
            export.proxy.clear();
        }
        _ => {}
    });
    outcome.assert_recovered(0, &[]);
    outcome.assert_recovered(1, &["UnknownReply"]);
    assert!(!outcome.incidents(1).contains("onnect"), "{}", outcome.incidents(1));
    outcome.assert_valid();
    assert_removed(&export.ganesha, &outcome);
}

#[test]
fn a_reply_that_never_comes_is_asked_for_again() {
    let stall = Fault::Stall { direction: Direction::ToClient, after_bytes: 2001 };
    let faults = [
        (Fault::ChangeReplyId, "1 × UnknownReply"),
        (stall, "the server has not answered for 1000 ms"),
    ];
    let export = export(IMPATIENT);
    let outcome = compare(&export.url, Load::default(), |moment| match moment {
        Moment::Row(trial, 1) => export.proxy.plan(faults[trial as usize].0).unwrap(),
        Moment::End(trial) => assert_eq!(export.proxy.fired(), u64::from(trial) + 1),
        _ => {}
    });
    for (trial, (_, reported)) in faults.iter().enumerate() {
        let silent = "Said(\"the server has not answered for 1000 ms";
        outcome.assert_recovered(trial, &[reported, silent, "Reconnected"]);
    }
    outcome.assert_valid();
    assert_removed(&export.ganesha, &outcome);
}

#[test]
fn one_connection_of_three_is_lost_alone() {
    let export = export(&format!("connections=3&sync=unstable&{PATIENT}"));
    let reset = Fault::Reset { direction: Direction::ToClient, after_bytes: 2001 };
    let mut connections = 0;
    let outcome = compare(&export.url, Load::default(), |moment| match moment {
        Moment::Row(0, 1) => {
            connections = export.proxy.connections();
            export.proxy.plan(reset).unwrap();
        }
        Moment::End(0) => assert_eq!(export.proxy.connections(), connections + 1),
        _ => {}
    });
    assert_eq!(export.proxy.fired(), 1);
    outcome.assert_recovered(0, &["1 × ", "ConnectionLost", "Reconnected"]);
    assert_eq!(outcome.incidents(0).matches("Reconnected").count(), 1);
    outcome.assert_valid();
    assert_removed(&export.ganesha, &outcome);
}

#[test]
fn a_server_that_refuses_for_a_while_is_tried_again() {
    let Export { ganesha, mut proxy, url } = export(PATIENT);
    let outcome = compare(&url, Load::default(), |moment| match moment {
        // Refused by the kernel, and taken and reset at once.
        Moment::Row(0, 1) => {
            proxy.close();
            proxy.reset_all();
        }
        Moment::Row(0, 3) => proxy.open().unwrap(),
        Moment::Row(1, 1) => {
            proxy.plan_times(Fault::Refuse, 3).unwrap();
            proxy.reset_all();
        }
        _ => {}
    });
    assert_eq!(proxy.fired(), 3);
    for trial in [0, 1] {
        outcome.assert_recovered(trial, &["ConnectionLost", "Reconnected"]);
        // However often it was tried, it was lost once.
        assert_eq!(outcome.incidents(trial).matches("ConnectionLost").count(), 1);
    }
    outcome.assert_valid();
    assert_removed(&ganesha, &outcome);
}

#[test]
fn a_server_that_ends_idle_connections_is_not_stormed() {
    const CONNECTIONS: u64 = 16;
    let export = export(&format!("connections={CONNECTIONS}&{PATIENT}"));
    let load = Load { rate_per_s: 50.0, duration_ms: 1500, ..Load::default() };
    let outcome = compare(&export.url, load, |moment| match moment {
        Moment::Row(0, 1) => {
            export.proxy.plan_times(Fault::Refuse, ALWAYS).unwrap();
            export.proxy.reset_all();
        }
        Moment::Row(0, 24) => export.proxy.clear(),
        _ => {}
    });
    // With waits that double up to a second, twelve tries take seven seconds.
    let tries = export.proxy.fired();
    assert!((CONNECTIONS..12 * CONNECTIONS).contains(&tries), "{tries}");
    outcome.assert_recovered(0, &["ConnectionLost", "Reconnected"]);
    outcome.assert_valid();
    assert_removed(&export.ganesha, &outcome);
}

#[test]
fn a_server_that_is_not_there_when_a_trial_begins_fails_it() {
    let Export { ganesha, mut proxy, url } = export(IMPATIENT);
    let load = Load { blocks: 3, ..Load::default() };
    let outcome = compare(&url, load, |moment| match moment {
        Moment::Begin(1) => proxy.close(),
        Moment::End(1) => proxy.open().unwrap(),
        _ => {}
    });
    outcome.assert_recovered(0, &[]);
    outcome.assert_broke_at(1, &["Connection refused"]);
    assert_removed(&ganesha, &outcome);
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let export = export(LESS_IMPATIENT);
    let outcome = compare(&export.url, Load::default(), |moment| match moment {
        Moment::Row(0, 1) => {
            export.proxy.plan_times(Fault::AcceptOnly, ALWAYS).unwrap();
            export.proxy.reset_all();
        }
        Moment::End(0) => export.proxy.clear(),
        _ => {}
    });
    assert!(export.proxy.fired() > 0);
    outcome.assert_broke(&["Connection timed out"]);
    assert!(
        outcome.incidents(0).contains("PathGivenUp { after_ns: 2000000000,"),
        "{}",
        outcome.incidents(0)
    );
    assert_removed(&export.ganesha, &outcome);
}

#[test]
fn disks_on_a_server_that_never_answers_are_not_waited_for() {
    let export = export(LESS_IMPATIENT);
    // The first connection is for the control calls.
    export.proxy.plan_after(Fault::AcceptOnly, 1, ALWAYS).unwrap();
    let error = try_compare(&export.url, Load::default(), |_| {}).unwrap_err().to_string();
    assert!(error.contains("Connection timed out"), "{error}");
    assert!(export.proxy.fired() > 0);
    assert_eq!(entries(export.ganesha.export_path()), [] as [PathBuf; 0]);
}

#[test]
fn a_server_that_does_not_come_back_fails_the_trial() {
    let Export { mut ganesha, proxy: _proxy, url } = export(&format!("sync=unstable&{IMPATIENT}"));
    let outcome = compare(&url, Load::default(), |moment| match moment {
        Moment::Row(0, 1) => ganesha.kill(),
        Moment::End(0) => ganesha.restart().unwrap(),
        _ => {}
    });
    outcome.assert_broke(&["what was written may be lost"]);
    assert!(
        outcome.incidents(0).contains("PathGivenUp { after_ns: 1000000000,"),
        "{}",
        outcome.incidents(0)
    );
    assert_removed(&ganesha, &outcome);
}

#[test]
fn refusals_of_the_server_are_reported_in_its_words() {
    let refusals = [
        (status(nfs_procedure::WRITE, NO_SPACE), "No space left on device", "NFS3ERR_NOSPC"),
        (status(nfs_procedure::READ, STALE), "Stale file handle", "NFS3ERR_STALE"),
    ];
    for (fault, errno, word) in refusals {
        let export = export(PATIENT);
        let outcome = compare(&export.url, Load::default(), |moment| match moment {
            Moment::Row(0, 1) => export.proxy.plan_times(fault, 10).unwrap(),
            Moment::End(0) => assert_eq!(export.proxy.fired(), 10),
            _ => {}
        });
        outcome.assert_broke(&["10 I/Os failed", errno]);
        assert!(outcome.incidents(0).contains(word), "{}", outcome.incidents(0));
        assert_removed(&export.ganesha, &outcome);
    }
}

#[test]
fn a_server_that_asks_to_wait_is_waited_for() {
    let export = export(PATIENT);
    let outcome = compare(&export.url, Load::default(), |moment| {
        if moment == Moment::Row(0, 1) {
            for procedure in [nfs_procedure::READ, nfs_procedure::WRITE] {
                export.proxy.plan_times(status(procedure, JUKEBOX), 20).unwrap();
            }
        }
    });
    assert_eq!(export.proxy.fired(), 40);
    outcome.assert_recovered(0, &["40 × AskedToWait"]);
    outcome.assert_recovered(1, &[]);
    outcome.assert_valid();
    assert_removed(&export.ganesha, &outcome);
}

#[test]
fn a_server_that_asks_to_wait_for_ever_fails_the_trial() {
    let export = export(IMPATIENT);
    let outcome = compare(&export.url, Load::default(), |moment| match moment {
        Moment::Row(0, 1) => {
            let storm = status(nfs_procedure::READ, JUKEBOX);
            export.proxy.plan_times(storm, ALWAYS).unwrap();
        }
        Moment::End(0) => export.proxy.clear(),
        _ => {}
    });
    outcome.assert_broke(&["Resource temporarily unavailable"]);
    assert!(outcome.incidents(0).contains("AskedToWait"), "{}", outcome.incidents(0));
    assert_removed(&export.ganesha, &outcome);
}

/// Every I/O ends well, and only then it turns out that nothing may have been kept.
#[test]
fn a_commit_that_fails_at_the_end_fails_the_trial() {
    let export = export(&format!("sync=unstable&{IMPATIENT}"));
    let load = Load { blocks: 3, ..Load::default() };
    let outcome = compare(&export.url, load, |moment| match moment {
        Moment::Row(1, 1) => {
            export.proxy.plan_times(status(nfs_procedure::COMMIT, IO), ALWAYS).unwrap();
        }
        Moment::End(1) => {
            assert!(export.proxy.fired() > 0);
            export.proxy.clear();
        }
        _ => {}
    });
    outcome.assert_recovered(0, &[]);
    outcome.assert_broke_at(1, &["what was written may be lost"]);
    assert_removed(&export.ganesha, &outcome);
}
