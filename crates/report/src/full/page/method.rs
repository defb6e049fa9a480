//! How and on which machine a study was measured, and how to repeat it.

use stormeter_units::format_bytes;

use crate::acknowledged;
use crate::full::grid::Grid;
use crate::full::words;
use crate::markup::Markup;
use crate::page::{environment as method, tables, typographic};
use crate::phrases::datastore_note;
use crate::svg::color_class;
use crate::wording;

pub(super) fn method(grid: &Grid<'_>) -> Markup {
    let mut page = Markup::default();
    method::list(&mut page, &words::plan(grid.report));
    page.tag("details").at("class", "stored").open();
    page.leaf("summary", "The plan as it was stored");
    let plan = serde_json::to_string_pretty(grid.report.plan()).unwrap_or_default();
    page.tag("pre").open();
    page.tag("code").text(&plan);
    page.close();
    page.close();
    page
}

pub(super) fn datastores(grid: &Grid<'_>) -> Markup {
    let mut page = Markup::default();
    let plan = grid.report.plan();
    page.tag("dl").open();
    for (place, datastore) in grid.columns().into_iter().enumerate() {
        let Some(named) = plan.datastores.get(datastore) else { continue };
        page.tag("dt").open();
        page.tag("span").at("class", format!("swatch {}", color_class(place))).text("");
        page.text(&grid.datastore(datastore));
        page.close();
        page.tag("dd").open();
        page.tag("code").text(&named.url);
        if let Some(description) = grid.report.header.datastores.get(datastore) {
            page.text(" · ");
            page.text(&wording::datastore(description));
            if let Some(bytes) = description.logical_block_bytes {
                page.text(&format!(" · logical block {}", format_bytes(u64::from(bytes))));
            }
            if let Some(options) = &description.mount_options {
                page.tag("p").at("class", "fine").text(&format!("Mounted with {options}"));
            }
            if let Some(promise) = &description.promise {
                page.tag("p").at("class", "fine").text(&acknowledged::sentence(promise));
            }
            for note in &description.notes {
                page.tag("p").at("class", "fine").text(&datastore_note(note));
            }
        }
        page.close();
    }
    page.close();
    protocols(&mut page, grid);
    page
}

/// The parameters negotiated with servers: a row for each, a column for each datastore that has any.
fn protocols(page: &mut Markup, grid: &Grid<'_>) {
    let descriptions = &grid.report.header.datastores;
    let columns: Vec<usize> = grid
        .columns()
        .into_iter()
        .filter(|&d| {
            descriptions.get(d).is_some_and(|description| !description.protocol.is_empty())
        })
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for &column in &columns {
        for (name, _) in &descriptions[column].protocol {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        return;
    }
    page.leaf("h3", "Negotiated parameters");
    let mut head = vec!["parameter".to_string()];
    head.extend(columns.iter().map(|&column| grid.datastore(column)));
    let rows = names.into_iter().map(|name| {
        let values = columns.iter().map(|&column| {
            let mut protocol = descriptions[column].protocol.iter();
            protocol.find(|(key, _)| key == name).map_or("–".into(), |(_, value)| value.clone())
        });
        std::iter::once(name.to_string()).chain(values).collect()
    });
    // Names of targets are long and have to wrap, or the last column would be out of sight.
    page.tag("div").at("class", "wrapped").open();
    tables::plain(page, &head, rows.collect());
    page.close();
}

pub(super) fn environment(grid: &Grid<'_>) -> Markup {
    let mut page = Markup::default();
    let header = &grid.report.header;
    let rows = method::environment(&header.environment, &header.stormeter_version);
    method::list(&mut page, &rows);
    hosts(&mut page, grid);
    page
}

/// The hosts that ran the trials, with their clocks, load and CPU time.
fn hosts(page: &mut Markup, grid: &Grid<'_>) {
    if grid.report.hosts.is_empty() {
        return;
    }
    page.leaf("h3", "Hosts");
    let mut rows = super::super::hosts::rows(grid);
    let head = rows.remove(0);
    tables::plain(page, &head, rows);
    for note in super::super::hosts::notes(&grid.report.header.environment.hosts) {
        page.leaf("p", &note);
    }
    page.tag("p").at("class", "caption").text(super::super::hosts::CAPTION);
}

pub(super) fn repeat(grid: &Grid<'_>) -> Markup {
    let report = grid.report;
    let mut page = Markup::default();
    page.tag("pre").open();
    page.tag("code").text(&report.repeat_command);
    page.close();
    let command = wording::shell_command(&report.header.command_line);
    if command != report.repeat_command && !command.is_empty() {
        page.tag("p").at("class", "caption").open();
        page.text("It was started as ");
        page.tag("code").text(&command);
        page.text(". ");
        page.text(&typographic(&format!("The seed is {}.", report.plan().seed)));
        page.close();
    }
    page
}
