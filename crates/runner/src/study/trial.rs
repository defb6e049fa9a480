//! One trial of a cell, from the state of its disks to its record.

use std::time::Instant;

use stormeter_datastore::DatastoreUrl;
use stormeter_driver::{Expectations, PriorContent, Seal};
use stormeter_results::{Attempt, Phase, TrialOutcome, TrialRecord};
use stormeter_study::{Cell, Reset, WorkloadKind, fill_order, trial_seed};
use stormeter_trial::FileOperation;

use crate::ceiling::measure_ceiling;
use crate::elsewhere::{PrepareOrder, TrialOrder};
use crate::error::RunError;
use crate::fixed_work::{Before, before, run_fixed_work};
use crate::journal::{event, outcome_of, unix_ms};
use crate::progress::{Place, Progress, Silent, TrialStart};
use crate::study::reset::run_command;
use crate::study::run::StudyRun;
use crate::study::setting::{cell_label, disk_spec, filling, loaded, unit_bytes};
use crate::study::steps::On;
use crate::study::venue::Venue;
use crate::threads::{TrialEnd, run_trial};
use crate::turns::write_in_turns;
use crate::verify::owner_of;

impl StudyRun<'_> {
    /// A timed trial, or the generator's ceiling, here or on the hosts.
    pub(super) fn timed(
        &mut self,
        order: &TrialOrder,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let seal = self.seal("ceiling", 0)?;
        let (clock, cancel) = (self.clock, self.cancel);
        let not_timed = || RunError::Order("it is no timed trial".into());
        match (&mut self.venue, order.store) {
            (Venue::There(hosts, _), _) => hosts.trial(order, cancel, progress),
            (Venue::Here(_), None) => {
                let run = order.timed().ok_or_else(not_timed)?;
                let null = DatastoreUrl::parse("null:")?;
                measure_ceiling(&null, &run, seal, clock, cancel, progress)
            }
            (Venue::Here(stores), Some(store)) => {
                let run = order.timed().ok_or_else(not_timed)?;
                let expectations = self.expectations.get_mut(store);
                run_trial(&run, &stores[store], expectations, clock, cancel, progress)
            }
        }
    }

    /// A timed trial of a cell with the steps of the study, and everything whole again after it.
    fn disturbed(
        &mut self,
        order: &TrialOrder,
        cell: &Cell,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let url = self.venue.url(self.store_of[cell.datastore]);
        let on = On { datastore: &self.plan.datastores[cell.datastore].name, url: &url };
        let mut steps = std::mem::take(&mut self.steps);
        let watch = (self.cancel, progress);
        let (end, done, whole) =
            steps.during(order.timing, on, watch, |progress| self.timed(order, progress));
        self.restored = whole;
        self.steps = steps;
        let mut end = end?;
        end.sample.disturbances = done;
        Ok(end)
    }

    /// How blocks of the run's datastore number `store` are sealed; `None` where nothing is verified.
    fn seal(&self, run_id: &str, store: usize) -> Result<Option<Seal>, RunError> {
        let Some(unit_bytes) = unit_bytes(self.plan)? else { return Ok(None) };
        Ok(Some(Seal { owner: owner_of(run_id, store), unit_bytes }))
    }

    /// Writes all disks, or finds them written by the killed run.
    pub(crate) fn prepare(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        let takes_snapshot = self.plan.design.reset == Reset::Snapshot;
        let all = self.prepare_all(progress)?;
        for (store, mut reused) in all.into_iter().enumerate() {
            let url = self.venue.url(store);
            if reused && takes_snapshot {
                // Trials have written to them since the snapshot of the killed run.
                let anew = Some(stormeter_datastore::DiskReset::Recreate);
                reused = self.prepare_store(store, anew, progress)?;
            }
            if reused {
                progress.note(&format!("{url}: the disks of the interrupted run are used again"));
                // A run killed while it wrote a file anew left less than the others need.
                self.spoilt[store] = self.writes_anew();
            }
            if let Some(seal) = self.seal(&self.run_id, store)? {
                let past = if reused { PriorContent::Unknown } else { PriorContent::Prepared };
                let events = self.file.events()?;
                let resumptions =
                    events.iter().filter(|event| event.kind.is_resumption()).count() as u32;
                self.expectations.push(self.expectations_of(seal, past, resumptions));
            }
        }
        Ok(())
    }

    /// Writes the disks of all stores, so that none of them is favoured; gives of each whether disks that
    /// were there are used again. Hosts write one store after the other, in an order that follows from the
    /// seed.
    fn prepare_all(&mut self, progress: &mut dyn Progress) -> Result<Vec<bool>, RunError> {
        let count = self.venue.stores();
        let of_store = |store| Ok((filling(self.plan, store), self.seal(&self.run_id, store)?));
        let fillings = (0..count).map(of_store).collect::<Result<Vec<_>, RunError>>()?;
        let seed = self.plan.seed;
        let mut reused = vec![false; count];
        if let Venue::Here(stores) = &mut self.venue {
            let all = write_in_turns(stores, &fillings, seed, self.cancel, progress)?;
            for (store, prepared) in all.into_iter().enumerate() {
                reused[store] = prepared.reused;
                let url = self.venue.url(store);
                self.note_once(&url, prepared.notes, progress)?;
            }
        } else {
            for store in fill_order(seed, 0, count) {
                reused[store] = self.prepare_store(store, None, progress)?;
            }
        }
        Ok(reused)
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

    fn expectations_of(&self, seal: Seal, past: PriorContent, resumptions: u32) -> Expectations {
        let spec = disk_spec(self.plan);
        Expectations::new(seal, past, resumptions, spec.count, spec.size_bytes)
    }

    /// Writes the disks of a store, or resets them; gives whether disks that were there are used again.
    fn prepare_store(
        &mut self,
        store: usize,
        reset: Option<stormeter_datastore::DiskReset>,
        progress: &mut dyn Progress,
    ) -> Result<bool, RunError> {
        let seal = self.seal(&self.run_id, store)?;
        let filling = filling(self.plan, store);
        let url = self.venue.url(store);
        let (reused, notes) = match &mut self.venue {
            Venue::Here(stores) => {
                let datastore = &mut stores[store];
                let prepared = filling.write(datastore, seal, reset, self.cancel, progress)?;
                (prepared.reused, prepared.notes)
            }
            Venue::There(hosts, _) => {
                let order = PrepareOrder { store, filling, reset };
                let prepared = hosts.prepare(&order, self.cancel, progress)?;
                (prepared.reused, prepared.notes)
            }
        };
        self.note_once(&url, notes, progress)?;
        Ok(reused)
    }

    /// Says what is worth knowing about a datastore's disks, once however often they are reset.
    fn note_once(
        &mut self,
        url: &str,
        notes: Vec<String>,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        for note in notes {
            let text = format!("{url}: {note}");
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
            Reset::Recreate => Some(stormeter_datastore::DiskReset::Recreate),
            Reset::Discard => Some(stormeter_datastore::DiskReset::Discard),
            Reset::None | Reset::Command(_) if self.spoilt[store] => {
                Some(stormeter_datastore::DiskReset::Recreate)
            }
            Reset::None | Reset::Command(_) | Reset::Snapshot => None,
        };
        if let Some(reset) = reset {
            progress.resetting(&named.name);
            self.prepare_store(store, Some(reset), progress)?;
            self.spoilt[store] = false;
            if let Some(seal) = self.seal(&self.run_id, store)? {
                self.expectations[store] = self.expectations_of(seal, PriorContent::Prepared, 0);
            }
        }
        if self.plan.design.reset == Reset::Snapshot {
            progress.resetting(&named.name);
            self.steps.roll_back()?;
            // That was all storage, not this datastore's alone.
            self.spoilt.fill(false);
            for store in 0..self.expectations.len() {
                if let Some(seal) = self.seal(&self.run_id, store)? {
                    self.expectations[store] =
                        self.expectations_of(seal, PriorContent::Prepared, 0);
                }
            }
        }
        if let Reset::Command(command) = &self.plan.design.reset {
            progress.resetting(&named.name);
            let url = self.venue.url(store);
            run_command(command, &named.name, &url, self.cancel)?;
        }
        Ok(())
    }

    /// One trial, stored whatever came of it. An interrupted one is not kept.
    pub(crate) fn trial(
        &mut self,
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
        let draw = attempt.draw_of(block);
        let seed = trial_seed(plan.seed, draw);
        let end = self.reset(&cell, progress).and_then(|()| {
            progress.trial(&TrialStart {
                datastore: &plan.datastores[cell.datastore].name,
                block: Some(block),
                purpose: "trial",
                length_ns,
                place: Some(place.clone()),
            });
            self.drive(number, draw, progress)
        });
        let restored = std::mem::replace(&mut self.restored, Ok(()));
        if self.is_cancelled() {
            return restored;
        }
        let end = match end {
            Ok(mut end) => {
                if let Some(idle) = &self.idle {
                    idle.apply(&mut end.cpu);
                }
                Ok(end)
            }
            Err(error) => Err(error.of_trial()?),
        };
        match &end {
            Ok(end) => match end.failure() {
                None => progress.study_trial_ended(&place, Ok(&end.sample)),
                Some(failure) => progress.study_trial_ended(&place, Err(&failure)),
            },
            Err(failure) => progress.study_trial_ended(&place, Err(failure)),
        }
        let stored = match end {
            Ok(end) => {
                let when = (started_unix_ms, began);
                let of = (number, Some(cell.datastore));
                self.record(Phase::Main, (block, position, attempt), of, when, seed, end)
            }
            Err(failure) => self.store(
                TrialRecord {
                    id: 0,
                    block,
                    position,
                    datastore: Some(cell.datastore),
                    cell: Some(number),
                    phase: Phase::Main,
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
            WorkloadKind::Io(io) => WorkloadKind::Io(loaded(io, &cell)),
            fixed_work => fixed_work.clone(),
        };
        let is_timed = matches!(kind, WorkloadKind::Io(_));
        let order = TrialOrder {
            store: Some(store),
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

    /// A trial of fixed work, here or on the hosts.
    fn fixed_work(
        &mut self,
        order: &TrialOrder,
        store: usize,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let run = order.fixed_work();
        if run.wants_fresh_files() {
            // Until it is written whole, others find less than they need.
            self.spoilt[store] = true;
        }
        let (clock, cancel) = (self.clock, self.cancel);
        let end = match &mut self.venue {
            Venue::There(hosts, _) => hosts.trial(order, cancel, progress)?,
            Venue::Here(stores) => {
                let datastore = &mut stores[store];
                match before(&run, datastore, (clock, cancel), &mut Silent)? {
                    Before::Ended(end) => return Ok(*end),
                    Before::Ready(notes) => {
                        let url = datastore.description().url.to_string();
                        self.note_once(&url, notes, progress)?;
                    }
                }
                if self.is_cancelled() {
                    return Err(RunError::Interrupted);
                }
                let Venue::Here(stores) = &self.venue else {
                    return Err(RunError::Order("the datastores are gone".into()));
                };
                run_fixed_work(&run, &stores[store], clock, cancel, progress)?
            }
        };
        if run.wants_fresh_files() && end.failure().is_none() {
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
