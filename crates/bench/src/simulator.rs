//! The simulator's speed and memory, compared with SimPy on what both can do.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::arguments::Arguments;
use crate::cpus::cpus;
use crate::failure::Failure;
use crate::line::{Bound, Line, rate};
use crate::pairs::{interleave, median};
use crate::simulate::{
    CLOSED_CUSTOMERS, CLOSED_DELAY_S, CLOSED_DISKS, CLOSED_SERVICE_S, MANY_HOSTS,
    MANY_VMS_PER_HOST, OPEN_RATE_PER_S, OPEN_SERVERS, OPEN_SERVICE_S, OUTSTANDING, Simulate, What,
};
use crate::{plan, process};

/// Debian's interpreter: SimPy is installed for this one, and `python3` may be another.
const PYTHON: &str = "/usr/bin/python3";
const SIMPY: &str = include_str!("../peers/simpy_queues.py");

/// Virtual time of a run: about a second of our CPU time.
const OPEN_MS: u64 = 1_000_000;
const CLOSED_MS: u64 = 1_000_000;
const FIBRE_CHANNEL_MS: u64 = 40_000;
const MANY_MS: u64 = 500;
/// Requests for SimPy: about a second of its CPU time.
const SIMPY_REQUESTS: u64 = 150_000;
/// Both simulate the same queue: their mean response times must agree this closely.
const SAME: f64 = 0.1;

/// The targets.
const EVENTS_PER_S: f64 = 5e6;
const OPERATIONS_PER_S: f64 = 1e6;
const MEMORY_MIB: f64 = 512.0;
const PLAN_MINUTES: f64 = 10.0;
/// The window of a cell of the plan.
const PLAN_WINDOW_NS: u64 = 300_000_000_000;

/// The result of a run.
struct Report {
    operations: f64,
    events: f64,
    cpu_s: f64,
    response_s: f64,
    peak_memory_bytes: f64,
}

pub(crate) fn measure(arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    let cpu = cpus().last;
    let pinned = ["taskset".to_owned(), "-c".to_owned(), cpu];
    let mut lines = Vec::new();
    let site = Simulate { what: What::FibreChannel, ms: FIBRE_CHANNEL_MS };
    let runs: Vec<Report> =
        (0..arguments.pairs()).map(|_| run(&site, &pinned)).collect::<Result<_, _>>()?;
    for (what, least, count) in [
        ("I/Os", OPERATIONS_PER_S, (|run| run.operations) as fn(&Report) -> f64),
        ("events", EVENTS_PER_S, |run| run.events),
    ] {
        let value = median(runs.iter().map(|run| count(run) / run.cpu_s));
        let what = format!("simulator, Fibre Channel site of 160 VMs: {what} a second on one core");
        lines.push(alone(what, rate(value), format!("≥ {}", rate(least)), value >= least));
    }
    let many = run(&Simulate { what: What::Many, ms: MANY_MS }, &pinned)?;
    let mib = many.peak_memory_bytes / f64::from(1 << 20);
    lines.push(alone(
        format!(
            "simulator, {MANY_HOSTS} hosts × {MANY_VMS_PER_HOST} VMs × {OUTSTANDING} outstanding: \
             peak memory"
        ),
        format!("{mib:.0} MiB"),
        format!("< {MEMORY_MIB:.0} MiB"),
        mib < MEMORY_MIB,
    ));
    let plan::Predicted { cells, seconds } = plan::predict(PLAN_WINDOW_NS)?;
    let minutes = seconds / 60.0;
    lines.push(alone(
        format!(
            "simulator, plan of TR-3808: {cells} cells of {} virtual minutes, on all CPUs",
            PLAN_WINDOW_NS / 60_000_000_000
        ),
        format!("{minutes:.1} min"),
        format!("< {PLAN_MINUTES:.0} min"),
        minutes < PLAN_MINUTES,
    ));
    let scratch = TempDir::with_prefix("stormeter-bench").map_err(|error| error.to_string())?;
    let script = scratch.path().join("simpy_queues.py").display().to_string();
    fs::write(&script, SIMPY).map_err(|error| format!("{script}: {error}"))?;
    for (name, simulate, arguments_of_simpy) in [
        (
            format!("M/M/{OPEN_SERVERS}"),
            Simulate { what: What::Open, ms: OPEN_MS },
            format!("open {SIMPY_REQUESTS} {OPEN_SERVERS} {OPEN_SERVICE_S} {OPEN_RATE_PER_S}"),
        ),
        (
            format!("closed network of {CLOSED_CUSTOMERS} customers and {CLOSED_DISKS} disks"),
            Simulate { what: What::Closed, ms: CLOSED_MS },
            format!(
                "closed {SIMPY_REQUESTS} {CLOSED_CUSTOMERS} {CLOSED_DELAY_S} {CLOSED_DISKS} \
                 {CLOSED_SERVICE_S}"
            ),
        ),
    ] {
        let mut responses_s = (0.0, 0.0);
        let [paired] = interleave(
            arguments.pairs(),
            || {
                let report = run(&simulate, &pinned)?;
                responses_s.0 = report.response_s;
                Ok([report.operations / report.cpu_s])
            },
            || {
                let (requests_per_s, response_s) = simpy(&script, &arguments_of_simpy, &pinned)?;
                responses_s.1 = response_s;
                Ok([requests_per_s])
            },
        )?;
        let (ours_s, theirs_s) = responses_s;
        if (ours_s / theirs_s - 1.0).abs() > SAME {
            return Err(format!(
                "{name}: a response takes {ours_s} s here and {theirs_s} s in SimPy"
            ));
        }
        let what = format!("simulator, {name}: requests a second on one core");
        lines.push(Line::paired(what, &paired, Bound::Shown, rate).reference("SimPy"));
    }
    Ok(lines)
}

/// SimPy's version, as far as that can be determined: the other figures do not need it.
pub(crate) fn version() -> String {
    let words = [PYTHON, "-c", "import simpy; print(simpy.__version__)"].map(str::to_owned);
    let output = process::run(&words).map(|ended| ended.output.trim().to_owned());
    format!("SimPy {}", output.as_deref().unwrap_or("of unknown version"))
}

/// A figure that is compared with a limit only.
fn alone(what: String, ours: String, bound: String, holds: bool) -> Line {
    Line {
        what,
        reference: "-".into(),
        ours,
        theirs: "-".into(),
        measure: "-".into(),
        bound,
        bounded: true,
        holds,
        gate: false,
    }
}

/// Runs this program again, so that nothing else is in its memory.
fn run(simulate: &Simulate, before: &[String]) -> Result<Report, Failure> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let words = [before, &[program.display().to_string()], &simulate.words()].concat();
    let ended = process::run(&words)?;
    let value: Value = serde_json::from_str(&ended.output)
        .map_err(|error| format!("our own run gave no JSON ({error}): {}", ended.output))?;
    let float = |name: &str| value[name].as_f64().ok_or(format!("our own run reports no {name}"));
    Ok(Report {
        operations: float("operations")?,
        events: float("events")?,
        cpu_s: float("cpu_s")?,
        response_s: float("response_s")?,
        peak_memory_bytes: float("peak_memory_bytes")?,
    })
}

/// Requests per second, and their mean response time.
fn simpy(script: &str, arguments: &str, before: &[String]) -> Result<(f64, f64), Failure> {
    let mut words = before.to_vec();
    words.extend([PYTHON.to_owned(), script.to_owned()]);
    words.extend(arguments.split(' ').map(str::to_owned));
    let ended = process::run(&words)
        .map_err(|reason| format!("{reason}\nif SimPy is not installed: cargo xtask peers"))?;
    parse_simpy(&ended.output).ok_or_else(|| format!("SimPy printed \"{}\"", ended.output))
}

/// Parses the script's output: requests, seconds, mean response time.
fn parse_simpy(output: &str) -> Option<(f64, f64)> {
    let numbers: Vec<f64> =
        output.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    match numbers[..] {
        [requests, seconds, response_s] if seconds > 0.0 => Some((requests / seconds, response_s)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simpys_figures_are_read() {
        assert_eq!(parse_simpy("500 0.25 0.001\n"), Some((2000.0, 0.001)));
        for text in ["", "500 0.25", "500 0 0.001", "many 1 1"] {
            assert_eq!(parse_simpy(text), None, "{text}");
        }
    }

    #[test]
    fn a_figure_alone_says_whether_it_holds() {
        let row = alone("what".into(), rate(4e6), "≥ 5.00 M".into(), false).row();
        assert_eq!(row, "| what | - | 4.00 M | - | - | ≥ 5.00 M | **no** |");
    }
}
