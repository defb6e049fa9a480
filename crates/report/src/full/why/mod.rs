//! What limits each cell of a predicted study, in words: sentences, and the rows of tables.

mod pieces;
mod users;

use stormeter_results::Elasticity;
use stormeter_statistics::CellWhy;
use stormeter_statistics::bottleneck::ResponsePart;
use stormeter_study::{Blocks, StudyPlan, Timing};
use stormeter_trial::{ComponentKind, ComponentUse};
use stormeter_units::{format_count, format_duration_ns};

use self::pieces::{background, busy, in_long_run, long_run, named, share};
use super::assumed;
use super::grid::Grid;
use crate::columns::Columns;
use crate::model::CellReasons;
use crate::phrases;
use crate::printable::printable;
use crate::text::{Paint, Style, push_line, wrap};
use crate::wording::plural;

/// How many components' gains are listed.
const MOST_GAINS: usize = 3;
/// A smaller gain may be chance: it compares one run with the change to one without.
const LEAST_GAIN: f64 = 0.02;
/// With more cells than this, a terminal does not list all components; the page and JSON do.
const MOST_LISTED: usize = 12;

/// The head of a prediction: for which site it is, and how windows were shortened.
pub(crate) fn predicted_for(grid: &Grid<'_>) -> Vec<String> {
    let Some(prediction) = &grid.report.header.prediction else { return Vec::new() };
    let mut sentences = vec![format!(
        "Predicted for {} ({}): a model in virtual time; nothing was measured.",
        prediction.site, prediction.file
    )];
    if !prediction.what_if.is_empty() {
        sentences.push(format!("What if: {}.", prediction.what_if.join(", ")));
    }
    if !prediction.faults.is_empty() {
        sentences.push(format!("Faults: {}.", prediction.faults.join("; ")));
    }
    if let Some((timing, blocks)) = prediction.shortened_from {
        sentences.push(shortened(grid.report.plan(), timing, blocks));
    }
    // More repetitions make a model more precise, not more accurate.
    sentences.push(
        "P-values cover chance in the simulation only, and intervals, which would do no more, are left out."
            .into(),
    );
    if !prediction.model_errors.is_empty() {
        sentences.push(phrases::MEANING.into());
    }
    sentences
}

/// How a plan was shortened from its own timing and blocks.
pub fn shortened(plan: &StudyPlan, timing: Timing, blocks: Blocks) -> String {
    format!(
        "Shortened: {} after a ramp of {} and at most {}; as planned it would be {} after {} and at most \
         {}.",
        format_duration_ns(plan.timing.duration_ns as f64),
        format_duration_ns(plan.timing.ramp_ns as f64),
        plural(plan.design.blocks.most().into(), "block"),
        format_duration_ns(timing.duration_ns as f64),
        format_duration_ns(timing.ramp_ns as f64),
        plural(blocks.most().into(), "block"),
    )
}

/// What the operations of a cell are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Each {
    /// I/Os.
    Io,
    /// Those of fixed work.
    Operation,
    /// Users of desktops.
    User,
}

impl Each {
    /// Those of a cell.
    pub(crate) fn of(grid: &Grid<'_>, cell: usize) -> Self {
        let workload =
            grid.cells.get(cell).and_then(|cell| grid.report.plan().workloads.get(cell.workload));
        match workload.map(|it| &it.kind) {
            Some(kind) if kind.desktops().is_some() => Each::User,
            Some(kind) if kind.is_timed() => Each::Io,
            _ => Each::Operation,
        }
    }
}

/// What determines the speed of the cell, in a few sentences.
pub(crate) fn sentence(why: &CellWhy, each: Each) -> String {
    let each = match each {
        Each::Io => "I/O",
        Each::Operation => "operation",
        Each::User => return users::sentence(why),
    };
    let bottleneck = &why.components[why.bottleneck];
    let part = why.parts[why.bottleneck];
    let name = named(why, why.bottleneck);
    let spent = format_duration_ns(bottleneck.response_share * why.response_ns);
    let of = format!(
        "{} of the response time, {spent} of each {each}, is spent there{}",
        share(bottleneck.response_share),
        mostly(part)
    );
    let background = background(why);
    if let Some((index, cache)) =
        why.room_in.and_then(|index| Some((index, why.components.get(index)?)))
    {
        let waiting_ns = why.parts[index].queue_ns;
        let limit = why.bounds.saturation.map(|bound| {
            format!(
                " As they are they let no more than {} {each}s a second pass.",
                count(bound.per_s)
            )
        });
        return format!(
            "Writes wait for room in {}: its disks cannot take writes as fast as they come ({name}: {}); \
             {} of the response time, {} of each {each}, is spent waiting for room.{}{background}",
            cache.name,
            busy(bottleneck),
            share(waiting_ns / why.response_ns),
            format_duration_ns(waiting_ns),
            limit.unwrap_or_default(),
        );
    }
    let bound = why
        .bounds
        .saturation
        .map(|bound| (bound.component, count(bound.per_s), count(bound.outstanding)));
    // The bound of disks holds for their queue depth.
    let of_queue = |component: usize| match why.components[component].kind {
        ComponentKind::Disks => {
            " at this queue depth (of a longer queue disks with moving heads do more)"
        }
        _ => "",
    };
    if why.is_saturated {
        // The bound is that of the busiest component, for which requests need not be waiting.
        let bound = match bound.filter(|(component, ..)| *component == why.bottleneck) {
            Some((component, most, star)) => format!(
                " As it is it lets no more than {most} {each}s a second pass, which about {star} \
                 outstanding reach{}.",
                of_queue(component)
            ),
            None => String::new(),
        };
        return format!("{name} is full ({}); {of}.{bound}{background}", busy(bottleneck));
    }
    let outstanding = count(why.outstanding);
    let reach = match bound.filter(|_| long_run(why).is_none()) {
        Some((component, most, star)) => {
            let busiest = &why.components[component];
            let busy = share(busiest.utilisation_most);
            let would = format!(
                "would be full at {most} {each}s a second with about {star} outstanding or more{}.",
                of_queue(component)
            );
            match component == why.bottleneck {
                true => format!(" Its busiest unit ({busy}) {would}"),
                false => format!(" The busiest is {} ({busy}), which {would}", busiest.name),
            }
        }
        None => long_run(why)
            .map(|bound| {
                in_long_run(why, bound, &format!("{} {each}s a second", count(bound.per_s)))
            })
            .unwrap_or_default(),
    };
    let held = match bottleneck.kind {
        ComponentKind::Parts => {
            format!("a queue depth of {outstanding} waits for the slowest part of each request")
        }
        // A memory has a fill level, but no utilisation.
        ComponentKind::Cache => {
            format!("a queue depth of {outstanding} spends most time at {name}")
        }
        _ => {
            format!(
                "a queue depth of {outstanding} keeps {name} {} busy",
                share(bottleneck.utilisation)
            )
        }
    };
    format!("No component is saturated: {held}; {of}.{reach}{background}")
}

/// A number of I/Os, with decimals where few are outstanding.
fn count(value: f64) -> String {
    match value {
        value if value <= 0.0 || value >= 9.95 => format_count(value),
        value if value >= 0.095 => {
            let text = format!("{value:.1}");
            text.strip_suffix(".0").map(String::from).unwrap_or(text)
        }
        value if value >= 0.0095 => format!("{value:.2}"),
        _ => "less than 0.01".into(),
    }
}

/// The main part of the time at a component, where one part dominates.
fn mostly(part: ResponsePart) -> &'static str {
    let all = part.service_ns + part.queue_ns + part.latency_ns;
    if part.queue_ns > 0.5 * all {
        ", most of it waiting"
    } else if part.latency_ns > 0.5 * all {
        ", most of it latency that no higher rate shortens"
    } else if part.service_ns > 0.5 * all {
        ", most of it work"
    } else {
        ""
    }
}

/// The gain from more of each component, in a sentence; only the largest gains.
pub(crate) fn gains(elasticities: &[Elasticity]) -> Option<String> {
    let first = elasticities.first()?;
    let more = format!("{:.0} % more", (first.factor - 1.0) * 100.0);
    let worth = |one: &&Elasticity| one.gain() >= LEAST_GAIN;
    let largest: Vec<String> = elasticities
        .iter()
        .filter(worth)
        .take(MOST_GAINS)
        .map(|one| {
            let change = (one.ratio - 1.0) * 100.0;
            format!("of {}: {change:+.1} % {}", one.component, one.metric.title())
        })
        .collect();
    Some(match largest.is_empty() {
        true => format!("{more} of any one component would bring less than 2 % (one run each)."),
        false => {
            let all = elasticities.iter().filter(worth).count() == largest.len();
            let others = if all { "; of any other less than 2 %" } else { "" };
            format!("{more} {}{others} (one run each).", largest.join("; "))
        }
    })
}

/// The heads of [`rows`].
pub(crate) fn heads(each: Each) -> Vec<String> {
    let heads: &[&str] = match each {
        Each::User => &["component", "busy", "busiest", "queue", "of I/O time"],
        _ => &["component", "busy", "busiest", "queue", "of response", "each"],
    };
    heads.iter().copied().map(String::from).collect()
}

/// A row for each component.
pub(crate) fn rows(why: &CellWhy, each: Each) -> Vec<Vec<String>> {
    let row = |one: &ComponentUse| {
        let mut row = vec![
            printable(&one.name),
            share(one.utilisation),
            share(one.utilisation_most),
            format!("{:.1}", one.queue_mean),
            share(one.response_share),
        ];
        // The wait of a user is not I/O alone.
        if each != Each::User {
            row.push(format_duration_ns(one.response_share * why.response_ns));
        }
        row
    };
    why.components.iter().map(row).collect()
}

/// The section of the terminal.
pub(super) fn terminal(grid: &Grid<'_>, width: usize, paint: Paint, text: &mut String) {
    let reasons = &grid.report.reasons;
    if reasons.is_empty() {
        return;
    }
    push_line(text, &paint.with(Style::Bold, "What limits each cell"));
    for CellReasons { cell, why, elasticities, assumed: effects } in reasons {
        for line in wrap(&printable(&grid.name(*cell)), width, "", "  ") {
            push_line(text, &line);
        }
        let mut say = |style: Style, words: &str| {
            for line in wrap(&printable(words), width, "  ", "  ") {
                push_line(text, &paint.with(style, &line));
            }
        };
        let each = Each::of(grid, *cell);
        say(Style::Plain, &sentence(why, each));
        for words in gains(elasticities).into_iter().chain(assumed::of_cell(effects, grid.titles()))
        {
            say(Style::Plain, &words);
        }
        if reasons.len() <= MOST_LISTED {
            table(heads(each), rows(why, each), (width, paint), text);
        }
    }
    if reasons.len() > MOST_LISTED {
        let words = "Every component of every cell is on the page and in JSON.";
        for line in wrap(words, width, "", "") {
            push_line(text, &paint.with(Style::Dim, &line));
        }
    }
    push_line(text, "");
}

fn table(
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    (width, paint): (usize, Paint),
    text: &mut String,
) {
    let left: Vec<bool> = (0..head.len()).map(|column| column == 0).collect();
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    let columns = Columns { indent: 4, gap: 3, left: &left, has_head: true };
    for (is_head, line) in columns.lines(&rows, width) {
        let style = if is_head { Style::Dim } else { Style::Plain };
        push_line(text, &paint.with(style, &line));
    }
}

#[cfg(test)]
mod tests;
