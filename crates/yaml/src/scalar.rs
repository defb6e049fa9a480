//! Sizes, durations, shares and counts as files write them.
//!
//! Stricter than the command line in one respect: a size or a duration needs its unit. In a file
//! that others read a year later, `size: 10` says nothing.

use stormeter_units::{parse_bytes, parse_duration_ns};

use crate::document::{Node, Value};
use crate::error::Diagnostics;

/// The scalar's text; otherwise reports that one was expected.
fn text<'n>(
    node: &'n Node,
    what: &str,
    kind: &str,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Option<&'n str> {
    match &node.value {
        Value::Text(text) => Some(text.trim()),
        _ => {
            diagnostics.error_at(
                node.place,
                format!("{what} is one {kind}, not {}; write {what}: {example}", node.found()),
            );
            None
        }
    }
}

/// Whether the text is a number without a unit.
fn is_bare(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// A size in bytes: `10GiB`, `100KB` (decimal), `512B`.
pub fn size(node: &Node, what: &str, example: &str, diagnostics: &mut Diagnostics) -> Option<u64> {
    let text = text(node, what, "size", example, diagnostics)?;
    if text.starts_with('-') {
        diagnostics
            .error_at(node.place, format!("{what} {text} is below zero; write it like {example}"));
        return None;
    }
    if is_bare(text) {
        let unit = example.trim_start_matches(|c: char| c.is_ascii_digit());
        diagnostics.error_at(
            node.place,
            format!("{what} {text} has no unit; write {text}{unit}, or {text}B if bytes are meant"),
        );
        return None;
    }
    match parse_bytes(text) {
        Ok(0) => {
            diagnostics.error_at(
                node.place,
                format!("{what} is {text}, which is nothing; write it like {example}"),
            );
            None
        }
        Ok(bytes) => Some(bytes),
        Err(_) => {
            diagnostics.error_at(
                node.place,
                format!(
                    "{what} is a size, not \"{text}\"; write it like {example} (KiB, MiB, GiB and \
                     TiB count by 1024; KB, MB, GB and TB by 1000)"
                ),
            );
            None
        }
    }
}

/// A size from 512 bytes to 64 MiB, what one request moves.
pub fn request_size(
    node: &Node,
    what: &str,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Option<u32> {
    let bytes = size(node, what, example, diagnostics)?;
    match u32::try_from(bytes) {
        Ok(bytes) if (512..=64 << 20).contains(&bytes) => Some(bytes),
        _ => {
            diagnostics.error_at(
                node.place,
                format!(
                    "a request of {} cannot be made; {what} must be between 512B and 64MiB",
                    node.text().unwrap_or_default().trim()
                ),
            );
            None
        }
    }
}

/// A duration in nanoseconds: `500ms`, `20s`, `2h`; 0 needs no unit.
pub fn duration(
    node: &Node,
    what: &str,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Option<u64> {
    let text = text(node, what, "duration", example, diagnostics)?;
    if text == "0" {
        return Some(0);
    }
    if is_bare(text) {
        let plain = text.trim_start_matches('-');
        diagnostics.error_at(
            node.place,
            format!("{what} {text} has no unit; write {plain}ms, {plain}s or {plain}m (minutes)"),
        );
        return None;
    }
    match parse_duration_ns(text) {
        Ok(ns) => Some(ns),
        Err(_) => {
            diagnostics.error_at(
                node.place,
                format!(
                    "{what} is a duration, not \"{text}\"; write it like {example} (ms, s, m, \
                         h or d)"
                ),
            );
            None
        }
    }
}

/// A percentage from 0 to 100: `75%`, or 75. Below 1 the sign is required, because 0.75 may be
/// meant as three quarters.
pub fn percent(
    node: &Node,
    what: &str,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Option<f64> {
    let text = text(node, what, "percentage", example, diagnostics)?;
    let plain = text.strip_suffix('%').map(str::trim_end);
    let number = plain.unwrap_or(text).parse::<f64>().ok().filter(|number| number.is_finite());
    let Some(number) = number else {
        diagnostics.error_at(
            node.place,
            format!("{what} is a percentage, not \"{text}\"; write it like {example}"),
        );
        return None;
    };
    if plain.is_none() && number > 0.0 && number < 1.0 {
        diagnostics.error_at(
            node.place,
            format!(
                "{what} {text} may be {text}% or {}%; write which, with the sign",
                rounded(number * 100.0)
            ),
        );
        return None;
    }
    if !(0.0..=100.0).contains(&number) {
        diagnostics.error_at(node.place, format!("{what} must be between 0% and 100%, not {text}"));
        return None;
    }
    Some(number)
}

/// Without the rounding noise of binary fractions.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// A whole number of at least `least`.
pub fn count(node: &Node, what: &str, least: u32, diagnostics: &mut Diagnostics) -> Option<u32> {
    let example = least.max(4).to_string();
    let text = text(node, what, "whole number", &example, diagnostics)?;
    if let Ok(count) = text.parse::<u32>() {
        if count >= least {
            return Some(count);
        }
        diagnostics.error_at(node.place, format!("{what} is at least {least}, not {count}"));
        return None;
    }
    let message = if text.parse::<i64>().is_ok_and(|number| number < 0) {
        format!("{what} is at least {least}, not {text}")
    } else if text.parse::<u64>().is_ok() {
        format!("{what} is at most {}, not {text}", u32::MAX)
    } else {
        format!("{what} is a whole number, not \"{text}\"; write {what}: {example}")
    };
    diagnostics.error_at(node.place, message);
    None
}
