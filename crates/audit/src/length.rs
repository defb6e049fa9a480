//! How long a run has to be before its figures are those of a steady state.

use crate::finding::{Amount, Detail, Finding, Level};
use crate::law::Law;
use crate::span::Span;

/// Caches fill and queues settle in seconds at best; below the first a run shows the start alone.
const MUCH_TOO_SHORT_S: f64 = 5.0;
const SHORT_S: f64 = 30.0;

/// What a run of this length is worth.
pub(crate) fn short(place: &str, seconds: f64) -> Option<Finding> {
    let level = match seconds {
        seconds if seconds < MUCH_TOO_SHORT_S => Level::Doubtful,
        seconds if seconds < SHORT_S => Level::Note,
        _ => return None,
    };
    let detail = Detail::Limit {
        stated: Amount::new("length of a run", Span::exact(seconds), "s"),
        limit: Amount::new("what steady state takes at least", Span::exact(SHORT_S), "s"),
        is_least: true,
        beyond: (1, 1),
    };
    Some(Finding::new(Law::Length, level, place, detail))
}
