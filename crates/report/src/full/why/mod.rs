//! What limits each cell of a predicted study, in words: sentences, and the rows of tables.

use stormeter_results::Elasticity;
use stormeter_statistics::CellWhy;
use stormeter_statistics::bottleneck::{ResponsePart, Saturation};
use stormeter_study::{Blocks, StudyPlan, Timing};
use stormeter_trial::{ComponentKind, ComponentUse};
use stormeter_units::{format_count, format_duration_ns};

use super::grid::Grid;
use crate::columns::Columns;
use crate::model::CellReasons;
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
        "Intervals and p-values cover random variation in the simulation only, and are left out where the \
         model repeats itself; they do not cover model error: `stormeter calibrate` estimates that."
            .into(),
    );
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

fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p < 0.95 && p > 0.0 => "< 1 %".into(),
        p => format!("{p:.0} %"),
    }
}

/// The subject of a sentence on a component: the part that is full, or that takes the time.
fn named(why: &CellWhy, index: usize) -> &str {
    why.components.get(index).map_or("", |one| one.name.as_str())
}

/// The word for an operation of the cell; operations of fixed work are not I/Os.
fn operation(is_timed: bool) -> &'static str {
    if is_timed { "I/O" } else { "operation" }
}

/// What determines the speed of the cell, in a few sentences.
pub(crate) fn sentence(why: &CellWhy, is_timed: bool) -> String {
    let bottleneck = &why.components[why.bottleneck];
    let part = why.parts[why.bottleneck];
    let name = named(why, why.bottleneck);
    let each = operation(is_timed);
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
        None => long_run(why).map(|bound| in_long_run(why, bound, each)).unwrap_or_default(),
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

/// The bound of a component that works in the background, where it is the lowest.
fn long_run(why: &CellWhy) -> Option<Saturation> {
    let others = why.bounds.saturation.map_or(f64::INFINITY, |bound| bound.per_s);
    why.bounds.long_run.filter(|bound| bound.per_s < others)
}

fn in_long_run(why: &CellWhy, bound: Saturation, each: &str) -> String {
    let one = &why.components[bound.component];
    format!(
        " In the long run {}, which destages ({}), lets no more than {} {each}s a second pass: with more, \
         the cache before it fills until writes wait for room.",
        one.name,
        busy(one),
        count(bound.per_s)
    )
}

/// How busy a component is, in a sentence.
fn busy(one: &ComponentUse) -> String {
    match one.units {
        0 | 1 => format!("{} busy", share(one.utilisation_most)),
        units => format!(
            "the busiest of {units} is {} busy, all together {}",
            share(one.utilisation_most),
            share(one.utilisation)
        ),
    }
}

/// The component that is full of work for which hardly any request waits.
fn background(why: &CellWhy) -> String {
    let has_cache = why.components.iter().any(|one| one.kind == ComponentKind::Cache);
    // Already named with its bound.
    let named = if why.is_saturated { None } else { long_run(why).map(|bound| bound.component) };
    let full = why.in_background.iter().filter(|&&index| named != Some(index));
    let each = full.filter_map(|&index| why.components.get(index)).map(|one| {
        let busy = share(one.utilisation_most);
        // Without another cache, background work of disks is for their own caches.
        if one.kind == ComponentKind::Disks && !has_cache {
            return format!(
                " {} is {busy} busy, most of it with emptying the caches of its disks, which requests \
                 hardly wait for: that goes on at any load and does not tell how much more it could take.",
                one.name
            );
        }
        let work = match one.kind {
            ComponentKind::Disks => "destaging",
            _ => "work in the background",
        };
        let yet = match one.response_share {
            0.0..0.005 => "which no request waits for yet",
            _ => "which requests hardly wait for yet",
        };
        format!(" {} is {busy} busy with {work}, {yet}.", one.name)
    });
    each.collect()
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
pub(crate) const HEADS: [&str; 6] =
    ["component", "busy", "busiest", "queue", "of response", "each"];

/// A row for each component.
pub(crate) fn rows(why: &CellWhy) -> Vec<[String; 6]> {
    let row = |one: &ComponentUse| {
        [
            printable(&one.name),
            share(one.utilisation),
            share(one.utilisation_most),
            format!("{:.1}", one.queue_mean),
            share(one.response_share),
            format_duration_ns(one.response_share * why.response_ns),
        ]
    };
    why.components.iter().map(row).collect()
}

/// Whether the cell's workload runs for a given time.
pub(crate) fn is_timed(grid: &Grid<'_>, cell: usize) -> bool {
    let workload =
        grid.cells.get(cell).and_then(|cell| grid.report.plan().workloads.get(cell.workload));
    workload.is_some_and(|it| it.kind.is_timed())
}

/// The section of the terminal.
pub(super) fn terminal(grid: &Grid<'_>, width: usize, paint: Paint, text: &mut String) {
    let reasons = &grid.report.reasons;
    if reasons.is_empty() {
        return;
    }
    push_line(text, &paint.with(Style::Bold, "What limits each cell"));
    for CellReasons { cell, why, elasticities } in reasons {
        for line in wrap(&printable(&grid.name(*cell)), width, "", "  ") {
            push_line(text, &line);
        }
        let mut say = |style: Style, words: &str| {
            for line in wrap(&printable(words), width, "  ", "  ") {
                push_line(text, &paint.with(style, &line));
            }
        };
        say(Style::Plain, &sentence(why, is_timed(grid, *cell)));
        if let Some(gains) = gains(elasticities) {
            say(Style::Plain, &gains);
        }
        if reasons.len() <= MOST_LISTED {
            table(&rows(why), (width, paint), text);
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

fn table(rows: &[[String; 6]], (width, paint): (usize, Paint), text: &mut String) {
    let rows: Vec<_> =
        std::iter::once(HEADS.map(String::from)).chain(rows.iter().cloned()).collect();
    let left = &[true, false, false, false, false, false];
    let columns = Columns { indent: 4, gap: 3, left, has_head: true };
    for (is_head, line) in columns.lines(&rows, width) {
        let style = if is_head { Style::Dim } else { Style::Plain };
        push_line(text, &paint.with(style, &line));
    }
}

#[cfg(test)]
mod tests;
