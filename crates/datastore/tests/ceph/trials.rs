//! Trials on a cluster that fails under them: each ends in bounded time, with what is needed to tell the reason, and its
//! images go as soon as the cluster lets them.

use std::time::{Duration, Instant};

use stormeter_ceph::PoolOptions;
use stormeter_datastore::{Datastore, DiskSpec, Preparation};
use stormeter_disk::{ClusterTrouble, DeviceError, StorageEvent};
use stormeter_trial::{Arrivals, Ended, Workload};

use crate::Bench;
use crate::fixture::*;
use crate::ownership::{connection, image_names};
use crate::trial::{Ran, run, trial};

/// How long a request may take, and so about how long a trial on a dead cluster lasts.
const TIMEOUT: &str = "timeout=2s";
/// Far more than each of these takes, and far less than forever.
const BOUNDED: Duration = Duration::from_secs(90);
const DISK: u64 = 4 * MIB;

/// A trial that is long enough for whatever fails under it, unless that ends it.
const LONG_MS: u64 = 60_000;
const SHORT_MS: u64 = 500;

fn assert_seen(ran: &Ran, trouble: &ClusterTrouble) {
    let event = StorageEvent::Cluster { trouble: trouble.clone() };
    let seen = ran.incidents.iter().any(|incident| incident.event == event);
    assert!(seen, "{:?}", ran.incidents);
}

/// Why no trial can begin.
fn refusal(datastore: &Datastore) -> String {
    let ran = run(datastore, &trial(50.0, DISK, SHORT_MS), None, || {});
    ran.expect_err("it began").to_string()
}

/// The images go, and no other ones were there.
fn assert_removed(bench: &Bench, datastore: Datastore) {
    assert_eq!(datastore.remove(), None);
    assert_eq!(image_names(bench), Vec::<String>::new());
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + BOUNDED;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::park_timeout(Duration::from_millis(100));
    }
}

pub(crate) fn paused(bench: &Bench) {
    let mut datastore = prepared(&bench.url(TIMEOUT), 1, DISK);
    let pause = || bench.cluster.pause(true).unwrap();
    let mut requests = trial(50.0, DISK, LONG_MS);
    requests.limits.max_io_failures = 8;
    let ran = run(&datastore, &requests, None, pause).unwrap();
    assert_eq!(ran.sample.ended, Ended::TooManyErrors, "{ran:?}");
    assert_eq!(ran.first_error(), Some(DeviceError(110)), "{ran:?}");
    assert!(ran.took < BOUNDED, "{ran:?}");
    assert_seen(&ran, &ClusterTrouble::Paused { reads: true, writes: true });
    // Neither a trial nor a preparation begins.
    let text = refusal(&datastore);
    let reason = "did not serve a request within 2 s (?timeout=); it was told to let clients wait";
    assert!(text.contains(reason), "{text}");
    bench.cluster.pause(false).unwrap();
    // Told to wait in the middle of writing.
    let prepared = datastore.prepare(Preparation {
        disks: DiskSpec { count: 1, size_bytes: 2 * DISK, granularity_bytes: 512 },
        content_id: 7,
        fill: &content,
        progress: &mut |done, total| {
            if done < total {
                bench.cluster.pause(true).unwrap();
            }
        },
        cancelled: &|| false,
    });
    let text = prepared.map(drop).unwrap_err().to_string();
    assert!(text.contains(reason), "{text}");
    bench.cluster.pause(false).unwrap();
    // What was under way lands only now: the images are closed, and removed, after it.
    assert_removed(bench, datastore);
}

/// Where something was written, it may be overwritten; reads are served. So much for a cluster that is read-only.
pub(crate) fn full(bench: &Bench) {
    type Change = fn(&Bench, bool);
    let quota: Change = |bench, full| {
        bench.cluster.set_quota("rbd", if full { MIB } else { 0 }).unwrap();
    };
    let ratios: Change = |bench, full| {
        let (near, full) = if full { (0.00001, 0.00003) } else { (0.85, 0.95) };
        bench.cluster.set_full_ratios(near, full).unwrap();
    };
    let rbd = connection(bench);
    let disk_bytes = 16 * MIB;
    let mut datastore = prepared(&bench.url("object-size=16KiB"), 1, disk_bytes);
    // Slow enough that most objects are still missing when the cluster notices that it is full.
    let arrivals = Arrivals::Constant { rate_per_s: 200.0 };
    let mut writes = trial(0.0, disk_bytes, LONG_MS);
    writes.workload = Workload { arrivals, ..writes.workload };
    writes.limits.max_io_failures = 20;
    // EDQUOT and ENOSPC.
    for (change, errno) in [(quota, 122), (ratios, 28)] {
        datastore.make_fresh(0..1).unwrap();
        let ran = run(&datastore, &writes, None, || change(bench, true)).unwrap();
        assert_eq!(ran.sample.ended, Ended::TooManyErrors, "{ran:?}");
        assert_eq!(ran.first_error(), Some(DeviceError(errno)), "{ran:?}");
        assert_seen(&ran, &ClusterTrouble::Full);
        let reads = trial(100.0, disk_bytes, SHORT_MS);
        run(&datastore, &reads, None, || {}).unwrap().assert_good();
        change(bench, false);
        until("it stays full", || rbd.status().is_ok_and(|status| !status.is_full));
    }
    // A full cluster lets images go. How much the last trial wrote before it was refused is chance; one byte is there.
    bench.cluster.set_quota("rbd", 1).unwrap();
    until("it is not full", || rbd.status().is_ok_and(|status| status.is_full));
    assert_removed(bench, datastore);
    quota(bench, false);
    until("it stays full", || rbd.status().is_ok_and(|status| !status.is_full));
}

pub(crate) fn silent_monitor(bench: &Bench) {
    let datastore = prepared(&bench.url(TIMEOUT), 1, DISK);
    let freeze = || bench.cluster.freeze_monitor().unwrap();
    let ran = run(&datastore, &trial(50.0, DISK, SHORT_MS), None, freeze).unwrap();
    // The OSDs serve on; that nobody knows the cluster's state is reported.
    ran.assert_good();
    let silent = |event: &StorageEvent| {
        matches!(event, StorageEvent::Cluster { trouble: ClusterTrouble::Silent { .. } })
    };
    assert!(ran.incidents.iter().any(|incident| silent(&incident.event)), "{ran:?}");
    // A new connection needs the monitor.
    let since = Instant::now();
    let text = refusal(&datastore);
    assert!(text.contains("cannot be reached") && text.contains("timed out"), "{text}");
    assert!(since.elapsed() < BOUNDED, "{:?}", since.elapsed());
    bench.cluster.thaw_monitor().unwrap();
    assert_removed(bench, datastore);
}

pub(crate) fn removed_images(bench: &Bench) {
    // Without the exclusive lock: otherwise a client that removes it asks for the lock first, and one of our requests may wait
    // for more than a trial's patience until the library has the lock back.
    let datastore = prepared(&bench.url("features=layering"), 1, DISK);
    let rbd = connection(bench);
    let is_disk = |name: &String| name.ends_with("disk-00000");
    let image = rbd.images().unwrap().into_iter().find(is_disk).unwrap();
    // Not while it is open: the cluster knows.
    let remove = || assert!(rbd.remove(&image).unwrap_err().is_busy());
    run(&datastore, &trial(50.0, DISK, SHORT_MS), None, remove).unwrap().assert_good();
    rbd.remove(&image).unwrap();
    let text = refusal(&datastore);
    assert!(text.contains(&format!("opening image {image}: No such file")), "{text}");
    assert_removed(bench, datastore);
}

pub(crate) fn removed_pool(bench: &Bench) {
    let options = PoolOptions { placement_groups: 4, ..PoolOptions::default() };
    bench.cluster.create_pool("other", &options).unwrap();
    // The manager tells of the new pool only now.
    bench.cluster.wait_clean(BOUNDED).unwrap();
    let url = bench.url(TIMEOUT).replace("rbd:rbd/", "rbd:other/");
    let datastore = prepared(&url, 1, DISK);
    let remove = || bench.cluster.remove_pool("other").unwrap();
    let ran = run(&datastore, &trial(50.0, DISK, LONG_MS), None, remove).unwrap();
    assert_eq!(ran.sample.ended, Ended::TooManyErrors, "{ran:?}");
    // Nobody has rights in a pool that does not exist, so EPERM comes before ENOENT; that it is gone is seen, too.
    assert!(matches!(ran.first_error(), Some(DeviceError(1 | 2))), "{ran:?}");
    assert_seen(&ran, &ClusterTrouble::NoPool);
    let text = refusal(&datastore);
    assert!(text.contains("the cluster has no pool other"), "{text}");
    assert_removed(bench, datastore);
    bench.cluster.wait_clean(BOUNDED).unwrap();
}
