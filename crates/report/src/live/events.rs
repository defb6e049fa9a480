//! What happened, the latest first.

use super::model::Moment;
use crate::markup::Markup;
use crate::wording::plural;

pub(super) fn events(moment: &Moment) -> String {
    let mut part = Markup::default();
    part.leaf("h2", "Events");
    if moment.events.is_empty() {
        part.tag("p").at("class", "caption").text("None.");
        return part.finish();
    }
    part.tag("ol").at("class", "events").open();
    for event in &moment.events {
        part.tag("li").open();
        part.leaf("time", &clock(event.at_ns));
        part.text(&event.what);
        part.close();
    }
    part.close();
    if moment.earlier_events > 0 {
        let more = format!("{} before these.", plural(moment.earlier_events, "event"));
        part.tag("p").at("class", "caption").text(&more);
    }
    part.finish()
}

/// A time since the start as a stop-watch shows it: minutes and seconds, and hours before them.
fn clock(at_ns: u64) -> String {
    let seconds = at_ns / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_a_stop_watch() {
        for (seconds, expected) in [(0, "0:00"), (65, "1:05"), (3599, "59:59"), (7265, "2:01:05")] {
            assert_eq!(clock(seconds * 1_000_000_000 + 999), expected);
        }
    }
}
