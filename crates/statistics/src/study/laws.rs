//! The laws over the trials of a study, cell by cell.

use stormeter_study::{Cell, Order, Prepare, Unit, WorkloadKind};
use stormeter_trial::{CpuUsage, Sample};

use super::conclusion::CellSummary;
use super::measured::{Measured, Unrecovered};
use super::promises::{unflushed, unlike_promises};
use super::surroundings::{MeasuredCeiling, Surroundings};
use crate::broken::{failed, measured_again};
use crate::cache::check_caches;
use crate::ceiling_kind::CeilingKind;
use crate::course::check_course;
use crate::data::check_data;
use crate::finding::{Fact, LawFinding, SeenIn, Severity};
use crate::laws::{TrialFacts, check_fixed_work, check_sessions, check_trial};
use crate::steadiness::check_steadiness;
use crate::uneven_load::uneven_load;
use crate::verdict::Verdict;
use crate::way::low_way;

/// From this number of blocks on an interval keeps its promise.
const FEW_BLOCKS: u32 = 5;

/// What is found in the trials of each cell, and of the whole study (`None`).
pub(super) fn findings(
    measured: &Measured<'_>,
    surroundings: &Surroundings,
) -> Vec<(Option<usize>, LawFinding)> {
    let mut findings = Vec::new();
    let is_null = |cell: &Cell| surroundings.is_null.get(cell.datastore).copied().unwrap_or(false);
    // The generator alone has no course that matters to anyone.
    let stored = measured.cells.iter().filter(|cell| !is_null(cell)).count();
    for (index, cell) in measured.cells.iter().enumerate() {
        let is_null = is_null(cell);
        let ceiling_of = |datastore| {
            let mut ceilings = surroundings.ceilings.iter();
            let of =
                |it: &&MeasuredCeiling| it.datastore == datastore && it.workload == cell.workload;
            ceilings.find(of)
        };
        let way = ceiling_of(Some(cell.datastore));
        // The generator's own says little of what the client and the network stack can do.
        let is_known = way.is_some_and(|way| way.kind == CeilingKind::NullServer);
        let ceiling_iops = ceiling_of(None).filter(|_| !is_known).map(|ceiling| ceiling.iops);
        let mut own = of_trials(measured, index, is_null, ceiling_iops);
        let timed = measured.plan.workloads[cell.workload].kind.is_timed();
        // What the steps do to a trial is no drift.
        if !is_null && timed && measured.plan.steps.is_empty() {
            let samples: Vec<&Sample> =
                measured.trials(index).iter().map(|trial| trial.sample).collect();
            own.extend(check_steadiness(&samples));
        }
        // A model has neither burst credit nor a neighbour.
        if !is_null && !measured.is_predicted {
            let metric = measured.plan.design.metric;
            let values: Vec<f64> = measured.values(index, metric).into_values().collect();
            own.extend(check_course(metric, &values, stored));
        }
        if !is_null {
            own.extend(caches(measured, surroundings, index));
        }
        own.extend(way.and_then(|way| low_way(way.kind, way.iops, most_iops(measured, index))));
        own.extend(unrecovered(measured, index));
        own.extend(unflushed(measured, index));
        if let Some(Some(verified)) = surroundings.verified.get(index) {
            own.extend(check_data(verified));
        }
        if let Some(Some(trials)) = surroundings.failed.get(index) {
            own.push(failed(trials, measured.trials(index).is_empty()));
        }
        if let Some(Some(again)) = surroundings.again.get(index) {
            own.push(measured_again(again));
        }
        findings.extend(own.into_iter().map(|finding| (Some(index), finding)));
    }
    let is_invalid = findings.iter().any(|(_, finding)| finding.severity == Severity::Invalid);
    // More blocks would not help a comparison that an invalid result ended.
    let is_ended = measured.is_comparison() && is_invalid;
    let promises = unlike_promises(measured.plan, surroundings);
    findings.extend(promises.map(|finding| (None, finding)));
    findings.extend(of_design(measured, is_ended).into_iter().map(|finding| (None, finding)));
    findings
}

fn most_iops(measured: &Measured<'_>, cell: usize) -> f64 {
    measured.trials(cell).iter().map(|trial| trial.sample.iops()).fold(0.0, f64::max)
}

/// Working sets that memories on the path may hold, and streams that read the same data again.
fn caches(measured: &Measured<'_>, surroundings: &Surroundings, index: usize) -> Vec<LawFinding> {
    let cell = &measured.cells[index];
    let (WorkloadKind::Io(workload), Some(touched)) =
        (&measured.plan.workloads[cell.workload].kind, measured.touched(index))
    else {
        return Vec::new();
    };
    let memories = surroundings.memories.get(cell.datastore).map_or(&[][..], Vec::as_slice);
    check_caches(workload, memories, &touched, measured.trials(index).len())
}

/// Trials that ended before throughput was back.
fn unrecovered(measured: &Measured<'_>, cell: usize) -> Option<LawFinding> {
    let Unrecovered { trials, least_ns } = measured.unrecovered(cell)?;
    let seen_in = SeenIn { trials: trials as u32, of: measured.trials(cell).len() as u32 };
    Some(LawFinding::warning(Fact::NotRecovered { seen_in, least_ns }))
}

fn of_trials(
    measured: &Measured<'_>,
    cell: usize,
    is_null: bool,
    ceiling_iops: Option<f64>,
) -> Vec<LawFinding> {
    let workload = &measured.plan.workloads[measured.cells[cell].workload].kind;
    let of_trial = |sample: &Sample, cpu: &CpuUsage| match workload {
        WorkloadKind::Io(workload) => {
            check_trial(&TrialFacts { workload, sample, is_null, ceiling_iops, cpu: Some(cpu) })
        }
        WorkloadKind::File(_) | WorkloadKind::Transfer(_) | WorkloadKind::Deploy(_) => {
            check_fixed_work(sample)
        }
        WorkloadKind::Ftp(_) | WorkloadKind::Vnc(_) | WorkloadKind::Desktops(_) => {
            check_sessions(sample, cpu)
        }
    };
    gathered(measured.trials(cell).iter().map(|trial| of_trial(trial.sample, trial.cpu)).collect())
}

/// The findings of several trials of a cell as one list, in which equal ones are counted.
fn gathered(trials: Vec<Vec<LawFinding>>) -> Vec<LawFinding> {
    let of = trials.len();
    let mut found: Vec<(u32, LawFinding)> = Vec::new();
    for finding in trials.into_iter().flatten() {
        let same = found.iter_mut().find(|(_, known)| known.is_like(&finding));
        match same {
            Some((count, _)) => *count += 1,
            None => found.push((1, finding)),
        }
    }
    let once = |(trials, mut finding): (u32, LawFinding)| {
        finding.seen_in = (trials > 1).then_some(SeenIn { trials, of: of as u32 });
        finding
    };
    found.into_iter().map(once).collect()
}

/// The findings about the verdicts of a comparison: blocks that resemble their neighbours, which are worth less than
/// they seem, and CPU time compared at different rates.
pub(super) fn of_comparison(
    measured: &Measured<'_>,
    cells: &[CellSummary],
) -> Vec<(Option<usize>, LawFinding)> {
    /// Autocorrelation is judged from this many blocks on.
    const BLOCKS_TO_CORRELATE: usize = 8;
    let mut findings = Vec::new();
    let primary = measured.plan.design.metric;
    for (index, cell) in cells.iter().enumerate() {
        let Some(baseline) = measured.plan.baseline_of(index) else { continue };
        let of_primary = cell.relative.iter().find(|relative| relative.metric == primary);
        if let Some(comparison) = of_primary.and_then(|relative| relative.comparison.as_ref())
            && let Some(lag1) = comparison.lag1_autocorrelation_of_blocks
            && comparison.blocks >= BLOCKS_TO_CORRELATE
            && lag1 > 2.0 / (comparison.blocks as f64).sqrt()
        {
            findings.push((Some(index), LawFinding::warning(Fact::BlocksAlike(lag1))));
        }
        // A block in which the metric has no value is complete and yields no ratio.
        if let Some(comparison) = of_primary.and_then(|relative| relative.comparison.as_ref())
            && comparison.blocks < FEW_BLOCKS as usize
            && !(1..FEW_BLOCKS).contains(&measured.complete_blocks())
            && comparison.verdict != Verdict::Invalid
        {
            let fact = Fact::FewBlocks(comparison.blocks as u32);
            findings.push((Some(index), LawFinding::warning(fact)));
        }
        // Where CPU time is not known there is nothing to compare.
        let all = (0..cells.len()).flat_map(|cell| measured.trials(cell));
        if measured.is_closed() && all.into_iter().any(|trial| trial.cpu.process_ns > 0) {
            let rate = |cell| mean_iops(measured, cell);
            let found = uneven_load(primary, rate(index), rate(baseline));
            findings.extend(found.map(|finding| (Some(index), finding)));
        }
    }
    findings
}

/// NaN where nothing was measured.
fn mean_iops(measured: &Measured<'_>, cell: usize) -> f64 {
    let own = measured.trials(cell);
    own.iter().map(|trial| trial.sample.iops()).sum::<f64>() / own.len() as f64
}

/// What the design itself makes doubtful.
fn of_design(measured: &Measured<'_>, is_ended: bool) -> Vec<LawFinding> {
    let mut findings = Vec::new();
    let plan = measured.plan;
    let reads = plan.workloads.iter().any(|workload| match &workload.kind {
        WorkloadKind::Io(io) => io.read_percent > 0.0,
        WorkloadKind::File(file) => file.operation.reads(),
        WorkloadKind::Transfer(_)
        | WorkloadKind::Deploy(_)
        | WorkloadKind::Ftp(_)
        | WorkloadKind::Vnc(_)
        | WorkloadKind::Desktops(_) => false,
    });
    if plan.prepare == Prepare::Zero && reads {
        findings.push(LawFinding::warning(Fact::ReadsOfZeros));
    }
    // Drift over time then looks like a difference.
    if plan.design.order == Order::AsWritten && measured.cells.len() > 1 {
        findings.push(LawFinding::warning(Fact::FixedOrder));
    }
    if plan.design.unit == Unit::Interval {
        findings.push(LawFinding::note(Fact::IntervalsAsObservations));
    }
    let blocks = measured.complete_blocks();
    if plan.design.unit == Unit::Trial && (1..FEW_BLOCKS).contains(&blocks) && !is_ended {
        findings.push(LawFinding::warning(Fact::FewBlocks(blocks)));
    }
    findings
}
