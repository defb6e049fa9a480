//! Reads `steps`: what is done to the storage during every trial.

use stormeter_fault::{FaultSpec, FaultSpecError};
use stormeter_units::format_duration_ns;
use stormeter_yaml::{Diagnostics, Node, Place, Section, Value};

use super::keys;
use crate::plan::Timing;
use crate::step::{Step, StepAction};

const EXAMPLE: &str = "steps: [{at: 10s, do: link-down nas}, {at: 15s, do: link-up nas}]";
/// More than fit on a readable chart.
const MOST: usize = 100;

/// The steps in the order of the file, with their positions.
pub(super) fn read(
    study: &Section<'_>,
    timing: Timing,
    diagnostics: &mut Diagnostics,
) -> Vec<(Step, Place)> {
    let Some(node) = study.get("steps") else { return Vec::new() };
    let items = match &node.value {
        Value::List(items) if !items.is_empty() => items,
        Value::List(_) => {
            diagnostics.error_at(
                node.place,
                format!("no step is named; write {EXAMPLE}, or leave steps out"),
            );
            return Vec::new();
        }
        _ => {
            let found = node.found();
            diagnostics
                .error_at(node.place, format!("steps are a list, not {found}; write {EXAMPLE}"));
            return Vec::new();
        }
    };
    if items.len() > MOST {
        let count = items.len();
        diagnostics
            .error_at(node.place, format!("{count} steps are more than the {MOST} of a trial"));
        return Vec::new();
    }
    let mut steps: Vec<(Step, Place)> = Vec::new();
    for item in items {
        let Some(step) = step(item, timing, diagnostics) else { continue };
        if let Some((before, _)) = steps.last()
            && step.at_ns < before.at_ns
        {
            diagnostics.error_at(
                item.place,
                format!(
                    "this step comes at {} and the one before it at {}; write steps in the order of \
                     their times",
                    duration(step.at_ns),
                    duration(before.at_ns)
                ),
            );
        }
        steps.push((step, item.place));
    }
    steps
}

fn duration(ns: u64) -> String {
    format_duration_ns(ns as f64)
}

fn step(node: &Node, timing: Timing, diagnostics: &mut Diagnostics) -> Option<Step> {
    let section = Section::open(node, "a step", &keys::STEP, diagnostics)?;
    for (key, example) in [("at", "at: 10s"), ("do", "do: link-down nas")] {
        if !section.has(key) {
            diagnostics
                .error_at(node.place, format!("this step has no {key}; write {example} in it"));
        }
    }
    let at_ns = section.duration("at", diagnostics);
    let what = section.get("do").and_then(|node| action(node, diagnostics));
    let (at_ns, what) = (at_ns?, what?);
    let end_ns = timing.ramp_ns.saturating_add(timing.duration_ns);
    if at_ns >= end_ns {
        diagnostics.error_at(
            section.place_of("at"),
            format!(
                "a trial lasts {} with its ramp, so a step at {} never comes; write an earlier one, or \
                 lengthen the duration of measure",
                duration(end_ns),
                duration(at_ns)
            ),
        );
    }
    Some(Step { at_ns, what })
}

fn action(node: &Node, diagnostics: &mut Diagnostics) -> Option<StepAction> {
    if let Value::Map(_) = &node.value {
        let section = Section::open(node, "do", &keys::DO, diagnostics)?;
        if !section.has("command") {
            diagnostics.error_at(
                node.place,
                "this step has no command; write {command: \"ssh nas ip link set eth1 down\", undo: \
                 \"ssh nas ip link set eth1 up\"}",
            );
            return None;
        }
        let run = section.text("command", diagnostics)?.trim();
        let undo = section.text("undo", diagnostics).map(str::trim);
        for (key, command) in [("command", Some(run)), ("undo", undo)] {
            if command.is_some_and(str::is_empty) {
                diagnostics.error_at(section.place_of(key), format!("this {key} is empty"));
            }
        }
        return Some(StepAction::Command { run: run.into(), undo: undo.map(Into::into) });
    }
    let text = node.text().unwrap_or_default();
    match text.parse::<FaultSpec>() {
        Ok(fault) => Some(StepAction::Fault(fault)),
        Err(error) => {
            let is_fault = !matches!(error, FaultSpecError::Kind { .. });
            let is_long = text.contains(['/', '=', '"']) || text.split_whitespace().count() > 3;
            let command = is_long && !is_fault;
            let advice = "; a command is written do: {command: \"…\"}";
            diagnostics
                .error_at(node.place, format!("{error}{}", if command { advice } else { "" }));
            None
        }
    }
}
