//! A comparison from the plan to its last block.
//!
//! Everything that can be refused is refused before anything is written. Then: the generator's
//! ceiling, the disks, the capacities where the load is to be equal, and block after block until
//! the statistics say that the precision is reached or the time is up. A trial is in the results
//! file before the next one begins; a run that was killed goes on from there.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use stormeter_datastore::{
    Datastore, DatastoreError, DatastoreUrl, DiskSpec, Location, OpenOptions, Preparation,
    RealClock,
};
use stormeter_disk::units::format_duration_ns;
use stormeter_driver::{Arrivals, ContentSource, Workload};
use stormeter_results::{
    DatastoreDescription, Event, FinishReason, Finished, Header, Phase, ResultsFile, TrialOutcome,
    TrialRecord,
};
use stormeter_statistics::stopping::Decision;
use stormeter_statistics::{analyse, decide};
use stormeter_study::{ComparisonPlan, EqualLoad, Timing, block_order, trial_seed};

use crate::ceiling::{granularity, measure_ceiling};
use crate::conclusion::{Conclusion, conclude, views};
use crate::environment::environment;
use crate::error::RunError;
use crate::machine::raise_open_files;
use crate::progress::{Progress, TrialStart};
use crate::threads::{TrialEnd, TrialRun, run_trial, trial_length};

/// A comparison to be carried out.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is compared, and how.
    pub plan: ComparisonPlan,
    /// The results file.
    pub output: PathBuf,
    /// Go on with what the file holds. The plan's seed is then taken from the file.
    pub resume: bool,
    /// Devices whose data may be destroyed, as `--destroy-data` names them.
    pub destroy_data: Vec<PathBuf>,
    /// For the record: how to repeat it.
    pub command_line: Vec<String>,
    /// For the record.
    pub version: String,
}

/// Loads above this share of a datastore's capacity queue so much that latency says little.
const EQUAL_LOAD_SHARE: f64 = 0.7;
/// A datastore that failed so often without a single result will not give one.
const HOPELESS_FAILURES: u32 = 3;
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
    request.plan.check()?;
    check_time_limit(&request.plan)?;
    raise_open_files();
    let mut run = Run::open(request, clock, cancel)?;
    let result = run.carry_out(progress);
    run.tidy(progress);
    let reason = match &result {
        Ok(reason) => reason.clone(),
        Err(
            RunError::Interrupted | RunError::Datastore { source: DatastoreError::Cancelled, .. },
        ) => FinishReason::Interrupted,
        Err(error) => FinishReason::Failed { reason: error.to_string() },
    };
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

struct Run<'a> {
    plan: ComparisonPlan,
    file: ResultsFile,
    stores: Vec<Datastore>,
    /// Which of the stores each datastore of the plan is: a device named twice (an A/A test) can
    /// be opened only once.
    store_of: Vec<usize>,
    trials: Vec<TrialRecord>,
    clock: &'a RealClock,
    cancel: &'a AtomicBool,
}

impl<'a> Run<'a> {
    fn open(
        request: &Request,
        clock: &'a RealClock,
        cancel: &'a AtomicBool,
    ) -> Result<Self, RunError> {
        let mut plan = request.plan.clone();
        let urls = plan
            .datastores
            .iter()
            .map(|url| DatastoreUrl::parse(url))
            .collect::<Result<Vec<_>, _>>()?;
        let resumed = request.resume && request.output.exists();
        let (run_id, file) = if resumed {
            let file = ResultsFile::open_for_resume(&request.output)?;
            let header = file.header()?;
            plan.seed = header.plan.seed;
            check_same_plan(&header.plan, &plan, request)?;
            (header.run_id, Some(file))
        } else {
            (new_run_id(plan.seed), None)
        };
        let spec = disk_spec(&plan);
        let mut stores: Vec<Datastore> = Vec::new();
        let mut store_of = Vec::new();
        for (number, url) in urls.iter().enumerate() {
            if matches!(url.location, Location::Device(_))
                && let Some(first) = urls[..number].iter().position(|earlier| earlier == url)
            {
                store_of.push(store_of[first]);
                continue;
            }
            let options = OpenOptions {
                run_id: run_id.clone(),
                number: number as u32,
                destroy_data: request.destroy_data.clone(),
            };
            let opened = Datastore::open(url, options).and_then(|datastore| {
                datastore.check(&spec)?;
                Ok(datastore)
            });
            store_of.push(stores.len());
            stores.push(
                opened.map_err(|source| RunError::Datastore { url: url.to_string(), source })?,
            );
        }
        let mut file = match file {
            Some(file) => file,
            None => {
                let mut environment = environment(clock);
                environment.engine = stores.first().map(|store| store.description().engine);
                let header = Header {
                    created_unix_ms: unix_ms(),
                    run_id,
                    stormeter_version: request.version.clone(),
                    command_line: request.command_line.clone(),
                    plan: plan.clone(),
                    environment,
                    datastores: store_of.iter().map(|&store| describe(&stores[store])).collect(),
                };
                ResultsFile::create(&request.output, &header)?
            }
        };
        if resumed {
            file.append_event(&event("resumed".into()))?;
        }
        let trials = file.trials()?;
        Ok(Self { plan, file, stores, store_of, trials, clock, cancel })
    }

    fn carry_out(&mut self, progress: &mut dyn Progress) -> Result<FinishReason, RunError> {
        for datastore in &self.stores {
            for note in datastore.description().notes {
                progress.note(&format!("{}: {note}", datastore.description().url));
            }
        }
        self.ceiling(progress)?;
        self.prepare(progress)?;
        let workload = self.workload(progress)?;
        self.blocks(&workload, progress)
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    fn ceiling(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        if self.trials.iter().any(|trial| trial.phase == Phase::Ceiling) {
            return Ok(());
        }
        let duration_ns = self.plan.timing.duration_ns.min(CEILING_NS);
        let timing = Timing { ramp_ns: duration_ns / 5, duration_ns, interval_ns: duration_ns };
        let seed = trial_seed(self.plan.seed, u32::MAX);
        let workload = self.plan.workload.clone();
        let run = self.trial_run(&workload, timing, seed);
        let started_unix_ms = unix_ms();
        let began = Instant::now();
        let end = measure_ceiling(&run, self.clock, self.cancel, progress)?;
        if self.is_cancelled() {
            return Err(RunError::Interrupted);
        }
        progress.trial_ended("null:", Ok(end.sample.iops()));
        self.store(TrialRecord {
            id: 0,
            block: 0,
            position: 0,
            datastore: None,
            phase: Phase::Ceiling,
            started_unix_ms,
            elapsed_ns: began.elapsed().as_nanos() as u64,
            seed,
            outcome: outcome_of(end),
        })
    }

    fn prepare(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        let disks = disk_spec(&self.plan);
        let content = ContentSource::new(self.plan.workload.content, self.plan.seed);
        let content_id = content_id(&self.plan);
        let cancel = self.cancel;
        for datastore in &mut self.stores {
            let url = datastore.description().url.to_string();
            let prepared = datastore
                .prepare(Preparation {
                    disks,
                    content_id,
                    fill: &|disk, offset, bytes| content.fill(disk, offset, bytes),
                    progress: &mut |done, total| progress.preparing(&url, done, total),
                    cancelled: &|| cancel.load(Ordering::Relaxed),
                })
                .map_err(|source| RunError::Datastore { url: url.clone(), source })?;
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
        for datastore in 0..self.plan.datastores.len() {
            let known = self.trials.iter().find(|trial| {
                trial.phase == Phase::Capacity
                    && trial.datastore == Some(datastore)
                    && matches!(trial.outcome, TrialOutcome::Measured { .. })
            });
            if known.is_none() {
                self.trial(workload, Phase::Capacity, 0, datastore as u32, datastore, progress)?;
            }
            let record = self
                .trials
                .iter()
                .rfind(|t| t.phase == Phase::Capacity && t.datastore == Some(datastore));
            match record.map(|record| &record.outcome) {
                Some(TrialOutcome::Measured { sample, .. }) => least = least.min(sample.iops()),
                Some(TrialOutcome::Failed { reason, .. }) => {
                    return Err(RunError::KeepsFailing {
                        url: self.plan.datastores[datastore].clone(),
                        trials: 1,
                        reason: reason.clone(),
                    });
                }
                None => return Err(RunError::Interrupted),
            }
        }
        Ok(least)
    }

    fn blocks(
        &mut self,
        workload: &Workload,
        progress: &mut dyn Progress,
    ) -> Result<FinishReason, RunError> {
        let began = Instant::now();
        let block_ns =
            trial_length(self.plan.timing).as_nanos() as u64 * self.plan.datastores.len() as u64;
        let mut longest_ns = block_ns;
        for block in 0.. {
            match self.decision() {
                Decision::PrecisionReached => return Ok(FinishReason::PrecisionReached),
                Decision::BlocksExhausted => return Ok(FinishReason::MaxBlocks),
                Decision::Continue { .. } => {}
            }
            let elapsed_ns = began.elapsed().as_nanos() as u64;
            let two_blocks = block < 2;
            if !two_blocks && elapsed_ns + longest_ns > self.plan.time_limit_ns {
                return Ok(FinishReason::TimeLimit);
            }
            let block_began = Instant::now();
            let mut ran = false;
            let order = block_order(self.plan.seed, block, self.plan.datastores.len());
            for (position, &datastore) in order.iter().enumerate() {
                if self.is_recorded(block, datastore) {
                    continue;
                }
                ran = true;
                let position = position as u32;
                self.trial(workload, Phase::Main, block, position, datastore, progress)?;
                if self.is_cancelled() {
                    return Ok(FinishReason::Interrupted);
                }
                self.check_hopeless(datastore)?;
            }
            if ran {
                longest_ns = longest_ns.max(block_began.elapsed().as_nanos() as u64);
            }
            let left_ns = self.plan.time_limit_ns.saturating_sub(began.elapsed().as_nanos() as u64);
            self.tell_block(block + 1, longest_ns, left_ns, progress);
        }
        Ok(FinishReason::MaxBlocks)
    }

    fn decision(&self) -> Decision {
        // The plan was checked, so its rule is sound; if it were not, going on until the time is
        // up is what hurts least.
        decide(&self.plan, &views(&self.trials))
            .unwrap_or(Decision::Continue { expected_more_blocks: 1 })
    }

    fn is_recorded(&self, block: u32, datastore: usize) -> bool {
        self.trials.iter().any(|trial| {
            trial.phase == Phase::Main && trial.block == block && trial.datastore == Some(datastore)
        })
    }

    fn check_hopeless(&self, datastore: usize) -> Result<(), RunError> {
        let own = self
            .trials
            .iter()
            .filter(|trial| trial.phase == Phase::Main && trial.datastore == Some(datastore));
        let mut failures = 0;
        let mut last = None;
        for trial in own {
            match &trial.outcome {
                TrialOutcome::Measured { .. } => return Ok(()),
                TrialOutcome::Failed { reason, .. } => {
                    failures += 1;
                    last = Some(reason);
                }
            }
        }
        match last {
            Some(reason) if failures >= HOPELESS_FAILURES => Err(RunError::KeepsFailing {
                url: self.plan.datastores[datastore].clone(),
                trials: failures,
                reason: reason.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Tells how far it is: by the blocks that are probably still needed, and never beyond the
    /// time limit.
    fn tell_block(&self, block: u32, block_ns: u64, left_ns: u64, progress: &mut dyn Progress) {
        let more = match self.decision() {
            Decision::Continue { expected_more_blocks } => expected_more_blocks as u64,
            _ => 0,
        };
        let views = views(&self.trials);
        let analysis = analyse(&self.plan, &views, &Default::default());
        let half_width = analysis
            .pairs
            .iter()
            .filter_map(|pair| pair.comparisons.first())
            .map(|(_, comparison)| comparison.half_width)
            .reduce(f64::max);
        progress.block(block, self.plan.metric, half_width, (more * block_ns).min(left_ns));
    }

    /// One trial, stored whatever came of it. An interrupted one is not kept.
    fn trial(
        &mut self,
        workload: &Workload,
        phase: Phase,
        block: u32,
        position: u32,
        datastore: usize,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let timing = self.plan.timing;
        let seed = match phase {
            Phase::Main => trial_seed(self.plan.seed, block),
            _ => trial_seed(self.plan.seed, u32::MAX - 1),
        };
        let url = self.plan.datastores[datastore].clone();
        progress.trial(&TrialStart {
            datastore: &url,
            block: (phase == Phase::Main).then_some(block),
            purpose: if phase == Phase::Main { "trial" } else { "capacity" },
            length_ns: timing.ramp_ns + timing.duration_ns,
        });
        let started_unix_ms = unix_ms();
        let began = Instant::now();
        let run = self.trial_run(workload, timing, seed);
        let store = &self.stores[self.store_of[datastore]];
        let end = run_trial(&run, store, self.clock, self.cancel, progress);
        if self.is_cancelled() {
            return Ok(());
        }
        let outcome = match end {
            Ok(end) => outcome_of(end),
            // Disks that cannot be opened any more are this trial's failure; the rest may work.
            Err(error @ RunError::Datastore { .. }) => {
                TrialOutcome::Failed { reason: error.to_string(), sample: None }
            }
            Err(error) => return Err(error),
        };
        match &outcome {
            TrialOutcome::Measured { sample, .. } => progress.trial_ended(&url, Ok(sample.iops())),
            TrialOutcome::Failed { reason, .. } => progress.trial_ended(&url, Err(reason)),
        }
        self.store(TrialRecord {
            id: 0,
            block,
            position,
            datastore: Some(datastore),
            phase,
            started_unix_ms,
            elapsed_ns: began.elapsed().as_nanos() as u64,
            seed,
            outcome,
        })
    }

    fn trial_run<'w>(&self, workload: &'w Workload, timing: Timing, seed: u64) -> TrialRun<'w> {
        TrialRun {
            workload,
            vms: self.plan.vms,
            disk_bytes: self.plan.disk_bytes,
            threads: self.plan.threads,
            timing,
            seed,
        }
    }

    fn store(&mut self, mut record: TrialRecord) -> Result<(), RunError> {
        record.id = self.file.next_trial_id()?;
        self.file.append_trial(&record)?;
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

fn outcome_of(end: TrialEnd) -> TrialOutcome {
    match end.failure() {
        Some(reason) => TrialOutcome::Failed { reason, sample: Some(end.sample) },
        None => TrialOutcome::Measured { sample: end.sample, cpu: end.cpu, notes: end.notes },
    }
}

fn check_same_plan(
    begun: &ComparisonPlan,
    now: &ComparisonPlan,
    request: &Request,
) -> Result<(), RunError> {
    // When to stop may change: to go on with more time is what resuming is for.
    let differences = [
        ("list of datastores", begun.datastores != now.datastores),
        ("baseline", begun.baseline != now.baseline),
        ("workload", begun.workload != now.workload),
        ("number of VMs", begun.vms != now.vms),
        ("size", begun.disk_bytes != now.disk_bytes),
        ("duration, ramp or interval", begun.timing != now.timing),
        ("metric", begun.metric != now.metric),
        ("load", begun.equal_load != now.equal_load),
        ("number of threads", begun.threads != now.threads),
    ];
    match differences.into_iter().find(|(_, differs)| *differs) {
        None => Ok(()),
        Some((what, _)) => Err(RunError::OtherPlan {
            path: request.output.display().to_string(),
            what: what.into(),
        }),
    }
}

fn describe(datastore: &Datastore) -> DatastoreDescription {
    let description = datastore.description();
    let file_system = description.filesystem.as_ref();
    DatastoreDescription {
        url: description.url.to_string(),
        kind: description.kind,
        file_system: file_system.map(|fs| fs.kind.clone()),
        source: file_system
            .map(|fs| fs.source.clone())
            .or_else(|| description.device.as_ref().map(|device| device.name.clone())),
        mount_options: file_system.map(|fs| fs.options.clone()),
        logical_block_bytes: Some(description.logical_block_bytes),
        direct: description.direct,
        engine: description.engine,
        notes: description.notes,
    }
}

fn disk_spec(plan: &ComparisonPlan) -> DiskSpec {
    DiskSpec {
        count: plan.vms,
        size_bytes: plan.disk_bytes,
        granularity_bytes: granularity(&plan.workload),
    }
}

/// Names the content of the prepared disks, so that only the right ones are used again.
fn content_id(plan: &ComparisonPlan) -> u64 {
    let content = plan.workload.content;
    plan.seed
        ^ content.compressible_percent.to_bits().rotate_left(17)
        ^ content.duplicate_percent.to_bits().rotate_left(43)
}

/// Sixteen hexadecimal digits that no other run has: from the time, the process and the seed.
fn new_run_id(seed: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let mixed = (now ^ seed.rotate_left(32) ^ (u64::from(std::process::id()) << 40))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:016x}", mixed ^ (mixed >> 29))
}

fn event(what: String) -> Event {
    Event { at_unix_ms: unix_ms(), what }
}

fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}
