//! What a prediction adds: the site, and the bottleneck of each cell.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_results::{AssumedEffect, Elasticity};
use stormeter_schema::Number;
use stormeter_statistics::CellWhy;
use stormeter_study::Metric;
use stormeter_trial::ComponentKind;

use crate::full::grid::Grid;
use crate::full::why;
use crate::model::CellReasons;

/// The site that a study was predicted for, and the bottleneck of each cell.
#[derive(Serialize, JsonSchema)]
pub(super) struct Prediction<'a> {
    /// The name of the site.
    site: &'a str,
    /// The path of the site file.
    file: &'a str,
    /// Changes to the site for further levels of `datastore`, such as `nic=40GbE`.
    what_if: &'a [String],
    /// Injected faults with their times.
    faults: &'a [String],
    /// True: the windows are shorter, or the blocks fewer, than the study file says.
    shortened: bool,
    /// The bottleneck of each cell.
    cells: Vec<Why<'a>>,
}

/// What limits a cell.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PredictedCell")]
struct Why<'a> {
    /// Index of the cell in cells.
    cell: usize,
    /// Name of the component that limits the cell.
    bottleneck: &'a str,
    /// Whether the bottleneck is saturated; otherwise it has the largest part of the response time.
    saturated: bool,
    /// The bottleneck as a sentence.
    sentence: String,
    /// Mean response time of an operation, in nanoseconds.
    response_ns: Number,
    /// What is possible.
    bounds: Bounds,
    /// The components in the order in which a request meets them.
    components: Vec<Component<'a>>,
    /// The effect of faster components, largest gain first.
    elasticities: Vec<Speedup<'a>>,
    /// The effect of other plausible values of what is assumed on the study's metric, if it is 10 % or more, largest first.
    assumed: Vec<Effect<'a>>,
}

/// The effect of another plausible value of what is assumed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AssumedEffect")]
struct Effect<'a> {
    /// The path of the value in the site file.
    parameter: &'a str,
    /// The assumed value, in the notation of site files.
    value: &'a str,
    /// The other one.
    other: &'a str,
    /// Whether the site file leaves the value to the default.
    is_default: bool,
    /// The metric.
    metric: Metric,
    /// The metric with the other value divided by the metric with the assumed one.
    ratio: Number,
}

/// Asymptotic bounds (Denning & Buzen 1978), in operations per second.
#[derive(Serialize, JsonSchema)]
struct Bounds {
    /// The rate that saturates the busiest component, however many I/Os are outstanding.
    saturated_per_s: Option<f64>,
    /// The rate without any queueing, with as many I/Os outstanding as there were.
    unqueued_per_s: Number,
    /// The number of outstanding I/Os that saturates the busiest component.
    outstanding_to_saturate: Option<f64>,
    /// The rate at which disks destage a full write cache.
    long_run_per_s: Option<f64>,
}

/// A component of the site.
#[derive(Serialize, JsonSchema)]
struct Component<'a> {
    /// Its name in the site.
    name: &'a str,
    /// The kind of component.
    kind: ComponentKind,
    /// Number of units: the CPUs of eight hosts are eight.
    units: u32,
    /// Busy share of all its units, 0 to 1.
    utilisation: Number,
    /// Busy share of the busiest unit, 0 to 1.
    utilisation_most: Number,
    /// Jobs that wait or are served, on average.
    queue_mean: Number,
    /// Share of the response time that is spent there, 0 to 1.
    response_share: Number,
    /// Part of the response time that is service, in nanoseconds; null for users of desktops, whose wait is not I/O alone.
    service_ns: Number,
    /// Part of the response time that is waiting, in nanoseconds; null for users of desktops.
    queue_ns: Number,
    /// Part of the response time that is latency of wires and interrupts, in nanoseconds; null for users of desktops.
    latency_ns: Number,
}

/// The effect of a faster component.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Elasticity")]
struct Speedup<'a> {
    /// Name of the component.
    component: &'a str,
    /// The kind of component.
    kind: ComponentKind,
    /// How many times as fast the component is, such as 1.1.
    factor: Number,
    /// The metric.
    metric: Metric,
    /// The metric with the faster component divided by the metric without.
    ratio: Number,
}

impl<'a> Prediction<'a> {
    pub(super) fn of(grid: &Grid<'a>, prediction: &'a stormeter_results::Prediction) -> Self {
        Self {
            site: &prediction.site,
            file: &prediction.file,
            what_if: &prediction.what_if,
            faults: &prediction.faults,
            shortened: prediction.shortened_from.is_some(),
            cells: grid.report.reasons.iter().map(|reasons| Why::of(grid, reasons)).collect(),
        }
    }
}

impl<'a> Why<'a> {
    fn of(grid: &Grid<'a>, reasons: &'a CellReasons) -> Self {
        let why = &reasons.why;
        let each = why::Each::of(grid, reasons.cell);
        Self {
            cell: reasons.cell,
            bottleneck: &why.components[why.bottleneck].name,
            saturated: why.is_saturated,
            sentence: why::sentence(why, each),
            response_ns: why.response_ns.into(),
            bounds: Bounds::of(why),
            components: components(why, each),
            elasticities: reasons.elasticities.iter().map(Speedup::of).collect(),
            assumed: reasons.assumed.iter().map(Effect::of).collect(),
        }
    }
}

fn components(why: &CellWhy, each: why::Each) -> Vec<Component<'_>> {
    // Shares of I/Os cannot be times of users, whose waits are not I/O alone.
    let ns = |ns: f64| Number::from(if each == why::Each::User { f64::NAN } else { ns });
    let components = why.components.iter().zip(&why.parts).map(|(component, part)| Component {
        name: &component.name,
        kind: component.kind,
        units: component.units,
        utilisation: component.utilisation.into(),
        utilisation_most: component.utilisation_most.into(),
        queue_mean: component.queue_mean.into(),
        response_share: component.response_share.into(),
        service_ns: ns(part.service_ns),
        queue_ns: ns(part.queue_ns),
        latency_ns: ns(part.latency_ns),
    });
    components.collect()
}

impl Bounds {
    fn of(why: &CellWhy) -> Self {
        let bounds = &why.bounds;
        Self {
            saturated_per_s: bounds.saturation.map(|bound| bound.per_s),
            unqueued_per_s: bounds.unqueued_per_s.into(),
            outstanding_to_saturate: bounds.saturation.map(|bound| bound.outstanding),
            long_run_per_s: bounds.long_run.map(|bound| bound.per_s),
        }
    }
}

impl<'a> Speedup<'a> {
    fn of(elasticity: &'a Elasticity) -> Self {
        Self {
            component: &elasticity.component,
            kind: elasticity.kind,
            factor: elasticity.factor.into(),
            metric: elasticity.metric,
            ratio: elasticity.ratio.into(),
        }
    }
}

impl<'a> Effect<'a> {
    fn of(effect: &'a AssumedEffect) -> Self {
        let of = &effect.of;
        Self {
            parameter: &of.parameter,
            value: &of.value,
            other: &of.other,
            is_default: of.is_default,
            metric: effect.metric,
            ratio: effect.ratio.into(),
        }
    }
}
