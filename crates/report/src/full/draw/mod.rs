//! The drawings of a study's page. Datastores keep their colour, line pattern and mark in all of them,
//! the baseline first and grey, so that no meaning hangs on a colour.

pub(crate) mod dots;
pub(crate) mod forest;
pub(crate) mod lines;
pub(crate) mod marks;
pub(crate) mod normal;
pub(crate) mod time;

use stormeter_study::Metric;

use crate::markup::Markup;
use crate::quantity::{percent, quantity};
use crate::svg::{color_class, duration_tick};

/// A metric's value at an axis.
pub(crate) fn metric_tick(metric: Metric, value: f64) -> String {
    match metric {
        Metric::HostCpu => format!("{}\u{202f}%", percent(value)),
        Metric::Iops | Metric::Throughput => {
            if value == 0.0 {
                "0".into()
            } else {
                quantity(metric, value).typeset()
            }
        }
        _ => duration_tick(value),
    }
}

/// The mark of a place in the legend, for the text of the page.
pub(crate) fn key(place: usize) -> Markup {
    let mut markup = Markup::default();
    markup
        .tag("svg")
        .at("class", "key")
        .at("viewBox", "0 0 12 12")
        .at("aria-hidden", "true")
        .open();
    mark(&mut markup, place, 6.0, 6.0);
    markup
}

/// A mark whose form says of which series it is, as its colour does.
pub(crate) fn mark(markup: &mut Markup, place: usize, x: f64, y: f64) {
    let corners: &[(f64, f64)] = match place % 6 {
        0 => &[],
        1 => &[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)],
        2 => &[(0.0, -5.0), (5.0, 4.0), (-5.0, 4.0)],
        3 => &[(0.0, -5.5), (5.5, 0.0), (0.0, 5.5), (-5.5, 0.0)],
        4 => &[(0.0, 5.0), (5.0, -4.0), (-5.0, -4.0)],
        _ => &[(-5.0, -1.5), (5.0, -1.5), (5.0, 1.5), (-5.0, 1.5)],
    };
    let class = format!("fill {}", color_class(place));
    if corners.is_empty() {
        markup.tag("circle").at("class", class).at("cx", x).at("cy", y).at("r", 4.2).empty();
    } else {
        let points: Vec<(f64, f64)> = corners.iter().map(|c| (x + c.0, y + c.1)).collect();
        let path = crate::svg::path(&points) + "Z";
        markup.tag("path").at("class", class).at("d", path).empty();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_their_metric_s_unit() {
        assert_eq!(metric_tick(Metric::Iops, 20_000.0), "20\u{202f}000");
        assert_eq!(metric_tick(Metric::LatencyMean, 1.5e6), "1.5 ms");
        assert_eq!(metric_tick(Metric::HostCpu, 0.5), "50\u{202f}%");
        assert_eq!(metric_tick(Metric::HostCpu, 0.0002), "0.02\u{202f}%");
    }
}
