//! A datastore on the network: errors on the way that were recovered from are reported, and the verdict
//! stands.

use std::fs;

use stormeter_peers::{Direction, Fault, Framing, Ganesha, GaneshaOptions, Proxy};

use crate::place::{Outcome, Place, STEADY, SURE};
use crate::results::trials;
use crate::schema;

/// The connection breaks after the first block, in the middle of a trial.
fn broken_once(place: &Place, ganesha: &Ganesha) -> Outcome {
    let proxy = Proxy::start(ganesha.nfs_address(), Framing::Rpc, 1).unwrap();
    let (path, mount_port) = (ganesha.export_path().display(), ganesha.mount_port());
    let url = format!("nfs://{}{path}?mountport={mount_port}", proxy.address());
    let command = format!(
        "compare a {url} {STEADY} {SURE} --max-blocks 5 --seed 1 --verify --json --output r.db"
    );
    let mut running = place.start(&command);
    running.until("the first block", || (trials(&place.path("r.db")).len() >= 2).then_some(()));
    let reset = Fault::Reset { direction: Direction::ToClient, after_bytes: 2001 };
    proxy.plan(reset).unwrap();
    let outcome = running.wait();
    assert_eq!(proxy.fired(), 1, "{outcome:?}");
    outcome
}

#[test]
fn a_connection_that_was_lost_and_made_again_is_reported_and_spoils_nothing() {
    let place = Place::new();
    let ganesha = Ganesha::start(&GaneshaOptions::default()).unwrap();
    let mut outcome = broken_once(&place, &ganesha);
    // A busy machine may let no I/O end in a short trial, or settle nothing.
    for _ in 0..5 {
        if outcome.code == Some(0) {
            break;
        }
        outcome.expect(&[4, 5]);
        fs::remove_file(place.path("r.db")).unwrap();
        outcome = broken_once(&place, &ganesha);
    }
    let json = outcome.expect(&[0]).json();
    schema::check(&place, &json);
    assert_eq!(json["valid"], true, "{json:#}");
    let findings = json["findings"].to_string();
    for text in ["connection lost with", "sent again on a new connection", "reconnected after"] {
        assert!(findings.contains(text), "'{text}' is not in {findings}");
    }
    for datastore in json["cells"].as_array().unwrap() {
        assert!(datastore["verified"]["blocks"].as_u64().unwrap() > 0, "{datastore}");
        assert_eq!(datastore["verified"]["wrong_blocks"], 0);
    }
    assert_eq!(place.folders("a"), [] as [std::path::PathBuf; 0]);
    assert_eq!(ganesha.export_path().read_dir().unwrap().count(), 0);
}
