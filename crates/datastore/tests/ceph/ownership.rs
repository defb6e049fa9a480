//! Which images are ours.

use std::time::Duration;

use stormeter_datastore::{Datastore, DatastoreError, DatastoreUrl, OpenOptions};
use stormeter_disk::{DatastoreFact, Sharing};
use stormeter_rbd::{Cluster, ClusterSettings, ImageOptions, Library};

use crate::Bench;
use crate::fixture::*;

pub(crate) const OTHER_RUN: &str = "00112233445566bb";

/// A connection next to those of the datastores.
pub(crate) fn connection(bench: &Bench) -> Cluster {
    let settings = ClusterSettings {
        conf: Some(bench.cluster.conf()),
        id: "admin".into(),
        pool: "rbd".into(),
        namespace: None,
        timeout: Duration::from_secs(20),
        cache: false,
    };
    Cluster::connect(&Library::load().unwrap(), &settings).unwrap()
}

/// The names of all images in the pool.
pub(crate) fn image_names(bench: &Bench) -> Vec<String> {
    connection(bench).images().unwrap()
}

pub(crate) fn open_as(bench: &Bench, run_id: &str) -> Result<Datastore, DatastoreError> {
    let url = DatastoreUrl::parse(&bench.url("")).unwrap();
    Datastore::open(&url, OpenOptions { run_id: run_id.into(), ..OpenOptions::default() })
}

pub(crate) fn foreign_images(bench: &Bench) {
    let rbd = connection(bench);
    rbd.create("test", MIB, ImageOptions::default()).unwrap();
    let Err(error) = open(&bench.url("")) else { panic!("it was opened") };
    assert!(matches!(error, DatastoreError::NameTaken { .. }), "{error}");
    rbd.remove("test").unwrap();
    // Names that only look like ours stay, whatever happens.
    let lookalike = format!("test.stormeter-{OTHER_RUN}-0");
    rbd.create(&lookalike, MIB, ImageOptions::default()).unwrap();
    let datastore = prepared(&bench.url(""), 1, MIB);
    assert_eq!(datastore.remove(), None);
    assert_eq!(rbd.images().unwrap(), std::slice::from_ref(&lookalike));
    rbd.remove(&lookalike).unwrap();
}

/// Changes the mark of our run as if its process had ended.
pub(crate) fn seem_ended(rbd: &Cluster) {
    let image = rbd.open(&format!("test.stormeter-{RUN}-0")).unwrap();
    let mark = image.note("stormeter.owner").unwrap().unwrap();
    let mut owner: serde_json::Value = serde_json::from_str(&mark).unwrap();
    owner["pid"] = u32::MAX.into();
    image.set_note("stormeter.owner", &owner.to_string()).unwrap();
}

pub(crate) fn leftovers(bench: &Bench) {
    let rbd = connection(bench);
    let mut left = prepared(&bench.url(""), 2, MIB);
    left.keep();
    drop(left);
    assert_eq!(rbd.images().unwrap().len(), 3);
    // The mark says that this process is at work, so another run leaves it.
    let other = open_as(bench, OTHER_RUN).unwrap();
    assert_eq!(other.remove(), None);
    assert_eq!(rbd.images().unwrap().len(), 3);
    seem_ended(&rbd);
    let other = open_as(bench, OTHER_RUN).unwrap();
    let notes = other.description().notes;
    assert!(
        notes.iter().any(
            |note| matches!(note, DatastoreFact::LeftoverRemoved { run_id, .. } if run_id == RUN)
        ),
        "{notes:?}"
    );
    assert_eq!(rbd.images().unwrap(), [format!("test.stormeter-{OTHER_RUN}-0")]);
    assert_eq!(other.remove(), None);
    assert!(rbd.images().unwrap().is_empty());
}

pub(crate) fn two_runs(bench: &Bench) {
    let first = open(&bench.url("")).unwrap();
    let second = open_as(bench, OTHER_RUN).unwrap();
    for (datastore, other) in [(&first, OTHER_RUN), (&second, RUN)] {
        let others = datastore.other_runs();
        let met: Vec<_> = others.iter().map(|it| (it.run_id.as_str(), it.sharing)).collect();
        assert!(met == [(other, Sharing::Directory)] || met == [(other, Sharing::Pool)], "{met:?}");
    }
    assert_eq!((first.remove(), second.remove()), (None, None));
}
