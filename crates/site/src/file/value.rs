//! Values of a site file: numbers in their base units, each within its limits.

use stormeter_yaml::{Diagnostics, Node, Value};

use crate::unit::{Quantity, Unit};

/// The value to read: the node, the name of its key, an example.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'n, 'k> {
    pub(super) node: &'n Node,
    pub(super) key: &'k str,
    pub(super) example: &'k str,
}

impl<'n> At<'n, '_> {
    /// Reports what is wrong.
    pub(super) fn fault(&self, message: impl Into<String>, diagnostics: &mut Diagnostics) {
        diagnostics.error_at(self.node.place, message);
    }

    fn text(&self, kind: &str, diagnostics: &mut Diagnostics) -> Option<&'n str> {
        let At { node, key, example } = *self;
        let text = node.text().map(str::trim).filter(|text| !text.is_empty());
        if text.is_none() {
            let found = node.found();
            self.fault(
                format!("{key} is one {kind}, not {found}; write {key}: {example}"),
                diagnostics,
            );
        }
        text
    }
}

/// The largest plausible value in a base unit: a larger one is a typing error, and would only make
/// numbers overflow later.
const MOST: f64 = 1e16;

/// A quantity of this unit, zero or more.
fn measured(at: At<'_, '_>, unit: Unit, zero: bool, diagnostics: &mut Diagnostics) -> Option<f64> {
    let At { key, example, .. } = at;
    let kind = unit.title();
    let text = at.text(kind, diagnostics)?;
    let message = match Quantity::parse(text) {
        Some(read) if read.value < 0.0 => {
            format!("{key} {text} is below zero; write it like {example}")
        }
        Some(read) if read.value > MOST => {
            format!("{key} {text} is more than any; write it like {example}")
        }
        Some(read) if read.value == 0.0 && zero && [unit, Unit::Number].contains(&read.unit) => {
            return Some(0.0);
        }
        Some(read) if read.unit == unit && read.value > 0.0 => return Some(read.value),
        // A unit would not fix it.
        Some(read) if read.value == 0.0 && [unit, Unit::Number].contains(&read.unit) => {
            format!("{key} is {text}, which is nothing; write it like {example}")
        }
        Some(read) if read.unit == Unit::Number => {
            let suffix = example.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            format!("{key} {text} has no unit; write {text}{suffix} if that is what is meant")
        }
        Some(read) => {
            format!(
                "{key} cannot be {text}, which is a {}; write it like {example}",
                read.unit.title()
            )
        }
        None if key == kind => {
            format!("{key} cannot be \"{text}\"; write it like {example}{}", units(unit))
        }
        None => {
            format!("{key} is a {kind}, not \"{text}\"; write it like {example}{}", units(unit))
        }
    };
    at.fault(message, diagnostics);
    None
}

/// The possible units, if there are several ways to write one.
fn units(unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerSecond => {
            " (1GbE, 100Mb and 1Gb count bits; MB/s and GB/s bytes; 1, 2, 4, 8, 16 and 32GFC are \
             Fibre Channel)"
        }
        Unit::Bytes => " (KiB, MiB, GiB and TiB count by 1024; KB, MB, GB and TB by 1000)",
        Unit::Nanoseconds => " (ns, us, ms or s)",
        Unit::Hertz => " (MHz or GHz)",
        _ => "",
    }
}

/// Nanoseconds, 0 or more.
pub(super) fn duration(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<f64> {
    measured(at, Unit::Nanoseconds, true, diagnostics)
}

/// Nanoseconds, more than 0.
pub(super) fn some_duration(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<f64> {
    measured(at, Unit::Nanoseconds, false, diagnostics)
}

/// Bytes per second.
pub(super) fn rate(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<f64> {
    measured(at, Unit::BytesPerSecond, false, diagnostics)
}

/// Hertz.
pub(super) fn clock(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<f64> {
    measured(at, Unit::Hertz, false, diagnostics)
}

/// Bytes, 0 or more; fractions of a byte, which only a fit can request, are rounded.
pub(super) fn size(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<u64> {
    measured(at, Unit::Bytes, true, diagnostics).map(|bytes| bytes.round() as u64)
}

/// Bytes, at least 1.
pub(super) fn some_size(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<u64> {
    measured(at, Unit::Bytes, false, diagnostics).map(|bytes| bytes.round().max(1.0) as u64)
}

/// Bytes of one request, packet or page: 512 bytes to 64 MiB.
pub(super) fn unit_size(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<u32> {
    let bytes = some_size(at, diagnostics)?;
    if let Some(bytes) = u32::try_from(bytes).ok().filter(|b| (512..=64 << 20).contains(b)) {
        return Some(bytes);
    }
    let text = at.node.text().unwrap_or_default();
    at.fault(format!("{} must be between 512B and 64MiB, not {text}", at.key), diagnostics);
    None
}

/// A share, 0 to 1.
pub(super) fn share(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<f64> {
    let At { key, example, .. } = at;
    let text = at.text(Unit::Share.title(), diagnostics)?;
    let message = match Quantity::parse(text) {
        Some(Quantity { value, unit: Unit::Share }) if (0.0..=1.0).contains(&value) => {
            return Some(value);
        }
        Some(Quantity { unit: Unit::Share, .. }) => {
            format!("{key} must be between 0% and 100%, not {text}")
        }
        Some(Quantity { value: 0.0, unit: Unit::Number }) => return Some(0.0),
        Some(Quantity { value, unit: Unit::Number }) if value < 1.0 => {
            let share = (value * 1e8).round() / 1e6;
            format!("{key} {text} may be {text}% or {share}%; write which, with the sign")
        }
        Some(Quantity { unit: Unit::Number, .. }) => {
            format!("{key} {text} has no sign; write {text}% if per cent are meant")
        }
        _ => format!("{key} is a percentage, not \"{text}\"; write it like {example}"),
    };
    at.fault(message, diagnostics);
    None
}

/// A whole number, at least 0.
pub(super) fn number(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<u32> {
    whole(at, 0, MOST_OF_ANYTHING, diagnostics)
}

/// A whole number, at least 1.
pub(super) fn count(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<u32> {
    whole(at, 1, MOST_OF_ANYTHING, diagnostics)
}

/// More hosts, cores, disks or ports than this are a typing error; the simulator would only run out
/// of memory.
const MOST_OF_ANYTHING: u32 = 1_000_000;

/// Ports of one adapter, or buffer credits (which Fibre Channel counts in 16 bits, FC-LS, common
/// service parameters), at least 1.
pub(super) fn short_count(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<u32> {
    whole(at, 1, u32::from(u16::MAX), diagnostics)
}

/// Labels on a packet: real stacks are lower, and each makes every packet longer.
pub(super) fn labels(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<u32> {
    whole(at, 0, 16, diagnostics)
}

/// One-way latency in nanoseconds, up to 4 s: to the moon and back takes 2.6 s, and the simulator
/// stores 32 bits.
pub(super) fn latency(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<f64> {
    let found = duration(at, diagnostics)?;
    if found <= 4e9 {
        return Some(found);
    }
    let text = at.node.text().unwrap_or_default();
    at.fault(
        format!("{} is at most 4s, not {text}; write it like {}", at.key, at.example),
        diagnostics,
    );
    None
}

/// An MTU: from what every host must accept (RFC 791, section 3.1) to the jumbo frames of switches.
pub(super) fn mtu(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<u32> {
    whole(at, 576, 9216, diagnostics)
}

fn whole(at: At<'_, '_>, least: u32, most: u32, diagnostics: &mut Diagnostics) -> Option<u32> {
    let At { key, example, .. } = at;
    let text = at.text("whole number", diagnostics)?;
    let message = match Quantity::parse(text) {
        // A fit changes values in fractional steps.
        Some(Quantity { value, unit: Unit::Number }) => {
            let rounded = value.round();
            if (f64::from(least)..=f64::from(most)).contains(&rounded) {
                return Some(rounded as u32);
            }
            if rounded > f64::from(most) {
                format!("{key} is at most {most}, not {text}")
            } else {
                format!("{key} is at least {least}, not {text}")
            }
        }
        _ => format!("{key} is a whole number, not \"{text}\"; write {key}: {example}"),
    };
    at.fault(message, diagnostics);
    None
}

/// Revolutions per minute.
pub(super) fn rpm(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<f64> {
    let text = at.text("number", diagnostics)?.trim_end_matches("rpm");
    match Quantity::parse(text) {
        Some(Quantity { value, unit: Unit::Number }) if (60.0..=100_000.0).contains(&value) => {
            Some(value)
        }
        _ => {
            let At { key, example, .. } = at;
            at.fault(
                format!("{key} are revolutions a minute, not {text}; write it like {example}"),
                diagnostics,
            );
            None
        }
    }
}

/// Yes or no.
pub(super) fn flag(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<bool> {
    match at.node.text().map(str::trim) {
        Some("yes" | "true") => Some(true),
        Some("no" | "false") => Some(false),
        _ => {
            let found = at.node.found();
            at.fault(format!("{} is yes or no, not {found}", at.key), diagnostics);
            None
        }
    }
}

/// A line of text.
pub(super) fn word(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<String> {
    at.text("name", diagnostics).map(str::to_owned)
}

/// A list of words, or one word.
pub(super) fn words(at: At<'_, '_>, diagnostics: &mut Diagnostics) -> Option<Vec<Node>> {
    match &at.node.value {
        Value::List(items) if items.iter().all(|item| item.text().is_some()) => Some(items.clone()),
        Value::Text(_) => Some(vec![at.node.clone()]),
        _ => {
            let At { key, example, .. } = at;
            at.fault(format!("{key} is a list of names; write {key}: {example}"), diagnostics);
            None
        }
    }
}

/// A cost: cycles, or nanoseconds of a core, whose clock must then be known.
pub(super) fn cost(
    at: At<'_, '_>,
    clock_hz: Option<f64>,
    diagnostics: &mut Diagnostics,
) -> Option<f64> {
    let At { key, example, .. } = at;
    let text = at.text("cost", diagnostics)?;
    let message = match Quantity::parse(text) {
        Some(Quantity { value, .. }) if value < 0.0 => {
            format!("{key} {text} is below zero; write it like {example}")
        }
        Some(Quantity { value, .. }) if value > MOST => {
            format!("{key} {text} is more than any; write it like {example}")
        }
        Some(Quantity { value, unit: Unit::Cycles }) => return Some(value),
        Some(Quantity { value: 0.0, unit: Unit::Number }) => return Some(0.0),
        Some(Quantity { value, unit: Unit::Nanoseconds }) => match clock_hz {
            Some(clock_hz) => return Some(value * (clock_hz / 1e9)),
            None => format!(
                "{key} is a time, and the number of cycles depends on the clock rate it was \
                 measured at; add clock: 2.5GHz next to it, or write {key}: {example}"
            ),
        },
        Some(Quantity { unit: Unit::Number, .. }) => {
            format!("{key} {text} has no unit; write {text} cycles, or a time such as 20us")
        }
        _ => {
            format!("{key} is CPU, in cycles or as a time, not \"{text}\"; write it like {example}")
        }
    };
    at.fault(message, diagnostics);
    None
}
