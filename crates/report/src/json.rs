//! The report for programs: one object whose form a committed JSON Schema fixes. Series over time are in the
//! results file and not repeated here.
//!
//! The schema is a promise to scripts, so it is written by hand and not derived: a renamed field in the program
//! breaks a test here and not a user's pipeline.

use serde_json::{Value, json as object};
use stormeter_statistics::{Answer, CellSummary, Interval};
use stormeter_study::Metric;
use stormeter_trial::Verified;

use crate::compact::Compact;
use crate::compact::sentence::{Names, headline, reason as invalid_by, sentence_of, verdict_word};
use crate::full::grid::{Grid, cell_name};
use crate::full::{why, words};
use crate::model::{CellReasons, Report};
use crate::model::{Severity, Status};
use crate::phrases;
use crate::quantity::metric_unit;

/// The schema of [`json`]'s output, JSON Schema draft 2020-12.
pub const SCHEMA: &str = include_str!("../../../docs/schema/report.schema.json");

/// Raised when a field is removed or changes its meaning; new fields do not raise it.
pub const SCHEMA_VERSION: u32 = 2;

/// The percentiles of a cell.
const PERCENTILES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

/// The report as a JSON value. Numbers that are not finite are `null`.
pub fn json(report: &Report) -> Value {
    let header = &report.header;
    let plan = &header.plan;
    let status = &report.status;
    let grid = Grid::of(report);
    let analysis = &report.analysis;
    let is_valid = report.findings.iter().all(|finding| finding.severity != Severity::Invalid);
    let mut value = object!({
        "schema_version": SCHEMA_VERSION,
        "stormeter_version": header.stormeter_version,
        "run_id": header.run_id,
        "created_unix_ms": header.created_unix_ms,
        "study": plan.study,
        "valid": is_valid,
        "headline": match Compact::of(report) {
            Some(comparison) => headline(&comparison),
            None => vec![words::tally(report)],
        },
        "status": {
            "finished": status.reason.is_some(),
            "reason": reason(status),
            "message": words::status(report),
            "blocks": status.blocks,
            "trials": status.trials,
            "failed_trials": status.failed_trials,
            "elapsed_s": status.elapsed_ns as f64 / 1e9,
        },
        "comparisons": comparisons(&grid),
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
        object.insert("hosts".into(), crate::full::hosts::json(&grid));
    }
    if let (Some(object), false) = (value.as_object_mut(), plan.steps.is_empty()) {
        object.insert("steps".into(), crate::full::steps::json(&grid));
    }
    value
}

/// Each metric of each cell compared with the baseline at the same load, those that carry a verdict first.
fn comparisons(grid: &Grid<'_>) -> Vec<Value> {
    let (report, plan) = (grid.report, grid.report.plan());
    let cells = &report.analysis.cells;
    let value = |cell: usize, metric: Metric| {
        let mut values = cells.get(cell)?.values.iter();
        values.find(|value| value.metric == metric).map(|value| value.value)
    };
    let of_cell = |cell: usize| {
        let baseline = plan.baseline_of(cell)?;
        let (place, base) = (grid.cells.get(cell)?, grid.cells.get(baseline)?);
        let names = Names {
            candidate: cell_name(report, &grid.cells, cell),
            baseline: cell_name(report, &grid.cells, baseline),
            margin: plan.design.margin,
            invalid_by: why_invalid(grid, [cell, baseline]),
        };
        let url = |datastore: usize| plan.datastores.get(datastore).map(|it| it.url.as_str());
        let compared = cells.get(cell)?.relative.iter().filter_map(|ratio| {
            let (metric, comparison) = (ratio.metric, ratio.comparison.as_ref()?);
            let is_primary = metric == plan.design.metric;
            let value = object!({
                "baseline": url(base.datastore),
                "baseline_index": base.datastore,
                "baseline_value": value(baseline, metric),
                "candidate": url(place.datastore),
                "candidate_index": place.datastore,
                "candidate_value": value(cell, metric),
                "cell": cell,
                "workload": plan.workloads.get(place.workload).map(|it| it.name.as_str()),
                "vms": place.vms,
                "outstanding": place.outstanding,
                "metric": metric.name(),
                "unit": metric_unit(metric),
                "higher_is_better": metric.higher_is_better(),
                "primary": is_primary,
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
                "margin": plan.design.margin,
                "half_width": comparison.half_width,
                "precision_reached": comparison.precision_reached,
                "blocks_needed": comparison.blocks_needed,
                "p_value": comparison.p_value,
                "p_value_adjusted": comparison.p_value_adjusted,
                "sentence": sentence_of(&names, metric, comparison),
            });
            Some((is_primary, value))
        });
        Some(compared.collect::<Vec<_>>())
    };
    let mut all: Vec<(bool, Value)> = (0..cells.len()).filter_map(of_cell).flatten().collect();
    all.sort_by_key(|(is_primary, _)| !is_primary);
    all.into_iter().map(|(_, value)| value).collect()
}

/// Why nothing can be concluded from these cells. An invalid result ends a comparison, so there it concerns all cells.
fn why_invalid(grid: &Grid<'_>, cells: [usize; 2]) -> String {
    let report = grid.report;
    let own = report.analysis.findings.iter().find_map(|(cell, finding)| {
        let cell = cell.filter(|cell| cells.contains(cell))?;
        let is_invalid = finding.severity == Severity::Invalid;
        is_invalid.then(|| format!("{}: {}", grid.name(cell), phrases::finding(finding)))
    });
    own.filter(|_| !report.is_comparison()).unwrap_or_else(|| invalid_by(&report.findings))
}

/// The site of a prediction, and what limits each cell.
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
        "test": phrases::test(answer),
        "estimate": answer.estimate.as_ref().map(|estimate| object!({
            "of": phrases::estimated(answer),
            "value": estimate.value,
            "interval": ends(estimate.interval),
            "level": estimate.level,
            "is_ratio": answer.unit().is_none(),
        })),
        "p_value": answer.p_value,
        "p_value_adjusted": answer.p_value_adjusted,
        "anova": answer.table.as_ref().map(|table| table.rows.iter().map(|row| object!({
            "term": phrases::row_term(&row.term),
            "sum_of_squares": row.sum_of_squares,
            "df": row.df,
            "mean_square": row.mean_square,
            "f": row.f,
            "p": row.p,
            "partial_eta_squared": row.partial_eta_squared,
        })).collect::<Vec<_>>()),
        "parts": answer.parts.iter().map(|part| object!({
            "load": phrases::load(&part.load),
            "value": part.value,
            "interval": ends(part.interval),
            "reply": part.reply,
        })).collect::<Vec<_>>(),
        "remarks": answer.remarks.iter().map(phrases::remark).collect::<Vec<_>>(),
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

fn datastore(report: &Report, index: usize) -> Value {
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

fn reason(status: &Status) -> Value {
    // The word in the results file: `precision-reached`, `time-limit`, …
    let reason = serde_json::to_value(&status.reason).unwrap_or_default();
    reason.get("why").cloned().unwrap_or_default()
}

fn verified(verified: &Verified) -> Value {
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
