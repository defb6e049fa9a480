//! The page as a whole, and its parts.

use super::model::Moment;
use super::{events, found, hosts, load, now, verdict};
use crate::markup::Markup;
use crate::page::document;

/// Replaces the parts that have changed, and draws the heat map.
const SCRIPT: &str = include_str!("live.js");
const STYLE: &str = include_str!("live.css");
/// The style of the report of a study, for what both have.
const STUDY: &str = include_str!("../full/page/study.css");
/// The ids of the parts, none of which is that of a section of the report, whose style it would get.
const IDS: [&str; 7] = ["now", "verdict", "values", "over-time", "hosts", "events", "found"];

/// The parts of the page: the id of each and its markup.
pub fn parts(moment: &Moment) -> Vec<(&'static str, String)> {
    let parts = [
        now::now(moment),
        verdict::verdict(moment),
        load::cells(moment),
        load::over_time(moment),
        hosts::hosts(moment),
        events::events(moment),
        found::found(moment),
    ];
    IDS.into_iter().zip(parts).collect()
}

/// The page with these parts.
pub fn page(moment: &Moment) -> String {
    let mut page = start(&moment.title);
    // Who has no script reads it again.
    page.tag("noscript").open();
    page.tag("meta").at("http-equiv", "refresh").at("content", "5").empty();
    page.close();
    page.tag("main").open();
    page.tag("p").at("id", "lost").at("role", "status").at("hidden", "").text("");
    for (id, part) in parts(moment) {
        if id == "over-time" {
            heat(&mut page);
        }
        let tag = page.tag(if id == "now" { "header" } else { "section" }).at("id", id);
        let tag = if id == "verdict" { tag.at("aria-live", "polite") } else { tag };
        tag.open();
        page.append(Markup::of(part));
        page.close();
    }
    document::end_live(
        page,
        &format!("Stormeter {} shows a run in progress.", moment.version),
        SCRIPT,
    )
}

/// The place of the heat maps, which the script fills.
fn heat(page: &mut Markup) {
    page.tag("section").at("id", "heat").at("hidden", "").open();
    page.leaf("h2", "Latencies over time");
    page.tag("div").at("id", "maps").text("");
    let caption = "Each column is a moment of a trial, each shade how many of its I/Os took that long; the axis is \
                   logarithmic.";
    page.tag("p").at("class", "caption").text(caption);
    page.close();
}

/// A page that says why there is no report.
pub fn without_report(why: &str) -> String {
    let mut page = start("No report yet");
    page.tag("main").open();
    page.leaf("h1", "No report yet");
    page.tag("p").at("class", "status").text(why);
    document::end_live(page, "Stormeter shows a run in progress.", "")
}

fn start(title: &str) -> Markup {
    let mut page = Markup::default();
    document::start_live(&mut page, title, &[STUDY, STYLE], SCRIPT);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_has_the_style_of_a_section_of_the_report() {
        assert!(STUDY.contains("#why "), "sections have styles of their own there");
        for id in IDS {
            let is_styled = [" ", ","].iter().any(|end| STUDY.contains(&format!("#{id}{end}")));
            assert!(!is_styled, "{id}");
        }
    }
}
