//! The report for programs: one object whose form a committed JSON Schema fixes.
//!
//! The schema is a promise to scripts, so it is written by hand and not derived: a renamed field
//! in the program breaks a test here and not somebody's pipeline.

use serde_json::{Value, json as object};
use stormeter_trial::Verified;

use crate::model::{Datastore, MetricComparison, Report, Severity, Status};
use crate::quantity::metric_unit;
use crate::sentence::{headline, sentence, verdict_word};
use crate::touched;

/// The schema of [`json`]'s output, JSON Schema draft 2020-12.
pub const SCHEMA: &str = include_str!("../../../docs/schema/comparison.schema.json");

/// Raised when a field is removed or changes its meaning; new fields do not raise it.
pub const SCHEMA_VERSION: u32 = 1;

/// The report as a JSON value. Numbers that are not finite are `null`.
pub fn json(report: &Report) -> Value {
    let header = &report.header;
    let status = &report.status;
    let mut comparisons: Vec<&MetricComparison> = report.comparisons.iter().collect();
    comparisons.sort_by_key(|comparison| !comparison.primary);
    let is_valid = report.findings.iter().all(|finding| finding.severity != Severity::Invalid);
    object!({
        "schema_version": SCHEMA_VERSION,
        "stormeter_version": header.stormeter_version,
        "run_id": header.run_id,
        "created_unix_ms": header.created_unix_ms,
        "valid": is_valid,
        "headline": headline(report),
        "status": {
            "finished": status.reason.is_some(),
            "reason": reason(status),
            "message": crate::wording::status(status),
            "blocks": status.blocks,
            "trials": status.trials,
            "failed_trials": status.failed_trials,
            "elapsed_s": status.elapsed_ns as f64 / 1e9,
        },
        "comparisons": comparisons.iter().map(|c| comparison(report, c)).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(|finding| object!({
            "severity": finding.severity.name(),
            "subject": finding.subject,
            "what": finding.what,
            "advice": finding.advice,
        })).collect::<Vec<_>>(),
        "datastores": report.datastores.iter().enumerate()
            .map(|(index, d)| datastore(d, index == header.plan.baseline))
            .collect::<Vec<_>>(),
        "workload": header.plan.workload,
        "plan": header.plan,
        "environment": header.environment,
        "seed": header.plan.seed,
        "ceiling": report.ceiling.map(|ceiling| object!({
            "iops": ceiling.iops,
            "times_measured": ceiling.times_measured,
        })),
        "way_ceilings": report.way_ceilings.iter().map(|ceiling| object!({
            "datastore_index": ceiling.datastore,
            "datastore": report.datastores.get(ceiling.datastore).map(|d| d.description.url.as_str()),
            "iops": ceiling.iops,
            "times_measured": ceiling.times_measured,
        })).collect::<Vec<_>>(),
        "command": header.command_line,
        "repeat_command": report.repeat_command,
    })
}

pub(crate) fn reason(status: &Status) -> Value {
    // The word that the results file has: `precision-reached`, `time-limit`, …
    let reason = serde_json::to_value(&status.reason).unwrap_or_default();
    reason.get("why").cloned().unwrap_or_default()
}

fn comparison(report: &Report, of: &MetricComparison) -> Value {
    let comparison = &of.comparison;
    let place = |index: usize| report.datastores.get(index);
    let url = |index| place(index).map(|datastore| datastore.description.url.as_str());
    let value = |index| place(index).and_then(|d| d.value(of.metric)).map(|value| value.value);
    object!({
        "baseline": url(of.baseline),
        "baseline_index": of.baseline,
        "baseline_value": value(of.baseline),
        "candidate": url(of.candidate),
        "candidate_index": of.candidate,
        "candidate_value": value(of.candidate),
        "workload": report.header.plan.workload.name,
        "metric": of.metric.name(),
        "unit": metric_unit(of.metric),
        "higher_is_better": of.metric.higher_is_better(),
        "primary": of.primary,
        "blocks": comparison.blocks,
        "ratio": comparison.ratio,
        "ci_low": comparison.interval.low,
        "ci_high": comparison.interval.high,
        "level": comparison.interval.level,
        "bootstrap": comparison.bootstrap.map(|interval| object!({
            "ci_low": interval.low,
            "ci_high": interval.high,
            "level": interval.level,
        })),
        "verdict": verdict_word(comparison.verdict),
        "within_margin": comparison.within_margin,
        "margin": report.header.plan.margin,
        "half_width": comparison.half_width,
        "precision_reached": comparison.precision_reached,
        "blocks_needed": comparison.blocks_needed,
        "p_value": comparison.p_value,
        "p_value_adjusted": comparison.p_value_adjusted,
        "sentence": sentence(report, of),
    })
}

fn datastore(datastore: &Datastore, is_baseline: bool) -> Value {
    let description = &datastore.description;
    object!({
        "label": datastore.label,
        "url": description.url,
        "baseline": is_baseline,
        "kind": description.kind,
        "file_system": description.file_system,
        "source": description.source,
        "mount_options": description.mount_options,
        "logical_block_bytes": description.logical_block_bytes,
        "direct": description.direct,
        "engine": description.engine,
        "protocol": description.protocol.iter().map(|(name, value)| {
            object!({ "name": name, "value": value })
        }).collect::<Vec<_>>(),
        "notes": description.notes,
        "values": datastore.values.iter().map(|value| object!({
            "metric": value.metric.name(),
            "unit": metric_unit(value.metric),
            "value": value.value,
            "ci_low": value.interval.map(|interval| interval.low),
            "ci_high": value.interval.map(|interval| interval.high),
            "trials": value.n,
        })).collect::<Vec<_>>(),
        "verified": datastore.verified.as_ref().map(verified),
        "touched": datastore.touched.as_ref().map(touched::json),
    })
}

pub(crate) fn verified(verified: &Verified) -> Value {
    object!({
        "blocks": verified.blocks,
        "unknown_blocks": verified.unknown_blocks,
        "wrong_blocks": verified.wrong_blocks,
        "corruptions": verified.corruptions.iter().map(|corruption| object!({
            "what": corruption.to_string(),
            "expected": corruption.expected,
            "found": corruption.found,
            "at_ns": corruption.at_ns,
        })).collect::<Vec<_>>(),
    })
}
