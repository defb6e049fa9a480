//! An index as a page. Every row has the text by which it is sorted and filtered; without the script all of them are
//! there in order.

use super::model::{Index, IndexRow, IndexState};
use crate::date::utc;
use crate::markup::Markup;
use crate::page::{breakable, document, tables, typographic};
use crate::wording::plural;

const STYLE: &str = include_str!("index.css");
const HEAD: [&str; 6] = ["began", "what", "state", "says", "made by", "file"];

/// The page; `version` is that of the program.
pub fn html(index: &Index, version: &str) -> String {
    let mut page = Markup::default();
    let files = plural(index.rows.len() as u64, "result");
    document::start(&mut page, &format!("{files}: index"), &[STYLE], "index");
    page.tag("main").open();
    page.tag("p").at("class", "kicker").text("Results");
    page.leaf("h1", &files);
    page.tag("p").at("class", "status").open();
    for (place, directory) in index.directories.iter().enumerate() {
        if place > 0 {
            page.text(", ");
        }
        breakable(&mut page, directory);
    }
    page.close();
    if index.rows.is_empty() {
        page.leaf("p", "There are none yet.");
    } else {
        page.tag("section").open();
        table(&mut page, index);
        page.close();
    }
    document::end_with(page, &format!("Made by stormeter {version}."))
}

fn table(page: &mut Markup, index: &Index) {
    tables::table(page, "numbers stacked filtered");
    page.tag("thead").open();
    page.tag("tr").open();
    for name in HEAD {
        page.tag("th").at("scope", "col").text(name);
    }
    page.close();
    page.close();
    page.tag("tbody").open();
    index.rows.iter().for_each(|row| self::row(page, row));
    tables::close_table(page);
}

fn row(page: &mut Markup, row: &IndexRow) {
    let (class, state) = (class(&row.state), row.state.words());
    page.tag("tr").open();
    page.tag("th").at("scope", "row").text(utc(row.at_unix_ms).trim_end_matches(" UTC"));
    page.tag("td").at("data-label", "what").open();
    match (&row.href, row.subject.as_str()) {
        (Some(href), "") => page.tag("a").at("href", href.as_str()).text("report"),
        (Some(href), subject) => page.tag("a").at("href", href.as_str()).text(subject),
        (None, subject) => page.text(subject),
    }
    page.close();
    page.tag("td").at("data-label", "state").open();
    page.tag("span").at("class", format!("word {class}")).text(state);
    if !row.extent.is_empty() {
        page.text(" ");
        page.tag("small").text(&row.extent);
    }
    page.close();
    page.tag("td").at("data-label", "says").text(&typographic(&row.says));
    page.tag("td").at("data-label", "made by").text(&row.made_by);
    page.tag("td").at("data-label", "file").open();
    breakable(page, &row.path);
    page.text(" ");
    page.tag("small").text(&row.size);
    page.close();
    page.close();
}

fn class(state: &IndexState) -> &'static str {
    match state {
        IndexState::Complete(_) => "equivalent",
        IndexState::Neutral(_) => "inconclusive",
        IndexState::Incomplete(_) => "invalid",
    }
}
