//! Measures the ceilings of the paths to a study's network datastores, through null servers.
//!
//! A datastore for which the study names a ceiling uses that one, which is closer. Other hosts have no null servers:
//! there only the load generator's own ceiling is known.

use stormeter_datastore::DatastoreUrl;
use stormeter_results::{EventKind, Phase};
use stormeter_study::{Timing, WorkloadKind, trial_seed, trial_start};

use crate::ceiling::{closed, is_sound_through_server, load_of, until_sound};
use crate::error::RunError;
use crate::executor::{TrialOrder, TrialTarget};
use crate::progress::Progress;
use crate::study::clock::Began;
use crate::study::run::StudyRun;
use crate::study::setting::loaded;
use crate::study::turn::Turn;
use crate::ways::{NULL_WAY_NS, Way, disk_bytes, ways};

impl StudyRun<'_> {
    /// Measures all of them, if servers can be started. A failure is reported, and that ceiling left out.
    pub(crate) fn null_way_ceilings(
        &mut self,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        if self.null_servers.is_none() || !self.plan.hosts.is_empty() {
            return Ok(());
        }
        let own = self.plan.datastores.iter().enumerate().filter(|(_, it)| it.ceiling.is_none());
        let urls = own.filter_map(|(datastore, _)| {
            let url = self.urls.get(*self.store_of.get(datastore)?)?;
            Some((datastore, DatastoreUrl::parse(url).ok()?))
        });
        for (way, datastores) in ways(urls.collect::<Vec<_>>().into_iter()) {
            for workload in 0..self.plan.workloads.len() {
                match self.null_way(&way, &datastores, workload, progress) {
                    Err(RunError::Interrupted) => return Err(RunError::Interrupted),
                    Err(error) if !self.is_cancelled() => {
                        let said = error.to_string();
                        self.book.happened(EventKind::CeilingUnknown { said }, progress)?;
                    }
                    Err(_) => return Err(RunError::Interrupted),
                    Ok(()) => {}
                }
            }
        }
        if let Some(servers) = &mut self.null_servers {
            servers.stop();
        }
        Ok(())
    }

    fn null_way(
        &mut self,
        way: &Way,
        datastores: &[usize],
        workload: usize,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let plan = self.plan;
        let WorkloadKind::Io(io) = &plan.workloads[workload].kind else { return Ok(()) };
        // For each datastore its cell with the highest load, which is the same for all of them.
        let cells = datastores.iter().filter_map(|&datastore| {
            let own = (0..self.book.cells.len()).filter(|&cell| {
                let cell = &self.book.cells[cell];
                cell.workload == workload && cell.datastore == datastore
            });
            own.max_by_key(|&cell| {
                load_of(&loaded(io, &self.book.cells[cell]), self.book.cells[cell].vms)
            })
            .map(|cell| (datastore, cell))
        });
        let cells: Vec<(usize, usize)> = cells.collect();
        let Some(&(_, first)) = cells.first() else { return Ok(()) };
        let Some(servers) = &mut self.null_servers else { return Ok(()) };
        let started = servers.start(way.protocol());
        let server = started.map_err(|error| RunError::NullServer(error.to_string()))?;
        let url = way.through(&server)?;
        let io = closed(&loaded(io, &self.book.cells[first]), u32::MAX);
        let duration_ns = plan.timing.duration_ns.min(NULL_WAY_NS);
        let seed = trial_seed(plan.seed, u32::MAX);
        let order = TrialOrder {
            target: TrialTarget::NullServer(url.to_string()),
            outstanding: None,
            listener: None,
            first_vm: 0,
            vms: self.book.cells[first].vms,
            disk_bytes: disk_bytes(&io, plan.disk_bytes_of(workload)),
            work: WorkloadKind::Io(io),
            threads: plan.threads,
            first_cpu: 0,
            timing: Timing { ramp_ns: duration_ns / 5, duration_ns, interval_ns: duration_ns },
            seed,
            content_seed: seed,
            start: trial_start(plan.seed, u64::from(u32::MAX)),
            disturbed: false,
            watched: false,
        };
        until_sound(|attempt| {
            let began = Began::now();
            let end = self.executor.trial(&order, self.cancel, progress)?;
            if self.is_cancelled() {
                return Err(RunError::Interrupted);
            }
            if self.book.is_comparison() {
                progress.trial_ended(None, Ok(&end.sample));
            }
            for &(datastore, cell) in &cells {
                let turn = Turn::before(Phase::Ceiling, attempt, cell);
                self.book.record(turn, Some(datastore), began, Ok(end.clone()))?;
            }
            Ok(is_sound_through_server(&end, attempt))
        })
    }
}
