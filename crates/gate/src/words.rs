//! A gate in words. This is the one place that words it.

use stormeter_report::wrap;
use stormeter_statistics::gate::{GateVerdict, MOST_RUNS};

use crate::decide::{CellJudgement, Gate, GateOutcome};
use crate::likeness::Difference;

/// The first line: what to do.
pub(crate) fn headline(gate: &Gate) -> String {
    let of = |verdict| gate.cells.iter().filter(|cell| cell.judgement.verdict == verdict).count();
    let all = gate.cells.len();
    let limit = percent(gate.max_slowdown);
    match gate.outcome {
        GateOutcome::Fine => format!("No regression: nothing is slower by more than {limit}."),
        GateOutcome::Regression => format!(
            "Regression: {} of {all} figures got slower by more than {limit}.",
            of(GateVerdict::Regression)
        ),
        GateOutcome::Inconclusive => {
            format!(
                "Inconclusive: {} of {all} figures are undecided.",
                of(GateVerdict::Inconclusive)
            )
        }
    }
}

/// How a verdict is called.
pub(crate) fn verdict(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Regression => "regression",
        GateVerdict::Fine => "no regression",
        GateVerdict::Inconclusive => "inconclusive",
    }
}

/// A cell and metric: where, and what.
pub(crate) fn subject(cell: &CellJudgement) -> String {
    let place = [cell.datastore.as_str(), cell.load.as_str(), cell.metric.title()];
    place.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// By how much it is slower, and how sure that is.
pub(crate) fn change(cell: &CellJudgement, alpha: f64) -> String {
    let judgement = &cell.judgement;
    let amount = moved(judgement.slowdown);
    match judgement.bounds {
        Some((low, high)) => format!(
            "{amount} ({:.0} % interval: {} to {})",
            100.0 * (1.0 - 2.0 * alpha),
            moved(low),
            moved(high)
        ),
        None => amount,
    }
}

/// More time an operation is slower.
fn moved(slowdown: f64) -> String {
    match slowdown {
        slowdown if slowdown >= 0.0 => format!("{} slower", percent(slowdown)),
        slowdown => format!("{} faster", percent(-slowdown)),
    }
}

/// What a judgement rests on, and what more would help.
pub(crate) fn grounds(cell: &CellJudgement) -> String {
    let judgement = &cell.judgement;
    let runs = |count: usize| match count {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    };
    let mut text = format!("{} against {} earlier", runs(cell.new_runs), judgement.history);
    match judgement.between_runs {
        Some(spread) => text += &format!(", which differ by {} (SD) between runs", percent(spread)),
        None => {
            text += ": how much runs differ by themselves is not known; at least three runs are needed \
                     in all, better five";
        }
    }
    if let Some(smallest) =
        judgement.smallest_found.filter(|_| judgement.verdict != GateVerdict::Regression)
    {
        text += &format!(
            "; a slowdown of {} would have been found in four of five cases",
            percent(smallest)
        );
    }
    if judgement.verdict == GateVerdict::Inconclusive && judgement.between_runs.is_some() {
        text += &match judgement.more_runs {
            Some(more) => format!(
                "; {more} more new {} would probably decide",
                if more == 1 { "run" } else { "runs" }
            ),
            None => format!("; {MOST_RUNS} more would hardly decide"),
        };
    }
    if let Some((before, step)) = judgement.change {
        text += &format!(
            "; the history changed after its first {before} runs (after that {}), and only what came after counts",
            moved(step)
        );
    }
    text
}

/// A difference between runs.
pub(crate) fn difference(difference: &Difference) -> String {
    format!("{}: {} earlier, {} now", difference.aspect.name(), difference.earlier, difference.new)
}

/// A share in percent, with a decimal where that says something.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent.abs() {
        large if large >= 99.95 => format!("{percent:.0} %"),
        _ => format!("{percent:.1} %"),
    }
}

/// Text for a terminal of this many columns.
pub fn terminal(gate: &Gate, width: usize) -> String {
    let width = width.clamp(40, 120);
    let mut text = headline(gate) + "\n\n";
    for cell in &gate.cells {
        text += &format!("{}  {}\n", mark(cell.judgement.verdict), subject(cell));
        text += &wrapped(&format!("{}.", change(cell, gate.alpha)), width);
        text += &wrapped(&format!("{}.", grounds(cell)), width);
    }
    if !gate.differences.is_empty() {
        text += "\nThe runs differ, as allowed:\n";
        for one in &gate.differences {
            text += &wrapped(&difference(one), width);
        }
    }
    if !gate.left_out.is_empty() {
        text += &format!("\nLeft out because they are invalid: {}\n", gate.left_out.join(", "));
    }
    text += &format!(
        "\nA slowdown of {} is reported with a probability of at most {}.\n",
        percent(gate.max_slowdown),
        percent(gate.alpha)
    );
    text
}

fn mark(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Regression => "SLOWER",
        GateVerdict::Fine => "fine  ",
        GateVerdict::Inconclusive => "?     ",
    }
}

/// Lines of at most this width, indented below the subject.
fn wrapped(text: &str, width: usize) -> String {
    const INDENT: &str = "        ";
    wrap(text, width, INDENT, INDENT).into_iter().map(|line| line + "\n").collect()
}
