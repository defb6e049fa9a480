//! Products of counts: each factor may be valid by itself.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_site::{Override, Target, parse_site_with};

const WHOLE: &str = include_str!("good/everything.yaml");

fn read(changes: &[&str]) -> Result<(), String> {
    let changes: Vec<Override> =
        changes.iter().map(|text| Override::parse(text).unwrap()).collect();
    parse_site_with(WHOLE, &changes).map(|_| ()).map_err(|errors| errors.to_string())
}

#[test]
fn what_is_changed_is_within_the_limits_too() {
    for (changes, says) in [
        (&["disks=100000", "groups=1000000"] as &[&str], "disks x 1000000 groups"),
        (&["disks=1000", "groups=100", "controllers=1000"], "1000 controllers x 1000 disks"),
        (&["hosts=60000", "nics=60000"], "60000 hosts x 60000 ports"),
        (&["hosts=1000", "cores=1000000"], "1000 hosts x 1000000 cores"),
        (&["nodes=70000"], "write fewer nodes"),
        (&["nics=65536"], "count is at most 65535"),
        (&["networks.lan.latency=4001ms"], "latency is at most 4s"),
    ] {
        let message = read(changes).expect_err("too many");
        assert!(message.contains(says), "{changes:?}: {message}");
        // Nodes are reported where the cluster refers to them.
        let place = if changes[0].starts_with("nodes") { "site.yaml:" } else { "change:" };
        assert!(message.starts_with(place), "{changes:?}: {message}");
    }
}

#[test]
fn as_many_as_are_allowed_are_read() {
    for changes in [
        &["disks=1000", "groups=100", "controllers=10", "hosts=1", "nodes=2"] as &[&str],
        &["hosts=1000", "nics=2000", "cores=10000"],
        &["networks.lan.latency=4s", "networks.lan.labels=16"],
    ] {
        read(changes).unwrap_or_else(|message| panic!("{changes:?}: {message}"));
    }
    // The file has everything that the limits concern.
    let site = parse_site_with(WHOLE, &[]).unwrap().site;
    let targets = site.datastores.iter().map(|datastore| datastore.target);
    assert!(targets.clone().any(|target| matches!(target, Target::Group(_))));
    assert!(targets.clone().any(|target| matches!(target, Target::Cluster { .. })));
}
