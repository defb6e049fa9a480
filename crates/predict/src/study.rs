//! A study from its plan to its last block, in virtual time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use stormeter_results::{
    DatastoreDescription, Elasticity, FinishReason, Finished, Header, Phase, Prediction,
    ResultsError, ResultsFile, TrialOutcome, TrialRecord,
};
use stormeter_statistics::stopping::Decision;
use stormeter_statistics::{CellTrial, decide_study};
use stormeter_study::{Cell, Order, StudyPlan, WorkloadKind};
use stormeter_trial::TrialFailure;
use stormeter_units::format_duration_ns;

use crate::elasticity::elasticities;
use crate::error::PredictError;
use crate::parallel::{in_order, threads};
use crate::progress::{Progress, TrialEnded};
use crate::request::PredictRequest;
use crate::steps::{Disturbances, Planned};
use crate::trial::{TrialEnd, TrialRun};

/// Predicts a study: every cell of every block, in the plan's order and with the plan's seeds, into a
/// results file of the ordinary form, which is returned finished. What is concluded from it is for the
/// function that concludes a measured study.
///
/// The same request gives the same trials, on however many threads. `cancel` ends it at the next
/// opportunity, keeping what is finished.
///
/// # Errors
/// The site cannot bear the load of a cell, or the results file cannot be written. A trial that fails is
/// no error: the study goes on.
pub fn predict_study(
    request: &PredictRequest,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<ResultsFile, PredictError> {
    let cells = request.plan.cells();
    check(request, &cells, cancel)?;
    let created_unix_ms = unix_ms();
    let mut file = create(request, created_unix_ms)?;
    let mut prediction = Predicting {
        request,
        cells,
        cancel,
        threads: threads(request.threads),
        trials: Vec::new(),
        virtual_ns: 0,
        created_unix_ms,
    };
    let result = prediction.blocks(&mut file, progress).and_then(|reason| {
        // What goes wrong in the short window of a rerun is not what goes wrong in the trial.
        let elasticity = request.elasticity && disturbances(request).is_empty();
        if elasticity && reason != FinishReason::Interrupted {
            prediction.elasticity(&mut file, progress)?;
        }
        Ok(if prediction.is_cancelled() { FinishReason::Interrupted } else { reason })
    });
    let reason = match &result {
        Ok(reason) => reason.clone(),
        Err(error) => FinishReason::Failed { reason: error.to_string() },
    };
    file.finish(&Finished { finished_unix_ms: unix_ms(), reason })?;
    result.map(|_| file)
}

/// Whether every cell has a machine, asked before anything is written.
fn check(
    request: &PredictRequest,
    cells: &[Cell],
    cancel: &AtomicBool,
) -> Result<(), PredictError> {
    if request.plan.design.equal_load.is_some() {
        return Err(PredictError::EqualLoad);
    }
    let mut planned: Vec<Planned> = Vec::new();
    let mut noticed: Vec<bool> = Vec::new();
    for (number, cell) in cells.iter().enumerate() {
        let run = run_of(request, (0, number), *cell, cancel);
        let label = || label(&request.plan, cell);
        planned = run.disturbances.planned(run.site, run.place.datastore)?;
        noticed.resize(planned.len(), false);
        if let WorkloadKind::Transfer(_) = &request.plan.workloads[cell.workload].kind
            && run.site.client.is_none()
        {
            return Err(PredictError::NoClient { cell: label() });
        }
        let machine =
            run.machine().map_err(|source| PredictError::Machine { cell: label(), source })?;
        for (noticed, fault) in noticed.iter_mut().zip(&planned) {
            *noticed |= fault.is_an_end() || fault.concerns(&machine)?;
        }
        late_fault(&run, &planned)?;
    }
    match planned.iter().zip(noticed).find(|(_, noticed)| !noticed) {
        None => Ok(()),
        Some((fault, _)) => Err(PredictError::IdleFault { fault: fault.what.to_string() }),
    }
}

/// A fault that comes when a trial is over would change nothing without a word. How long trials of fixed work take is
/// not known before.
fn late_fault(run: &TrialRun<'_>, planned: &[Planned]) -> Result<(), PredictError> {
    let is_timed = matches!(run.plan.workloads[run.cell.workload].kind, WorkloadKind::Io(_));
    let end_ns = run.timing.ramp_ns.saturating_add(run.timing.duration_ns);
    match planned.iter().find(|fault| is_timed && fault.what.at_ns >= end_ns) {
        None => Ok(()),
        Some(fault) => Err(PredictError::LateFault {
            fault: fault.what.to_string(),
            end: format_duration_ns(end_ns as f64),
        }),
    }
}

fn run_of<'a>(
    request: &'a PredictRequest,
    (block, number): (u32, usize),
    cell: Cell,
    cancel: &'a AtomicBool,
) -> TrialRun<'a> {
    let place = request.places[cell.datastore];
    TrialRun {
        plan: &request.plan,
        cell,
        timing: request.plan.timing,
        fixed_work_interval_ns: request
            .prediction
            .shortened_from
            .map_or(request.plan.timing, |(planned, _)| planned)
            .interval_ns,
        seed: request.plan.seed_of(block),
        start: request.plan.start_of(block, number),
        site: &request.sites[place.site],
        place,
        disturbances: disturbances(request),
        cancel,
    }
}

fn disturbances(request: &PredictRequest) -> Disturbances<'_> {
    Disturbances { steps: &request.plan.steps, faults: &request.faults }
}

/// What a trial of the cell is called: `nas, vm-4k, 4 VMs × 8`.
fn label(plan: &StudyPlan, cell: &Cell) -> String {
    let (datastore, workload) = (&plan.datastores[cell.datastore], &plan.workloads[cell.workload]);
    format!("{}, {}, {}", datastore.name, workload.name, plan.load_label(cell))
}

fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// The results file with its header. A prediction can be made again at any time, so an earlier one is
/// replaced; what was measured is not.
fn create(request: &PredictRequest, created_unix_ms: u64) -> Result<ResultsFile, PredictError> {
    let path = request.output.as_path();
    let describe = |(number, place): (usize, &crate::request::SitePlace)| {
        let datastore = &request.sites[place.site].datastores[place.datastore];
        DatastoreDescription {
            url: request.plan.datastores[number].url.clone(),
            kind: "simulated".into(),
            source: Some(datastore.name.clone()),
            engine: "simulator".into(),
            ..DatastoreDescription::default()
        }
    };
    let header = Header {
        created_unix_ms,
        run_id: format!("{:x}", created_unix_ms ^ request.plan.seed.rotate_left(32)),
        stormeter_version: request.version.clone(),
        command_line: request.command_line.clone(),
        plan: request.plan.clone(),
        environment: request.environment.clone(),
        datastores: request.places.iter().enumerate().map(describe).collect(),
        prediction: Some(Box::new(Prediction {
            faults: request.faults.iter().map(ToString::to_string).collect(),
            ..request.prediction.clone()
        })),
    };
    match ResultsFile::create(path, &header) {
        Err(ResultsError::Exists { .. }) => {
            remove_prediction(path)?;
            Ok(ResultsFile::create(path, &header)?)
        }
        created => Ok(created?),
    }
}

fn remove_prediction(path: &Path) -> Result<(), PredictError> {
    let earlier = ResultsFile::open(path)?;
    let is_prediction = earlier.study_header().is_ok_and(|header| header.prediction.is_some());
    if !is_prediction {
        return Err(PredictError::Measured { path: path.display().to_string() });
    }
    drop(earlier);
    std::fs::remove_file(path)
        .map_err(|source| PredictError::Replace { path: path.display().to_string(), source })
}

/// A prediction under way.
struct Predicting<'a> {
    request: &'a PredictRequest,
    cells: Vec<Cell>,
    cancel: &'a AtomicBool,
    threads: usize,
    /// Those that count, for the decision whether it is enough.
    trials: Vec<TrialRecord>,
    /// Virtual time of all trials so far: they are told as if one came after the other.
    virtual_ns: u64,
    created_unix_ms: u64,
}

impl Predicting<'_> {
    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Block after block until it is enough.
    fn blocks(
        &mut self,
        file: &mut ResultsFile,
        progress: &mut dyn Progress,
    ) -> Result<FinishReason, PredictError> {
        let plan = &self.request.plan;
        for block in 0..plan.design.blocks.most() {
            let is_second = plan.design.order == Order::Abba && block % 2 == 1;
            if !is_second && self.is_enough() {
                return Ok(FinishReason::PrecisionReached);
            }
            self.block(block, file, progress)?;
            if self.is_cancelled() {
                return Ok(FinishReason::Interrupted);
            }
        }
        let enough = self.is_enough();
        Ok(if enough { FinishReason::PrecisionReached } else { FinishReason::MaxBlocks })
    }

    fn block(
        &mut self,
        block: u32,
        file: &mut ResultsFile,
        progress: &mut dyn Progress,
    ) -> Result<(), PredictError> {
        let (request, cancel) = (self.request, self.cancel);
        let plan = &request.plan;
        let order = plan.trials_of_block(block);
        let seed = plan.seed_of(block);
        let cells = self.cells.clone();
        let task = |position: usize| {
            run_of(request, (block, order[position]), cells[order[position]], cancel).carry_out()
        };
        in_order(self.threads, order.len(), cancel, task, |position, end| {
            let cell = order[position];
            let record = self.record((block, position as u32), cell, seed, end);
            let outcome = match &record.outcome {
                TrialOutcome::Measured { sample, .. } => Ok(sample),
                TrialOutcome::Failed { failure, .. } => Err(failure),
            };
            progress.trial_ended(&TrialEnded {
                cell: &label(plan, &cells[cell]),
                number: record.id + 1,
                of: u64::from(plan.design.blocks.most()) * cells.len() as u64,
                outcome,
            });
            file.append_trial(&record)?;
            self.trials.push(record);
            Ok(())
        })
    }

    fn record(
        &mut self,
        (block, position): (u32, u32),
        cell: usize,
        seed: u64,
        end: Result<TrialEnd, String>,
    ) -> TrialRecord {
        let started_unix_ms = self.created_unix_ms + self.virtual_ns / 1_000_000;
        let mut record = TrialRecord {
            id: self.trials.len() as u64,
            block,
            position,
            datastore: Some(self.cells[cell].datastore),
            cell: Some(cell),
            phase: Phase::Main,
            started_unix_ms,
            elapsed_ns: 0,
            seed,
            outcome: TrialOutcome::Failed {
                failure: TrialFailure::Impossible { said: String::new() },
                sample: None,
            },
            incidents: Vec::new(),
            monitor: Vec::new(),
            components: Vec::new(),
            attempt: Default::default(),
        };
        let end = match end {
            Ok(end) => end,
            Err(said) => {
                let failure = TrialFailure::Impossible { said };
                record.outcome = TrialOutcome::Failed { failure, sample: None };
                return record;
            }
        };
        self.virtual_ns += end.elapsed_ns;
        record.elapsed_ns = end.elapsed_ns;
        let failure = end.failure();
        let TrialEnd { sample, cpu, monitor, components, notes, .. } = end;
        record.monitor = monitor;
        record.components = components;
        record.outcome = match failure {
            None => TrialOutcome::Measured { sample, cpu, notes },
            Some(failure) => TrialOutcome::Failed { failure, sample: Some(sample) },
        };
        record
    }

    fn is_enough(&self) -> bool {
        let views = self.trials.iter().filter_map(|trial| match &trial.outcome {
            TrialOutcome::Measured { sample, cpu, .. } => {
                Some(CellTrial { block: trial.block, cell: trial.cell?, sample, cpu })
            }
            TrialOutcome::Failed { .. } => None,
        });
        let views: Vec<_> = views.collect();
        matches!(decide_study(&self.request.plan, &views), Decision::PrecisionReached)
    }

    fn elasticity(
        &mut self,
        file: &mut ResultsFile,
        progress: &mut dyn Progress,
    ) -> Result<(), PredictError> {
        let (request, cancel, cells) = (self.request, self.cancel, &self.cells);
        let task =
            |cell: usize| elasticities(&run_of(request, (0, cell), cells[cell], cancel), cell);
        let mut all: Vec<Elasticity> = Vec::new();
        in_order(self.threads, cells.len(), cancel, task, |cell, found| {
            all.extend(found);
            progress.elasticity(cell as u64 + 1, cells.len() as u64);
            Ok::<(), PredictError>(())
        })?;
        Ok(file.replace_elasticities(&all)?)
    }
}
