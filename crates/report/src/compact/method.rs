//! How and on which machine a comparison was measured, and how to repeat it.

use stormeter_study::Blocks;
use stormeter_units::{format_bytes, format_duration_ns};

use super::model::Compact;
use crate::acknowledged;
use crate::markup::Markup;
use crate::page::environment::{environment, list};
use crate::phrases::datastore_note;
use crate::quantity::{level_percent, percent};
use crate::wording::{self, plural};

pub(super) fn method(page: &mut Markup, report: &Compact) {
    page.tag("section").open();
    page.leaf("h2", "Datastores");
    datastores(page, report);
    page.close();

    page.tag("section").open();
    page.leaf("h2", "How it was measured");
    list(page, &plan(report));
    page.close();

    page.tag("section").open();
    page.leaf("h2", "Environment");
    let header = &report.header;
    list(page, &environment(&header.environment, &header.stormeter_version));
    page.close();

    page.tag("section").at("class", "repeat").open();
    page.leaf("h2", "Repeat it");
    page.tag("pre").open();
    page.tag("code").text(&report.repeat_command);
    page.close();
    let command = wording::shell_command(&report.header.command_line);
    if command != report.repeat_command && !command.is_empty() {
        page.tag("p").at("class", "caption").open();
        page.text("It was started as ");
        page.tag("code").text(&command);
        page.text(".");
        page.close();
    }
    page.close();
}

fn datastores(page: &mut Markup, report: &Compact) {
    page.tag("dl").open();
    for (index, datastore) in report.datastores.iter().enumerate() {
        let description = &datastore.description;
        page.tag("dt").open();
        let class = crate::svg::color_class(index);
        page.tag("span").at("class", format!("swatch {class}")).text("");
        page.text(&datastore.label);
        page.close();
        page.tag("dd").open();
        if description.url != datastore.label {
            page.tag("code").text(&description.url);
            page.text(" · ");
        }
        page.text(&wording::datastore(description));
        if let Some(bytes) = description.logical_block_bytes {
            page.text(&format!(" · logical block {}", format_bytes(u64::from(bytes))));
        }
        if let Some(options) = &description.mount_options {
            page.tag("p").at("class", "fine").text(&format!("Mounted with {options}"));
        }
        if !description.protocol.is_empty() {
            let agreed: Vec<String> = description
                .protocol
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            page.tag("p").at("class", "fine").text(&format!("Negotiated: {}", agreed.join(" · ")));
        }
        if let Some(promise) = &description.promise {
            page.tag("p").at("class", "fine").text(&acknowledged::sentence(promise));
        }
        for note in &description.notes {
            page.tag("p").at("class", "fine").text(&datastore_note(note));
        }
        page.close();
    }
    page.close();
}

fn plan(report: &Compact) -> Vec<(&'static str, String)> {
    let plan = &report.header.plan;
    let ns = |ns: u64| format_duration_ns(ns as f64);
    let threads = match plan.threads {
        0 => "one driving thread a CPU, but no more than VMs".to_string(),
        threads => plural(u64::from(threads), "driving thread"),
    };
    let blocks = match plan.design.blocks {
        Blocks::Auto { min, max } => format!("{min} to {max} blocks"),
        Blocks::Fixed(blocks) => format!("{blocks} blocks"),
    };
    let limit = plan.design.time_limit_ns.map(|limit_ns| format!(", at most {}", ns(limit_ns)));
    let most = limit.unwrap_or_default();
    let mut rows = vec![
        ("Workload", wording::named_workload(report)),
        ("Load", format!("{}; {threads}", wording::load(report))),
        (
            "Trial",
            format!(
                "{} measured after a ramp of {}, a row every {}",
                ns(plan.timing.duration_ns),
                ns(plan.timing.ramp_ns),
                ns(plan.timing.interval_ns)
            ),
        ),
        (
            "Blocks",
            format!(
                "every datastore once a block, in random order; ratios are taken within blocks. \
                 {blocks}, until the {} % interval of the ratio is ±{} %{most}",
                level_percent(plan.level_of_ratios()),
                percent(plan.design.precision),
            ),
        ),
        (
            "Verdict",
            format!(
                "carried by {}; differences within {} % are called equivalent",
                plan.design.metric.title(),
                percent(plan.design.margin)
            ),
        ),
        ("Seed", format!("{}: orders, offsets and contents follow from it", plan.seed)),
    ];
    if let Some(touched) = crate::touched::line(report) {
        let text = touched.trim_start_matches("Touched: ").trim_end_matches('.');
        rows.push(("Touched of the disks", text.to_string()));
    }
    if let Some(verified) = wording::verified(report) {
        let text = verified.trim_start_matches("Verified: ").trim_end_matches('.');
        rows.push(("Verified", text.to_string()));
    }
    if plan.is_a_a_test() {
        rows.push(("A/A test", "a datastore is compared with itself".into()));
    }
    if report.is_open_loop() {
        rows.push(("Times", wording::OPEN_LOOP_TIMES.into()));
    }
    rows.extend(report.durability().map(|sentences| ("Flushes", sentences)));
    rows.extend(wording::ceilings(report).into_iter().map(|sentence| ("Ceiling", sentence)));
    rows
}
