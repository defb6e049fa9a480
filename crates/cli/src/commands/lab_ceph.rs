//! `stormeter lab ceph`: a small Ceph cluster on this machine.

use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::Instant;

use stormeter_ceph::{Cluster, ClusterOptions, Health, POOL, PoolOptions, Status};
use stormeter_report::printable;
use stormeter_units::format_bytes;

use super::lab_start::say;
use crate::arguments_ceph::{CephCommand, CephDirectory, CephOptions, CephUpOptions};
use crate::exit::{Exit, Failure};
use crate::output::{print, print_tables};
use crate::signals::cancel_on_signals;

pub(crate) fn run(options: &CephOptions) -> Result<Exit, Failure> {
    match &options.command {
        CephCommand::Up(options) => up(options)?,
        CephCommand::Status(options) => {
            let status = Cluster::open(&options.directory.dir)?.status()?;
            if options.json {
                let json = serde_json::to_value(&status).unwrap_or_default();
                print(&format!("{json:#}\n"))?;
            } else {
                print_tables(&table(&status))?;
            }
        }
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
    let CephUpOptions { directory, osds, replicas } = options;
    let begin = Instant::now();
    let pool = PoolOptions { replicas: *replicas, ..PoolOptions::default() };
    let cluster = ClusterOptions { pool, ..ClusterOptions::with_osds(*osds) };
    let cancel = cancel_on_signals();
    let up = Cluster::up_unless(&directory.dir, &cluster, &|| cancel.load(Ordering::Relaxed))?;
    let conf = up.conf().display().to_string();
    say(&format!("{osds} OSDs, clean after {:.1} s", begin.elapsed().as_secs_f64()));
    print(&format!("rbd:{POOL}?conf={conf}\n"))
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
