//! A report's value from what a results file holds and what the statistics concluded from it.
//!
//! Only arranging happens here: every figure is taken over as it was concluded.

use std::collections::HashSet;

use stormeter_results::{Event, FinishReason, Header, Phase, TrialOutcome, TrialRecord};
use stormeter_statistics::Analysis;
use stormeter_trial::{CpuUsage, Histogram, LatencyBucket};

use crate::incidents::incidents;
use crate::label::labels;
use crate::model::{
    Bucket, Ceiling, CpuPerIo, Datastore, Finding, LatencyDistribution, MetricComparison,
    MetricValue, PercentilePoint, Report, SeriesPoint, Severity, Status, TrialSeries, WayCeiling,
    curve_fractions,
};
use crate::phrases::{self, Remedies, SettingNames};
use crate::settling::settling;

/// What lies before the storage by itself, in IOPS, as far as it was measured.
#[derive(Debug, Clone, Copy, Default)]
pub struct MeasuredCeilings<'a> {
    /// The load generator alone.
    pub generator_iops: Option<f64>,
    /// Per datastore: the way to it, through a server that answers from nothing.
    pub ways_iops: &'a [Option<f64>],
}

/// What the report of a comparison is made of.
#[derive(Debug)]
pub struct ComparisonParts<'a> {
    /// What was known before the first trial.
    pub header: Header,
    /// All trials, in the order in which they ended.
    pub trials: &'a [TrialRecord],
    /// What happened on the way.
    pub events: &'a [Event],
    /// Why the run ended; `None` when it was killed or goes on.
    pub finished: Option<FinishReason>,
    /// What was concluded.
    pub analysis: &'a Analysis,
    /// What lies before the storage.
    pub ceilings: MeasuredCeilings<'a>,
    /// The command that repeats the run, ready for a shell.
    pub repeat_command: String,
    /// What remedies call settings.
    pub names: SettingNames,
}

/// Arranges a run for showing.
pub fn assemble(parts: ComparisonParts<'_>) -> Report {
    let ComparisonParts {
        header,
        trials,
        events,
        finished,
        analysis,
        ceilings,
        repeat_command,
        names: setting_names,
    } = parts;
    let names = labels(&header.plan.datastores);
    let datastores = header
        .datastores
        .iter()
        .zip(&names)
        .zip(&analysis.datastores)
        .map(|((description, label), summary)| Datastore {
            label: label.clone(),
            description: description.clone(),
            values: summary
                .values
                .iter()
                .map(|summary| MetricValue {
                    metric: summary.metric,
                    value: summary.value,
                    interval: summary.interval,
                    n: summary.n,
                })
                .collect(),
            verified: summary.verified.clone(),
            touched: summary.touched,
        })
        .collect();
    let mut comparisons: Vec<MetricComparison> = analysis
        .pairs
        .iter()
        .flat_map(|pair| pair.comparisons.iter().map(move |compared| (pair.candidate, compared)))
        .map(|(candidate, (metric, comparison))| MetricComparison {
            baseline: header.plan.baseline,
            candidate,
            metric: *metric,
            primary: *metric == header.plan.metric,
            comparison: comparison.clone(),
        })
        .collect();
    comparisons.sort_by_key(|comparison| !comparison.primary);
    Report {
        status: status(trials, finished, analysis),
        datastores,
        comparisons,
        findings: findings((analysis, setting_names), trials, events, &names, &header),
        trials: series(trials, &header),
        latencies: latencies(analysis),
        cpu: cpu(analysis),
        ceiling: ceilings.generator_iops.map(|iops| ceiling(iops, ceilings.ways_iops, trials)),
        way_ceilings: way_ceilings(ceilings.ways_iops, trials),
        repeat_command,
        header,
    }
}

fn main_trials(trials: &[TrialRecord]) -> impl Iterator<Item = &TrialRecord> {
    trials.iter().filter(|trial| trial.phase == Phase::Main)
}

fn status(trials: &[TrialRecord], reason: Option<FinishReason>, analysis: &Analysis) -> Status {
    let failed = main_trials(trials)
        .filter(|trial| matches!(trial.outcome, TrialOutcome::Failed { .. }))
        .count() as u32;
    let elapsed_ns = trials.iter().fold(0u64, |sum, trial| sum.saturating_add(trial.elapsed_ns));
    Status {
        reason,
        blocks: analysis.complete_blocks,
        trials: main_trials(trials).count() as u32 - failed,
        failed_trials: failed,
        elapsed_ns,
    }
}

fn findings(
    (analysis, setting_names): (&Analysis, SettingNames),
    trials: &[TrialRecord],
    events: &[Event],
    names: &[String],
    header: &Header,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = analysis
        .findings
        .iter()
        .map(|(datastore, finding)| Finding {
            severity: finding.severity,
            subject: datastore.and_then(|d| names.get(d)).cloned().unwrap_or_default(),
            what: phrases::finding(finding),
            advice: phrases::remedy(finding, Remedies::Measured(setting_names)),
        })
        .collect();
    let note = |subject: &str, what: String, advice: &str| Finding {
        severity: Severity::Note,
        subject: subject.into(),
        what,
        advice: advice.into(),
    };
    if header.plan.is_a_a_test() {
        findings.push(note(
            "",
            "a datastore was named twice (an A/A test), so no difference is to be expected".into(),
            "a difference that is found all the same says how far this machine can be trusted",
        ));
    }
    findings.extend(incidents(trials, names));
    // Of nothing else either is a ceiling a trial of the datastore.
    let of_stores = trials.iter().filter(|trial| trial.phase != Phase::Ceiling);
    let settled = of_stores.filter_map(|t| Some((t.datastore?, t.sample()?.settled_ns)));
    findings.extend(settling(settled, names));
    let mut told = HashSet::new();
    for event in events {
        // A run that was killed often says so once.
        if told.insert((String::new(), event.what.clone())) {
            findings.push(note("", event.what.clone(), ""));
        }
    }
    for (description, name) in header.datastores.iter().zip(names) {
        if description.kind == "null" {
            findings.push(note(
                name,
                "completes at once: it measures the load generator, and the laws about the \
                 generator's share do not apply"
                    .into(),
                "",
            ));
        }
        for text in &description.notes {
            if told.insert((name.clone(), text.clone())) {
                findings.push(note(name, text.clone(), ""));
            }
        }
    }
    // What showed only when the load was on, such as an engine that had to take another's place.
    for trial in main_trials(trials) {
        let TrialOutcome::Measured { notes, .. } = &trial.outcome else { continue };
        let Some(name) = trial.datastore.and_then(|datastore| names.get(datastore)) else {
            continue;
        };
        for text in notes {
            if told.insert((name.clone(), text.clone())) {
                findings.push(note(name, text.clone(), ""));
            }
        }
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

fn series(trials: &[TrialRecord], header: &Header) -> Vec<TrialSeries> {
    let begin_ms = main_trials(trials).map(|trial| trial.started_unix_ms).min().unwrap_or(0);
    main_trials(trials)
        .filter_map(|trial| {
            let sample = trial.sample()?;
            let start_ns = trial.started_unix_ms.saturating_sub(begin_ms) * 1_000_000;
            let window_ns = start_ns + header.plan.timing.ramp_ns;
            Some(TrialSeries {
                datastore: trial.datastore?,
                block: trial.block,
                start_ns,
                end_ns: start_ns + trial.elapsed_ns,
                iops: sample.iops(),
                latency_mean_ns: sample.total().latency_mean_ns(),
                points: sample
                    .intervals
                    .iter()
                    .map(|row| SeriesPoint {
                        at_ns: window_ns + row.start_ns,
                        iops: row.iops(),
                        latency_mean_ns: row.latency_mean_ns(),
                    })
                    .collect(),
            })
        })
        .collect()
}

fn latencies(analysis: &Analysis) -> Vec<LatencyDistribution> {
    analysis
        .datastores
        .iter()
        .enumerate()
        .filter(|(_, summary)| summary.operations > 0)
        .map(|(datastore, summary)| LatencyDistribution {
            datastore,
            buckets: buckets(&summary.latencies),
            percentiles: curve_fractions(summary.operations)
                .into_iter()
                .filter_map(|fraction| {
                    let latency_ns = summary.latencies.percentile_ns(fraction)?;
                    Some(PercentilePoint { fraction, latency_ns })
                })
                .collect(),
            service: summary.issue.as_ref().map_or(vec![], |issue| {
                let at =
                    |fraction| Some((fraction, issue.service.histogram.percentile_ns(fraction)?));
                let points = curve_fractions(summary.operations).into_iter().filter_map(at);
                points
                    .map(|(fraction, latency_ns)| PercentilePoint { fraction, latency_ns })
                    .collect()
            }),
        })
        .collect()
}

fn buckets(histogram: &Histogram) -> Vec<Bucket> {
    let bucket =
        |it: LatencyBucket| Bucket { low_ns: it.low_ns, high_ns: it.high_ns, count: it.count };
    histogram.buckets().map(bucket).collect()
}

fn cpu(analysis: &Analysis) -> Vec<CpuPerIo> {
    analysis
        .datastores
        .iter()
        .enumerate()
        .filter(|(_, summary)| summary.operations > 0)
        .map(|(datastore, summary)| cpu_per_io(datastore, &summary.cpu, summary.operations))
        .collect()
}

/// CPU time shared out over the I/Os that it was spent on.
pub(crate) fn cpu_per_io(datastore: usize, usage: &CpuUsage, operations: u64) -> CpuPerIo {
    let CpuUsage { threads_user_ns, threads_system_ns, target_ns, .. } = *usage;
    let initiator_ns = usage.initiator_ns();
    let per_io = |ns: u64| ns as f64 / operations as f64;
    let threads_ns = threads_user_ns + threads_system_ns;
    CpuPerIo {
        datastore,
        threads_user_ns: per_io(threads_user_ns),
        threads_system_ns: per_io(threads_system_ns),
        process_other_ns: per_io(initiator_ns.saturating_sub(threads_ns)),
        target_ns: target_ns.map(per_io),
        host_other_ns: per_io(
            usage
                .host_ns()
                .saturating_sub(initiator_ns.max(threads_ns))
                .saturating_sub(target_ns.unwrap_or(0)),
        ),
    }
}

fn ceiling(iops: f64, ways_iops: &[Option<f64>], trials: &[TrialRecord]) -> Ceiling {
    let has_own = |datastore: usize| ways_iops.get(datastore).copied().flatten().is_some();
    let measured = most_iops(trials, |datastore| !has_own(datastore));
    Ceiling { iops, times_measured: measured.map(|most| iops / most) }
}

fn way_ceilings(ways_iops: &[Option<f64>], trials: &[TrialRecord]) -> Vec<WayCeiling> {
    let known =
        ways_iops.iter().enumerate().filter_map(|(datastore, iops)| Some((datastore, (*iops)?)));
    known
        .map(|(datastore, iops)| {
            let measured = most_iops(trials, |of| of == datastore);
            WayCeiling { datastore, iops, times_measured: measured.map(|most| iops / most) }
        })
        .collect()
}

/// The most that a trial of such a datastore reached; `None` where none reached anything.
fn most_iops(trials: &[TrialRecord], is_of: impl Fn(usize) -> bool) -> Option<f64> {
    let own = main_trials(trials).filter(|trial| trial.datastore.is_some_and(&is_of));
    own.filter_map(|trial| Some(trial.sample()?.iops())).reduce(f64::max).filter(|most| *most > 0.0)
}
