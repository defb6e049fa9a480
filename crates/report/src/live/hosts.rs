//! The hosts that drive load: CPU and networks, now and over time.

use stormeter_units::{format_bytes, format_count};

use super::load::frame;
use super::model::{HostNow, HostPoint, Moment};
use crate::markup::Markup;
use crate::page::{swatches, tables};
use crate::svg::over_time::{Form, Line, Panel, Unit, panel, time_axis};
use crate::svg::{chart, dashes};

/// Hosts with a line of their own; the table has all.
const MOST_LINES: usize = 9;
const TOP: f64 = 22.0;
const PLOT: f64 = 84.0;
const GAP: f64 = 32.0;

pub(super) fn hosts(moment: &Moment) -> String {
    let mut part = Markup::default();
    if moment.hosts.is_empty() {
        return String::new();
    }
    part.leaf("h2", if moment.hosts.len() == 1 { "The host" } else { "The hosts" });
    let head = ["host", "IOPS", "CPU", "network in", "network out", "loopback", "memory in use"];
    tables::plain(&mut part, &head.map(String::from), moment.hosts.iter().map(row).collect());
    let drawn = &moment.hosts[..moment.hosts.len().min(MOST_LINES)];
    if drawn.len() > 1 {
        swatches(&mut part, drawn.iter().enumerate().map(|(place, host)| (hue(place), name(host))));
    }
    let panels = [
        of(drawn, "CPU, all together", Unit::Share, |point| point.cpu, 0),
        of(drawn, "network, in and out", Unit::Rate, |point| point.network, 0),
        of(drawn, "loopback", Unit::Rate, |point| point.loopback, 2),
    ];
    let panels: Vec<&Panel> = panels.iter().filter(|one| !one.is_empty()).collect();
    if !panels.is_empty() {
        let height = TOP + panels.len() as f64 * (PLOT + GAP);
        let names: Vec<&str> = drawn.iter().map(name).collect();
        let mut markup = chart("host-load", height, "The hosts over time", &names.join(", "));
        for (place, one) in panels.iter().enumerate() {
            let frame = frame(moment, TOP + place as f64 * (PLOT + GAP), PLOT);
            panel(&mut markup, one, frame);
            if place + 1 == panels.len() {
                time_axis(&mut markup, frame, 8);
            }
        }
        part.tag("figure").open();
        part.append(markup);
        part.close();
    }
    part.finish()
}

fn name(host: &HostNow) -> &str {
    host.name.as_deref().unwrap_or("this machine")
}

/// Hosts are no datastores: they have other hues.
fn hue(place: usize) -> String {
    format!("k{place}")
}

fn row(host: &HostNow) -> Vec<String> {
    let unknown = || "–".to_owned();
    let rate = |bytes_per_s: f64| format!("{}/s", format_bytes(bytes_per_s as u64));
    let mut row = vec![name(host).to_owned(), host.iops.map_or_else(unknown, format_count)];
    match &host.latest {
        None => row.extend(std::iter::repeat_with(unknown).take(5)),
        Some(latest) => row.extend([
            format!("{:.0}\u{202f}%", latest.cpu_busy * 100.0),
            rate(latest.network_receive_bytes_per_s),
            rate(latest.network_transmit_bytes_per_s),
            rate(latest.loopback_bytes_per_s),
            format_bytes(latest.memory_used_bytes),
        ]),
    }
    row
}

/// A line for each host; none where all of it is nothing.
fn of(
    hosts: &[HostNow],
    title: &str,
    unit: Unit,
    value: fn(&HostPoint) -> f64,
    pattern: usize,
) -> Panel {
    let lines = hosts
        .iter()
        .enumerate()
        .filter(|(_, host)| host.points.iter().any(|point| value(point) > 0.0));
    let lines = lines.map(|(place, host)| Line {
        class: format!("line {}", hue(place)),
        dashes: dashes(pattern),
        tooltip: Some(format!("{}: {title}", name(host))),
        form: Form::Points(
            host.points.iter().map(|point| (point.at_ns as f64, value(point))).collect(),
        ),
    });
    Panel { title: title.into(), unit, lines: lines.collect() }
}
