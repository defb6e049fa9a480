//! What lies before the storage, measured by itself: law 8.
//!
//! Of the load generator alone, on nothing; and, where the study names one, of a datastore that is reached in
//! the same way as another and lacks what limits it. Emulated processors, a network or a hypervisor may be the
//! limit of that one, and then they are what a comparison compares.

use stormeter_results::Phase;
use stormeter_study::{Timing, WorkloadKind, trial_seed, trial_start};

use crate::ceiling::{closed, is_sound, load_of, until_sound};
use crate::error::RunError;
use crate::executor::{TrialOrder, TrialTarget};
use crate::progress::{Progress, TrialStart};
use crate::study::clock::Began;
use crate::study::run::StudyRun;
use crate::study::setting::loaded;
use crate::study::turn::Turn;

/// The generator's ceiling is measured for at most this long.
const GENERATOR_NS: u64 = 500_000_000;
/// A way's for so long: its caches and connections get going.
const WAY_NS: u64 = 3_000_000_000;

/// Whose ceiling.
#[derive(Clone, Copy)]
enum Of {
    /// The load generator's.
    Generator,
    /// The way's to a datastore of the plan, measured on a store.
    Way { datastore: usize, store: usize },
}

impl StudyRun<'_> {
    /// What the generator can do with each workload, at its highest load.
    pub(crate) fn generator_ceilings(
        &mut self,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        self.ceilings(Of::Generator, progress)
    }

    /// What the ways to the datastores can do that have a ceiling. Those that share one share what was
    /// measured: it is of the first.
    pub(crate) fn way_ceilings(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        let plan = self.plan;
        for (place, url) in plan.ceilings().into_iter().enumerate() {
            let of = plan.datastores.iter().position(|of| of.ceiling.as_deref() == Some(url));
            let store = self.store_of.get(plan.datastores.len() + place);
            let (Some(datastore), Some(&store)) = (of, store) else { continue };
            self.ceilings(Of::Way { datastore, store }, progress)?;
        }
        Ok(())
    }

    fn ceilings(&mut self, of: Of, progress: &mut dyn Progress) -> Result<(), RunError> {
        let plan = self.plan;
        let (datastore, store, longest_ns) = match of {
            Of::Generator => (None, None, GENERATOR_NS),
            Of::Way { datastore, store } => (Some(datastore), Some(store), WAY_NS),
        };
        for (workload, spec) in plan.workloads.iter().enumerate() {
            // A trial of fixed work waits for its storage; there is nothing to be measured before it.
            let WorkloadKind::Io(io) = &spec.kind else { continue };
            let of_workload = |cell: &usize| self.book.cells[*cell].workload == workload;
            let is_of = |cell: &usize| {
                of_workload(cell)
                    && datastore.is_none_or(|it| self.book.cells[*cell].datastore == it)
            };
            // At the highest load, wherever that is written among the levels.
            let load = |cell: &usize| {
                load_of(&loaded(io, &self.book.cells[*cell]), self.book.cells[*cell].vms)
            };
            let Some(cell) = (0..self.book.cells.len()).filter(is_of).max_by_key(load) else {
                continue;
            };
            let duration_ns = plan.timing.duration_ns.min(longest_ns);
            let timing = Timing { ramp_ns: duration_ns / 5, duration_ns, interval_ns: duration_ns };
            let seed = trial_seed(plan.seed, u32::MAX);
            let io = loaded(io, &self.book.cells[cell]);
            // Its own rate would be all that is measured of an open loop.
            let io = if store.is_some() { closed(&io, u32::MAX) } else { io };
            let order = TrialOrder {
                target: store.map_or(TrialTarget::Nothing, TrialTarget::Store),
                work: WorkloadKind::Io(io),
                outstanding: None,
                listener: None,
                vms: self.book.cells[cell].vms,
                disk_bytes: plan.disk_bytes_of(workload),
                threads: plan.threads,
                first_cpu: 0,
                timing,
                seed,
                start: trial_start(plan.seed, u64::from(u32::MAX)),
                content_seed: seed,
                disturbed: false,
            };
            // Also when a study goes on: the machine may be another one by then.
            until_sound(|attempt| {
                if let Some(store) = store {
                    progress.trial(&TrialStart {
                        datastore: &self.urls[store],
                        block: None,
                        purpose: "ceiling",
                        length_ns: Some(timing.ramp_ns + timing.duration_ns),
                        place: None,
                    });
                }
                let began = Began::now();
                let end = self.executor.trial(&order, self.cancel, progress)?;
                if self.is_cancelled() {
                    return Err(RunError::Interrupted);
                }
                if self.book.is_comparison() {
                    progress.trial_ended(None, Ok(&end.sample));
                }
                let sound = is_sound(&end);
                let turn = Turn::before(Phase::Ceiling, attempt, cell);
                self.book.record(turn, datastore, began, Ok(end))?;
                Ok(sound)
            })?;
        }
        Ok(())
    }
}
