//! A snapshot as metrics. What cells have is named as `stormeter export` names it; what only a run in progress has is
//! named here, and listed in docs/watching.md.

use stormeter_export::{
    Cell, Exposition, Family, Form, Kind, Labels, add_cells, add_metric, labels,
};
use stormeter_study::Metric;

use crate::snapshot::{Counts, Snapshot, Stage};

/// All metrics of a run at one moment.
pub fn exposition(now: &Snapshot, form: Form) -> String {
    let mut text = Exposition::new(form);
    about(&mut text, now);
    course(&mut text, now);
    current(&mut text, now);
    counted(&mut text, now);
    happened(&mut text, now);
    cells(&mut text, now);
    text.finish()
}

fn gauge<'a>(name: &'a str, unit: &'a str, help: &'a str) -> Family<'a> {
    Family { name, kind: Kind::Gauge, unit, help }
}

fn counter<'a>(name: &'a str, unit: &'a str, help: &'a str) -> Family<'a> {
    Family { name, kind: Kind::Counter, unit, help }
}

/// A sample without labels.
fn plain(value: f64) -> (Labels<'static>, f64) {
    (Vec::new(), value)
}

/// Which program, and which run.
fn about(text: &mut Exposition, now: &Snapshot) {
    let info = |name, help| Family { name, kind: Kind::Info, unit: "", help };
    let version = vec![("version", now.version.clone())];
    text.add(info("stormeter_build", "The program that measures."), [(version, 1.0)]);
    let run = now.run_id.iter().map(|run_id| {
        let kind = now.kind.name().to_owned();
        (vec![("run", run_id.clone()), ("study", now.study.clone()), ("kind", kind)], 1.0)
    });
    text.add(info("stormeter_run", "The run."), run);
}

/// How far it is.
fn course(text: &mut Exposition, now: &Snapshot) {
    let stages = Stage::ALL.map(|stage| {
        let is_now = if stage == now.stage { 1.0 } else { 0.0 };
        (vec![("stage", stage.name().to_owned())], is_now)
    });
    text.add(gauge("stormeter_stage", "", "What the run is doing: 1 for that stage."), stages);
    let blocks = gauge("stormeter_blocks", "", "Blocks that have ended.");
    text.add(blocks, [plain(f64::from(now.blocks))]);
    let most = gauge("stormeter_blocks_planned", "", "The most blocks.");
    text.add(most, [plain(f64::from(now.most_blocks))]);
    let planned = now.cells.len() as f64 * f64::from(now.most_blocks);
    let most = gauge("stormeter_trials_planned", "", "The most trials of blocks.");
    text.add(most, [plain(planned)]);
    let outcomes = ["measured", "failed"].into_iter().zip(now.ended_trials);
    text.add(
        counter("stormeter_trials", "", "Trials of blocks that have ended."),
        outcomes.map(|(outcome, count)| (vec![("outcome", outcome.to_owned())], count as f64)),
    );
    let rest = now.rest_ns.map(|ns| plain(ns as f64 * 1e-9));
    text.add(gauge("stormeter_rest_seconds", "seconds", "The probable time to the end."), rest);
    let (reached, wanted) = now.precision;
    let name = "stormeter_precision_ratio";
    let help = "The widest relative half width of a comparison's intervals.";
    text.add(gauge(name, "ratio", help), reached.map(plain));
    let name = "stormeter_precision_wanted_ratio";
    text.add(gauge(name, "ratio", "The half width at which it stops."), wanted.map(plain));
    let written = now.written.iter();
    text.add(
        gauge("stormeter_written_ratio", "ratio", "The share of the disks that is written."),
        written.map(|(datastore, (done, total))| {
            (vec![("datastore", datastore.clone())], *done as f64 / (*total).max(1) as f64)
        }),
    );
}

/// The trial that runs, and the last interval of it.
fn current(text: &mut Exposition, now: &Snapshot) {
    let found = now.current.as_ref().and_then(|it| Some((it, now.cells.get(it.cell)?)));
    let Some((current, cell)) = found else { return };
    text.add(
        gauge("stormeter_trial", "", "The trial that runs: 1 for its cell."),
        [(labels(cell), 1.0)],
    );
    let block = current.block.map(|block| plain(f64::from(block) + 1.0));
    text.add(gauge("stormeter_trial_block", "", "Its block, from 1."), block);
    let Some(row) = &current.interval else { return };
    let sum = |of: fn(&stormeter_trial::IntervalTotals) -> u64| of(&row.reads) + of(&row.writes);
    let operations = sum(|kind| kind.operations) as f64;
    let seconds = row.length_ns as f64 * 1e-9;
    let longest = row.reads.latency_max_ns.max(row.writes.latency_max_ns) as f64;
    let values = [
        (Metric::Iops, Some(operations / seconds)),
        (Metric::Throughput, Some(sum(|kind| kind.bytes) as f64 / seconds)),
        (Metric::LatencyMean, Some(sum(|kind| kind.latency_sum_ns) as f64 / operations)),
        (Metric::LatencyMax, (operations > 0.0).then_some(longest)),
    ];
    for (metric, value) in values {
        let value = value.filter(|value| value.is_finite()).map(|value| (cell, value));
        add_metric(text, "stormeter_interval_", metric, value);
    }
}

/// What trials did, for rates over any time.
fn counted(text: &mut Exposition, now: &Snapshot) {
    let mut add = |family: Family<'_>, of: fn(&Counts) -> [u64; 2], factor: f64| {
        let used = now.cells.iter().zip(&now.counts).filter(|(_, it)| **it != Counts::default());
        let samples = used.flat_map(|(cell, counts)| {
            let both = ["read", "write"].into_iter().zip(of(counts));
            both.map(|(direction, count)| (directed(cell, direction), count as f64 * factor))
        });
        text.add(family, samples);
    };
    let name = "stormeter_operations";
    add(counter(name, "", "I/Os that ended in windows."), |it| it.operations, 1.0);
    add(counter("stormeter_moved_bytes", "bytes", "Bytes that they moved."), |it| it.bytes, 1.0);
    let name = "stormeter_latency_seconds";
    add(counter(name, "seconds", "The sum of their latencies."), |it| it.latency_ns, 1e-9);
}

fn directed(cell: &Cell, direction: &str) -> Labels<'static> {
    let mut labels = labels(cell);
    labels.push(("direction", direction.to_owned()));
    labels
}

/// Events, incidents, errors and faults.
fn happened(text: &mut Exposition, now: &Snapshot) {
    let events = now.events.iter();
    text.add(
        counter("stormeter_events", "", "Events of the run."),
        events.map(|(kind, count)| (vec![("event", kind.clone())], *count as f64)),
    );
    let incidents = now.incidents.iter().map(|((datastore, event), count)| {
        (vec![("datastore", datastore.clone()), ("event", event.clone())], *count as f64)
    });
    text.add(counter("stormeter_incidents", "", "Events on the way to storage."), incidents);
    let errors = now.io_errors.iter();
    text.add(
        counter("stormeter_io_errors", "", "I/Os and flushes that failed or were short."),
        errors.map(|(datastore, count)| (vec![("datastore", datastore.clone())], *count as f64)),
    );
    if now.steps != [0; 2] {
        let outcomes = ["done", "failed"].into_iter().zip(now.steps);
        text.add(
            counter("stormeter_steps", "", "Steps of trials, such as faults."),
            outcomes.map(|(outcome, count)| (vec![("outcome", outcome.to_owned())], count as f64)),
        );
    }
}

/// The cells' results so far.
fn cells(text: &mut Exposition, now: &Snapshot) {
    let measured = now.cells.iter().zip(&now.trials).filter(|(_, trials)| **trials > 0);
    text.add(
        gauge("stormeter_cell_trials", "", "Trials that the cell's values are of."),
        measured.map(|(cell, trials)| (labels(cell), f64::from(*trials))),
    );
    let cells: Vec<&Cell> = now.cells.iter().collect();
    add_cells(text, &cells);
}
