//! One trial of a cell, from the state of its disks to its record.

use std::time::Instant;

use stormeter_datastore::DiskReset;
use stormeter_results::{Attempt, Phase, TrialOutcome, TrialRecord};
use stormeter_study::{Cell, Reset, WorkloadKind, trial_seed};
use stormeter_trial::FileOperation;

use crate::error::RunError;
use crate::executor::{PrepareOrder, PreparedStore, TrialOrder, TrialTarget};
use crate::journal::{event, outcome_of, unix_ms};
use crate::progress::{Place, Progress, TrialStart};
use crate::study::equal_load::{at_rate, draw_of};
use crate::study::reset::run_command;
use crate::study::rules::Rules;
use crate::study::run::StudyRun;
use crate::study::setting::{cell_label, disk_spec, filling, loaded};
use crate::study::steps::On;
use crate::threads::TrialEnd;

impl StudyRun<'_> {
    /// A timed trial of a cell with the steps of the study, and everything whole again after it.
    fn disturbed(
        &mut self,
        order: &TrialOrder,
        cell: &Cell,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let url = self.urls[self.store_of[cell.datastore]].clone();
        let on = On { datastore: &self.plan.datastores[cell.datastore].name, url: &url };
        let mut steps = std::mem::take(&mut self.steps);
        let cancel = self.cancel;
        let (end, done, whole) = steps.during(order.timing, on, (cancel, progress), |progress| {
            self.executor.trial(order, cancel, progress)
        });
        self.restored = whole;
        self.steps = steps;
        let mut end = end?;
        end.sample.disturbances = done;
        Ok(end)
    }

    /// Writes all disks, or finds them written by the killed run.
    pub(crate) fn prepare(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        let takes_snapshot = self.plan.design.reset == Reset::Snapshot;
        let order = |store| self.prepare_order(store, None);
        let orders: Vec<PrepareOrder> = (0..self.urls.len()).map(order).collect();
        let all = self.executor.prepare_all(&orders, self.plan.seed, self.cancel, progress)?;
        for (store, PreparedStore { mut reused, notes }) in all.into_iter().enumerate() {
            self.note_once(store, notes, progress)?;
            if reused && takes_snapshot {
                // Trials have written to them since the snapshot of the killed run.
                reused = self.rewrite(store, DiskReset::Recreate, progress)?;
            }
            if reused {
                let url = &self.urls[store];
                progress.note(&format!("{url}: the disks of the interrupted run are used again"));
                // A run killed while it wrote a file anew left less than the others need.
                self.spoilt[store] = self.writes_anew();
            }
        }
        Ok(())
    }

    fn prepare_order(&self, store: usize, reset: Option<DiskReset>) -> PrepareOrder {
        PrepareOrder { store, filling: filling(self.plan, store), reset }
    }

    /// Takes the snapshot that every trial begins with, where the study asks for one.
    pub(crate) fn snapshot(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        if self.plan.design.reset != Reset::Snapshot {
            return Ok(());
        }
        self.steps.snapshot()?;
        progress.note("a snapshot of the storage was taken; every trial begins with it");
        Ok(self.file.append_event(&event("a snapshot of the storage was taken".into()))?)
    }

    fn writes_anew(&self) -> bool {
        let anew = |kind: &WorkloadKind| matches!(kind, WorkloadKind::File(test) if test.operation == FileOperation::Write);
        self.plan.workloads.iter().any(|workload| anew(&workload.kind))
    }

    /// Brings the disks of a store back; gives whether those that were there are used again.
    fn rewrite(
        &mut self,
        store: usize,
        reset: DiskReset,
        progress: &mut dyn Progress,
    ) -> Result<bool, RunError> {
        let order = self.prepare_order(store, Some(reset));
        let prepared = self.executor.prepare(&order, self.cancel, progress)?;
        self.note_once(store, prepared.notes, progress)?;
        Ok(prepared.reused)
    }

    /// Says what is worth knowing about a datastore's disks, once however often they are reset.
    fn note_once(
        &mut self,
        store: usize,
        notes: Vec<String>,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        for note in notes {
            let text = format!("{}: {note}", self.urls[store]);
            if !self.file.events()?.iter().any(|event| event.what == text) {
                progress.note(&text);
                self.file.append_event(&event(text))?;
            }
        }
        Ok(())
    }

    /// Brings the disks of the cell's datastore to the state from which its trial starts.
    fn reset(&mut self, cell: &Cell, progress: &mut dyn Progress) -> Result<(), RunError> {
        let store = self.store_of[cell.datastore];
        let named = &self.plan.datastores[cell.datastore];
        let reset = match &self.plan.design.reset {
            Reset::Recreate => Some(DiskReset::Recreate),
            Reset::Discard => Some(DiskReset::Discard),
            Reset::None | Reset::Command(_) if self.spoilt[store] => Some(DiskReset::Recreate),
            Reset::None | Reset::Command(_) | Reset::Snapshot => None,
        };
        if let Some(reset) = reset {
            progress.resetting(&named.name);
            self.rewrite(store, reset, progress)?;
            self.spoilt[store] = false;
        }
        if self.plan.design.reset == Reset::Snapshot {
            progress.resetting(&named.name);
            self.steps.roll_back()?;
            // That was all storage, not this datastore's alone.
            self.spoilt.fill(false);
            self.executor.rolled_back();
        }
        if let Reset::Command(command) = &self.plan.design.reset {
            progress.resetting(&named.name);
            run_command(command, &named.name, &self.urls[store], self.cancel)?;
        }
        Ok(())
    }

    /// One trial, stored whatever came of it. An interrupted one is not kept.
    pub(crate) fn trial(
        &mut self,
        phase: Phase,
        (block, attempt): (u32, Attempt),
        position: u32,
        number: usize,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let cell = self.cells[number];
        let plan = self.plan;
        let label = cell_label(plan, &cell);
        let of = u64::from(plan.design.blocks.most()) * self.cells.len() as u64;
        let place = Place {
            cell: &label,
            number: (self.schedule.trials() + 1).min(of),
            of,
            failed: self.schedule.failed(),
            rest_ns: self.schedule.rest_ns(plan),
        };
        let workload = &plan.workloads[cell.workload];
        let timed = matches!(workload.kind, WorkloadKind::Io(_));
        let length_ns = timed.then_some(plan.timing.ramp_ns + plan.timing.duration_ns);
        let (started_unix_ms, began) = (unix_ms(), Instant::now());
        let draw = draw_of(phase, block, attempt);
        let (is_main, in_study) = (phase == Phase::Main, matches!(self.rules, Rules::Study));
        let seed = trial_seed(plan.seed, draw);
        let end = self.reset(&cell, progress).and_then(|()| {
            progress.trial(&TrialStart {
                datastore: &plan.datastores[cell.datastore].name,
                block: is_main.then_some(block),
                purpose: if is_main { "trial" } else { "capacity" },
                length_ns,
                place: (is_main && in_study).then(|| place.clone()),
            });
            self.drive(number, draw, progress)
        });
        let restored = std::mem::replace(&mut self.restored, Ok(()));
        if self.is_cancelled() {
            return restored;
        }
        let end = match end {
            Ok(end) => Ok(end),
            Err(error) => Err(error.of_trial()?),
        };
        let ended = match &end {
            Ok(end) => end.failure().map_or(Ok(&end.sample), Err),
            Err(failure) => Err(failure.clone()),
        };
        let ended = ended.as_ref().copied();
        if is_main && in_study {
            progress.study_trial_ended(&place, ended);
        } else {
            let url = &plan.datastores[cell.datastore].url;
            progress.trial_ended(url, ended.map(|sample| sample.iops()));
        }
        let stored = match end {
            Ok(end) => {
                let when = (started_unix_ms, began);
                let of = (number, Some(cell.datastore));
                self.record(phase, (block, position, attempt), of, when, seed, end)
            }
            Err(failure) => self.store(
                TrialRecord {
                    id: 0,
                    block,
                    position,
                    datastore: Some(cell.datastore),
                    cell: Some(number),
                    phase,
                    started_unix_ms,
                    elapsed_ns: began.elapsed().as_nanos() as u64,
                    seed,
                    outcome: TrialOutcome::Failed { failure, sample: None },
                    incidents: Vec::new(),
                    monitor: Vec::new(),
                    components: Vec::new(),
                    attempt,
                },
                &[],
            ),
        };
        stored.and(restored)
    }

    /// The load or the fixed work of a cell; `draw` is the number from which its operations are drawn.
    fn drive(
        &mut self,
        number: usize,
        draw: u32,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let plan = self.plan;
        let cell = self.cells[number];
        let store = self.store_of[cell.datastore];
        let kind = &plan.workloads[cell.workload].kind;
        let work = match kind {
            WorkloadKind::Io(io) => WorkloadKind::Io(match self.rates[number] {
                Some(rate_per_s) => at_rate(loaded(io, &cell), rate_per_s, cell.vms),
                None => loaded(io, &cell),
            }),
            fixed_work => fixed_work.clone(),
        };
        let is_timed = matches!(kind, WorkloadKind::Io(_));
        let order = TrialOrder {
            target: TrialTarget::Store(store),
            work,
            outstanding: cell.outstanding,
            listener: None,
            vms: cell.vms,
            disk_bytes: plan.disk_bytes_of(cell.workload),
            threads: plan.threads,
            first_cpu: 0,
            timing: plan.timing,
            seed: trial_seed(plan.seed, draw),
            start: plan.start_of(draw, number),
            content_seed: plan.content_seed_of(draw, number),
            disturbed: is_timed && self.steps.disturb(),
        };
        if is_timed {
            self.disturbed(&order, &cell, progress)
        } else {
            self.fixed_work(&order, store, progress)
        }
    }

    fn fixed_work(
        &mut self,
        order: &TrialOrder,
        store: usize,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let fresh = order.fixed_work().wants_fresh_files();
        if fresh {
            // Until it is written whole, others find less than they need.
            self.spoilt[store] = true;
        }
        let end = self.executor.trial(order, self.cancel, progress)?;
        if fresh && end.failure().is_none() {
            self.spoilt[store] = order.disk_bytes < disk_spec(self.plan).size_bytes;
        }
        Ok(end)
    }

    pub(super) fn record(
        &mut self,
        phase: Phase,
        (block, position, attempt): (u32, u32, Attempt),
        (cell, datastore): (usize, Option<usize>),
        (started_unix_ms, began): (u64, Instant),
        seed: u64,
        mut end: TrialEnd,
    ) -> Result<(), RunError> {
        let incidents = std::mem::take(&mut end.incidents);
        let monitor = std::mem::take(&mut end.monitor);
        let hosts = std::mem::take(&mut end.hosts);
        self.store(
            TrialRecord {
                id: 0,
                block,
                position,
                datastore,
                cell: Some(cell),
                phase,
                started_unix_ms,
                elapsed_ns: began.elapsed().as_nanos() as u64,
                seed,
                outcome: outcome_of(end),
                incidents,
                monitor,
                components: Vec::new(),
                attempt,
            },
            &hosts,
        )
    }
}
