//! `stormeter lab ceph`: a small Ceph cluster on this machine.

use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use stormeter_ceph::{CephError, Cluster, ClusterOptions, Health, POOL, PoolOptions, Status};
use stormeter_report::printable;
use stormeter_units::format_bytes;

use super::lab_start::say;
use crate::arguments_ceph::{
    CephCommand, CephDirectory, CephOptions, CephSlowOptions, CephUpOptions,
};
use crate::child::disk_server;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_tables};
use crate::signals::cancel_on_signals;

/// How long disks are watched.
const BUSY_WINDOW: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(20);

pub(crate) fn run(options: &CephOptions) -> Result<Exit, Failure> {
    match &options.command {
        CephCommand::Up(options) => up(options)?,
        CephCommand::Status(options) => {
            let cluster = Cluster::open(&options.directory.dir)?;
            let status = cluster.status()?;
            if options.json {
                let json = serde_json::to_value(&status).unwrap_or_default();
                print(&format!("{json:#}\n"))?;
            } else {
                print_tables(&(table(&status) + &disks(&cluster)?))?;
            }
        }
        CephCommand::SlowOsd(options) => {
            let CephSlowOptions { osd, times } = options;
            Cluster::open(&osd.directory.dir)?.slow_osd(osd.osd, *times)?;
            say(&format!("the disk of osd.{} takes {times} times as long", osd.osd));
        }
        CephCommand::ServeDisk(options) => options.server().serve(wait_for_signal)?,
        CephCommand::KillOsd(options) => {
            Cluster::open(&options.directory.dir)?.kill_osd(options.osd)?;
            say(&format!("osd.{} killed", options.osd));
        }
        CephCommand::StartOsd(options) => {
            Cluster::open(&options.directory.dir)?.start_osd(options.osd)?;
            say(&format!("osd.{} started; it recovers what it missed", options.osd));
        }
        CephCommand::Down(CephDirectory { dir }) => {
            Cluster::open(dir)?.down()?;
            say("the cluster has ended, and all that it stored is removed");
        }
    }
    Ok(Exit::Done)
}

fn up(options: &CephUpOptions) -> Result<(), Failure> {
    let CephUpOptions { directory, osds, replicas, disk, db } = options;
    let begin = Instant::now();
    let pool = PoolOptions { replicas: *replicas, ..PoolOptions::default() };
    let mut cluster =
        ClusterOptions { pool, disk_server: disk_server()?, ..ClusterOptions::with_osds(*osds) };
    for osd in &mut cluster.osds {
        (osd.disk, osd.cache_bytes) = (*disk, db.unwrap_or(0));
    }
    let cancel = cancel_on_signals();
    let up = Cluster::up_unless(&directory.dir, &cluster, &|| cancel.load(Ordering::Relaxed))?;
    let conf = up.conf().display().to_string();
    say(&format!("{osds} OSDs, clean after {:.1} s", begin.elapsed().as_secs_f64()));
    print(&format!("rbd:{POOL}?conf={conf}\n"))
}

/// Returns when the process is to end.
fn wait_for_signal() {
    let cancel = cancel_on_signals();
    while !cancel.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
}

/// How busy the disks with a speed are now, in lines of the same table.
fn disks(cluster: &Cluster) -> Result<String, Failure> {
    let counters = || -> Result<Vec<_>, CephError> {
        let with_disk = cluster.osds()?.into_iter();
        let counted = with_disk.map(|osd| match cluster.disk_counters(osd) {
            Err(CephError::NoDisk { .. }) => Ok(None),
            counters => counters.map(|counters| Some((osd, counters))),
        });
        counted.filter_map(Result::transpose).collect()
    };
    let before = counters()?;
    if before.is_empty() {
        return Ok(String::new());
    }
    std::thread::sleep(BUSY_WINDOW);
    let mut text = String::new();
    for ((osd, before), (_, after)) in before.into_iter().zip(counters()?) {
        let share = (after.busy_ns - before.busy_ns) as f64
            / (after.elapsed_ns - before.elapsed_ns).max(1) as f64;
        let requests = after.requests - before.requests;
        let _ = writeln!(
            text,
            "disk.{osd}  {:.0} % busy in a second, {requests} requests, {}",
            100.0 * share,
            format_bytes(after.bytes - before.bytes)
        );
    }
    Ok(text)
}

/// The cluster in a few lines.
fn table(status: &Status) -> String {
    let mut text = String::new();
    let health = match status.health {
        Health::Ok => "ok",
        Health::Warning => "warning",
        Health::Error => "error",
    };
    // Writing to a string does not fail.
    let _ = writeln!(text, "health  {health}");
    for check in &status.checks {
        let _ = writeln!(text, "        {}: {}", check.code, printable(&check.message));
    }
    let groups = status.placement_groups.iter().map(|(state, count)| format!("{count} {state}"));
    let _ = writeln!(text, "groups  {}", groups.collect::<Vec<_>>().join(", "));
    for osd in &status.osds {
        let state = match (osd.up, osd.is_in) {
            (true, true) => "up",
            (true, false) => "up, out",
            (false, true) => "down",
            (false, false) => "down, out",
        };
        let (used, total) = (format_bytes(osd.used_bytes), format_bytes(osd.total_bytes));
        let (id, node, groups) = (osd.id, printable(&osd.node), osd.placement_groups);
        let _ =
            writeln!(text, "osd.{id}   {state}, {node}, {used} of {total} used, {groups} groups");
    }
    for pool in &status.pools {
        let free = format_bytes(pool.available_bytes);
        let stored = format_bytes(pool.stored_bytes);
        let (name, size, least) = (printable(&pool.name), pool.replicas, pool.min_replicas);
        let _ = writeln!(
            text,
            "pool    {name}: size {size}, min_size {least}, {stored} stored, {free} free"
        );
    }
    text
}
