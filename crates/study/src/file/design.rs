//! Reads `design`: the number of blocks, their order, the reset, and the confidence.

use super::keys;
use crate::plan::Metric;
use crate::study_plan::{Blocks, Design, Order, Reset, Unit};
use stormeter_yaml::Diagnostics;
use stormeter_yaml::{Node, Value};
use stormeter_yaml::{Section, choice, one_of};

/// The fewest blocks for which `auto` can stop: the correction for repeated looks is derived from
/// there on.
const LEAST_AUTO: u32 = 5;
/// The default maximum.
const MOST_AUTO: u32 = 100;

/// A design, and whether the file itself chose the metric.
pub(super) struct Found {
    pub(super) design: Design,
    pub(super) metric_given: bool,
}

/// The design of the study; `metric` is the default for its workloads.
pub(super) fn read(study: &Section<'_>, metric: Metric, diagnostics: &mut Diagnostics) -> Found {
    let mut design = Design {
        blocks: Blocks::Auto { min: LEAST_AUTO, max: MOST_AUTO },
        precision: 0.02,
        margin: 0.05,
        level: 0.95,
        metric,
        order: Order::Randomized,
        reset: Reset::None,
        unit: Unit::Trial,
        time_limit_ns: None,
        equal_load: None,
    };
    let mut metric_given = false;
    let section = study
        .get("design")
        .and_then(|node| Section::open(node, "design", &keys::DESIGN, diagnostics));
    if let Some(section) = section {
        if let Some(node) = section.get("blocks") {
            design.blocks = blocks(node, diagnostics).unwrap_or(design.blocks);
        }
        design.precision = share(&section, "precision", diagnostics).unwrap_or(design.precision);
        design.margin = share(&section, "margin", diagnostics).unwrap_or(design.margin);
        design.level = level(&section, diagnostics).unwrap_or(design.level);
        let metrics = Metric::ALL.map(|metric| (metric.name(), metric));
        if let Some(metric) = section.choice("metric", &metrics, diagnostics) {
            design.metric = metric;
            metric_given = true;
        }
        let orders = [
            ("randomized", Order::Randomized),
            ("abba", Order::Abba),
            ("as-written", Order::AsWritten),
        ];
        design.order = section.choice("order", &orders, diagnostics).unwrap_or_default();
        if let Some(node) = section.get("reset") {
            design.reset = reset(node, diagnostics).unwrap_or_default();
        }
        design.time_limit_ns = section.duration("time-limit", diagnostics);
        if design.time_limit_ns == Some(0) {
            diagnostics.error_at(
                section.place_of("time-limit"),
                "in a time limit of 0 nothing can be measured; leave it out, or write time-limit: \
                 2h",
            );
        }
        if let (Order::Abba, Blocks::Auto { min, max }) = (design.order, design.blocks) {
            // Drift cancels only over pairs of blocks.
            let min = min.saturating_add(min % 2);
            design.blocks = Blocks::Auto { min, max: (max - max % 2).max(min) };
        }
        if let (Order::Abba, Blocks::Fixed(blocks)) = (design.order, design.blocks)
            && blocks % 2 == 1
        {
            diagnostics.error_at(
                section.place_of("blocks"),
                format!(
                    "order abba cancels drift over pairs of blocks, so their number must be even; \
                     write {} instead of {blocks}",
                    blocks.saturating_add(1)
                ),
            );
        }
    }
    Found { design, metric_given }
}

/// A percentage above 0 and at most 100 %, as a fraction.
fn share(section: &Section<'_>, key: &str, diagnostics: &mut Diagnostics) -> Option<f64> {
    let percent = section.percent(key, diagnostics)?;
    if percent <= 0.0 || (key == "margin" && percent >= 100.0) {
        let example = if key == "margin" { "5%" } else { "2%" };
        diagnostics.error_at(
            section.place_of(key),
            format!(
                "a {key} of {percent}% cannot be reached or says nothing; write one such as \
                     {example}"
            ),
        );
        return None;
    }
    Some(percent / 100.0)
}

/// The confidence level, as a fraction.
fn level(section: &Section<'_>, diagnostics: &mut Diagnostics) -> Option<f64> {
    let percent = section.percent("level", diagnostics)?;
    // At 50% itself an interval on both sides of an estimate is none.
    if !(percent > 50.0 && percent < 100.0) {
        diagnostics.error_at(
            section.place_of("level"),
            format!(
                "a confidence level of {percent}% is of no use; write one above 50% and below \
                 100%, such as 95%"
            ),
        );
        return None;
    }
    Some(percent / 100.0)
}

/// `auto`, a number, or `{min, max}`.
fn blocks(node: &Node, diagnostics: &mut Diagnostics) -> Option<Blocks> {
    match &node.value {
        Value::Map(_) => {
            let section = Section::open(node, "blocks", &keys::BLOCKS, diagnostics)?;
            let min = section.count("min", 1, diagnostics).unwrap_or(LEAST_AUTO);
            let max = section.count("max", 1, diagnostics).unwrap_or(MOST_AUTO.max(min));
            if min < LEAST_AUTO {
                diagnostics.error_at(
                    section.place_of("min"),
                    format!(
                        "automatic blocks need a min of at least {LEAST_AUTO}, because few blocks \
                         look precise by chance; for fewer write blocks: {min}, a fixed number"
                    ),
                );
            } else if max < min {
                diagnostics.error_at(
                    section.place_of("max"),
                    format!(
                        "at most {max} blocks contradicts at least {min}; raise max or lower min"
                    ),
                );
            }
            Some(Blocks::Auto { min, max })
        }
        Value::Text(text) if text == "auto" => {
            Some(Blocks::Auto { min: LEAST_AUTO, max: MOST_AUTO })
        }
        Value::Text(text) if text.trim().starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            stormeter_yaml::count(node, "blocks", 1, diagnostics).map(Blocks::Fixed)
        }
        _ => {
            diagnostics.error_at(
                node.place,
                format!(
                    "blocks is auto, a number or a mapping, not {}; write blocks: auto, blocks: 10 \
                     or blocks: {{min: 5, max: 50}}",
                    node.found()
                ),
            );
            None
        }
    }
}

/// `none`, `recreate`, `discard`, `snapshot` or `{command: …}`.
fn reset(node: &Node, diagnostics: &mut Diagnostics) -> Option<Reset> {
    if let Value::Map(_) = node.value {
        let section = Section::open(node, "reset", &keys::RESET, diagnostics)?;
        if !section.has("command") {
            diagnostics.error_at(
                node.place,
                "this reset has no command; write {command: \"zfs rollback tank/vm@clean\"}",
            );
            return None;
        }
        return section.text("command", diagnostics).map(|command| Reset::Command(command.into()));
    }
    #[derive(Clone, Copy)]
    enum Word {
        None,
        Recreate,
        Discard,
        Snapshot,
    }
    let words = [
        ("none", Word::None),
        ("recreate", Word::Recreate),
        ("discard", Word::Discard),
        ("snapshot", Word::Snapshot),
    ];
    let text = node.text().unwrap_or_default();
    if text.contains(' ') || text.contains('/') {
        diagnostics.error_at(
            node.place,
            format!(
                "reset is {}; a command is written reset: {{command: \"{text}\"}}",
                one_of(words.iter().map(|(word, _)| *word))
            ),
        );
        return None;
    }
    Some(match choice(node, "reset", &words, diagnostics)? {
        Word::None => Reset::None,
        Word::Recreate => Reset::Recreate,
        Word::Discard => Reset::Discard,
        Word::Snapshot => Reset::Snapshot,
    })
}
