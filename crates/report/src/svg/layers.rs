//! Layers over time, one on top of the other: the parts of a whole in each interval.

use super::over_time::Frame;
use super::{Scale, path, text, y_axis};
use crate::markup::Markup;

/// A part of the whole.
pub(crate) struct Layer<'a> {
    /// The class of its colour.
    pub(crate) class: &'a str,
    /// What it is.
    pub(crate) words: &'a str,
    /// Its value in each interval.
    pub(crate) values: Vec<f64>,
}

/// Draws layers from the bottom up; `edges` are the start and the end of each interval, on the frame's axis of time.
pub(crate) fn layers(
    markup: &mut Markup,
    title: &str,
    layers: &[Layer<'_>],
    edges: &[(f64, f64)],
    frame: Frame,
) {
    let Frame { left, right, top, bottom, .. } = frame;
    let value = |layer: &Layer<'_>, at: usize| {
        layer.values.get(at).copied().filter(|value| value.is_finite()).unwrap_or(0.0).max(0.0)
    };
    let whole = |at: usize| layers.iter().map(|layer| value(layer, at)).sum::<f64>();
    let most = (0..edges.len()).map(whole).fold(1.0, f64::max);
    let (x, y) = (frame.x(), Scale::linear(0.0, most * 1.05, bottom, top));
    text(markup, "note start", (left, top - 6.0), title);
    let ticks = y.ticks(((bottom - top) / 20.0) as usize).into_iter();
    let ticks: Vec<(f64, String)> =
        ticks.map(|tick| (tick, format!("{}", (tick * 100.0).round() / 100.0))).collect();
    y_axis(markup, &y, (left, right), &ticks);
    let mut below = vec![0.0; edges.len()];
    for layer in layers {
        let above: Vec<f64> =
            below.iter().enumerate().map(|(at, floor)| floor + value(layer, at)).collect();
        let outline = |levels: &[f64]| -> Vec<(f64, f64)> {
            let each = edges.iter().zip(levels);
            each.flat_map(|(edge, level)| [edge.0, edge.1].map(|t| (x.at(t), y.at(*level))))
                .collect()
        };
        let highest = (0..edges.len()).map(|at| value(layer, at)).fold(0.0, f64::max);
        if highest > 0.0 {
            let mut corners = outline(&above);
            corners.extend(outline(&below).into_iter().rev());
            let drawn = path(&corners) + "Z";
            markup.tag("path").at("class", format!("layer {}", layer.class)).at("d", drawn).open();
            markup.leaf("title", &format!("{}: at most {highest:.1}", layer.words));
            markup.close();
        }
        below = above;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_lie_on_one_another_and_what_is_nothing_is_not_drawn() {
        let layer = |class, values: &[f64]| Layer { class, words: "x", values: values.to_vec() };
        let frame = Frame { left: 0.0, right: 20.0, top: 0.0, bottom: 105.0, span: (0.0, 2.0) };
        let all = [layer("a", &[1.0, 2.0]), layer("b", &[0.0, f64::NAN]), layer("c", &[1.0, 8.0])];
        let mut markup = Markup::default();
        layers(&mut markup, "desktops", &all, &[(0.0, 1.0), (1.0, 2.0)], frame);
        let drawn = markup.finish();
        // Ten in all at the most: 10 of 105 units each.
        assert!(drawn.contains("M0 95L10 95L10 85L20 85L20 105L10 105L10 105L0 105Z"), "{drawn}");
        assert!(drawn.contains("M0 85L10 85L10 5L20 5L20 85L10 85L10 95L0 95Z"), "{drawn}");
        assert!(!drawn.contains("layer b") && !drawn.contains("NaN"), "{drawn}");
    }
}
