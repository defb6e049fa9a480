//! What limits each cell of a predicted study: where its response time goes, as stacked bars, and the components
//! in full.

use stormeter_trial::ComponentKind;
use stormeter_units::format_duration_ns;

use super::figure::figure;
use crate::full::assumed;
use crate::full::grid::Grid;
use crate::full::why::{Each, gains, heads, rows, sentence};
use crate::markup::Markup;
use crate::model::CellReasons;
use crate::page::{swatches, tables, typographic};
use crate::svg::stacked::{Part, Row, Stacked, stacked};
use crate::title::Titles;

/// More bars than this are not looked at in one chart.
const MOST_BARS: usize = 40;

pub(super) fn why(grid: &Grid<'_>) -> Option<Markup> {
    let reasons = &grid.report.reasons;
    if reasons.is_empty() {
        return None;
    }
    let mut page = Markup::default();
    swatches(&mut page, kinds(reasons).into_iter().map(|kind| (class(kind), words(kind))));
    for (number, some) in reasons.chunks(MOST_BARS).enumerate() {
        if let Some(chart) = bars(grid, some, &format!("why-{number}")) {
            figure(&mut page, chart, "");
        }
    }
    let time = match grid.titles() {
        Titles::Usual => {
            "the response time of an operation goes, on average; at the right its length"
        }
        Titles::Users => {
            "the time of the desktops' I/O goes, on average; at the right the mean wait of a user"
        }
    };
    page.tag("p").at("class", "caption").text(&format!(
        "Where {time}. A component marked with a frame is full: its busiest unit works at least 90 % of the \
         time, or it is a cache that writes wait for room in."
    ));
    for CellReasons { cell, why, elasticities, assumed: effects } in reasons {
        page.tag("details").at("class", "cell").open();
        page.tag("summary").open();
        page.text(&grid.name(*cell));
        let gist = match (why.is_saturated, why.room_in) {
            (true, Some(cache)) => format!("no room in {}", why.components[cache].name),
            (true, None) => format!("{} is full", why.components[why.bottleneck].name),
            (false, _) => format!("most at {}", why.components[why.bottleneck].name),
        };
        page.tag("span").at("class", "gist").text(&gist);
        page.close();
        let each = Each::of(grid, *cell);
        page.leaf("p", &typographic(&sentence(why, each)));
        for words in gains(elasticities).into_iter().chain(assumed::of_cell(effects, grid.titles()))
        {
            page.leaf("p", &typographic(&words));
        }
        tables::plain(&mut page, &heads(each), rows(why, each));
        page.close();
    }
    Some(page)
}

/// The kinds of components that take time in at least one cell, in the order of a request's path.
fn kinds(reasons: &[CellReasons]) -> Vec<ComponentKind> {
    let takes = |kind: &ComponentKind| {
        let uses = reasons.iter().flat_map(|one| &one.why.components);
        uses.into_iter().any(|one| one.kind == *kind && one.response_share > 0.001)
    };
    ComponentKind::ALL.into_iter().filter(takes).collect()
}

fn words(kind: ComponentKind) -> &'static str {
    match kind {
        ComponentKind::VmPath => "VM path",
        ComponentKind::HostCpu => "host CPU",
        ComponentKind::HostPort => "host ports",
        ComponentKind::Network => "network",
        ComponentKind::ControllerPort => "controller ports",
        ComponentKind::ControllerCpu => "controller CPU",
        ComponentKind::Cache => "cache",
        ComponentKind::Disks => "disks",
        ComponentKind::Parts => "slowest part",
    }
}

/// The colour of a kind, never a datastore's: the same blue must not mean a protocol above and a port here.
fn class(kind: ComponentKind) -> String {
    let place = ComponentKind::ALL.into_iter().position(|other| other == kind).unwrap_or(0);
    format!("k{place}")
}

fn bars(grid: &Grid<'_>, reasons: &[CellReasons], id: &str) -> Option<Markup> {
    let described: Vec<String> = reasons
        .iter()
        .map(|one| {
            let held = &one.why.components[held(one)];
            let (name, share) = (&held.name, held.response_share * 100.0);
            format!("{}: {share:.0} % at {name}", grid.name(one.cell))
        })
        .collect();
    stacked(&Stacked {
        id: id.into(),
        title: match grid.titles() {
            Titles::Usual => "Where the response time goes".into(),
            Titles::Users => "Where the time of the desktops' I/O goes".into(),
        },
        description: described.join("; "),
        rows: reasons.iter().map(|one| bar(grid, one)).collect(),
        high: 1.0,
        tick: |share| format!("{:.0} %", share * 100.0),
        row: 22.0,
    })
}

fn bar(grid: &Grid<'_>, one: &CellReasons) -> Row {
    let held = held(one);
    let parts = one.why.components.iter().enumerate().map(|(index, component)| {
        let is_full = one.why.is_saturated && index == held;
        let frame = if is_full { " full" } else { "" };
        let share = component.response_share;
        Part {
            class: format!("{}{frame}", class(component.kind)),
            on: "on-part".into(),
            length: share.clamp(0.0, 1.0),
            tooltip: format!("{}: {:.1} %", component.name, share * 100.0),
            words: words(component.kind).into(),
        }
    });
    Row {
        label: grid.name(one.cell),
        parts: parts.collect(),
        whole: format_duration_ns(one.why.response_ns),
    }
}

/// The component that limits the cell. Waiting for room is time at the cache, whatever the disks behind it do.
fn held(one: &CellReasons) -> usize {
    one.why.room_in.unwrap_or(one.why.bottleneck)
}
