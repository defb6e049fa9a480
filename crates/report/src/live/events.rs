//! What happened, the latest first.

use stormeter_units::format_duration_ns;

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
        let whole_s = event.at_ns / 1_000_000_000 * 1_000_000_000;
        part.leaf("time", &format_duration_ns(whole_s as f64));
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
