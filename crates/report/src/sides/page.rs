//! Sides as a page.

use super::model::{Sides, SidesLoad};
use super::words;
use crate::markup::Markup;
use crate::page::{document, findings, tables, typographic};

/// The page; `version` is that of the program.
pub fn html(sides: &Sides, version: &str) -> String {
    let names: Vec<&str> = sides.sides.iter().map(|side| side.name.as_str()).collect();
    let mut page = Markup::default();
    document::start(&mut page, &names.join(", "), &[], "");
    page.tag("main").open();
    page.tag("p").at("class", "kicker").text("Runs side by side");
    let headline = words::headline(sides);
    page.tag("h1").at("class", if headline.len() > 1 { "several" } else { "" }).open();
    for (verdict, sentence) in &headline {
        let class = verdict.map_or(String::new(), |verdict| format!(" {}", words::class(verdict)));
        page.tag("span").at("class", format!("verdict{class}")).text(&typographic(sentence));
    }
    page.close();
    let found = words::findings(sides);
    if !found.is_empty() {
        page.tag("div").at("class", "findings").open();
        for group in &findings::groups(&found) {
            findings::show(&mut page, group);
        }
        page.close();
    }
    for load in &sides.loads {
        page.tag("section").open();
        page.leaf("h2", &load.name);
        table(&mut page, sides, load);
        page.close();
    }
    page.tag("section").open();
    page.leaf("h2", "Runs");
    let rows = sides
        .sides
        .iter()
        .flat_map(|side| side.runs.iter().map(|run| vec![side.name.clone(), words::run(run)]));
    tables::plain(&mut page, &["side".into(), "run".into()], rows.collect());
    if sides.sides.len() > 1 {
        page.tag("p").at("class", "caption").text(&typographic(&words::caption(sides)));
    }
    page.close();
    document::end_with(page, &format!("Made by stormeter {version}."))
}

fn table(page: &mut Markup, sides: &Sides, load: &SidesLoad) {
    tables::table(page, "numbers");
    page.tag("thead").open();
    page.tag("tr").open();
    for name in ["metric", "side", "value", "change", ""] {
        page.tag("th").at("scope", "col").text(name);
    }
    page.close();
    page.close();
    page.tag("tbody").open();
    for metric in &load.metrics {
        let mut title = words::title(metric);
        for (place, value) in metric.values.iter().enumerate() {
            let Some(value) = value else { continue };
            let verdict = value.compared.as_ref().map(|it| sides.verdict(load, place, it));
            let change = value.compared.as_ref().map(words::change).unwrap_or_default();
            page.tag("tr").open();
            page.tag("th").at("scope", "row").text(std::mem::take(&mut title));
            page.tag("td").text(&sides.sides[place].name);
            page.tag("td").text(&words::value(metric.metric, value.value, value.between_runs));
            page.tag("td").text(&change);
            page.tag("td").open();
            if let Some(verdict) = verdict {
                let class = format!("word {}", words::class(verdict));
                page.tag("span").at("class", class).text(words::word(verdict));
            }
            page.close();
            page.close();
        }
    }
    tables::close_table(page);
}
