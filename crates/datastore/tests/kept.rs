//! Disks that are kept for a check after the power was cut.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests too.

use std::path::Path;

use stormeter_datastore::{
    Datastore, DatastoreError, DatastoreUrl, DiskSpec, OpenDisks, OpenOptions, Preparation,
};
use stormeter_disk::DatastoreFact;

const RUN: &str = "00000000000000e1";

fn url_of(directory: &Path) -> DatastoreUrl {
    DatastoreUrl::parse(directory.to_str().unwrap()).unwrap()
}

fn options(run_id: &str, must_exist: bool) -> OpenOptions {
    OpenOptions { run_id: run_id.into(), must_exist, ..OpenOptions::default() }
}

#[test]
fn disks_that_wait_to_be_checked_stay_until_their_own_run_removes_them() {
    let place = tempfile::tempdir().unwrap();
    let url = url_of(place.path());
    let missing = Datastore::open(&url, options(RUN, true)).err().unwrap();
    assert!(matches!(missing, DatastoreError::NoDisks { .. }), "{missing}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nothing is created");

    let mut datastore = Datastore::open(&url, options(RUN, false)).unwrap();
    let disks = DiskSpec { count: 1, size_bytes: 1 << 20, granularity_bytes: 4096 };
    let prepared = datastore.prepare(Preparation {
        disks,
        content_id: 1,
        fill: &|_, _, bytes| bytes.fill(7),
        progress: &mut |_, _| {},
        cancelled: &|| false,
    });
    prepared.unwrap();
    datastore.keep_for_check().unwrap();
    drop(datastore);
    let folder = std::fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path();
    // As after a reset: another boot of this machine, or a machine of another name.
    let mark = folder.join("owner.json");
    for (key, value) in [("boot_id", "another"), ("host", "another")] {
        let mut owner: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&mark).unwrap()).unwrap();
        owner[key] = value.into();
        std::fs::write(&mark, owner.to_string()).unwrap();

        let other = Datastore::open(&url, options("00000000000000b1", false)).unwrap();
        let notes = other.description().notes;
        let stays = |note: &DatastoreFact| matches!(note, DatastoreFact::AwaitsCheck { run_id, .. } if run_id == RUN);
        assert!(notes.iter().any(stays), "{notes:?}");
        drop(other);

        let mut own = Datastore::open(&url, options(RUN, true)).unwrap();
        let memory = OpenDisks { buffers: 1, buffer_bytes: 4096, in_flight: 1 };
        assert!(own.disks(0..1, memory).is_ok());
        own.keep();
        drop(own);
        assert!(folder.join("disk-00000").exists());
    }
    assert_eq!(Datastore::open(&url, options(RUN, true)).unwrap().remove(), None);
    assert!(!folder.exists());
}

#[test]
fn a_file_on_the_same_file_system_lies_on_the_datastore() {
    let place = tempfile::tempdir().unwrap();
    let datastore = Datastore::open(&url_of(place.path()), options(RUN, false)).unwrap();
    assert!(datastore.holds(place.path()));
    assert!(datastore.holds(&place.path().join("is/not/there/yet")));
    assert!(!datastore.holds(Path::new("/proc/version")));
}
