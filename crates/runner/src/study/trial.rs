//! One trial of a cell, from the state of its disks to its record.

use std::time::Duration;

use stormeter_datastore::DiskReset;
use stormeter_results::{DatastoreNote, EventKind, Phase};
use stormeter_study::{Cell, Reset, Timing, WorkloadKind};
use stormeter_trial::{FileOperation, TrialNote};

use crate::error::RunError;
use crate::executor::{PrepareOrder, PreparedStore, TrialOrder, TrialTarget};
use crate::progress::{Progress, TrialStart};
use crate::study::clock::Began;
use crate::study::equal_load::at_rate;
use crate::study::guest_networks::add_networks;
use crate::study::order::trial_order;
use crate::study::reset::run_command;
use crate::study::run::StudyRun;
use crate::study::setting::{disk_spec, filling};
use crate::study::start_reporter::StartReporter;
use crate::study::steps::On;
use crate::study::turn::Turn;
use crate::trial_end::TrialEnd;
use crate::watched::WatchSpan;

impl StudyRun<'_> {
    /// A timed trial of a cell with the steps of the study, which are undone after it.
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
                // The disks were written to since the snapshot of the killed run.
                reused = self.rewrite(store, DiskReset::Recreate, progress)?;
            }
            if reused {
                let url = &self.urls[store];
                progress.note(&format!("{url}: the disks of the interrupted run are used again"));
                // A run that was killed while it rewrote a file left less than the other cells need.
                // One that was killed while it deployed clones left those.
                self.spoilt[store] = self.rewrites_files() || self.clones();
            }
        }
        Ok(())
    }

    fn prepare_order(&self, store: usize, reset: Option<DiskReset>) -> PrepareOrder {
        let templates = self.plan.disks().templates;
        PrepareOrder { store, filling: filling(self.plan, store), templates, reset }
    }

    /// Takes the snapshot from which every trial starts, if the study requests one.
    pub(crate) fn snapshot(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        if self.plan.design.reset != Reset::Snapshot {
            return Ok(());
        }
        self.steps.snapshot()?;
        self.book.happened(EventKind::SnapshotTaken, progress)
    }

    fn clones(&self) -> bool {
        self.plan.workloads.iter().any(|workload| workload.kind.clones())
    }

    /// Whether the disks must be written again before a trial of this cell: they are not whole, or they are clones of a
    /// template and the trial needs others.
    fn is_spoilt(&self, cell: &Cell) -> bool {
        let store = self.store_of[cell.datastore];
        let clones = self.plan.workloads[cell.workload].kind.clones();
        let is_other = |vms| !(clones && vms == cell.vms);
        self.spoilt[store] || self.cloned[store].is_some_and(is_other)
    }

    fn rewrites_files(&self) -> bool {
        let rewrites = |kind: &WorkloadKind| matches!(kind, WorkloadKind::File(test) if test.operation == FileOperation::Write);
        self.plan.workloads.iter().any(|workload| rewrites(&workload.kind))
    }

    /// Resets the disks of a store; returns whether the existing ones are reused.
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

    /// Records notes about a datastore's disks, each once, however often they are reset.
    fn note_once(
        &mut self,
        store: usize,
        notes: Vec<DatastoreNote>,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        for disks in notes {
            let kind = EventKind::Prepared { url: self.urls[store].clone(), disks };
            if !self.book.file.events()?.iter().any(|event| event.kind == kind) {
                self.book.happened(kind, progress)?;
            }
        }
        Ok(())
    }

    /// Resets the disks of the cell's datastore to the state from which its trial starts.
    fn reset(&mut self, cell: &Cell, progress: &mut dyn Progress) -> Result<(), RunError> {
        let store = self.store_of[cell.datastore];
        let named = &self.plan.datastores[cell.datastore];
        let reset = match &self.plan.design.reset {
            Reset::Recreate => Some(DiskReset::Recreate),
            Reset::Discard => Some(DiskReset::Discard),
            Reset::None | Reset::Command(_) if self.is_spoilt(cell) => Some(DiskReset::Recreate),
            Reset::None | Reset::Command(_) | Reset::Snapshot => None,
        };
        if let Some(reset) = reset {
            progress.resetting(&named.name);
            self.rewrite(store, reset, progress)?;
            self.spoilt[store] = false;
            self.cloned[store] = None;
        }
        if self.plan.design.reset == Reset::Snapshot {
            progress.resetting(&named.name);
            self.steps.roll_back()?;
            // That was all storage, not only this datastore's.
            self.spoilt.fill(false);
            self.executor.rolled_back();
        }
        if let Reset::Command(command) = &self.plan.design.reset {
            progress.resetting(&named.name);
            run_command(command, &named.name, &self.urls[store], self.cancel)?;
        }
        Ok(())
    }

    /// Runs one trial and stores it, whatever its outcome. An interrupted one is not kept.
    pub(crate) fn trial(
        &mut self,
        turn: Turn,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let plan = self.plan;
        let cell = self.book.cells[turn.cell];
        let label = self.book.label(turn.cell);
        let timed = plan.workloads[cell.workload].kind.is_timed();
        let length_ns = timed.then_some(plan.timing.ramp_ns + plan.timing.duration_ns);
        let is_main = turn.phase == Phase::Main;
        let place = self.book.place(turn.phase, &label);
        let began = Began::now();
        let end = self.reset(&cell, progress).and_then(|()| {
            progress.trial(&TrialStart {
                datastore: &plan.datastores[cell.datastore].name,
                block: is_main.then_some(turn.block),
                purpose: if is_main { "trial" } else { "capacity" },
                cell: Some(turn.cell),
                length_ns,
                place,
            });
            self.drive(&turn, progress)
        });
        let restored = std::mem::replace(&mut self.restored, Ok(()));
        if self.is_cancelled() {
            return restored;
        }
        self.book.ended(turn, began, end, progress).and(restored)
    }

    /// The request for the trial of a turn.
    pub(crate) fn order(&self, turn: &Turn) -> TrialOrder {
        let cell = &self.book.cells[turn.cell];
        let mut order = trial_order(self.plan, cell, turn.cell, turn.draw());
        order.target = TrialTarget::Store(self.store_of[cell.datastore]);
        if let (WorkloadKind::Io(io), Some(rate_per_s)) = (&mut order.work, self.rates[turn.cell]) {
            *io = at_rate(io.clone(), rate_per_s, cell.vms);
        }
        order.disturbed = order.work.is_timed() && self.steps.disturb();
        order
    }

    /// Runs the load or the fixed work of a cell.
    fn drive(&mut self, turn: &Turn, progress: &mut dyn Progress) -> Result<TrialEnd, RunError> {
        let cell = self.book.cells[turn.cell];
        let order = self.order(turn);
        let Some(mut guests) = self.guests.take() else {
            return self.drive_cell(&order, &cell, progress);
        };
        let Timing { ramp_ns, duration_ns, interval_ns } = order.timing;
        let is_timed = order.work.is_timed();
        let span = WatchSpan {
            interval: Duration::from_nanos(interval_ns),
            length: is_timed.then(|| Duration::from_nanos(ramp_ns.saturating_add(duration_ns))),
        };
        let mut started = |at| guests.start(at, span);
        let end = {
            let mut reporter = StartReporter { inner: progress, started: &mut started };
            self.drive_cell(&order, &cell, &mut reporter)
        };
        let seen = guests.stop();
        self.guests = Some(guests);
        let mut end = end?;
        end.guests = seen.guests;
        end.notes.extend(seen.note.map(TrialNote::from));
        add_networks(&mut end.guests, &self.plan.hosts, &end.hosts);
        Ok(end)
    }

    fn drive_cell(
        &mut self,
        order: &TrialOrder,
        cell: &Cell,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        match order.work.is_timed() {
            true => self.disturbed(order, cell, progress),
            false => self.fixed_work(order, self.store_of[cell.datastore], progress),
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
            // Until it is written completely, other cells find less than they need.
            self.spoilt[store] = true;
        }
        if order.work.clones() {
            self.cloned[store] = Some(order.vms);
        }
        let end = self.executor.trial(order, self.cancel, progress)?;
        if fresh && end.failure().is_none() {
            self.spoilt[store] = order.disk_bytes < disk_spec(self.plan).size_bytes;
        }
        Ok(end)
    }
}
