//! Fits the description of one datastore to its cells.
//!
//! CPU first: what an I/O costs is the same in every form. Then each form of the device is fitted to the latencies of
//! a part of the cells, and the one that predicts the others best is fitted again to all.

use std::cell::Cell as Counter;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use stormeter_site::{FreeParameter, Site, Unit, parse_site_with};
use stormeter_statistics::fit::{FitError, FitParameter, Fitted};
use stormeter_statistics::metrics::value_of;
use stormeter_study::{Cell, Metric, StudyPlan, Timing};
use stormeter_trial::Workload;

use super::draft::{Draft, Host, text};
use super::error::MeasuredSiteError;
use super::form::Form;
use super::parameter::{Known, Parameter, Source, StackCost};
use super::starts::{Direction, starts};
use super::store::Store;
use crate::calibrate::{
    Calibration, Compared, Observation, Outcome, Request, Split, calibrate, hold_out, observations,
};
use crate::cells::predict_cells;

/// Confidence level of the intervals.
const LEVEL: f64 = 0.95;
/// The share of cells that choose among the forms.
const HELD_OUT: f64 = 0.25;
/// I/Os in a window of the model: enough for the mean of times that vary.
const IOS: f64 = 1500.0;
/// How often one request after another fits into it.
const TURNS: f64 = 40.0;
/// The longest window, and the shortest, of which the others are multiples of 2.
const MOST_WINDOW_NS: u64 = 2_000_000_000;
const LEAST_WINDOW_NS: u64 = 1_000_000;
/// Intervals of a window of the model: nothing is looked at within it.
const INTERVALS: u64 = 4;
/// A stack's costs where nothing was measured, in nanoseconds: of a read, a write and a byte.
const USUAL_COSTS_NS: [f64; 3] = [5e3, 5e3, 0.01];
/// A sample of its own for the choice of the cells held out.
const SEED: u64 = 1;

/// What the fit needs besides the measurements.
pub struct Model<'a> {
    /// The machine that measured.
    pub host: Host,
    /// Ends the fit when it is set.
    pub cancel: &'a AtomicBool,
    /// Is called before each run of the model, with its number.
    pub on_run: &'a dyn Fn(u32),
}

/// A datastore's fitted description.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedStore {
    /// Its name.
    pub name: String,
    /// The form of its device.
    pub form: Form,
    /// What an I/O costs the host; `None`: not measured.
    pub costs: Option<Calibration>,
    /// The device, fitted to all cells.
    pub device: Calibration,
    /// The cells held out when the form was chosen, as the site fitted to the others predicts them.
    #[serde(rename = "kept_back")]
    pub held_out: Vec<Compared>,
    /// Sequential requests, which the device serves like random ones.
    pub sequential: Vec<Sequential>,
    /// The highest rate that was measured, in bytes per second.
    pub most_bytes_per_s: f64,
    /// Mean latency of small reads and of small writes alone, in nanoseconds.
    pub alone_ns: [f64; 2],
    /// Cells without a sound trial, by their labels.
    pub missing: Vec<String>,
}

/// A sequential cell next to the same cell with random requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sequential {
    /// Whether it reads.
    pub reads: bool,
    /// Outstanding I/Os of one VM.
    pub outstanding: u32,
    /// Mean latency over that of random requests.
    pub ratio: f64,
}

impl FittedStore {
    /// What is known of the device, in the order of [`Parameter::ALL`].
    fn device(&self) -> [Known; 8] {
        let fitted = &self.device.fit.parameters;
        Parameter::ALL
            .map(|one| known(&fitted[Parameter::ALL.iter().position(|o| *o == one).unwrap_or(0)]))
    }

    /// The description with what is known about each value.
    pub(crate) fn draft<'a>(&self, store: &'a Store) -> Draft<'a> {
        let costs = match &self.costs {
            Some(costs) => std::array::from_fn(|at| known(&costs.fit.parameters[at])),
            None => USUAL_COSTS_NS.map(|value_ns| Known { value_ns, by: Source::Assumed }),
        };
        Draft {
            store,
            form: self.form,
            device: self.device(),
            costs,
            most_bytes_per_s: self.most_bytes_per_s,
        }
    }
}

fn known(fitted: &Fitted) -> Known {
    let by = match (fitted.low, fitted.high) {
        _ if fitted.at_bound => Source::NotSeen,
        (Some(low_ns), Some(high_ns)) => Source::Measured { low_ns, high_ns },
        _ => Source::Undetermined,
    };
    Known { value_ns: fitted.value, by }
}

/// Fits the description of a datastore. `trials` has its sound trials: the number of the cell in the plan, and the
/// outcome. `plan` is the whole plan, `index` the datastore's place in it.
///
/// # Errors
/// See [`MeasuredSiteError`].
pub fn fit_store(
    (plan, index): (&StudyPlan, usize),
    store: &Store,
    trials: &[(usize, Outcome)],
    model: &Model<'_>,
) -> Result<FittedStore, MeasuredSiteError> {
    let own = OwnCells::of(plan, index, trials);
    let figures = observations(&own.plan, &own.trials, &[Metric::LatencyMean]);
    let (random, sequential): (Vec<Observation>, Vec<Observation>) =
        figures.into_iter().partition(|one| own.io(one).is_some_and(|io| io.random_percent > 0.0));
    if random.len() < Parameter::ALL.len() + 2 {
        return Err(MeasuredSiteError::TooFew {
            store: store.name.clone(),
            found: random.len(),
            least: Parameter::ALL.len() + 2,
        });
    }
    let fit = StoreFit { own: &own, store, model, runs: Counter::new(0), random };
    fit.carried_out(&sequential)
        .map_err(|source| MeasuredSiteError::Fit { store: store.name.clone(), source })
}

/// The cells of one datastore, as a plan of its own.
struct OwnCells {
    plan: StudyPlan,
    trials: Vec<(usize, Outcome)>,
}

impl OwnCells {
    fn of(plan: &StudyPlan, index: usize, trials: &[(usize, Outcome)]) -> Self {
        let all = plan.cells();
        let mut own = plan.clone();
        own.datastores = vec![plan.datastores[index].clone()];
        own.baseline = 0;
        let cells = own.cells();
        let number = |cell: usize| {
            let cell = all.get(cell).filter(|cell| cell.datastore == index)?;
            cells.iter().position(|other| other.same_load(cell))
        };
        let mine = trials.iter().filter_map(|(cell, outcome)| Some((number(*cell)?, outcome)));
        let mine: Vec<(usize, &Outcome)> = mine.collect();
        let trials = (0..cells.len()).flat_map(|cell| typical(cell, &mine)).collect();
        Self { trials, plan: own }
    }

    fn io(&self, observation: &Observation) -> Option<&Workload> {
        let cell = observation.of.cells().next()?;
        self.plan.workloads[cell.workload].kind.io()
    }

    /// Figures of one VM: kind of requests, size, outstanding, value.
    fn alone(&self, observation: &Observation) -> Option<(f64, u32, u32, f64)> {
        let cell = observation.of.cells().next().filter(|cell| cell.vms == 1)?;
        let io = self.io(observation)?;
        Some((io.read_percent, io.sizes.first()?.bytes, cell.outstanding?, observation.value))
    }

    fn missing(&self) -> Vec<String> {
        let cells = self.plan.cells();
        let is_missing = |number: &usize| self.trials.iter().all(|(cell, _)| cell != number);
        let label = |number: usize| crate::calibrate::cell_label(&self.plan, &cells[number]);
        (0..cells.len()).filter(is_missing).map(label).collect()
    }

    fn most_bytes_per_s(&self) -> f64 {
        let rates = observations(&self.plan, &self.trials, &[Metric::Throughput]);
        rates.iter().map(|one| one.value).fold(0.0, f64::max)
    }
}

/// The trial of a cell with the median latency, or the two in the middle: a moment in which something else kept the
/// storage busy multiplies the mean of short trials.
fn typical(cell: usize, trials: &[(usize, &Outcome)]) -> Vec<(usize, Outcome)> {
    let latency = |outcome: &Outcome| value_of(Metric::LatencyMean, &outcome.sample, &outcome.cpu);
    let of_it = trials.iter().filter(|(number, _)| *number == cell);
    let mut ordered: Vec<(f64, &Outcome)> =
        of_it.filter_map(|(_, outcome)| Some((latency(outcome)?, *outcome))).collect();
    ordered.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    let middle = ordered.len().saturating_sub(1) / 2..ordered.len() / 2 + 1;
    let typical = ordered.get(middle).unwrap_or_default();
    typical.iter().map(|(_, outcome)| (cell, (*outcome).clone())).collect()
}

struct StoreFit<'a> {
    own: &'a OwnCells,
    store: &'a Store,
    model: &'a Model<'a>,
    runs: Counter<u32>,
    /// Mean latencies of random requests.
    random: Vec<Observation>,
}

impl StoreFit<'_> {
    fn carried_out(&self, sequential: &[Observation]) -> Result<FittedStore, FitError<String>> {
        let usual = USUAL_COSTS_NS.map(|value_ns| Known { value_ns, by: Source::Assumed });
        let costs = self.costs(usual)?;
        let costs_known = match &costs {
            Some(costs) => std::array::from_fn(|at| known(&costs.fit.parameters[at])),
            None => usual,
        };
        let split = hold_out(self.random.clone(), HELD_OUT, SEED);
        let mut best: Option<(Form, Calibration, f64)> = None;
        for form in Form::ALL {
            let draft = self.draft(form, self.starts(form, costs_known), costs_known);
            let Ok(found) = self.fitted(&draft, &split, true) else { continue };
            let error = total_error(&found);
            if best.as_ref().is_none_or(|(_, _, least)| error < *least) {
                best = Some((form, found, error));
            }
        }
        let (form, chosen, _) = match best {
            Some(best) => best,
            None => {
                let draft = self.draft(
                    Form::Constant,
                    self.starts(Form::Constant, costs_known),
                    costs_known,
                );
                let found = self.fitted(&draft, &split, true)?;
                (Form::Constant, found, 0.0)
            }
        };
        let values: Vec<f64> = chosen.fit.parameters.iter().map(|one| one.value).collect();
        let draft = self.draft(form, std::array::from_fn(|at| values[at]), costs_known);
        let all = Split { fitted: self.random.clone(), held_out: Vec::new() };
        let device = self.fitted(&draft, &all, true)?;
        Ok(FittedStore {
            name: self.store.name.clone(),
            form,
            costs,
            device,
            held_out: chosen.held_out,
            sequential: self.sequential(sequential),
            most_bytes_per_s: self.own.most_bytes_per_s(),
            alone_ns: [self.latency(100.0, true, 1), self.latency(0.0, true, 1)],
            missing: self.own.missing(),
        })
    }

    /// What an I/O costs the host, of many outstanding: with few, an I/O is charged with waking up and waiting.
    fn costs(&self, usual: [Known; 3]) -> Result<Option<Calibration>, FitError<String>> {
        let most = self.own.plan.outstanding.iter().max().copied();
        let figures = observations(&self.own.plan, &self.own.trials, &[Metric::CpuPerIo]);
        let is_random =
            |cell: Cell| self.random.iter().any(|one| one.of.cells().any(|of| of == cell));
        let of_many = |one: &Observation| {
            let is_one = |cell: Cell| cell.outstanding == most && cell.vms == 1 && is_random(cell);
            one.value > 0.0 && one.of.cells().any(is_one)
        };
        let fitted: Vec<Observation> = figures.into_iter().filter(of_many).collect();
        if fitted.len() < StackCost::ALL.len() {
            return Ok(None);
        }
        let draft = self.draft(Form::Constant, self.starts(Form::Constant, usual), usual);
        let split = Split { fitted, held_out: Vec::new() };
        self.fitted(&draft, &split, false).map(Some)
    }

    fn draft(&self, form: Form, device_ns: [f64; 8], costs: [Known; 3]) -> Draft<'_> {
        Draft {
            store: self.store,
            form,
            device: device_ns.map(|value_ns| Known { value_ns, by: Source::Assumed }),
            costs,
            most_bytes_per_s: self.own.most_bytes_per_s(),
        }
    }

    /// Fits the device, or the costs of the stack.
    fn fitted(
        &self,
        draft: &Draft<'_>,
        split: &Split,
        is_device: bool,
    ) -> Result<Calibration, FitError<String>> {
        let text = text(&self.model.host, std::slice::from_ref(draft));
        let (paths, bounds, values): (Vec<String>, Vec<(f64, f64)>, Vec<f64>) = match is_device {
            true => (
                draft.device_paths(),
                Parameter::ALL.map(Parameter::bounds_ns).to_vec(),
                draft.device.map(|known| known.value_ns).to_vec(),
            ),
            false => (
                draft.cost_paths(),
                StackCost::ALL.map(StackCost::bounds_ns).to_vec(),
                draft.costs.map(|known| known.value_ns).to_vec(),
            ),
        };
        let free: Vec<FreeParameter> = paths
            .into_iter()
            .zip(&bounds)
            .map(|(parameter, (from, to))| FreeParameter {
                parameter,
                with: Vec::new(),
                unit: Unit::Nanoseconds,
                from: *from,
                to: *to,
            })
            .collect();
        let parameters: Vec<FitParameter> = free
            .iter()
            .zip(&values)
            .map(|(one, value)| FitParameter {
                name: one.parameter.clone(),
                start: value.clamp(one.from, one.to),
                lowest: one.from,
                highest: one.to,
            })
            .collect();
        calibrate(&Request {
            parameters: &parameters,
            split,
            level: LEVEL,
            site: &|values| {
                let changes: Vec<_> =
                    free.iter().zip(values).flat_map(|(one, value)| one.at(*value)).collect();
                parse_site_with(&text, &changes)
                    .map(|file| file.site)
                    .map_err(|errors| errors.to_string())
            },
            predict: &|site: &Site, cells: &[Cell]| {
                self.runs.set(self.runs.get() + 1);
                (self.model.on_run)(self.runs.get());
                self.outcomes(site, cells)
            },
        })
    }

    /// The outcomes of cells on a site, each in a window of its own length.
    fn outcomes(&self, site: &Site, cells: &[Cell]) -> Result<Vec<Outcome>, String> {
        let windows: Vec<u64> = cells.iter().map(|cell| self.window_ns(cell)).collect();
        let mut lengths = windows.clone();
        lengths.sort_unstable();
        lengths.dedup();
        let mut outcomes: Vec<Option<Outcome>> = vec![None; cells.len()];
        for length_ns in lengths {
            let timing = Timing {
                ramp_ns: length_ns / 4,
                duration_ns: length_ns,
                interval_ns: length_ns / INTERVALS,
            };
            let plan = StudyPlan { timing, ..self.own.plan.clone() };
            let which: Vec<usize> =
                (0..cells.len()).filter(|at| windows[*at] == length_ns).collect();
            let of_it: Vec<Cell> = which.iter().map(|at| cells[*at]).collect();
            let found = predict_cells(&plan, site, &of_it, self.model.cancel)
                .map_err(|error| error.to_string())?;
            for (at, (sample, cpu)) in which.into_iter().zip(found) {
                outcomes[at] = Some(Outcome { sample, cpu });
            }
        }
        Ok(outcomes.into_iter().flatten().collect())
    }

    /// Long enough for the I/Os that were measured, a multiple of 2.
    fn window_ns(&self, cell: &Cell) -> u64 {
        let measured = self.random.iter().find(|one| one.of.cells().any(|other| other == *cell));
        let outstanding = f64::from(cell.vms.max(1) * cell.outstanding.unwrap_or(1).max(1));
        let needed_ns = measured.map_or(0.0, |one| one.value * (IOS / outstanding).max(TURNS));
        (needed_ns as u64)
            .clamp(LEAST_WINDOW_NS, MOST_WINDOW_NS)
            .next_power_of_two()
            .min(MOST_WINDOW_NS)
    }

    /// Mean latency of one VM, of small or large requests in one direction.
    fn latency(&self, read_percent: f64, is_small: bool, outstanding: u32) -> f64 {
        let of_direction = || {
            let alone = self.random.iter().filter_map(|one| self.own.alone(one));
            alone.filter(move |(read, _, queue, _)| *read == read_percent && *queue == outstanding)
        };
        let sizes = || of_direction().map(|(_, bytes, ..)| bytes);
        let size = if is_small { sizes().min() } else { sizes().max() };
        let found = of_direction().find(|(_, bytes, ..)| Some(*bytes) == size);
        found.map_or(100e3, |(.., value)| value)
    }

    fn starts(&self, form: Form, costs: [Known; 3]) -> [f64; 8] {
        let all = || self.random.iter().filter_map(|one| self.own.alone(one));
        let (small, large) = (
            all().map(|(_, bytes, ..)| bytes).min().unwrap_or(4096),
            all().map(|(_, bytes, ..)| bytes).max().unwrap_or(65_536),
        );
        let most = all().map(|(_, _, queue, _)| queue).max().unwrap_or(1).max(2);
        let direction = |read_percent: f64, cost: Known| {
            let queued = |is_small| self.latency(read_percent, is_small, most);
            let alone = |is_small, bytes: u32| {
                let latency = self.latency(read_percent, is_small, 1);
                let cpu = cost.value_ns + costs[2].value_ns * f64::from(bytes);
                (latency - cpu).max(0.2 * latency)
            };
            Direction {
                alone_ns: [alone(true, small), alone(false, large)],
                queued_ns: [queued(true), queued(false)],
                outstanding: f64::from(most),
                bytes: [f64::from(small), f64::from(large.max(small + 1))],
            }
        };
        starts(form, &direction(100.0, costs[0]), &direction(0.0, costs[1]))
    }

    /// Sequential cells of one VM relative to random ones of the same size.
    fn sequential(&self, sequential: &[Observation]) -> Vec<Sequential> {
        let of_one = sequential.iter().filter_map(|one| self.own.alone(one));
        of_one
            .filter_map(|(read, bytes, outstanding, value)| {
                let same = |(r, b, o, _): &(f64, u32, u32, f64)| {
                    (*r, *b, *o) == (read, bytes, outstanding)
                };
                let (.., random) =
                    self.random.iter().filter_map(|one| self.own.alone(one)).find(same)?;
                Some(Sequential { reads: read > 0.0, outstanding, ratio: value / random })
            })
            .collect()
    }
}

/// The sum of squared logarithmic errors of cells held out and, with a small weight, of those of the fit, which
/// decide between forms that predict equally well.
fn total_error(found: &Calibration) -> f64 {
    let squared = |all: &[Compared]| -> f64 {
        let errors = all.iter().map(|one| match one.error() {
            Some(error) if error > -1.0 => error.ln_1p().powi(2),
            _ => f64::INFINITY,
        });
        errors.sum()
    };
    squared(&found.held_out) + 0.1 * squared(&found.fitted)
}
