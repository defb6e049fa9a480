//! Runs a study: opens and prepares its datastores, and drives them block by block.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use stormeter_conclude::{Attempts, Conclusion, conclude};
use stormeter_datastore::{DatastoreUrl, Durability, Location, RealClock};
use stormeter_results::{
    DatastoreDescription, DatastoreNote, Environment, EventKind, FinishReason, Finished,
    Prediction, ResultsFile,
};
use stormeter_study::{Metric, Order, StudyPlan, Timing, WorkloadKind};
use stormeter_units::format_duration_ns;

use crate::environment::environment;
use crate::error::RunError;
use crate::executor::{Executor, OpenOrder, Opened, OpenedStores, Verification};
use crate::idle::IDLE_READING;
use crate::journal::{Beginning, begin_file, event, finish_reason, new_run_id, unix_ms};
use crate::local_executor::LocalExecutor;
use crate::machine::raise_open_files;
use crate::monitor_source::MonitorSource;
use crate::password::Password;
use crate::progress::Progress;
use crate::rack_control::RackControl;
use crate::resume::resumption;
use crate::study::book::Book;
use crate::study::clock::RunClock;
use crate::study::replacement::begin_again;
use crate::study::request::{Request, Resume};
use crate::study::resume::{check_same_place, invalid_cells, is_over, resumable};
use crate::study::schedule::Schedule;
use crate::study::setting::{cell_label, disk_spec, unit_bytes};
use crate::study::steps::Steps;
use crate::study::turn::Turn;
use crate::threads::trial_length;
use crate::watched::{PATIENCE, Watched};
use crate::ways::NullServers;

/// Runs a study, or resumes it; `cancel` ends it at the next opportunity; finished trials are kept.
///
/// # Errors
/// It could not start or continue. Trials that finished before are in the results file nevertheless. A trial that fails
/// is not an error: the study continues.
pub fn run(
    request: &Request,
    clock: &RealClock,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<Conclusion, RunError> {
    carry_through(request, Collaborators::default(), (clock, cancel), progress)
}

/// What takes part in a study in addition to this process.
#[derive(Default)]
pub struct Collaborators<'a> {
    /// Runs the trials; `None`: threads of this process.
    pub executor: Option<&'a mut dyn Executor>,
    /// Executes the steps of trials that are not commands; `None`: such steps are refused.
    pub rack_control: Option<&'a mut dyn RackControl>,
    /// Starts null servers for the ceilings of paths to storage; `None`: these are not measured.
    pub null_servers: Option<&'a mut dyn NullServers>,
    /// Reads what the guests of the study's rack use; `None`: they are not watched.
    pub guests: Option<Box<dyn MonitorSource>>,
}

/// As [`run`], with collaborators.
///
/// # Errors
/// As there; also if the collaborators cannot do what the study needs.
pub fn run_with<'a>(
    collaborators: Collaborators<'a>,
    request: &'a Request,
    clock: &'a RealClock,
    cancel: &'a AtomicBool,
    progress: &mut dyn Progress,
) -> Result<Conclusion, RunError> {
    carry_through(request, collaborators, (clock, cancel), progress)
}

fn carry_through<'a>(
    request: &'a Request,
    collaborators: Collaborators<'a>,
    (clock, cancel): (&'a RealClock, &'a AtomicBool),
    progress: &mut dyn Progress,
) -> Result<Conclusion, RunError> {
    raise_open_files();
    if let Some(conclusion) = finished(request)? {
        let reason = conclusion.finished.as_ref().map(|finished| &finished.reason);
        if reason == Some(&FinishReason::TimeLimit) {
            progress.note("the time limit is used up; resume with a longer one to continue");
        }
        return Ok(conclusion);
    }
    check_time_limit(&request.plan)?;
    let Collaborators { executor, rack_control, null_servers, guests } = collaborators;
    let window = Duration::from_nanos(request.plan.timing.duration_ns);
    let mut local = LocalExecutor::new(clock.clone(), IDLE_READING.min(window));
    local.know_secrets(request.secrets.clone());
    let executor = match executor {
        Some(executor) => executor,
        None if request.plan.hosts.is_empty() => &mut local,
        None => {
            return Err(RunError::Hosts(
                "the study names hosts, but no executor for hosts was given".into(),
            ));
        }
    };
    let by = By {
        executor,
        rack_control: rack_control.map(|it| it as &mut dyn RackControl),
        null_servers: null_servers.map(|it| it as &mut dyn NullServers),
        guests: guests.map(|source| Watched::new(source, PATIENCE)),
    };
    let file = resumable(request)?;
    let here = environment(clock);
    let start = file.map_or(Start::New, Start::Resumed);
    let run = StudyRun::open(request, start, by, (here, cancel), progress)?;
    Ok(conclude(&carry_out(run, progress)?)?)
}

/// A comparison needs time for two blocks: before the second there is no verdict.
fn check_time_limit(plan: &StudyPlan) -> Result<(), RunError> {
    let Some(limit_ns) = plan.design.time_limit_ns.filter(|_| plan.is_comparison()) else {
        return Ok(());
    };
    let trial_ns = trial_length(plan.timing).as_nanos() as u64;
    let trials = plan.datastores.len();
    if limit_ns >= u64::from(plan.least_blocks()) * trials as u64 * trial_ns {
        return Ok(());
    }
    let Timing { ramp_ns, duration_ns, .. } = plan.timing;
    Err(RunError::TimeLimit {
        limit: format_duration_ns(limit_ns as f64),
        trials,
        trial: format_duration_ns((ramp_ns + duration_ns) as f64),
    })
}

/// The start of a run.
pub(crate) enum Start {
    /// With a new results file.
    New,
    /// With the trials of a results file.
    Resumed(ResultsFile),
    /// As a prediction, in place of an earlier one.
    Prediction(Box<Prediction>),
}

/// [`Collaborators`], with the executor that was chosen.
pub(crate) struct By<'a> {
    pub(crate) executor: &'a mut dyn Executor,
    pub(crate) rack_control: Option<&'a mut dyn RackControl>,
    pub(crate) null_servers: Option<&'a mut dyn NullServers>,
    pub(crate) guests: Option<Watched>,
}

/// The study's conclusion, if its results file is complete: then no datastore is touched.
///
/// # Errors
/// The results file cannot be read, or is another study's.
pub fn finished(request: &Request) -> Result<Option<Conclusion>, RunError> {
    let Some(mut file) = resumable(request)? else { return Ok(None) };
    let has_invalid = request.redo_invalid && !invalid_cells(&file)?.is_empty();
    let Some(finished) = file.finished()? else { return Ok(None) };
    // An invalid result ended it: more is measured only on request, not because the command is repeated.
    let has_ended = finished.reason == FinishReason::Invalid && request.resume == Resume::IfPresent;
    let over = (has_ended || is_over(&file, &request.plan)?) && !has_invalid;
    // Opened for writing, it has a log next to it; finishing leaves one file again.
    file.finish(&finished)?;
    if over { Ok(Some(conclude(&file)?)) } else { Ok(None) }
}

/// Runs a study to its end; returns the finished results file.
pub(crate) fn carry_out(
    mut run: StudyRun<'_>,
    progress: &mut dyn Progress,
) -> Result<ResultsFile, RunError> {
    let result = run.carry_out(progress);
    run.tidy(progress);
    let reason = finish_reason(&result, run.is_cancelled());
    run.book.file.finish(&Finished { finished_unix_ms: unix_ms(), reason: reason.clone() })?;
    match result {
        Err(error) if reason != FinishReason::Interrupted => Err(error),
        _ => Ok(run.book.file),
    }
}

/// A running study, or a prediction, which is a study on a model.
pub(crate) struct StudyRun<'a> {
    pub(crate) plan: &'a StudyPlan,
    pub(crate) book: Book<'a>,
    /// Per cell: I/Os a second, all VMs together, if the load is equal for all datastores.
    pub(crate) rates: Vec<Option<f64>>,
    pub(crate) executor: &'a mut dyn Executor,
    /// The URL of each store.
    pub(crate) urls: Vec<String>,
    /// For each datastore of the plan: whether it answers from nothing.
    pub(crate) is_null: Vec<bool>,
    /// The store of each datastore of the plan, followed by those of the ceilings.
    pub(crate) store_of: Vec<usize>,
    /// Per store: whether a trial left disks that others cannot use.
    pub(crate) spoilt: Vec<bool>,
    /// For each store whose disks are clones, or will be: the VMs that they are for.
    pub(crate) cloned: Vec<Option<u32>>,
    /// Notes about the datastores, with their URLs.
    opening_notes: Vec<(String, DatastoreNote)>,
    /// The steps of trials.
    pub(crate) steps: Steps<'a>,
    /// Whether the effects of steps were undone after the last trial.
    pub(crate) restored: Result<(), RunError>,
    /// Starts null servers for the ceilings of paths to storage.
    pub(crate) null_servers: Option<&'a mut dyn NullServers>,
    /// The guests of the rack.
    pub(crate) guests: Option<Watched>,
    pub(crate) cancel: &'a AtomicBool,
}

impl<'a> StudyRun<'a> {
    /// Opens the datastores and the results file.
    pub(crate) fn open(
        request: &'a Request,
        start: Start,
        by: By<'a>,
        (mut environment, cancel): (Environment, &'a AtomicBool),
        progress: &mut dyn Progress,
    ) -> Result<Self, RunError> {
        let By { executor, rack_control, null_servers, guests } = by;
        let plan = &request.plan;
        // The steps of a prediction are the model's, not the rack's.
        let steps = match start {
            Start::Prediction(_) => Steps::default(),
            Start::New | Start::Resumed(_) => Steps::new(plan, rack_control)?,
        };
        let (run_id, resumed) = match &start {
            Start::Resumed(file) => (file.header()?.run_id, Some(file)),
            Start::New | Start::Prediction(_) => (new_run_id(plan.seed), None),
        };
        let order = open_order(request, &run_id, resumed)?;
        let Opened { hosts, stores } = executor.open(&order, cancel, progress)?;
        let OpenedStores { datastores: mut descriptions, store_of, shared } = stores;
        environment.hosts = hosts;
        environment.engine = descriptions.first().map(|store| store.engine.clone());
        let urls = urls(&store_of, &descriptions);
        let opening_notes = descriptions
            .iter()
            .flat_map(|store| store.notes.iter().map(|note| (store.url.clone(), note.clone())));
        let mut opening_notes: Vec<(String, DatastoreNote)> = opening_notes.collect();
        // The plan describes the ceilings.
        descriptions.truncate(plan.datastores.len());
        opening_notes.dedup();
        let is_null: Vec<bool> = descriptions.iter().map(|store| store.kind == "null").collect();
        let mut again = Vec::new();
        let is_predicted = matches!(start, Start::Prediction(_));
        let mut file = match start {
            Start::Resumed(mut file) => {
                let then = file.header()?;
                check_same_place(&then, (&environment, &descriptions), request)?;
                let attempts = Attempts::of(plan, is_null.clone(), &file.trials()?);
                file.append_event(&resumption(&attempts))?;
                if request.redo_invalid {
                    again = invalid_cells(&file)?;
                }
                file
            }
            Start::New | Start::Prediction(_) => {
                let prediction = match start {
                    Start::Prediction(prediction) => Some(prediction),
                    Start::New | Start::Resumed(_) => None,
                };
                let beginning = Beginning {
                    run_id: &run_id,
                    version: &request.version,
                    command_line: &request.command_line,
                    plan,
                    environment,
                    datastores: descriptions,
                    prediction,
                };
                let begin = || begin_file(&request.output, beginning.clone(), shared.clone());
                if is_predicted { begin_again(&request.output, &begin)? } else { begin()? }
            }
        };
        let trials = file.trials()?;
        let cells = plan.cells();
        let mut attempts = Attempts::of(plan, is_null.clone(), &trials);
        if !again.is_empty() {
            attempts.redo(&again);
            let cells: Vec<String> =
                again.iter().map(|&cell| cell_label(plan, &cells[cell])).collect();
            file.append_event(&event(EventKind::Redone { cells }))?;
        }
        let schedule = Schedule::of(cells.len(), &trials);
        let spoilt = vec![false; urls.len()];
        let cloned = vec![None; urls.len()];
        let clock = match is_predicted {
            true => {
                let begin_unix_ms = file.header()?.created_unix_ms;
                RunClock::Virtual { begin_unix_ms, passed_ns: 0 }
            }
            false => RunClock::Real,
        };
        let rates = vec![None; cells.len()];
        Ok(Self {
            plan,
            book: Book { plan, cells, is_predicted, clock, file, trials, schedule, attempts },
            rates,
            executor,
            urls,
            is_null,
            store_of,
            spoilt,
            cloned,
            opening_notes,
            steps,
            restored: Ok(()),
            null_servers,
            guests,
            cancel,
        })
    }

    fn carry_out(&mut self, progress: &mut dyn Progress) -> Result<FinishReason, RunError> {
        progress.started(&self.book.file.header()?.run_id, &self.book.so_far());
        for (url, note) in &self.opening_notes {
            progress.opened(url, note);
        }
        if !self.book.is_predicted {
            self.before_trials(progress)?;
        }
        self.equal_load(progress)?;
        let reason = self.blocks(progress)?;
        self.sensitivity(reason, progress)
    }

    /// Prepares the machine and the storage, and measures the ceilings of what is in front of it.
    fn before_trials(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        self.steps.begin()?;
        if let Some(idle) = self.executor.read_idle(self.cancel) {
            self.book.happened(EventKind::Idle(idle), progress)?;
        }
        self.generator_ceilings(progress)?;
        self.prepare(progress)?;
        // Writes of ceilings are rolled back, too.
        self.snapshot(progress)?;
        self.way_ceilings(progress)?;
        self.null_way_ceilings(progress)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Runs block after block, until it is enough.
    fn blocks(&mut self, progress: &mut dyn Progress) -> Result<FinishReason, RunError> {
        let (began, before) = (Instant::now(), self.book.schedule.spent());
        let spent = || before + began.elapsed();
        let most = self.plan.design.blocks.most();
        for block in 0..most {
            // Drift cancels out over pairs of blocks: the second of a pair always follows.
            let is_second = self.plan.design.order == Order::Abba && block % 2 == 1;
            let order = self.plan.trials_of_block(block);
            if !self.book.schedule.is_begun(block) && !is_second {
                if let Some(reason) = self.is_enough() {
                    return Ok(reason);
                }
                // The first blocks run regardless of the time limit: a study without results is useless.
                let cells = 0..self.book.cells.len();
                if block >= self.least_blocks() && !self.fits(spent(), cells) {
                    return Ok(FinishReason::TimeLimit);
                }
            }
            loop {
                let due = self.due(block, &order);
                let Some(last) = due.last() else { break };
                if due.iter().all(|due| due.begins_again) {
                    let members = due.iter().map(|due| due.member);
                    if !self.fits(spent(), members) {
                        break;
                    }
                    progress.note(&self.again(block, due.len(), last.attempt.number));
                }
                let turns: Vec<Turn> =
                    due.into_iter().map(|due| Turn::of_block(block, due)).collect();
                for turns in turns.chunks(self.executor.width()) {
                    self.turns(turns, progress)?;
                    if self.is_cancelled() {
                        return Ok(FinishReason::Interrupted);
                    }
                }
            }
            if let Some(reason) = self.after_block(block, spent(), progress) {
                return Ok(reason);
            }
        }
        Ok(self.is_enough().unwrap_or(FinishReason::MaxBlocks))
    }

    /// Runs the trials of these turns and stores each, whatever its outcome. Interrupted trials are not kept.
    pub(crate) fn turns(
        &mut self,
        turns: &[Turn],
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        if self.book.is_predicted {
            return self.together(turns, progress);
        }
        for &turn in turns {
            self.trial(turn, progress)?;
            if self.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    /// Removes the disks.
    fn tidy(&mut self, progress: &mut dyn Progress) {
        for left in self.executor.remove() {
            progress.left_behind(&left);
        }
    }
}

/// The request to open a study's datastores. The file of a resumed run has its resumptions so far.
fn open_order(
    request: &Request,
    run_id: &str,
    resumed: Option<&ResultsFile>,
) -> Result<OpenOrder, RunError> {
    let plan = &request.plan;
    let urls = request.plain_urls();
    for url in &urls {
        // An invalid URL is refused when it is opened.
        let is_null = |url| DatastoreUrl::parse(url).is_ok_and(|it| it.location == Location::Null);
        if plan.verify && is_null(url) {
            return Err(RunError::VerifyNull(url.clone()));
        }
    }
    let resumptions = match resumed {
        // The present resumption is not yet recorded.
        Some(file) => 1 + file.events()?.iter().filter(|it| it.kind.is_resumption()).count() as u32,
        None => 0,
    };
    let verification = unit_bytes(plan)?.map(|unit_bytes| Verification { unit_bytes, resumptions });
    let secrets = request.passwords.iter();
    Ok(OpenOrder {
        run_id: run_id.to_owned(),
        urls,
        disks: disk_spec(plan),
        templates: plan.disks().templates,
        destroy_data: request.destroy_data.clone(),
        secrets: secrets.map(|(url, password)| (url.clone(), Password(password.clone()))).collect(),
        first_number: 0,
        verification,
        durability: durability(plan),
        clones: plan.workloads.iter().any(|workload| workload.kind.clones()),
        services: plan.workloads.iter().filter_map(|workload| workload.kind.service()).collect(),
        drivers: plan.drivers(),
        needs_target: plan.hosts.is_empty() && plan.design.metric == Metric::TargetCpuPerIo,
    })
}

/// What the workloads ask of storage in addition to reads and writes.
fn durability(plan: &StudyPlan) -> Durability {
    let asked = plan.workloads.iter().map(|workload| match &workload.kind {
        WorkloadKind::Io(io) => {
            Durability { flushes: io.flush.is_some(), durable_writes: io.durable }
        }
        WorkloadKind::File(test) => {
            Durability { flushes: test.flush_at_end, durable_writes: false }
        }
        _ => Durability::default(),
    });
    asked.fold(Durability::default(), Durability::or)
}

/// The URL of each store, from its first datastore.
fn urls(store_of: &[usize], descriptions: &[DatastoreDescription]) -> Vec<String> {
    let count = store_of.iter().max().map_or(0, |most| most + 1);
    let url = |store| {
        let first = store_of.iter().position(|of| *of == store);
        first.and_then(|first| descriptions.get(first)).map(|it| it.url.clone()).unwrap_or_default()
    };
    (0..count).map(url).collect()
}

#[cfg(test)]
mod tests {
    use stormeter_study::parse_study;

    use super::*;

    #[test]
    fn a_time_limit_below_two_blocks_is_refused_with_the_sum() {
        let mut plan = parse_study("datastores: {a: /a, b: /b}").unwrap();
        assert!(plan.is_comparison());
        plan.timing =
            Timing { ramp_ns: 10_000_000, duration_ns: 100_000_000, interval_ns: 10_000_000 };
        plan.design.time_limit_ns = Some(10_000_000_000);
        assert!(check_time_limit(&plan).is_ok());
        plan.design.time_limit_ns = Some(300_000_000);
        let message = check_time_limit(&plan).unwrap_err().to_string();
        assert!(message.contains("two blocks of 2 trials"), "{message}");
    }
}
