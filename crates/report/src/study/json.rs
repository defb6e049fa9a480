//! The study's report for programs: one object whose form a committed JSON Schema fixes, as that of
//! a comparison. What happened over time is in the results file and not repeated here.

use serde_json::{Value, json as object};
use stormeter_statistics::{Answer, CellSummary, Interval};
use stormeter_study::Metric;

use super::grid::Grid;
use super::model::{CellReasons, StudyReport};
use super::{why, words};
use crate::json::{reason, verified};
use crate::model::Severity;
use crate::phrases;
use crate::quantity::metric_unit;
use crate::sentence::verdict_word;

/// The schema of [`study_json`]'s output, JSON Schema draft 2020-12.
pub const STUDY_SCHEMA: &str = include_str!("../../../../docs/schema/study-report.schema.json");

/// Raised when a field is removed or changes its meaning; new fields do not raise it.
pub const STUDY_SCHEMA_VERSION: u32 = 1;

/// The percentiles that a cell gives.
const PERCENTILES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

/// The study as a JSON value. Numbers that are not finite are `null`.
pub fn study_json(report: &StudyReport) -> Value {
    let header = &report.header;
    let plan = &header.plan;
    let status = &report.status;
    let grid = Grid::of(report);
    let analysis = &report.analysis;
    let is_valid = report.findings.iter().all(|finding| finding.severity != Severity::Invalid);
    let mut value = object!({
        "schema_version": STUDY_SCHEMA_VERSION,
        "stormeter_version": header.stormeter_version,
        "run_id": header.run_id,
        "created_unix_ms": header.created_unix_ms,
        "study": plan.study,
        "valid": is_valid,
        "headline": words::tally(report),
        "status": {
            "finished": status.reason.is_some(),
            "reason": reason(status),
            "message": words::status(report),
            "blocks": status.blocks,
            "trials": status.trials,
            "failed_trials": status.failed_trials,
            "elapsed_s": status.elapsed_ns as f64 / 1e9,
        },
        "answers": analysis.answers.iter().map(answer).collect::<Vec<_>>(),
        "cells": analysis.cells.iter().enumerate()
            .map(|(index, summary)| cell(&grid, index, summary))
            .collect::<Vec<_>>(),
        "findings": report.findings.iter().map(|finding| object!({
            "severity": finding.severity.name(),
            "subject": finding.subject,
            "what": finding.what,
            "advice": finding.advice,
        })).collect::<Vec<_>>(),
        "power": analysis.power.map(|power| object!({
            "blocks": power.blocks,
            "log_ratio_sd": power.log_ratio_sd,
            "detectable": power.detectable,
            "blocks_for_margin": power.blocks_for_margin,
            "sentence": words::power(plan, &power),
        })),
        "datastores": plan.datastores.iter().enumerate()
            .map(|(index, _)| datastore(report, index))
            .collect::<Vec<_>>(),
        "plan": plan,
        "environment": header.environment,
        "seed": plan.seed,
        "ceilings": report.ceilings.iter().map(|ceiling| object!({
            "datastore": ceiling.datastore.and_then(|it| plan.datastores.get(it)).map(|d| d.name.as_str()),
            "workload": plan.workloads.get(ceiling.workload).map(|w| w.name.as_str()),
            "kind": ceiling.kind,
            "iops": ceiling.iops,
            "times_measured": ceiling.times_measured,
        })).collect::<Vec<_>>(),
        "command": header.command_line,
        "repeat_command": report.repeat_command,
    });
    if let (Some(object), Some(_)) = (value.as_object_mut(), &header.prediction) {
        object.insert("prediction".into(), prediction(&grid));
    }
    if let (Some(object), false) = (value.as_object_mut(), report.hosts.is_empty()) {
        object.insert("hosts".into(), super::hosts::json(&grid));
    }
    if let (Some(object), false) = (value.as_object_mut(), plan.steps.is_empty()) {
        object.insert("steps".into(), super::steps::json(&grid));
    }
    value
}

/// For what it was predicted, and what holds each cell back.
fn prediction(grid: &Grid<'_>) -> Value {
    let report = grid.report;
    let Some(prediction) = &report.header.prediction else { return Value::Null };
    object!({
        "site": prediction.site,
        "file": prediction.file,
        "what_if": prediction.what_if,
        "faults": prediction.faults,
        "shortened": prediction.shortened_from.is_some(),
        "cells": report.reasons.iter().map(|one| reasons(grid, one)).collect::<Vec<_>>(),
    })
}

fn reasons(grid: &Grid<'_>, reasons: &CellReasons) -> Value {
    let why = &reasons.why;
    let components = why.components.iter().zip(&why.parts).map(|(component, part)| {
        object!({
            "name": component.name,
            "kind": component.kind,
            "units": component.units,
            "utilisation": component.utilisation,
            "utilisation_most": component.utilisation_most,
            "queue_mean": component.queue_mean,
            "response_share": component.response_share,
            "service_ns": part.service_ns,
            "queue_ns": part.queue_ns,
            "latency_ns": part.latency_ns,
        })
    });
    object!({
        "cell": reasons.cell,
        "bottleneck": why.components[why.bottleneck].name,
        "saturated": why.is_saturated,
        "sentence": why::sentence(why, why::is_timed(grid, reasons.cell)),
        "response_ns": why.response_ns,
        "bounds": {
            "saturated_per_s": why.bounds.saturation.map(|bound| bound.per_s),
            "unqueued_per_s": why.bounds.unqueued_per_s,
            "outstanding_to_saturate": why.bounds.saturation.map(|bound| bound.outstanding),
            "long_run_per_s": why.bounds.long_run.map(|bound| bound.per_s),
        },
        "components": components.collect::<Vec<_>>(),
        "elasticities": reasons.elasticities.iter().map(|one| object!({
            "component": one.component,
            "kind": one.kind,
            "factor": one.factor,
            "metric": one.metric.name(),
            "ratio": one.ratio,
        })).collect::<Vec<_>>(),
    })
}

fn ends(interval: Option<Interval>) -> Value {
    interval.map_or(
        Value::Null,
        |interval| object!({ "low": interval.low, "high": interval.high, "level": interval.level }),
    )
}

fn answer(answer: &Answer) -> Value {
    object!({
        "question": answer.question,
        "must": answer.must,
        "reply": answer.reply,
        "sentence": phrases::answer(answer),
        "test": answer.test,
        "estimate": answer.estimate.as_ref().map(|estimate| object!({
            "of": estimate.of,
            "value": estimate.value,
            "interval": ends(estimate.interval),
            "level": estimate.level,
            "is_ratio": estimate.metric.is_none(),
        })),
        "p_value": answer.p_value,
        "p_value_adjusted": answer.p_value_adjusted,
        "anova": answer.table.as_ref().map(|table| table.rows.iter().map(|row| object!({
            "term": row.term,
            "sum_of_squares": row.sum_of_squares,
            "df": row.df,
            "mean_square": row.mean_square,
            "f": row.f,
            "p": row.p,
            "partial_eta_squared": row.partial_eta_squared,
        })).collect::<Vec<_>>()),
        "parts": answer.parts.iter().map(|part| object!({
            "load": part.load,
            "value": part.value,
            "interval": ends(part.interval),
            "reply": part.reply,
        })).collect::<Vec<_>>(),
        "remarks": answer.remarks,
    })
}

fn cell(grid: &Grid<'_>, index: usize, summary: &CellSummary) -> Value {
    let plan = grid.report.plan();
    let place = grid.cells.get(index);
    let datastore = place.and_then(|cell| plan.datastores.get(cell.datastore));
    let workload = place.and_then(|cell| plan.workloads.get(cell.workload));
    let relative = |metric: Metric| {
        let relative = summary.relative.iter().find(|relative| relative.metric == metric)?;
        let comparison = relative.comparison.as_ref();
        Some(object!({
            "ratio": relative.ratio,
            "interval": ends(comparison.map(|c| c.interval)),
            "half_width": comparison.map(|c| c.half_width),
            "verdict": comparison.map(|c| verdict_word(c.verdict)),
            "within_margin": comparison.map(|c| c.within_margin),
            "blocks": comparison.map(|c| c.blocks),
            "p_value": comparison.map(|c| c.p_value),
            "p_value_adjusted": comparison.map(|c| c.p_value_adjusted),
        }))
    };
    object!({
        "cell": index,
        "datastore": datastore.map(|datastore| datastore.name.as_str()),
        "workload": workload.map(|workload| workload.name.as_str()),
        "vms": place.map(|cell| cell.vms),
        "outstanding": place.and_then(|cell| cell.outstanding),
        "baseline": grid.is_baseline(index),
        "trials": summary.trials,
        "failed_trials": summary.failed.as_ref().map_or(0, |failed| failed.count),
        "failure": summary.failed.as_ref().map(|failed| failed.first.to_string()),
        "metrics": summary.values.iter().map(|value| object!({
            "metric": value.metric.name(),
            "unit": metric_unit(value.metric),
            "higher_is_better": value.metric.higher_is_better(),
            "value": value.value,
            "interval": ends(value.interval),
            "trials": value.n,
            "relative": relative(value.metric),
        })).collect::<Vec<_>>(),
        "observations": summary.observations,
        "spread": summary.spread.map(|spread| object!({
            "n": spread.n,
            "mean": spread.mean,
            "sd": spread.sd,
            "se": spread.se,
            "variance": spread.variance,
            "median": spread.median,
            "min": spread.min,
            "max": spread.max,
            "range": spread.range,
            "cv": spread.cv,
            "skewness": spread.skewness,
        })),
        "dependence": summary.dependence.map(|dependence| object!({
            "n": dependence.n,
            "lag1": dependence.lag1,
            "effective_n": dependence.effective_n,
        })),
        "operations": summary.operations,
        "percentiles": PERCENTILES.iter().filter_map(|&fraction| Some(object!({
            "fraction": fraction,
            "latency_ns": summary.latencies.percentile_ns(fraction)?,
            "service_ns": summary.issue.as_ref()
                .and_then(|issue| issue.service.histogram.percentile_ns(fraction)),
        }))).collect::<Vec<_>>(),
        "steps": summary.steps.iter().map(|step| object!({
            "name": step.name,
            "times": step.times,
            "total_ns": step.total_ns,
            "max_ns": step.max_ns,
        })).collect::<Vec<_>>(),
        "verified": summary.verified.as_ref().map(verified),
        "touched": summary.touched.as_ref().map(crate::touched::json),
    })
}

fn datastore(report: &StudyReport, index: usize) -> Value {
    let description = report.header.datastores.get(index).cloned().unwrap_or_default();
    let named = report.plan().datastores.get(index);
    let protocol = description.protocol.iter();
    object!({
        "name": named.map(|named| named.name.as_str()),
        "url": named.map(|named| named.url.as_str()),
        "baseline": index == report.plan().baseline,
        "kind": description.kind,
        "file_system": description.file_system,
        "source": description.source,
        "mount_options": description.mount_options,
        "logical_block_bytes": description.logical_block_bytes,
        "direct": description.direct,
        "engine": description.engine,
        "protocol": protocol.map(|(name, value)| object!({ "name": name, "value": value }))
            .collect::<Vec<_>>(),
        "notes": description.notes,
    })
}
