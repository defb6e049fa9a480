//! A time line in words. What marks say is worded by [`crate::sides`].

use stormeter_statistics::runs::RunsCompared;
use stormeter_statistics::{Interval, Verdict};

use super::model::{Mark, Timeline, TimelineCell, TimelineChange};
use crate::change::{range, show};
use crate::date::utc;
use crate::model::{Finding, Severity};
use crate::quantity::{decimals, level_percent};
use crate::sides::Sides;
use crate::sides::words as of_sides;
use crate::wording::plural;

/// The first sentences, each with its verdict.
pub(super) fn headline(timeline: &Timeline) -> Vec<(Option<Verdict>, String)> {
    if timeline.compared.is_empty() {
        let runs = plural(timeline.runs.len() as u64, "run");
        let cells = plural(timeline.cells.len() as u64, "cell");
        let began = |run: Option<&super::TimelineRun>| {
            Some(date(run?.run.began_unix_ms.filter(|_| timeline.is_dated)?))
        };
        let when = match (began(timeline.runs.first()), began(timeline.runs.last())) {
            (Some(first), Some(last)) if first == last => format!(" on {first}"),
            (Some(first), Some(last)) => format!(" from {first} to {last}"),
            _ => String::new(),
        };
        return vec![(None, format!("{runs} of {cells}{when}."))];
    }
    timeline.compared.iter().flat_map(of_sides::headline).collect()
}

/// The day of a moment.
pub(super) fn date(unix_ms: u64) -> String {
    let text = utc(unix_ms);
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// When a run began, to the minute; empty if that is not known.
pub(super) fn began(run: &super::TimelineRun) -> String {
    run.run.began_unix_ms.map(utc).unwrap_or_default()
}

/// A mark with its moment: `firmware 5.2, 2026-11-24`.
pub(super) fn mark(mark: &Mark) -> String {
    let at = if mark.has_time { utc(mark.at_unix_ms) } else { date(mark.at_unix_ms) };
    if at == mark.label { at } else { format!("{}, {at}", mark.label) }
}

/// The half width of a value's interval: `1.2 %`.
pub(super) fn half_width(value: f64, within: Option<Interval>) -> String {
    let half = within.map(|it| 100.0 * it.relative_half_width(value));
    half.filter(|half| half.is_finite()).map_or(String::new(), |half| match half > 999.0 {
        true => "> 999\u{202f}%".into(),
        false => format!("{}\u{202f}%", decimals(half)),
    })
}

/// The change against another run: `−3.1 % (−4.0 to −2.2 %)`, with a sign where the two are not alike.
pub(super) fn change(compared: Option<&(RunsCompared, bool)>, with_interval: bool) -> String {
    let Some((compared, is_alike)) = compared else { return String::new() };
    let amount = show(compared.ratio);
    let sign = if *is_alike { "" } else { " ≠" };
    match compared.within.filter(|_| with_interval) {
        Some(within) => format!("{amount} ({}){sign}", range(compared.ratio, &within)),
        None => format!("{amount}{sign}"),
    }
}

/// What a mark says of a metric of a cell, with its verdict; `None` where a side has no value.
pub(super) fn at_mark(
    sides: &Sides,
    cell: &TimelineCell,
    metric: stormeter_study::Metric,
) -> Option<(Verdict, String)> {
    let load = sides.loads.iter().find(|load| load.name == cell.name)?;
    let values = &load.metrics.iter().find(|it| it.metric == metric)?.values;
    let [Some(before), Some(after)] = &values[..] else { return None };
    let compared = after.compared.as_ref()?;
    let verdict = sides.verdict(load, 1, compared);
    let [was, is] =
        [before, after].map(|value| of_sides::value(metric, value.value, value.between_runs));
    let runs = format!("{} against {}", plural(after.runs as u64, "run"), before.runs);
    let text = format!(
        "{}: {was} before, {is} after, {}, {runs}: {}",
        sides.sides[1].name.trim_start_matches("after "),
        of_sides::change(compared),
        of_sides::word(verdict)
    );
    Some((verdict, text))
}

/// What weakens the comparisons, and what cannot be concluded.
pub(super) fn findings(timeline: &Timeline) -> Vec<Finding> {
    let mut found = undated(timeline);
    if timeline.compared.is_empty() {
        found.extend(changes(timeline));
        found.extend(unused(timeline));
    }
    for finding in timeline.compared.iter().flat_map(of_sides::findings) {
        // A run that is not used may be on two sides, and a cell of one run is said to be so below.
        let is_lone = timeline.lone.iter().any(|lone| lone.cell == finding.subject);
        if !found.contains(&finding) && !is_lone {
            found.push(finding);
        }
    }
    found.extend(on_the_day(timeline));
    found.extend(timeline.lone.iter().map(|lone| {
        let what = format!("only {} has it", timeline.runs[lone.run].name);
        Finding {
            severity: Severity::Note,
            subject: lone.cell.clone(),
            what,
            advice: String::new(),
        }
    }));
    found
}

fn undated(timeline: &Timeline) -> Vec<Finding> {
    let undated = timeline.runs.iter().filter(|it| it.run.began_unix_ms.is_none());
    let names: Vec<&str> = undated.map(|it| it.name.as_str()).collect();
    let finding = || {
        Finding {
        severity: Severity::Warning,
        subject: names.join(", "),
        what: "there is no time of the run in the file, so all runs are in the order in which they were \
               named"
            .into(),
        advice: String::new(),
    }
    };
    (!timeline.is_dated).then(finding).into_iter().collect()
}

/// Runs that are not used. Marks say it of their sides.
fn unused(timeline: &Timeline) -> Vec<Finding> {
    let invalid = timeline.runs.iter().filter_map(|it| Some((it, it.run.invalid.as_ref()?)));
    invalid.map(|(it, why)| of_sides::unused(&it.run.file, why)).collect()
}

/// Differences between a run and the one before it, each once with the cells that have it.
fn changes(timeline: &Timeline) -> Vec<Finding> {
    let mut all: Vec<(&TimelineChange, Vec<&str>)> = Vec::new();
    for cell in &timeline.cells {
        for change in &cell.changes {
            match all.iter_mut().find(|(known, _)| *known == change) {
                Some((_, cells)) => cells.push(&cell.name),
                None => all.push((change, vec![&cell.name])),
            }
        }
    }
    let of = |(change, cells): (&TimelineChange, Vec<&str>)| Finding {
        severity: if change.is_allowed { Severity::Note } else { Severity::Warning },
        subject: match cells.len() == timeline.cells.len() {
            true => String::new(),
            false => cells.join("; "),
        },
        what: format!(
            "from {} on the runs differ in {}: before {}, then {}",
            timeline.runs[change.run].name, change.aspect, change.earlier, change.later
        ),
        advice: match change.is_allowed {
            true => String::new(),
            false => "what changes there may come from that alone".into(),
        },
    };
    all.into_iter().map(of).collect()
}

/// Runs on the day of a mark of which no time is known.
fn on_the_day(timeline: &Timeline) -> Vec<Finding> {
    let of_mark = |mark: &Mark| {
        let day = date(mark.at_unix_ms);
        let is_then =
            |it: &&super::TimelineRun| it.run.began_unix_ms.is_some_and(|at| date(at) == day);
        let runs: Vec<&str> =
            timeline.runs.iter().filter(is_then).map(|it| it.name.as_str()).collect();
        (!mark.has_time && !runs.is_empty()).then(|| Finding {
            severity: Severity::Note,
            subject: mark.label.clone(),
            what: format!(
                "it has a day and no time, and {} ran on that day: this counts as after it",
                runs.join(", ")
            ),
            advice: "give it a time in UTC, such as 14:30, if it came later that day".into(),
        })
    };
    timeline.marks.iter().filter_map(of_mark).collect()
}

/// How values and changes are to be read.
pub(super) fn caption(timeline: &Timeline) -> String {
    let mut text = format!(
        "± and the intervals of changes are of {} %, by what happened within the runs. What differs from run to run \
         is not in them, so a change between two runs has no verdict.",
        level_percent(timeline.level)
    );
    let has_unlike = timeline.cells.iter().flat_map(|cell| &cell.metrics).any(|metric| {
        let compared = metric.values.iter().flatten().flat_map(|it| [&it.previous, &it.first]);
        compared.flatten().any(|(_, is_alike)| !is_alike)
    });
    if has_unlike {
        text += " ≠: the two runs are not alike.";
    }
    if !timeline.compared.is_empty() {
        text += " At a mark the runs on both sides are compared, by the spread between runs; these verdicts hold over \
                 all marks, cells and metrics (Holm).";
    }
    text
}
