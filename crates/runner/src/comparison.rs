//! A comparison from the plan to its last block.
//!
//! Everything that can be refused is refused before anything is written. Then: the generator's
//! ceiling, the disks, the capacities where the load is to be equal, and block after block until
//! the statistics say that the precision is reached or the time is up. A trial is in the results
//! file before the next one begins; a run that was killed goes on from there.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use stormeter_datastore::{Datastore, DatastoreUrl, DiskSpec, Location, RealClock, Secret};
use stormeter_driver::Expectations;
use stormeter_results::{
    Attempt, FinishReason, Finished, Phase, ResultsFile, TrialOutcome, TrialRecord,
};
use stormeter_study::{
    ComparisonPlan, EqualLoad, Timing, block_order, content_seed, fill_seed, trial_seed,
    trial_start,
};
use stormeter_trial::{Arrivals, Workload};
use stormeter_units::format_duration_ns;

use crate::attempts::Attempts;
use crate::ceiling::{granularity, is_sound, measure_ceiling, until_sound};
use crate::conclusion::{Conclusion, conclude};
use crate::describe::describe;
use crate::environment::environment;
use crate::error::RunError;
use crate::fill_spec::FillSpec;
use crate::free_space::shared_file_system;
use crate::idle::{IDLE_READING, IdleHost};
use crate::journal::{
    Beginning, begin_file, event, finish_reason, new_run_id, outcome_of, unix_ms,
};
use crate::machine::raise_open_files;
use crate::progress::{Progress, TrialStart};
use crate::resume::{begun, check_same_place, over, resumption};
use crate::stores::{Stores, open_stores, with_secret};
use crate::target::check_target;
use crate::threads::{TrialRun, run_trial, trial_length};
use crate::turns::write_in_turns;
use crate::verify::{check_memory, expectations, seal_of};
use crate::ways::NullServers;

/// A comparison to be carried out.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is compared, and how.
    pub plan: ComparisonPlan,
    /// The results file.
    pub output: PathBuf,
    /// Go on with what the file holds. The plan's seed is then taken from the file.
    pub resume: bool,
    /// Devices and LUNs whose data may be destroyed, as `--destroy-data` names them.
    pub destroy_data: Vec<PathBuf>,
    /// Passwords by the datastores' names; the plan, which is stored, has none.
    pub secrets: Vec<(String, Secret)>,
    /// For the record: how to repeat it.
    pub command_line: Vec<String>,
    /// For the record.
    pub version: String,
}

/// Loads above this share of a datastore's capacity queue so much that latency says little.
const EQUAL_LOAD_SHARE: f64 = 0.7;
/// The ceiling is measured for at most this long.
const CEILING_NS: u64 = 500_000_000;

/// Carries out a comparison; `cancel` ends it at the next opportunity, keeping what is finished.
///
/// # Errors
/// Whatever keeps it from starting or going on. Trials that were finished before are in the
/// results file all the same.
pub fn run_comparison(
    request: &Request,
    clock: &RealClock,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<Conclusion, RunError> {
    run_comparison_with(None, request, clock, cancel, progress)
}

/// As [`run_comparison`], with servers for the ceilings of the ways to storage in the network.
///
/// # Errors
/// As there.
pub fn run_comparison_with<'a>(
    null_servers: Option<&'a mut dyn NullServers>,
    request: &Request,
    clock: &'a RealClock,
    cancel: &'a AtomicBool,
    progress: &mut dyn Progress,
) -> Result<Conclusion, RunError> {
    request.plan.check()?;
    check_time_limit(&request.plan)?;
    raise_open_files();
    let mut plan = request.plan.clone();
    let mut begun = begun(request, &mut plan)?;
    if let Some(file) = &mut begun
        && let Some(finished) = over(&plan, file)?
    {
        if finished.reason == FinishReason::TimeLimit {
            progress.note("the time limit is used up; a longer one goes on from here");
        }
        // Opened to go on, it has a log beside it; finishing leaves one file again.
        file.finish(&finished)?;
        return Ok(conclude(file)?);
    }
    let mut run = Run::open(request, plan, begun, null_servers, (clock, cancel), progress)?;
    let result = run.carry_out(progress);
    run.tidy(progress);
    let reason = finish_reason(&result, run.is_cancelled());
    run.file.finish(&Finished { finished_unix_ms: unix_ms(), reason: reason.clone() })?;
    match result {
        Err(error) if reason != FinishReason::Interrupted => Err(error),
        _ => Ok(conclude(&run.file)?),
    }
}

fn check_time_limit(plan: &ComparisonPlan) -> Result<(), RunError> {
    let trial_ns = trial_length(plan.timing).as_nanos() as u64;
    let trials = plan.datastores.len();
    if plan.time_limit_ns >= 2 * trials as u64 * trial_ns {
        return Ok(());
    }
    let Timing { ramp_ns, duration_ns, .. } = plan.timing;
    Err(RunError::TimeLimit {
        limit: format_duration_ns(plan.time_limit_ns as f64),
        trials,
        trial: format_duration_ns((ramp_ns + duration_ns) as f64),
    })
}

/// A comparison under way.
pub(crate) struct Run<'a> {
    pub(crate) plan: ComparisonPlan,
    pub(crate) file: ResultsFile,
    pub(crate) stores: Vec<Datastore>,
    /// Which of the stores each datastore of the plan is: a device named twice (an A/A test) can
    /// be opened only once.
    pub(crate) store_of: Vec<usize>,
    pub(crate) trials: Vec<TrialRecord>,
    pub(crate) attempts: Attempts,
    /// What is expected of each of the stores' disks, from when they are prepared; empty where nothing
    /// is verified.
    expectations: Vec<Expectations>,
    /// What the machine spends while nothing is driven.
    idle: Option<IdleHost>,
    /// Starts servers for the ceilings of ways to storage; `None`: there are no such ceilings.
    pub(crate) null_servers: Option<&'a mut dyn NullServers>,
    pub(crate) clock: &'a RealClock,
    pub(crate) cancel: &'a AtomicBool,
}

impl<'a> Run<'a> {
    fn open(
        request: &Request,
        plan: ComparisonPlan,
        begun: Option<ResultsFile>,
        null_servers: Option<&'a mut dyn NullServers>,
        (clock, cancel): (&'a RealClock, &'a AtomicBool),
        progress: &mut dyn Progress,
    ) -> Result<Self, RunError> {
        let urls = urls(&plan, &request.secrets)?;
        if let Some(null) = urls.iter().find(|url| url.location == Location::Null)
            && plan.verify
        {
            return Err(RunError::VerifyNull(null.to_string()));
        }
        let run_id = match &begun {
            Some(file) => file.header()?.run_id,
            None => new_run_id(plan.seed),
        };
        let spec = disk_spec(&plan);
        let Stores { stores, store_of } =
            open_stores(&urls, (&run_id, 0), &spec, &request.destroy_data, progress)?;
        check_memory(&plan, stores.len())?;
        check_target(&plan, &stores)?;
        let mut environment = environment(clock);
        environment.engine = stores.first().map(|store| store.description().engine);
        let descriptions: Vec<_> = store_of.iter().map(|&store| describe(&stores[store])).collect();
        let file = match begun {
            Some(mut file) => {
                let header = file.header()?;
                let then = (&header.environment, header.datastores.as_slice());
                check_same_place(then, (&environment, &descriptions), request)?;
                let attempts = Attempts::of_comparison(&plan, &file.trials()?);
                file.append_event(&resumption(&attempts))?;
                file
            }
            None => {
                let beginning = Beginning {
                    run_id: &run_id,
                    version: &request.version,
                    command_line: &request.command_line,
                    plan: &plan,
                    environment,
                    datastores: descriptions,
                };
                begin_file(&request.output, beginning, shared_file_system(&stores))?
            }
        };
        let trials = file.trials()?;
        let attempts = Attempts::of_comparison(&plan, &trials);
        let expectations = Vec::new();
        Ok(Self {
            plan,
            file,
            stores,
            store_of,
            trials,
            attempts,
            expectations,
            null_servers,
            idle: None,
            clock,
            cancel,
        })
    }

    fn carry_out(&mut self, progress: &mut dyn Progress) -> Result<FinishReason, RunError> {
        for datastore in &self.stores {
            for note in datastore.description().notes {
                progress.note(&format!("{}: {note}", datastore.description().url));
            }
        }
        self.look_at_idle(progress)?;
        self.ceiling(progress)?;
        self.way_ceilings(progress)?;
        self.prepare(progress)?;
        let workload = self.workload(progress)?;
        self.blocks(&workload, progress)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Read when a run goes on, too: what else runs may be something else by then.
    fn look_at_idle(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        let length = IDLE_READING.min(Duration::from_nanos(self.plan.timing.duration_ns));
        self.idle = IdleHost::read(length, self.cancel);
        if let Some(idle) = &self.idle {
            let text = idle.sentence();
            progress.note(&text);
            self.file.append_event(&event(text))?;
        }
        Ok(())
    }

    /// Measured when a run goes on, too: the machine may be another one by then, and a bad one would stay.
    fn ceiling(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        until_sound(|attempt| self.ceiling_once(attempt, progress))
    }

    fn ceiling_once(
        &mut self,
        attempt: u32,
        progress: &mut dyn Progress,
    ) -> Result<bool, RunError> {
        let duration_ns = self.plan.timing.duration_ns.min(CEILING_NS);
        let timing = Timing { ramp_ns: duration_ns / 5, duration_ns, interval_ns: duration_ns };
        let number = number_of(Phase::Ceiling, 0);
        let seed = trial_seed(self.plan.seed, number);
        let workload = self.plan.workload.clone();
        let run = self.trial_run(&workload, timing, 0, number);
        let started_unix_ms = unix_ms();
        let began = Instant::now();
        let seal = seal_of(&self.plan, "ceiling", 0)?;
        let null = DatastoreUrl::parse("null:")?;
        let mut end = measure_ceiling(&null, &run, seal, self.clock, self.cancel, progress)?;
        if self.is_cancelled() {
            return Err(RunError::Interrupted);
        }
        progress.trial_ended("null:", Ok(end.sample.iops()));
        let sound = is_sound(&end);
        self.store(TrialRecord {
            id: 0,
            block: 0,
            position: attempt,
            datastore: None,
            cell: None,
            phase: Phase::Ceiling,
            started_unix_ms,
            elapsed_ns: began.elapsed().as_nanos() as u64,
            seed,
            incidents: std::mem::take(&mut end.incidents),
            monitor: std::mem::take(&mut end.monitor),
            outcome: outcome_of(end),
            components: Vec::new(),
            attempt: Attempt::default(),
        })?;
        Ok(sound)
    }

    fn prepare(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        let run_id = self.file.header()?.run_id;
        let of_store =
            |number| Ok((filling(&self.plan, number), seal_of(&self.plan, &run_id, number)?));
        let fillings =
            (0..self.stores.len()).map(of_store).collect::<Result<Vec<_>, RunError>>()?;
        let seed = self.plan.seed;
        let all = write_in_turns(&mut self.stores, &fillings, seed, self.cancel, progress)?;
        for ((datastore, (_, seal)), prepared) in self.stores.iter().zip(fillings).zip(all) {
            let url = datastore.description().url.to_string();
            if let Some(seal) = seal {
                let events = self.file.events()?;
                self.expectations.push(expectations(&self.plan, seal, prepared.reused, &events));
            }
            if prepared.reused {
                progress.note(&format!("{url}: the disks of the interrupted run are used again"));
            }
            for note in prepared.notes {
                progress.note(&format!("{url}: {note}"));
                self.file.append_event(&event(format!("{url}: {note}")))?;
            }
        }
        Ok(())
    }

    /// The workload that is driven: the plan's own, or the same at one rate for all.
    fn workload(&mut self, progress: &mut dyn Progress) -> Result<Workload, RunError> {
        let plain = self.plan.workload.clone();
        let rate_per_s = match self.plan.equal_load {
            None => return Ok(plain),
            Some(EqualLoad::Rate { rate_per_s }) => rate_per_s,
            Some(EqualLoad::Auto) => self.capacity(&plain, progress)? * EQUAL_LOAD_SHARE,
        };
        let per_disk = rate_per_s / f64::from(self.plan.vms);
        let arrivals = Arrivals::Poisson { rate_per_s: per_disk };
        let equal = Workload { arrivals, burst: None, ..plain };
        equal.check(self.plan.disk_bytes).map_err(stormeter_study::PlanError::Workload)?;
        let text = format!("equal load: {rate_per_s:.0} I/Os a second on each datastore");
        progress.note(&text);
        self.file.append_event(&event(text))?;
        Ok(equal)
    }

    /// IOPS of the slowest datastore in a closed loop.
    fn capacity(
        &mut self,
        workload: &Workload,
        progress: &mut dyn Progress,
    ) -> Result<f64, RunError> {
        let mut least = f64::INFINITY;
        let count = self.plan.datastores.len();
        for (position, datastore) in (0..).zip(block_order(self.plan.seed, u32::MAX, count)) {
            let known = self.trials.iter().find(|trial| {
                trial.phase == Phase::Capacity
                    && trial.datastore == Some(datastore)
                    && matches!(trial.outcome, TrialOutcome::Measured { .. })
            });
            if known.is_none() {
                let place = (0, Attempt::default());
                self.trial(workload, Phase::Capacity, place, position, datastore, progress)?;
                if self.is_cancelled() {
                    return Err(RunError::Interrupted);
                }
            }
            let record = self
                .trials
                .iter()
                .rfind(|t| t.phase == Phase::Capacity && t.datastore == Some(datastore));
            match record.map(|record| &record.outcome) {
                Some(TrialOutcome::Measured { sample, .. }) => least = least.min(sample.iops()),
                Some(TrialOutcome::Failed { failure, .. }) => {
                    return Err(RunError::KeepsFailing {
                        url: self.plan.datastores[datastore].clone(),
                        trials: 1,
                        failure: Box::new(failure.clone()),
                    });
                }
                None => return Err(RunError::Interrupted),
            }
        }
        Ok(least)
    }

    /// One trial, stored whatever came of it. An interrupted one is not kept.
    pub(crate) fn trial(
        &mut self,
        workload: &Workload,
        phase: Phase,
        (block, attempt): (u32, Attempt),
        position: u32,
        datastore: usize,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let timing = self.plan.timing;
        let number = number_of(phase, attempt.draw_of(block));
        let seed = trial_seed(self.plan.seed, number);
        let url = self.plan.datastores[datastore].clone();
        progress.trial(&TrialStart {
            datastore: &url,
            block: (phase == Phase::Main).then_some(block),
            purpose: if phase == Phase::Main { "trial" } else { "capacity" },
            length_ns: Some(timing.ramp_ns + timing.duration_ns),
            place: None,
        });
        let started_unix_ms = unix_ms();
        let began = Instant::now();
        let run = self.trial_run(workload, timing, datastore, number);
        let store = self.store_of[datastore];
        let expectations = self.expectations.get_mut(store);
        let end =
            run_trial(&run, &self.stores[store], expectations, self.clock, self.cancel, progress);
        if self.is_cancelled() {
            return Ok(());
        }
        let mut incidents = Vec::new();
        let mut monitor = Vec::new();
        let outcome = match end {
            Ok(mut end) => {
                if let Some(idle) = &self.idle {
                    idle.apply(&mut end.cpu);
                }
                incidents.append(&mut end.incidents);
                monitor.append(&mut end.monitor);
                outcome_of(end)
            }
            Err(error) => TrialOutcome::Failed { failure: error.of_trial()?, sample: None },
        };
        match &outcome {
            TrialOutcome::Measured { sample, .. } => progress.trial_ended(&url, Ok(sample.iops())),
            TrialOutcome::Failed { failure, .. } => progress.trial_ended(&url, Err(failure)),
        }
        self.store(TrialRecord {
            id: 0,
            block,
            position,
            datastore: Some(datastore),
            cell: None,
            phase,
            started_unix_ms,
            elapsed_ns: began.elapsed().as_nanos() as u64,
            seed,
            outcome,
            incidents,
            monitor,
            components: Vec::new(),
            attempt,
        })
    }

    pub(crate) fn trial_run<'w>(
        &self,
        workload: &'w Workload,
        timing: Timing,
        datastore: usize,
        number: u32,
    ) -> TrialRun<'w> {
        TrialRun {
            workload,
            vms: self.plan.vms,
            disk_bytes: self.plan.disk_bytes,
            threads: self.plan.threads,
            timing,
            seed: trial_seed(self.plan.seed, number),
            start: trial_start(self.plan.seed, u64::from(number)),
            content_seed: content_seed(self.plan.seed, datastore, u64::from(number)),
            disturbed: false,
        }
    }

    pub(crate) fn store(&mut self, mut record: TrialRecord) -> Result<(), RunError> {
        record.id = self.file.next_trial_id()?;
        self.file.append_trial(&record)?;
        self.attempts.add_of_comparison(&self.plan, &record);
        self.trials.push(record);
        Ok(())
    }

    /// Removes the disks.
    fn tidy(&mut self, progress: &mut dyn Progress) {
        for store in self.stores.drain(..) {
            if let Some(left) = store.remove() {
                progress.note(&left);
            }
        }
    }
}

/// What the disks of a store hold before the first trial.
fn filling(plan: &ComparisonPlan, store: usize) -> FillSpec {
    FillSpec {
        disks: disk_spec(plan),
        content: plan.workload.content,
        seed: fill_seed(plan.seed, store),
        zero: false,
    }
}

/// By which number a trial's operations and places are drawn: the same for all datastores of a block.
pub(crate) fn number_of(phase: Phase, block: u32) -> u32 {
    match phase {
        Phase::Main => block,
        Phase::Ceiling => u32::MAX,
        _ => u32::MAX - 1,
    }
}

/// The datastores' URLs, with their passwords.
fn urls(
    plan: &ComparisonPlan,
    secrets: &[(String, Secret)],
) -> Result<Vec<DatastoreUrl>, RunError> {
    plan.datastores.iter().map(|name| with_secret(name, secrets)).collect()
}

fn disk_spec(plan: &ComparisonPlan) -> DiskSpec {
    DiskSpec {
        count: plan.vms,
        size_bytes: plan.disk_bytes,
        granularity_bytes: granularity(&plan.workload),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A sound plan for the tests of this crate.
    pub(crate) fn plan() -> ComparisonPlan {
        let workload = stormeter_study::profile("vm-4k").expect("a built-in profile").workload;
        ComparisonPlan {
            datastores: vec!["/a".into(), "/b".into()],
            baseline: 0,
            workload,
            vms: 1,
            disk_bytes: 1 << 20,
            threads: 0,
            timing: Timing {
                ramp_ns: 10_000_000,
                duration_ns: 100_000_000,
                interval_ns: 10_000_000,
            },
            metric: stormeter_study::Metric::Iops,
            precision: 0.02,
            margin: 0.05,
            level: 0.95,
            min_blocks: 5,
            max_blocks: 10,
            time_limit_ns: 10_000_000_000,
            equal_load: None,
            seed: 1,
            verify: false,
        }
    }

    #[test]
    fn a_time_limit_below_two_blocks_is_refused_with_the_sum() {
        let mut plan = plan();
        assert!(check_time_limit(&plan).is_ok());
        plan.time_limit_ns = 300_000_000;
        let message = check_time_limit(&plan).unwrap_err().to_string();
        assert!(message.contains("two blocks of 2 trials"), "{message}");
    }
}
