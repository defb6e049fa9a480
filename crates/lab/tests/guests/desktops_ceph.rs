//! Desktops whose disks are images in a pool of a Ceph cluster: copied, cloned, and taken apart.

use std::path::Path;

use stormeter_disk::{DesktopChange, Desktops as _};
use stormeter_lab::LabError;
use stormeter_rbd::{Cluster, ClusterSettings, ImageOptions, Library};
use stormeter_trial::DesktopCopy;

use crate::desktops::{open, prepared, tear_down, trial, until};
use crate::place::Place;

fn cluster(conf: &Path) -> Cluster {
    let settings = ClusterSettings {
        conf: Some(conf.to_owned()),
        id: "admin".into(),
        pool: "rbd".into(),
        namespace: None,
        timeout: std::time::Duration::from_secs(30),
        cache: false,
    };
    Cluster::connect(&Library::load().unwrap(), &settings).unwrap()
}

#[test]
fn desktops_on_ceph_are_copied_cloned_and_removed_and_other_images_stay() {
    // A static program cannot load librbd.
    let Some(place) = Place::of_any_build() else { return };
    // The sockets of Ceph's daemons have short paths.
    let folder = tempfile::tempdir().unwrap();
    let ceph = folder.path().join("ceph");
    let at = ceph.to_str().unwrap();
    place.done(&["lab", "ceph", "up", at, "--osds", "1", "--replicas", "1"]);
    let conf = ceph.join("ceph.conf");
    place.up(&format!(
        "desktops:\n  ceph: {{count: 2, disk: {{datastore: \"rbd:rbd?conf={}\", size: 4MiB}}}}\n",
        conf.display()
    ));
    prepared(&place, "ceph");
    for copy in [DesktopCopy::Full, DesktopCopy::Clone] {
        let mut desktops = open(&place, "ceph", &trial(copy)).unwrap();
        desktops.deploy(0).unwrap();
        until(&mut desktops, |what| *what == DesktopChange::Deployed);
        desktops.log_on(0, 0).unwrap();
        until(&mut desktops, |what| *what == DesktopChange::Usable);
        tear_down(&mut desktops);
        assert_eq!(desktops.close().remains, Vec::<String>::new(), "{copy:?}");
        assert_eq!(cluster(&conf).images().unwrap(), ["vm-lab-ceph-template"], "{copy:?}");
    }
    let linked = open(&place, "ceph", &trial(DesktopCopy::Linked));
    assert!(matches!(linked, Err(LabError::NoLinks)));
    // Somebody's image has the name that a desktop's would have.
    let theirs = "vm-lab-ceph-2";
    cluster(&conf).create(theirs, 1 << 20, ImageOptions::default()).unwrap();
    let refused = open(&place, "ceph", &trial(DesktopCopy::Full));
    assert!(matches!(refused, Err(LabError::NotOurImage { .. })));
    assert!(cluster(&conf).images().unwrap().iter().any(|image| image == theirs));
    place.down();
    place.done(&["lab", "ceph", "down", at]);
}
