//! What is found out about the way to a server, without a byte written to it.

use stormeter_datastore::{Call, RealClock, RoundTrips};
use stormeter_peers::{Ganesha, GaneshaOptions, Tgt, TgtOptions};

use stormeter_server::DirectoryServer;

use crate::fixture::open;

#[track_caller]
fn assert_sound(found: &RoundTrips, call: Call) {
    assert_eq!((found.call, found.count), (call, 32));
    let quartiles = [
        found.least_ns,
        found.lower_quartile_ns,
        found.median_ns,
        found.upper_quartile_ns,
        found.most_ns,
    ];
    assert!(quartiles.is_sorted() && found.least_ns > 0, "{found:?}");
}

#[test]
fn tgt_answers_pings_and_has_a_size() {
    let tgt = Tgt::start(&TgtOptions::default()).unwrap();
    let datastore = open(&tgt.url(1)).unwrap();
    let survey = datastore.survey(&RealClock::new()).unwrap();
    assert_sound(&survey.round_trips.unwrap(), Call::NopOut);
    let file = std::fs::metadata(tgt.unit_file(1)).unwrap();
    assert_eq!(survey.capacity_bytes, Some(file.len()));
    assert_eq!(survey.transfer_sizes, None);
    assert!(datastore.space().is_none());
    drop(datastore);
    assert!(std::fs::read(tgt.unit_file(1)).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn a_target_that_went_away_has_no_round_trips() {
    let tgt = Tgt::start(&TgtOptions::default()).unwrap();
    let datastore = open(&format!("{}?timeout=1s", tgt.url(1))).unwrap();
    drop(tgt);
    assert!(datastore.survey(&RealClock::new()).is_err());
}

/// The sizes are those of the server, and the space is that of the file system below it.
fn export_is_surveyed(url: &str, directory: &std::path::Path) {
    let datastore = open(url).unwrap();
    let survey = datastore.survey(&RealClock::new()).unwrap();
    assert_sound(&survey.round_trips.unwrap(), Call::NfsNull);
    let sizes = survey.transfer_sizes.unwrap();
    for (preferred, most) in [
        (sizes.read_preferred_bytes, sizes.read_max_bytes),
        (sizes.write_preferred_bytes, sizes.write_max_bytes),
    ] {
        assert!(preferred > 0 && preferred <= most, "{url}: {sizes:?}");
    }
    assert_eq!(survey.capacity_bytes, None);
    assert!(datastore.space().is_some_and(|space| space.free_bytes > 0));
    drop(datastore);
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0, "{url}");
}

#[test]
fn our_server_gives_its_sizes() {
    let directory = tempfile::tempdir().unwrap();
    let server = DirectoryServer::bind(directory.path(), 0).unwrap();
    let port = server.port();
    let url = format!("nfs://127.0.0.1:{port}{}?mountport={port}", server.export());
    let _running = server.spawn().unwrap();
    export_is_surveyed(&url, directory.path());
}

#[test]
fn ganesha_gives_its_sizes() {
    let ganesha = Ganesha::start(&GaneshaOptions::default()).unwrap();
    export_is_surveyed(&ganesha.url(), ganesha.directory().unwrap());
}
