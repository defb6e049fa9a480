//! From the trials of a comparison to everything that is concluded from them.
//!
//! It is a pure function of the plan and the trials, so a report made from the results file a year
//! later says what was said at the end of the run.

use serde::{Deserialize, Serialize};
use stormeter_study::{ComparisonPlan, Metric, trial_start};
use stormeter_trial::{CpuUsage, Histogram, IssueTimes, Memory, Sample, Verified};

use crate::broken::{FailedTrials, MeasuredAgain, failed, measured_again};
use crate::cache::check_caches;
use crate::comparison::{Comparison, ComparisonInput, compare_metrics};
use crate::course::check_course;
use crate::data::check_data;
use crate::estimate::{Estimate, Interval};
use crate::finding::{Fact, LawFinding, SeenIn, Severity};
use crate::laws::{TrialFacts, check_trial};
use crate::metrics::{Merged, direction_of, percentile_of, resolution_of, value_of};
use crate::ratio::LogRatios;
use crate::steadiness::check_steadiness;
use crate::stopping::{Decision, Looks, StopRule, StopRuleError};
use crate::study::CeilingKind;
use crate::touched::Touched;
use crate::uneven_load::uneven_load;
use crate::verdict::Verdict;
use crate::way::low_way;

/// One measured trial, as the analysis needs it.
#[derive(Debug, Clone, Copy)]
pub struct TrialView<'a> {
    /// Which block, counted from 0.
    pub block: u32,
    /// Which datastore of the plan.
    pub datastore: usize,
    /// What was measured.
    pub sample: &'a Sample,
    /// What it cost.
    pub cpu: &'a CpuUsage,
}

/// What is known of the datastores beside their trials.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surroundings {
    /// The generator's ceiling with the plan's workload, in IOPS.
    pub ceiling_iops: Option<f64>,
    /// Per datastore: the ceiling of the way to it, in IOPS, measured through a server on this machine that
    /// answers from nothing. Where it is known it stands for the generator's.
    pub way_ceilings: Vec<Option<f64>>,
    /// Per datastore: whether it completes at once (`null:`).
    pub is_null: Vec<bool>,
    /// Per datastore: its trials that failed.
    pub failed: Vec<Option<FailedTrials>>,
    /// Per datastore: what its reads returned, over all trials, those of other phases too.
    pub verified: Vec<Option<Verified>>,
    /// Per datastore: its trials that broke and were measured again with their blocks. A list that is too short
    /// knows of none.
    pub again: Vec<Option<MeasuredAgain>>,
    /// Per datastore: the memories on its way.
    pub memories: Vec<Vec<Memory>>,
}

/// Everything concluded from the trials of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Blocks in which every datastore has a measured trial.
    pub complete_blocks: u32,
    /// Per datastore of the plan, in its order.
    pub datastores: Vec<DatastoreSummary>,
    /// Per candidate (every datastore but the baseline), the primary metric first.
    pub pairs: Vec<Pair>,
    /// Broken and bent laws and other warnings, the gravest first; `None`: about all datastores.
    pub findings: Vec<(Option<usize>, LawFinding)>,
}

/// A datastore's own figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatastoreSummary {
    /// The metrics that have values.
    pub values: Vec<MetricSummary>,
    /// Latencies of all trials, reads and writes, merged.
    pub latencies: Histogram,
    /// Service times and lateness of all trials, merged; of an open loop whose trials all have them.
    #[serde(default)]
    pub issue: Option<IssueTimes>,
    /// CPU time of all trials, summed.
    pub cpu: CpuUsage,
    /// I/Os of all trials.
    pub operations: u64,
    /// Measured trials.
    pub trials: u32,
    /// What its reads returned, where that was verified.
    #[serde(default)]
    pub verified: Option<Verified>,
    /// What its trials touched of its disks, where that is known.
    #[serde(default)]
    pub touched: Option<Touched>,
}

/// A metric of a datastore over all its trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MetricSummary {
    /// Which.
    pub metric: Metric,
    /// The mean of the trials; for a percentile that of the merged histogram, for the maximum the
    /// largest. Percentiles are never averaged.
    pub value: f64,
    /// Where repeated trials put it: the t interval of the trials' values, relative to their mean.
    /// `None` for a single trial, and for the maximum, which only ever grows.
    pub interval: Option<Interval>,
    /// Trials with a value.
    pub n: usize,
}

/// A candidate against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Which datastore of the plan.
    pub candidate: usize,
    /// The metrics that could be compared, the primary one first if it could.
    pub comparisons: Vec<(Metric, Comparison)>,
}

impl Analysis {
    /// The gravest severity found.
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|(_, finding)| finding.severity).min()
    }

    /// Whether a law is broken, so that nothing may be concluded.
    pub fn is_invalid(&self) -> bool {
        self.severity() == Some(Severity::Invalid)
    }
}

/// How blocks are added under a plan.
///
/// With several candidates the error that the level allows is shared among them (Bonferroni), so
/// that all their verdicts together hold at the plan's level.
pub fn looks_of(plan: &ComparisonPlan) -> Looks {
    let candidates = plan.datastores.len().saturating_sub(1).max(1) as f64;
    let level = 1.0 - (1.0 - plan.level) / candidates;
    let min_blocks = plan.min_blocks as usize;
    Looks { precision: plan.precision, min_blocks, level, resolution: 0.0 }
}

/// Whether to go on after these trials: every candidate has to have reached the precision.
///
/// # Errors
/// The plan's precision, level or number of blocks is out of range.
pub fn decide(plan: &ComparisonPlan, trials: &[TrialView<'_>]) -> Result<Decision, StopRuleError> {
    let mut more_blocks = None;
    let mut exhausted = false;
    for candidate in candidates(plan) {
        let blocks = pairs_of(plan, trials, candidate, plan.metric);
        let log_sd = LogRatios::of_blocks(&blocks).ok().map(|ratios| ratios.sd());
        let resolution = resolution(plan, trials, candidate, plan.metric);
        let rule = StopRule::new(Looks { resolution, ..looks_of(plan) }, plan.max_blocks as usize)?;
        match rule.decide(blocks.len(), log_sd) {
            Decision::Continue { expected_more_blocks } => {
                more_blocks = more_blocks.max(Some(expected_more_blocks));
            }
            Decision::PrecisionReached => {}
            Decision::BlocksExhausted => exhausted = true,
        }
    }
    Ok(match (exhausted, more_blocks) {
        (true, _) => Decision::BlocksExhausted,
        (false, Some(expected_more_blocks)) => Decision::Continue { expected_more_blocks },
        (false, None) => Decision::PrecisionReached,
    })
}

/// Concludes.
pub fn analyse(
    plan: &ComparisonPlan,
    trials: &[TrialView<'_>],
    surroundings: &Surroundings,
) -> Analysis {
    let mut findings = laws(plan, trials, surroundings);
    let summary = |datastore: usize| DatastoreSummary {
        verified: surroundings.verified.get(datastore).cloned().flatten(),
        touched: touched(plan, trials, datastore),
        ..summarise(plan, trials, datastore)
    };
    let summaries = (0..plan.datastores.len()).map(summary).collect();
    let mut pairs: Vec<Pair> = candidates(plan).map(|c| compare(plan, trials, c)).collect();
    findings.extend(block_findings(&pairs));
    let uneven = |candidate| Some((Some(candidate), uneven_load(plan, trials, candidate)?));
    findings.extend(candidates(plan).filter_map(uneven));
    findings.sort_by_key(|(_, finding)| finding.severity);
    if findings.iter().any(|(_, finding)| finding.severity == Severity::Invalid) {
        for (_, comparison) in pairs.iter_mut().flat_map(|pair| &mut pair.comparisons) {
            *comparison = comparison.clone().invalidated();
        }
    }
    Analysis {
        complete_blocks: complete_blocks(plan, trials),
        datastores: summaries,
        pairs,
        findings,
    }
}

fn candidates(plan: &ComparisonPlan) -> impl Iterator<Item = usize> {
    let baseline = plan.baseline;
    (0..plan.datastores.len()).filter(move |&datastore| datastore != baseline)
}

fn trial_of<'a>(trials: &[TrialView<'a>], block: u32, datastore: usize) -> Option<TrialView<'a>> {
    trials.iter().find(|trial| trial.block == block && trial.datastore == datastore).copied()
}

fn block_numbers(trials: &[TrialView<'_>]) -> Vec<u32> {
    let mut blocks: Vec<u32> = trials.iter().map(|trial| trial.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

fn complete_blocks(plan: &ComparisonPlan, trials: &[TrialView<'_>]) -> u32 {
    block_numbers(trials)
        .into_iter()
        .filter(|&block| (0..plan.datastores.len()).all(|d| trial_of(trials, block, d).is_some()))
        .count() as u32
}

/// (baseline, candidate) of each block that has both.
fn pairs_of(
    plan: &ComparisonPlan,
    trials: &[TrialView<'_>],
    candidate: usize,
    metric: Metric,
) -> Vec<(f64, f64)> {
    let value = |trial: TrialView<'_>| value_of(metric, trial.sample, trial.cpu);
    block_numbers(trials)
        .into_iter()
        .filter_map(|block| {
            let baseline = trial_of(trials, block, plan.baseline)?;
            let candidate = trial_of(trials, block, candidate)?;
            Some((value(baseline)?, value(candidate)?))
        })
        .collect()
}

/// By how much the log-ratios of a candidate's blocks may be off ([`Looks::resolution`]): the mean over the
/// trials of each of the two, added up.
fn resolution(
    plan: &ComparisonPlan,
    trials: &[TrialView<'_>],
    candidate: usize,
    metric: Metric,
) -> f64 {
    let of = |datastore: usize| {
        let own = trials.iter().filter(|trial| trial.datastore == datastore);
        mean_resolution(metric, own.map(|trial| (trial.sample, trial.cpu)))
    };
    of(plan.baseline) + of(candidate)
}

/// The mean of [`resolution_of`] over trials, on the scale of logarithms.
pub(crate) fn mean_resolution<'a>(
    metric: Metric,
    trials: impl Iterator<Item = (&'a Sample, &'a CpuUsage)>,
) -> f64 {
    let (mut count, mut sum) = (0, 0.0);
    for (sample, cpu) in trials {
        count += 1;
        // The lower end is the farther one there.
        sum -= (-resolution_of(metric, sample, cpu).min(0.9)).ln_1p();
    }
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

fn compare(plan: &ComparisonPlan, trials: &[TrialView<'_>], candidate: usize) -> Pair {
    let input = |metric: Metric| ComparisonInput {
        baseline: plan.datastores[plan.baseline].clone(),
        candidate: plan.datastores[candidate].clone(),
        metric: metric.name().into(),
        direction: direction_of(metric),
        blocks: pairs_of(plan, trials, candidate, metric),
        margin: plan.margin,
        looks: Looks { resolution: resolution(plan, trials, candidate, metric), ..looks_of(plan) },
    };
    let others: Vec<Metric> = Metric::ALL
        .into_iter()
        .filter(|&metric| metric != plan.metric && !repeats_iops(plan, metric))
        .filter(|&metric| is_known(plan, metric, trials, &[plan.baseline, candidate]))
        // How late the generator is, is no figure of a datastore.
        .filter(|&metric| metric != Metric::LatenessP99)
        .collect();
    let secondaries: Vec<ComparisonInput> = others
        .iter()
        .map(|&metric| {
            let mut input = input(metric);
            if !decides_the_end(plan, metric) {
                // Its width stopped nothing, so its blocks count in full.
                input.looks.precision = 0.0;
            }
            input
        })
        .collect();
    let mut comparisons = Vec::new();
    if let Ok(compared) = compare_metrics(&input(plan.metric), &secondaries, plan.seed) {
        comparisons.push((plan.metric, compared.primary));
        let compared = others.into_iter().zip(compared.secondaries);
        comparisons.extend(compared.filter_map(|(metric, result)| Some((metric, result.ok()?))));
    }
    // The same numbers in another unit: the same comparison, and no place in Holm's family.
    if repeats_iops(plan, Metric::Throughput)
        && let Some(at) = comparisons.iter().position(|(metric, _)| *metric == Metric::Iops)
    {
        let metric = Metric::Throughput.name().into();
        let throughput = Comparison { metric, ..comparisons[at].1.clone() };
        comparisons.insert(at + 1, (Metric::Throughput, throughput));
    }
    Pair { candidate, comparisons }
}

/// What the target spends may be known of some trials and not of others (its process was restarted):
/// the trials that are left would be a choice, so it is shown only where it is known of all. Where it
/// carries the verdict, a block without it counts no more than one with a failed trial.
fn is_known(
    plan: &ComparisonPlan,
    metric: Metric,
    trials: &[TrialView<'_>],
    datastores: &[usize],
) -> bool {
    let own = |trial: &&TrialView<'_>| datastores.contains(&trial.datastore);
    metric != Metric::TargetCpuPerIo
        || plan.metric == metric
        || trials.iter().filter(own).all(|trial| trial.cpu.target_ns.is_some())
}

/// With one request size, throughput is IOPS in another unit.
fn repeats_iops(plan: &ComparisonPlan, metric: Metric) -> bool {
    metric == Metric::Throughput
        && plan.metric != Metric::Throughput
        && plan.workload.sizes.len() == 1
}

/// IOPS, throughput and the mean latency of a closed loop are functions of one another (Little), so
/// a run that ended by the width of one ended by that of all.
fn decides_the_end(plan: &ComparisonPlan, metric: Metric) -> bool {
    let bound = [Metric::Iops, Metric::Throughput, Metric::LatencyMean];
    let closed = plan.workload.arrivals.rate_per_s().is_none() && plan.equal_load.is_none();
    closed && bound.contains(&metric) && bound.contains(&plan.metric)
}

fn summarise(
    plan: &ComparisonPlan,
    trials: &[TrialView<'_>],
    datastore: usize,
) -> DatastoreSummary {
    let own: Vec<_> = trials.iter().filter(|trial| trial.datastore == datastore).collect();
    let mut summary = DatastoreSummary {
        values: Vec::new(),
        latencies: Histogram::default(),
        issue: None,
        cpu: CpuUsage::default(),
        operations: 0,
        trials: own.len() as u32,
        verified: None,
        touched: None,
    };
    let mut merged = Merged::default();
    for (number, trial) in own.iter().enumerate() {
        merged.add(trial.sample);
        match number {
            0 => summary.cpu = *trial.cpu,
            _ => summary.cpu.add_later(trial.cpu),
        }
        summary.operations += trial.sample.operations();
    }
    summary.values = Metric::ALL
        .into_iter()
        .filter(|&metric| is_known(plan, metric, trials, &[datastore]))
        .filter_map(|metric| {
            let values: Vec<f64> =
                own.iter().filter_map(|trial| value_of(metric, trial.sample, trial.cpu)).collect();
            let resolution =
                mean_resolution(metric, own.iter().map(|trial| (trial.sample, trial.cpu)));
            summarise_metric(metric, (&values, resolution), &merged, plan.level)
        })
        .collect();
    (summary.latencies, summary.issue) = (merged.latencies, merged.issue);
    summary
}

pub(crate) fn summarise_metric(
    metric: Metric,
    (values, resolution): (&[f64], f64),
    merged: &Merged,
    level: f64,
) -> Option<MetricSummary> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let value = match (percentile_of(metric), metric) {
        _ if n == 0 => return None,
        (Some(_), _) => merged.percentile_ns(metric)?,
        (None, Metric::LatencyMax) => values.iter().copied().fold(0.0, f64::max),
        (None, _) => mean,
    };
    let interval = Estimate::of_mean(values, level).filter(|_| metric != Metric::LatencyMax).map(
        |Estimate { interval: Interval { low, high, level }, .. }| Interval {
            low: value * low / mean * (-resolution).exp(),
            high: value * high / mean * resolution.exp(),
            level,
        },
    );
    Some(MetricSummary { metric, value, interval, n })
}

/// The laws over all trials; what several trials of a datastore have in common is said once.
fn laws(
    plan: &ComparisonPlan,
    trials: &[TrialView<'_>],
    surroundings: &Surroundings,
) -> Vec<(Option<usize>, LawFinding)> {
    let mut findings = Vec::new();
    let is_null = |datastore| surroundings.is_null.get(datastore).copied().unwrap_or(false);
    let stored = (0..plan.datastores.len()).filter(|&datastore| !is_null(datastore)).count();
    for datastore in 0..plan.datastores.len() {
        let own: Vec<_> = trials.iter().filter(|trial| trial.datastore == datastore).collect();
        let is_null = is_null(datastore);
        let way_iops = surroundings.way_ceilings.get(datastore).copied().flatten();
        let of_trial = |trial: &&TrialView<'_>| {
            check_trial(&TrialFacts {
                workload: &plan.workload,
                sample: trial.sample,
                is_null,
                ceiling_iops: surroundings.ceiling_iops.filter(|_| way_iops.is_none()),
                cpu: Some(trial.cpu),
            })
        };
        let found = gathered(own.iter().map(of_trial).collect());
        findings.extend(found.into_iter().map(|finding| (Some(datastore), finding)));
        let most_iops = own.iter().map(|trial| trial.sample.iops()).fold(0.0, f64::max);
        let low = way_iops.and_then(|way| low_way(CeilingKind::NullServer, way, most_iops));
        findings.extend(low.map(|finding| (Some(datastore), finding)));
        // The generator alone has no warm-up that matters to anyone.
        if !is_null {
            let samples: Vec<&Sample> = own.iter().map(|trial| trial.sample).collect();
            let steadiness = check_steadiness(&samples);
            let course = check_course(plan.metric, &in_time(&own, plan.metric), stored);
            let found = steadiness.into_iter().chain(course);
            findings.extend(found.map(|finding| (Some(datastore), finding)));
        }
        if !is_null && let Some(touched) = touched(plan, trials, datastore) {
            let memories = surroundings.memories.get(datastore).map_or(&[][..], Vec::as_slice);
            let found = check_caches(&plan.workload, memories, &touched, own.len());
            findings.extend(found.into_iter().map(|finding| (Some(datastore), finding)));
        }
        if let Some(Some(verified)) = surroundings.verified.get(datastore)
            && let Some(finding) = check_data(verified)
        {
            findings.push((Some(datastore), finding));
        }
        if let Some(Some(trials)) = surroundings.failed.get(datastore) {
            findings.push((Some(datastore), failed(trials, own.is_empty())));
        }
        if let Some(Some(again)) = surroundings.again.get(datastore) {
            findings.push((Some(datastore), measured_again(again)));
        }
    }
    findings
}

/// What the trials of a datastore touched of its disks.
fn touched(plan: &ComparisonPlan, trials: &[TrialView<'_>], datastore: usize) -> Option<Touched> {
    let own = trials.iter().filter(|trial| trial.datastore == datastore);
    let started = own.map(|trial| (trial.sample, trial_start(plan.seed, u64::from(trial.block))));
    Touched::of(&plan.workload, plan.disk_bytes, started)
}

/// A metric of a datastore's trials, in the order of their blocks.
fn in_time(trials: &[&TrialView<'_>], metric: Metric) -> Vec<f64> {
    let mut trials = trials.to_vec();
    trials.sort_by_key(|trial| trial.block);
    trials.iter().filter_map(|trial| value_of(metric, trial.sample, trial.cpu)).collect()
}

/// The findings of several trials of one kind as one list; what they have in common is said once.
pub(crate) fn gathered(trials: Vec<Vec<LawFinding>>) -> Vec<LawFinding> {
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

/// Blocks that resemble their neighbours are worth less than they seem.
fn block_findings(pairs: &[Pair]) -> Vec<(Option<usize>, LawFinding)> {
    let mut findings = Vec::new();
    for pair in pairs {
        let Some((_, comparison)) = pair.comparisons.first() else { continue };
        let limit = 2.0 / (comparison.blocks as f64).sqrt();
        if let Some(lag1) = comparison.lag1_autocorrelation_of_blocks
            && comparison.blocks >= 8
            && lag1 > limit
        {
            let fact = Fact::BlocksAlike(lag1);
            findings.push((Some(pair.candidate), LawFinding::warning(fact)));
        }
        if comparison.blocks < 5 && comparison.verdict != Verdict::Invalid {
            let fact = Fact::FewBlocks(comparison.blocks as u32);
            findings.push((Some(pair.candidate), LawFinding::warning(fact)));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(values: &[u64]) -> Merged {
        let mut merged = Merged::default();
        values.iter().for_each(|&value| merged.latencies.record(value));
        merged
    }

    /// Two trials with medians of 10 and 30: all I/Os together have a median of 10, not 20.
    #[test]
    fn percentiles_come_from_merged_histograms_and_are_not_averaged() {
        let merged = merged(&[10, 10, 10, 10, 10, 30, 30, 30]);
        let p50 =
            summarise_metric(Metric::LatencyP50, (&[10.0, 30.0], 0.0), &merged, 0.95).unwrap();
        assert_eq!(p50.value, 10.0);
        let interval = p50.interval.unwrap();
        assert!(interval.low < 10.0 && interval.high > 10.0);
    }

    #[test]
    fn equal_trials_have_an_interval_as_wide_as_the_steps_of_reading() {
        let all = merged(&[1_000_000; 9]);
        let p50 = summarise_metric(Metric::LatencyP50, (&[1e6, 1e6], 0.001), &all, 0.95).unwrap();
        let interval = p50.interval.unwrap();
        assert!(interval.high / interval.low > 1.0019, "{interval:?}");
    }

    #[test]
    fn the_maximum_is_the_largest_and_has_no_interval() {
        let max = summarise_metric(Metric::LatencyMax, (&[5.0, 9.0], 0.0), &merged(&[9]), 0.95);
        let max = max.unwrap();
        assert_eq!((max.value, max.interval), (9.0, None));
        assert_eq!(summarise_metric(Metric::Iops, (&[], 0.0), &merged(&[]), 0.95), None);
    }
}
