//! Measures the ceilings of what lies in front of the storage: law 8.
//!
//! That of the load generator alone, on nothing; and, if the study names one, that of a datastore with the same path as
//! another and without its limits. Emulated processors, a network or a hypervisor may limit the path, and then a
//! comparison would compare these.

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

/// The longest measurement of the generator's ceiling.
const GENERATOR_NS: u64 = 500_000_000;
/// The longest measurement of a path's ceiling, which has caches and connections to warm up.
const WAY_NS: u64 = 3_000_000_000;

/// The subject of a ceiling.
#[derive(Clone, Copy)]
enum Of {
    /// The load generator.
    Generator,
    /// The path to a datastore of the plan, measured on a store.
    Way { datastore: usize, store: usize },
}

impl StudyRun<'_> {
    /// Measures the generator's ceiling for each workload, at its highest load.
    pub(crate) fn generator_ceilings(
        &mut self,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        self.ceilings(Of::Generator, progress)
    }

    /// Measures the ceilings of the paths to datastores that name one. Datastores that share a ceiling share its
    /// measurement, which is recorded for the first.
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
            // A trial of fixed work waits for its storage, so it has no ceiling.
            let WorkloadKind::Io(io) = &spec.kind else { continue };
            let of_workload = |cell: &usize| self.book.cells[*cell].workload == workload;
            let is_of = |cell: &usize| {
                of_workload(cell)
                    && datastore.is_none_or(|it| self.book.cells[*cell].datastore == it)
            };
            // At the highest load, wherever it is among the levels.
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
            // An open loop would only show its own rate.
            let io = if store.is_some() { closed(&io, u32::MAX) } else { io };
            let order = TrialOrder {
                target: store.map_or(TrialTarget::Nothing, TrialTarget::Store),
                work: WorkloadKind::Io(io),
                outstanding: None,
                listener: None,
                first_vm: 0,
                vms: self.book.cells[cell].vms,
                disk_bytes: plan.disk_bytes_of(workload),
                threads: plan.threads,
                first_cpu: 0,
                timing,
                seed,
                start: trial_start(plan.seed, u64::from(u32::MAX)),
                content_seed: seed,
                disturbed: false,
                watched: false,
            };
            // Also when a study is resumed: the machine may have changed.
            until_sound(|attempt| {
                if let Some(store) = store {
                    progress.trial(&TrialStart {
                        datastore: &self.urls[store],
                        block: None,
                        purpose: "ceiling",
                        cell: None,
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
