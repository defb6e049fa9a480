//! When a cluster is clean.
//!
//! The monitor counts placement groups by what the manager last told it, and the manager by what the
//! OSDs last told it. "All clean" may therefore be from before the event that the caller waits for.
//! So each OSD is asked, at its admin socket, to have the newest map and to report now, and then the
//! counts are waited for until they contain these reports. Ceph's own tests do this too
//! (`flush_pg_stats` in qa/standalone/ceph-helpers.sh).

use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::CephError;
use crate::admin_socket::{ask, command};
use crate::cluster::Cluster;
use crate::command::ceph_numbers;
use crate::daemon::Daemon;
use crate::state::State;

const LOOK: Duration = Duration::from_millis(50);

/// What the monitor counts. Reading it costs next to nothing, for a chart over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The OSDs that take part.
    pub osds_up: u64,
    /// The OSDs that data is placed on.
    pub osds_in: u64,
    /// The version of the map of OSDs.
    pub map_epoch: u64,
    /// Placement groups.
    pub placement_groups: u64,
    /// Those that serve I/O and have all their copies.
    pub clean: u64,
    /// Those that serve I/O.
    pub active: u64,
    /// Copies that are missing.
    pub degraded: u64,
    /// Copies that are not yet where they belong.
    pub misplaced: u64,
}

impl Cluster {
    /// What the monitor counts now.
    ///
    /// # Errors
    /// The monitor does not answer at its admin socket.
    pub fn counts(&self) -> Result<Counts, CephError> {
        let answer = ask(&self.directory, Daemon::Monitor, &command("perf dump"))?;
        let cluster = &answer["cluster"];
        let count = |name: &str| cluster[name].as_u64().unwrap_or_default();
        Ok(Counts {
            osds_up: count("num_osd_up"),
            osds_in: count("num_osd_in"),
            map_epoch: count("osd_epoch"),
            placement_groups: count("num_pg"),
            clean: count("num_pg_active_clean"),
            active: count("num_pg_active"),
            degraded: count("num_object_degraded"),
            misplaced: count("num_object_misplaced"),
        })
    }

    /// Waits until all OSDs that were not ended on purpose are up, and all placement groups are
    /// active and clean.
    ///
    /// # Errors
    /// Not in time, or a daemon has died.
    pub fn wait_clean(&self, patience: Duration) -> Result<(), CephError> {
        self.wait_clean_unless(patience, &|| false)
    }

    pub(crate) fn wait_clean_unless(
        &self,
        patience: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), CephError> {
        let end = Instant::now() + patience;
        let mut seen = "the monitor does not answer".to_owned();
        while Instant::now() < end {
            if cancelled() {
                return Err(CephError::Interrupted);
            }
            let state = State::read(&self.directory)?;
            self.check_alive(&state)?;
            let wanted: Vec<u32> =
                state.osds.iter().filter(|osd| !osd.ended).map(|osd| osd.id).collect();
            if let Ok(counts) = self.counts() {
                let Counts { osds_up, placement_groups, clean, .. } = counts;
                seen = format!(
                    "{osds_up} of {} OSDs are up, {clean} of {placement_groups} placement groups \
                     are clean",
                    wanted.len()
                );
                // An OSD that is asked may be about to end: then the next turn decides.
                if is_clean(&counts, &wanted)
                    && self.are_reported(&wanted, counts.map_epoch, end).unwrap_or(false)
                    && self.counts().is_ok_and(|counts| is_clean(&counts, &wanted))
                {
                    return Ok(());
                }
            }
            thread::sleep(LOOK);
        }
        Err(CephError::NotClean { waited_s: patience.as_secs(), what: seen })
    }

    /// Has every OSD report, and waits until the monitor knows.
    fn are_reported(&self, osds: &[u32], epoch: u64, end: Instant) -> Result<bool, CephError> {
        let mut reports = Vec::new();
        for id in osds {
            let daemon = Daemon::Osd(*id);
            let status = ask(&self.directory, daemon, &command("status"))?;
            if status["newest_map"].as_u64() < Some(epoch) || status["state"] != "active" {
                return Ok(false);
            }
            let report = ask(&self.directory, daemon, &command("flush_pg_stats"))?;
            reports.push(report.as_u64().unwrap_or_default());
        }
        let lines: Vec<String> =
            osds.iter().map(|id| format!("osd last-stat-seq osd.{id}")).collect();
        while Instant::now() < end {
            let known = ceph_numbers(&self.directory, &lines)?;
            let is_known = |(known, report): (&u64, &u64)| known >= report;
            if known.len() == reports.len() && known.iter().zip(&reports).all(is_known) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_clean(counts: &Counts, osds: &[u32]) -> bool {
    counts.osds_up == osds.len() as u64
        && counts.placement_groups > 0
        && counts.clean == counts.placement_groups
}
