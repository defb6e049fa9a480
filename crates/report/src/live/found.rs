//! The findings of laws and checks so far.

use super::model::Moment;
use crate::markup::Markup;
use crate::page::findings;
use crate::wording::plural;

/// Groups of findings on the page; the report has all.
const MOST: usize = 8;

pub(super) fn found(moment: &Moment) -> String {
    let mut part = Markup::default();
    part.leaf("h2", "Findings");
    let found = moment.judgement.as_ref().map_or(&[][..], |judgement| &judgement.findings);
    let groups = findings::groups(found);
    if groups.is_empty() {
        part.tag("p").at("class", "caption").text("None so far.");
        return part.finish();
    }
    part.tag("div").at("class", "findings").open();
    groups.iter().take(MOST).for_each(|group| findings::show(&mut part, group));
    part.close();
    let further = groups.len().saturating_sub(MOST);
    if further > 0 {
        let more = format!("{} more in the report.", plural(further as u64, "finding"));
        part.tag("p").at("class", "caption").text(&more);
    }
    part.finish()
}
