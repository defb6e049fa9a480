//! What holds each cell of a predicted study back: where its response time goes, as bars one under the
//! other, and the components in full.

use stormeter_trial::ComponentKind;
use stormeter_units::format_duration_ns;

use crate::full::grid::Grid;
use crate::full::why::{HEADS, gains, is_timed, rows, sentence};
use crate::label::elide;
use crate::markup::Markup;
use crate::model::CellReasons;
use crate::page::{tables, typographic};
use crate::svg::{CHARACTER, WIDTH, chart, line, text};

const LEFT: f64 = 236.0;
const RIGHT: f64 = 84.0;
const TOP: f64 = 6.0;
const ROW: f64 = 22.0;
const LONGEST_LABEL: usize = 32;
/// More bars than this are not looked at in one chart.
const MOST_BARS: usize = 40;

pub(super) fn why(grid: &Grid<'_>) -> Option<Markup> {
    let reasons = &grid.report.reasons;
    if reasons.is_empty() {
        return None;
    }
    let mut page = Markup::default();
    legend(&mut page, reasons);
    for (number, some) in reasons.chunks(MOST_BARS).enumerate() {
        super::figure(&mut page, bars(grid, some, &format!("why-{number}")), "");
    }
    page.tag("p").at("class", "caption").text(
        "Where the response time of an operation goes, on average; at the right its length. A component \
         marked with a frame is full: its busiest unit works at least 90 % of the time, or it is a cache \
         that writes wait for room in.",
    );
    for CellReasons { cell, why, elasticities } in reasons {
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
        page.leaf("p", &typographic(&sentence(why, is_timed(grid, *cell))));
        if let Some(gains) = gains(elasticities) {
            page.leaf("p", &typographic(&gains));
        }
        let rows = rows(why).into_iter().map(Vec::from).collect();
        tables::plain(&mut page, &HEADS.map(String::from), rows);
        page.close();
    }
    Some(page)
}

/// The kinds that take time anywhere, in the order in which a request meets them.
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

/// A colour a kind, none of them a datastore's: the same blue must not mean a protocol above and a port
/// here.
fn class(kind: ComponentKind) -> String {
    let place = ComponentKind::ALL.into_iter().position(|other| other == kind).unwrap_or(0);
    format!("k{place}")
}

fn legend(page: &mut Markup, reasons: &[CellReasons]) {
    page.tag("ul").at("class", "legend").open();
    for kind in kinds(reasons) {
        page.tag("li").open();
        page.tag("span").at("class", format!("swatch {}", class(kind))).text("");
        page.text(words(kind));
        page.close();
    }
    page.close();
}

fn bars(grid: &Grid<'_>, reasons: &[CellReasons], id: &str) -> Markup {
    let bottom = TOP + reasons.len() as f64 * ROW;
    let width = WIDTH - LEFT - RIGHT;
    let described: Vec<String> = reasons
        .iter()
        .map(|one| {
            let held = &one.why.components[one.why.room_in.unwrap_or(one.why.bottleneck)];
            let (name, share) = (&held.name, held.response_share * 100.0);
            format!("{}: {share:.0} % at {name}", grid.name(one.cell))
        })
        .collect();
    let title = "Where the response time goes";
    let mut markup = chart(id, bottom + 24.0, title, &described.join("; "));
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let at = LEFT + share * width;
        line(&mut markup, "grid", (at, TOP), (at, bottom)).empty();
        text(&mut markup, "tick middle", (at, bottom + 16.0), &format!("{:.0} %", share * 100.0));
    }
    for (number, one) in reasons.iter().enumerate() {
        let y = TOP + number as f64 * ROW;
        let label = elide(&grid.name(one.cell), LONGEST_LABEL);
        text(&mut markup, "tick end", (LEFT - 8.0, y + 15.0), &label);
        let mut left = LEFT;
        for (index, component) in one.why.components.iter().enumerate() {
            let long = component.response_share.clamp(0.0, 1.0) * width;
            // Waiting for room is time at the cache, whatever the disks behind it do.
            let held = one.why.room_in.unwrap_or(one.why.bottleneck);
            let is_full = one.why.is_saturated && index == held;
            let frame = if is_full { " full" } else { "" };
            if long > 0.05 {
                markup
                    .tag("rect")
                    .at("class", format!("fill {}{frame}", class(component.kind)))
                    .at("x", left)
                    .at("y", y + 3.0)
                    .at("width", long)
                    .at("height", ROW - 6.0)
                    .open();
                let share = component.response_share * 100.0;
                markup.leaf("title", &format!("{}: {share:.1} %", component.name));
                markup.close();
                let name = words(component.kind);
                if long > name.chars().count() as f64 * CHARACTER + 8.0 {
                    let at = (left + long / 2.0, y + 15.0);
                    text(&mut markup, "tick middle on-part", at, name);
                }
            }
            left += long;
        }
        let response = format_duration_ns(one.why.response_ns);
        text(&mut markup, "tick start", (LEFT + width + 8.0, y + 15.0), &response);
    }
    markup
}
