//! Images on a cluster that is started for the test. One cluster serves all parts, because a start takes as long as they do;
//! they follow one another, because some of them harm it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clones;
mod faults;
#[path = "../network/fixture.rs"]
mod fixture;
mod images;
mod kills;
mod ownership;
mod trial;
mod trials;

use std::path::Path;
use std::time::Instant;

use stormeter_ceph::{ClusterOptions, GuardedCluster};

/// The cluster, and what its datastores are called.
pub(crate) struct Bench {
    pub(crate) cluster: GuardedCluster,
    pub(crate) directory: tempfile::TempDir,
}

impl Bench {
    /// The URL of a datastore on it, with more options.
    pub(crate) fn url(&self, options: &str) -> String {
        url(&self.cluster.conf(), options)
    }
}

pub(crate) fn url(conf: &Path, options: &str) -> String {
    let and = if options.is_empty() { "" } else { "&" };
    format!("rbd:rbd/test?conf={}{and}{options}", conf.display())
}

/// The part that `cargo xtask ceph` carries out in full, alone.
const KILLS: &str = "OSDs that are killed";

type Part = (&'static str, fn(&Bench));

#[test]
fn images_on_a_cluster() {
    let directory = tempfile::tempdir().unwrap();
    let cluster =
        GuardedCluster::up(&directory.path().join("cluster"), &ClusterOptions::with_osds(2));
    let cluster = cluster.unwrap_or_else(|error| panic!("{error}"));
    let bench = Bench { cluster, directory };
    let parts: [Part; 18] = [
        ("what is written is read, however it is laid out", images::round_trips),
        ("what is promised", images::promises),
        ("an I/O beyond its disk", images::bounds),
        ("fresh disks", images::fresh_disks),
        ("clones of a template", clones::contents),
        ("clones that cannot be", clones::refusals),
        ("clones that a killed run left", clones::leftovers),
        ("images of others", ownership::foreign_images),
        ("what a killed run left", ownership::leftovers),
        ("two runs", ownership::two_runs),
        ("a cluster that cannot be used", faults::refusals),
        ("a cluster that falls silent", faults::silence),
        ("trial: a cluster that was told to let clients wait", trials::paused),
        ("trial: a cluster that is full", trials::full),
        ("trial: a monitor that falls silent", trials::silent_monitor),
        ("trial: an image that is removed", trials::removed_images),
        ("trial: a pool that is removed", trials::removed_pool),
        (KILLS, kills::killed_osds),
    ];
    let only_kills = kills::asked().is_some();
    for (name, part) in parts.into_iter().filter(|&(name, _)| !only_kills || name == KILLS) {
        let begin = Instant::now();
        part(&bench);
        eprintln!("{:>5.1} s  {name}", begin.elapsed().as_secs_f64());
    }
}
