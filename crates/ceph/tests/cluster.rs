//! A cluster from its start to its end, with what happens to it in between.
//!
//! One cluster for all of it, because a start takes seconds: each step is a function, and leaves the
//! cluster clean for the next.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stormeter_ceph::{
    CephError, Cluster, ClusterOptions, FailureDomain, GuardedCluster, OsdOptions, POOL,
    PoolOptions, Status,
};

const PATIENCE: Duration = Duration::from_secs(120);

/// Prints why the tests cannot run here, which is a failure in CI.
fn is_missing() -> bool {
    for program in ["ceph-mon", "ceph-mgr", "ceph-osd", "ceph"] {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
        if !folders.into_iter().any(|folder| folder.join(program).is_file()) {
            let why = format!("{program} is not installed; run cargo xtask peers");
            assert!(std::env::var_os("CI").is_none(), "{why}");
            println!("NOT RUN: {why}");
            return true;
        }
    }
    false
}

#[test]
fn a_cluster_lives_fails_recovers_and_leaves_nothing() {
    if is_missing() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    // The paths of its sockets would be too long.
    let directory = scratch.path().join("d".repeat(120)).join("cluster");
    let mut options = ClusterOptions { patience: PATIENCE, ..ClusterOptions::default() };
    for osd in &mut options.osds {
        osd.store_bytes = 4 << 30;
    }
    options.pool.placement_groups = 16;
    let cluster = GuardedCluster::up(&directory, &options).unwrap();

    keys_are_the_owners(&directory);
    a_new_cluster_is_clean_and_healthy(&cluster);
    another_can_open_it_and_none_can_start_in_it(&directory, &options);
    what_it_does_not_have_is_refused(&cluster);
    a_pool_may_be_on_some_of_the_osds(&cluster);
    a_killed_osd_degrades_it_until_it_is_back(&cluster);
    a_daemon_that_died_is_named(&cluster);
    a_frozen_osd_is_noticed(&cluster);
    a_full_pool_says_so(&cluster);
    a_pause_is_a_flag(&cluster);
    let fast = tempfile::tempdir().unwrap();
    an_osd_with_a_cache_device_joins(&cluster, fast.path());

    let processes = cluster.processes().unwrap();
    assert_eq!(processes.len(), 6);
    std::fs::write(directory.join("kept"), "").unwrap();
    cluster.down().unwrap();
    let left = processes.iter().find(|pid| is_ceph(**pid));
    assert_eq!(left, None, "still runs");
    assert_eq!(std::fs::read_dir(&fast).unwrap().count(), 0, "the cache device is left");
    let names: Vec<_> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["kept"]);
    assert!(matches!(Cluster::open(&directory), Err(CephError::NotOurs { .. })));
}

fn is_ceph(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline"))
        .is_ok_and(|line| line.contains("ceph.conf"))
}

fn keys_are_the_owners(directory: &Path) {
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(directory), 0o700);
    for keyring in
        ["client.admin.keyring", "mon.keyring", "mon.a/keyring", "mgr.x/keyring", "osd.2/keyring"]
    {
        assert_eq!(mode(&directory.join(keyring)), 0o600, "{keyring}");
    }
}

fn a_new_cluster_is_clean_and_healthy(cluster: &Cluster) {
    let status = cluster.status().unwrap();
    assert!(status.is_clean(), "{status:?}");
    assert!(status.checks.is_empty(), "{:?}", status.checks);
    assert_eq!(status.osds.len(), 3);
    assert!(status.osds.iter().all(|osd| osd.up && osd.is_in && osd.pid.is_some()));
    assert_eq!(status.osds[1].node, "node-1");
    assert_eq!(status.total_bytes, 12 << 30);
    let [pool] = status.pools.as_slice() else { panic!("{:?}", status.pools) };
    assert_eq!((pool.name.as_str(), pool.replicas, pool.min_replicas), (POOL, 2, 1));
    let counts = cluster.counts().unwrap();
    assert_eq!((counts.clean, counts.placement_groups, counts.osds_up), (16, 16, 3));
}

fn another_can_open_it_and_none_can_start_in_it(directory: &Path, options: &ClusterOptions) {
    let cluster = Cluster::open(directory).unwrap();
    assert_eq!(cluster.osds().unwrap(), [0, 1, 2]);
    assert_eq!(cluster.processes().unwrap().len(), 5);
    assert!(matches!(Cluster::up(directory, options), Err(CephError::InUse { .. })));
}

fn what_it_does_not_have_is_refused(cluster: &Cluster) {
    let error = cluster.kill_osd(7).unwrap_err();
    assert_eq!(error.to_string(), "there is no osd.7: the cluster has osd.0, osd.1, osd.2");
    let error = cluster.set_flag("no-such-flag", true).unwrap_err();
    assert!(matches!(error, CephError::Command { .. }), "{error}");
    let error = cluster.set_osd(0, "no_such_setting", "1").unwrap_err();
    assert!(error.to_string().contains("osd.0"), "{error}");
    let error = cluster.slow_osd(0, 2.0).unwrap_err();
    assert!(matches!(error, CephError::NoDisk { osd: 0 }), "{error}");
    assert!(matches!(cluster.check_osd(7, false), Err(CephError::NoOsd { .. })));
    let mut options = ClusterOptions::with_osds(1);
    options.osds[0].disk = "8ms,100MB/s".parse().ok();
    let error = Cluster::up(Path::new("/nowhere"), &options).unwrap_err().to_string();
    assert!(error.contains("nothing is named that serves the disks"), "{error}");
}

/// Placement groups of other pools keep the OSD that this one leaves out.
fn a_pool_may_be_on_some_of_the_osds(cluster: &Cluster) {
    let options = PoolOptions { replicas: 2, min_replicas: 1, placement_groups: 8 };
    let error = cluster.create_pool_on("few", &options, &[1], FailureDomain::Osd).unwrap_err();
    assert!(error.to_string().contains("2 replicas need as many OSDs, and there are 1"), "{error}");
    cluster.create_pool_on("few", &options, &[0, 2], FailureDomain::Node).unwrap();
    cluster.wait_clean(PATIENCE).unwrap();
    let listed = cluster.command(&["pg ls-by-pool few"]).unwrap();
    let groups = listed[0]["pg_stats"].as_array().or(listed[0].as_array()).unwrap();
    assert_eq!(groups.len(), 8);
    for group in groups {
        let mut osds: Vec<u64> =
            group["acting"].as_array().unwrap().iter().filter_map(|osd| osd.as_u64()).collect();
        osds.sort_unstable();
        assert_eq!(osds, [0, 2], "{group}");
    }
    cluster.remove_pool("few").unwrap();
}

fn a_killed_osd_degrades_it_until_it_is_back(cluster: &Cluster) {
    cluster.kill_osd(1).unwrap();
    let error = cluster.kill_osd(1).unwrap_err().to_string();
    assert_eq!(error, "osd.1 is not running");
    let status = until(cluster, |status| !status.osds[1].up && !status.is_clean());
    assert_eq!(status.osds[1].pid, None);
    assert!(status.checks.iter().any(|check| check.code == "OSD_DOWN"), "{status:?}");
    let error = cluster.wait_clean(Duration::from_millis(300)).unwrap_err().to_string();
    assert!(error.contains("2 of 2 OSDs are up"), "{error}");
    cluster.restore(PATIENCE).unwrap();
    let status = cluster.status().unwrap();
    assert!(status.is_clean() && status.osds[1].up, "{status:?}");
}

fn a_daemon_that_died_is_named(cluster: &Cluster) {
    let pid = cluster.status().unwrap().osds[2].pid.unwrap();
    kill(Pid::from_raw(pid.try_into().unwrap()), Signal::SIGABRT).unwrap();
    let error = cluster.wait_clean(PATIENCE).unwrap_err();
    let CephError::Died { daemon, log } = &error else { panic!("{error}") };
    assert_eq!(daemon, "osd.2");
    assert!(log.contains("Aborted"), "{log}");
    cluster.start_osd(2).unwrap();
    cluster.wait_clean(PATIENCE).unwrap();
}

fn a_frozen_osd_is_noticed(cluster: &Cluster) {
    cluster.freeze_osd(0).unwrap();
    let status = until(cluster, |status| !status.osds[0].up);
    assert!(status.osds[0].pid.is_some(), "it was to be frozen, not ended");
    cluster.thaw_osd(0).unwrap();
    cluster.wait_clean(PATIENCE).unwrap();
}

fn a_full_pool_says_so(cluster: &Cluster) {
    let options = PoolOptions { replicas: 1, min_replicas: 1, placement_groups: 4 };
    cluster.create_pool("small", &options).unwrap();
    cluster.wait_clean(PATIENCE).unwrap();
    cluster.set_quota("small", 1).unwrap();
    let object = "rados --conf CONF -p small put object CONF";
    let object = object.replace("CONF", cluster.conf().to_str().unwrap());
    let mut words = object.split(' ');
    let put = std::process::Command::new(words.next().unwrap()).args(words).status().unwrap();
    assert!(put.success());
    let is_full =
        |status: &Status| status.pools.iter().any(|pool| pool.name == "small" && pool.full);
    until(cluster, is_full);
    cluster.set_quota("small", 0).unwrap();
    until(cluster, |status| !is_full(status));
    cluster.remove_pool("small").unwrap();
    cluster.wait_clean(PATIENCE).unwrap();
}

fn a_pause_is_a_flag(cluster: &Cluster) {
    cluster.pause(true).unwrap();
    assert_eq!(cluster.status().unwrap().flags, ["pauserd", "pausewr"]);
    cluster.pause(false).unwrap();
    assert!(cluster.status().unwrap().flags.is_empty());
}

fn an_osd_with_a_cache_device_joins(cluster: &Cluster, fast: &Path) {
    let options = OsdOptions {
        store_bytes: 4 << 30,
        cache_bytes: 1 << 30,
        cache_directory: Some(fast.to_owned()),
        ..OsdOptions::in_node("node-0")
    };
    assert_eq!(cluster.add_osd(&options).unwrap(), 3);
    cluster.wait_clean(PATIENCE).unwrap();
    let status = cluster.status().unwrap();
    assert!(status.osds[3].up && status.osds[3].placement_groups > 0, "{status:?}");
    let cache = std::fs::read_dir(fast).unwrap().next().unwrap().unwrap();
    assert_eq!(cache.metadata().unwrap().len(), 1 << 30);
    let counters = cluster.osd_counters(3).unwrap();
    assert!(counters["bluefs"]["db_total_bytes"].as_u64().is_some_and(|bytes| bytes > 0));
}

fn until(cluster: &Cluster, is_so: impl Fn(&Status) -> bool) -> Status {
    let end = Instant::now() + PATIENCE;
    loop {
        let status = cluster.status().unwrap();
        if is_so(&status) {
            return status;
        }
        assert!(Instant::now() < end, "{status:#?}");
    }
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    std::fs::write(&file, "data").unwrap();
    let error = Cluster::open(scratch.path()).unwrap_err();
    assert!(matches!(error, CephError::NotOurs { .. }), "{error}");
    assert!(matches!(Cluster::open(&scratch.path().join("none")), Err(CephError::NotOurs { .. })));
    if is_missing() {
        return;
    }
    let error = Cluster::up(scratch.path(), &ClusterOptions::default()).unwrap_err();
    assert!(matches!(error, CephError::InUse { .. }), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), b"data");
}

#[test]
fn a_start_that_fails_or_is_given_up_leaves_nothing() {
    if is_missing() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("cluster");
    let options = ClusterOptions::default();
    let error = Cluster::up_unless(&directory, &options, &|| true).unwrap_err();
    assert!(matches!(error, CephError::Interrupted), "{error}");
    assert!(!directory.exists());

    let mut options = options;
    options.settings.push(("mon".into(), "mon_data".into(), "/no/such/directory".into()));
    let error = Cluster::up(&directory, &options).unwrap_err().to_string();
    assert!(error.contains("ceph-mon") && error.contains("/no/such/directory"), "{error}");
    assert!(!directory.exists());
}
