//! A study under way: opened, prepared, and driven block by block.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use stormeter_datastore::{DatastoreUrl, Location, RealClock};
use stormeter_results::{
    DatastoreDescription, Environment, EventKind, FinishReason, Finished, ResultsFile,
};
use stormeter_study::{Metric, Order, StudyPlan};

use crate::attempts::Attempts;
use crate::environment::environment;
use crate::error::RunError;
use crate::executor::{Executor, OpenOrder, Opened, OpenedStores, Password, Verification};
use crate::idle::IDLE_READING;
use crate::journal::{Beginning, event, event_of, finish_reason, new_run_id, unix_ms};
use crate::local_executor::LocalExecutor;
use crate::machine::raise_open_files;
use crate::progress::Progress;
use crate::rack_control::RackControl;
use crate::resume::resumption;
use crate::study::book::Book;
use crate::study::conclusion::{StudyConclusion, conclude_study};
use crate::study::request::StudyRequest;
use crate::study::resume::{begun, check_same_place, invalid_cells, is_over};
use crate::study::rules::Rules;
use crate::study::schedule::Schedule;
use crate::study::setting::{cell_label, disk_spec, unit_bytes};
use crate::study::steps::Steps;
use crate::study::turn::Turn;
use crate::ways::NullServers;

/// Carries out a study, or goes on with it; `cancel` ends it at the next opportunity, keeping what is
/// finished.
///
/// # Errors
/// Whatever keeps it from starting or going on. Trials that were finished before are in the results
/// file all the same. A trial that fails is no error: the study goes on.
pub fn run_study(
    request: &StudyRequest,
    clock: &RealClock,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<StudyConclusion, RunError> {
    run(request, Collaborators::default(), (clock, cancel), progress)
}

/// Who takes part in a study beside this process.
#[derive(Default)]
pub struct Collaborators<'a> {
    /// Who carries out the trials; `None`: threads of this process.
    pub executor: Option<&'a mut dyn Executor>,
    /// Who takes the steps of trials that are no commands; `None`: nobody can.
    pub rack_control: Option<&'a mut dyn RackControl>,
    /// Starts servers for the ceilings of ways to storage; `None`: there are no such ceilings.
    pub null_servers: Option<&'a mut dyn NullServers>,
}

/// As [`run_study`], with collaborators.
///
/// # Errors
/// As there; what none of them can do is refused.
pub fn run_study_with<'a>(
    collaborators: Collaborators<'a>,
    request: &'a StudyRequest,
    clock: &'a RealClock,
    cancel: &'a AtomicBool,
    progress: &mut dyn Progress,
) -> Result<StudyConclusion, RunError> {
    run(request, collaborators, (clock, cancel), progress)
}

fn run<'a>(
    request: &'a StudyRequest,
    collaborators: Collaborators<'a>,
    (clock, cancel): (&'a RealClock, &'a AtomicBool),
    progress: &mut dyn Progress,
) -> Result<StudyConclusion, RunError> {
    raise_open_files();
    if let Some(conclusion) = finished_study(request)? {
        return Ok(conclusion);
    }
    let Collaborators { executor, rack_control, null_servers } = collaborators;
    let mut local = LocalExecutor::new(clock.clone(), IDLE_READING);
    let executor = match executor {
        Some(executor) => executor,
        None if request.plan.hosts.is_empty() => &mut local,
        None => {
            return Err(RunError::Hosts(
                "the study names hosts, and nothing was given to reach them by".into(),
            ));
        }
    };
    let by = By {
        executor,
        rack_control: rack_control.map(|it| it as &mut dyn RackControl),
        null_servers: null_servers.map(|it| it as &mut dyn NullServers),
    };
    let begun = begun(request)?;
    let here = environment(clock);
    let run = StudyRun::open(request, Rules::Study, begun, by, (here, cancel), progress)?;
    Ok(conclude_study(&carry_out(run, progress)?)?)
}

/// [`Collaborators`], with somebody who carries out the trials.
pub(crate) struct By<'a> {
    pub(crate) executor: &'a mut dyn Executor,
    pub(crate) rack_control: Option<&'a mut dyn RackControl>,
    pub(crate) null_servers: Option<&'a mut dyn NullServers>,
}

/// The study's conclusion, if its results file has all of it already: then no datastore is touched.
///
/// # Errors
/// The results file cannot be read, or is another study's.
pub fn finished_study(request: &StudyRequest) -> Result<Option<StudyConclusion>, RunError> {
    let Some(mut file) = begun(request)? else { return Ok(None) };
    let has_invalid = request.redo_invalid && !invalid_cells(&file)?.is_empty();
    let over = is_over(&file, &request.plan)? && !has_invalid;
    let Some(finished) = file.finished()? else { return Ok(None) };
    // Opened to go on, it has a log beside it; finishing leaves one file again.
    file.finish(&finished)?;
    if over { Ok(Some(conclude_study(&file)?)) } else { Ok(None) }
}

/// Carries out a run to its end; gives the results file, which is finished.
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

/// A study under way; or a comparison, which is one of a single load, or a prediction, which is one on a model.
pub(crate) struct StudyRun<'a> {
    pub(crate) plan: &'a StudyPlan,
    pub(crate) book: Book<'a>,
    /// Per cell: I/Os a second, all VMs together, where the load is equal for all datastores.
    pub(crate) rates: Vec<Option<f64>>,
    pub(crate) executor: &'a mut dyn Executor,
    /// The URL of each store.
    pub(crate) urls: Vec<String>,
    /// Of each datastore of the plan: whether it answers from nothing.
    pub(crate) is_null: Vec<bool>,
    /// Which store each datastore of the plan is, and behind them each of its ceilings.
    pub(crate) store_of: Vec<usize>,
    /// Per store: whether a trial left disks that others cannot use.
    pub(crate) spoilt: Vec<bool>,
    /// What is worth knowing of the datastores.
    opening_notes: Vec<String>,
    /// What is done while trials run.
    pub(crate) steps: Steps<'a>,
    /// Whether everything was whole again after the last trial.
    pub(crate) restored: Result<(), RunError>,
    /// Starts servers for the ceilings of ways to storage.
    pub(crate) null_servers: Option<&'a mut dyn NullServers>,
    pub(crate) cancel: &'a AtomicBool,
}

impl<'a> StudyRun<'a> {
    /// Opens the datastores, and the results file: `begun`, or a new one.
    pub(crate) fn open(
        request: &'a StudyRequest,
        rules: Rules,
        begun: Option<ResultsFile>,
        by: By<'a>,
        (mut environment, cancel): (Environment, &'a AtomicBool),
        progress: &mut dyn Progress,
    ) -> Result<Self, RunError> {
        let By { executor, rack_control, null_servers } = by;
        let plan = &request.plan;
        // What is done to a model is told to it and not to a rack.
        let steps = match rules {
            Rules::Prediction(_) => Steps::default(),
            Rules::Study | Rules::Comparison(_) => Steps::new(plan, rack_control)?,
        };
        let run_id = match &begun {
            Some(file) => rules.begun(file)?.run_id,
            None => new_run_id(plan.seed),
        };
        let order = open_order(request, &run_id, begun.as_ref())?;
        let Opened { hosts, stores } = executor.open(&order, cancel, progress)?;
        let OpenedStores { datastores: mut descriptions, store_of, warning } = stores;
        environment.hosts = hosts;
        environment.engine = descriptions.first().map(|store| store.engine.clone());
        let urls = urls(&store_of, &descriptions);
        let opening_notes = descriptions.iter().flat_map(|store| {
            store.notes.iter().map(|note| format!("{}: {note}", store.url)).collect::<Vec<_>>()
        });
        let mut opening_notes: Vec<String> = opening_notes.collect();
        // What the ceilings are is told by the plan.
        descriptions.truncate(plan.datastores.len());
        opening_notes.dedup();
        let is_null = descriptions.iter().map(|store| store.kind == "null").collect();
        let mut again = Vec::new();
        let mut file = match begun {
            Some(mut file) => {
                let then = rules.begun(&file)?;
                check_same_place(&then, (&environment, &descriptions), request)?;
                let attempts = Attempts::of_study(plan, &rules.trials(&file)?);
                file.append_event(&resumption(&attempts))?;
                if request.redo_invalid {
                    again = invalid_cells(&file)?;
                }
                file
            }
            None => {
                let beginning = Beginning {
                    run_id: &run_id,
                    version: &request.version,
                    command_line: &request.command_line,
                    plan,
                    environment,
                    datastores: descriptions,
                    prediction: None,
                };
                rules.begin_file(&request.output, beginning, warning)?
            }
        };
        let trials = rules.trials(&file)?;
        let cells = plan.cells();
        let mut attempts = Attempts::of_study(plan, &trials);
        if !again.is_empty() {
            attempts.redo(&again);
            let names: Vec<String> =
                again.iter().map(|&cell| cell_label(plan, &cells[cell])).collect();
            let what = format!(
                "asked to measure invalid cells again, with the cells that they are compared with: {}",
                names.join("; ")
            );
            file.append_event(&event_of(EventKind::Redone, what))?;
        }
        let schedule = Schedule::of(cells.len(), &trials);
        let spoilt = vec![false; urls.len()];
        let clock = rules.clock(&file)?;
        let rates = vec![None; cells.len()];
        Ok(Self {
            plan,
            book: Book { plan, cells, rules, clock, file, trials, schedule, attempts },
            rates,
            executor,
            urls,
            is_null,
            store_of,
            spoilt,
            opening_notes,
            steps,
            restored: Ok(()),
            null_servers,
            cancel,
        })
    }

    fn carry_out(&mut self, progress: &mut dyn Progress) -> Result<FinishReason, RunError> {
        for note in &self.opening_notes {
            progress.note(note);
        }
        if !self.book.rules.is_predicted() {
            self.before_trials(progress)?;
        }
        self.equal_load(progress)?;
        let reason = self.blocks(progress)?;
        self.elasticities(reason, progress)
    }

    /// Prepares the machine and the storage, and measures what lies before it.
    fn before_trials(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        self.steps.begin()?;
        if let Some(idle) = self.executor.read_idle(self.cancel) {
            progress.note(&idle);
            self.book.file.append_event(&event(idle))?;
        }
        self.generator_ceilings(progress)?;
        self.prepare(progress)?;
        // What a ceiling writes is rolled back with the rest.
        self.snapshot(progress)?;
        self.way_ceilings(progress)?;
        self.null_way_ceilings(progress)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Block after block until it is enough.
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
                // The first blocks have time always: a study of nothing helps nobody.
                let cells = 0..self.book.cells.len();
                if block >= self.book.rules.least_blocks() && !self.fits(spent(), cells) {
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
                    progress.note(&self.book.rules.again(block, due.len(), last.attempt.number));
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

    /// Trials that have their turn, each stored whatever came of it. Those that were interrupted are not kept.
    pub(crate) fn turns(
        &mut self,
        turns: &[Turn],
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        if self.book.rules.is_predicted() {
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
            progress.note(&left);
        }
    }
}

/// What is to be opened for a study. A run that is resumed has counted its resumptions so far.
fn open_order(
    request: &StudyRequest,
    run_id: &str,
    begun: Option<&ResultsFile>,
) -> Result<OpenOrder, RunError> {
    let plan = &request.plan;
    let urls = request.plain_urls();
    for url in &urls {
        // One that cannot be read is refused by whoever is to open it.
        let is_null = |url| DatastoreUrl::parse(url).is_ok_and(|it| it.location == Location::Null);
        if plan.verify && is_null(url) {
            return Err(RunError::VerifyNull(url.clone()));
        }
    }
    let resumptions = match begun {
        // This one is not yet among them.
        Some(file) => 1 + file.events()?.iter().filter(|it| it.kind.is_resumption()).count() as u32,
        None => 0,
    };
    let verification = unit_bytes(plan)?.map(|unit_bytes| Verification { unit_bytes, resumptions });
    let secrets = request.passwords.iter();
    Ok(OpenOrder {
        run_id: run_id.to_owned(),
        urls,
        disks: disk_spec(plan),
        destroy_data: request.destroy_data.clone(),
        secrets: secrets.map(|(url, password)| (url.clone(), Password(password.clone()))).collect(),
        first_number: 0,
        verification,
        needs_target: plan.hosts.is_empty() && plan.design.metric == Metric::TargetCpuPerIo,
    })
}

/// The URL of each store, as the first datastore on it has it.
fn urls(store_of: &[usize], descriptions: &[DatastoreDescription]) -> Vec<String> {
    let count = store_of.iter().max().map_or(0, |most| most + 1);
    let url = |store| {
        let first = store_of.iter().position(|of| *of == store);
        first.and_then(|first| descriptions.get(first)).map(|it| it.url.clone()).unwrap_or_default()
    };
    (0..count).map(url).collect()
}
