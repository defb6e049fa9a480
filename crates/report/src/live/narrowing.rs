//! Intervals that become narrower: the estimate of each ratio over the trials that it rests on.

use super::model::{Judged, Judgement};
use crate::change;
use crate::markup::Markup;
use crate::svg::{Scale, WIDTH, chart, color_class, line, path, polygon, text, y_axis};

/// Panels on the page.
const MOST: usize = 6;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 20.0;
const PLOT: f64 = 96.0;
const GAP: f64 = 34.0;
const FOOT: f64 = 22.0;
/// How wide a single estimate is drawn.
const ALONE: f64 = 10.0;

/// The chart; `None` where there is nothing to see yet.
pub(super) fn narrowing(judgement: &Judgement, history: &[Judged]) -> Option<Markup> {
    let shown = judgement.estimates.len().min(MOST);
    let first = history.first()?.trials;
    let last = history.last()?.trials;
    if shown == 0 || last <= first {
        return None;
    }
    let height = TOP + shown as f64 * (PLOT + GAP) + FOOT - GAP + 12.0;
    let title = "How the intervals became narrower";
    let mut markup = chart("narrowing", height, title, &description(judgement));
    let right = WIDTH - RIGHT;
    let x = Scale::linear(f64::from(first), f64::from(last), LEFT, right);
    for (place, estimated) in judgement.estimates.iter().take(shown).enumerate() {
        let top = TOP + place as f64 * (PLOT + GAP);
        let mut of: Vec<(f64, f64, (f64, f64))> = history
            .iter()
            .filter_map(|then| {
                let same = then.estimates.iter().find(|it| it.name == estimated.name)?;
                Some((x.at(f64::from(then.trials)), same.ratio, same.interval))
            })
            .collect();
        if let [(at, ratio, interval)] = of[..] {
            of.push(((at - ALONE).max(LEFT), ratio, interval));
        }
        text(&mut markup, "note start", (LEFT, top - 6.0), &estimated.name);
        let color = estimated.place.map_or("of-none".into(), color_class);
        panel(&mut markup, &of, &color, (top, top + PLOT));
    }
    let foot = height - 8.0;
    text(&mut markup, "tick start", (LEFT, foot), &format!("{first} trials"));
    text(&mut markup, "tick end", (right, foot), &format!("{last} trials"));
    Some(markup)
}

/// An estimate with its band.
fn panel(
    markup: &mut Markup,
    of: &[(f64, f64, (f64, f64))],
    color: &str,
    (top, bottom): (f64, f64),
) {
    let Some((low, high)) = range(of) else { return };
    let y = Scale::linear(low, high, bottom, top);
    let ticks: Vec<(f64, String)> =
        y.ticks(4).into_iter().map(|value| (value, change::tick(value, false))).collect();
    y_axis(markup, &y, (LEFT, WIDTH - RIGHT), &ticks);
    let at = |value: f64| y.at(value.clamp(low, high));
    if (low..=high).contains(&1.0) {
        line(markup, "baseline", (LEFT, at(1.0)), (WIDTH - RIGHT, at(1.0))).empty();
    }
    let upper = of.iter().map(|(x, _, interval)| (*x, at(interval.1)));
    let lower = of.iter().rev().map(|(x, _, interval)| (*x, at(interval.0)));
    polygon(markup, &format!("within {color}"), upper.chain(lower));
    let middle: Vec<(f64, f64)> = of.iter().map(|(x, ratio, _)| (*x, at(*ratio))).collect();
    markup.tag("path").at("class", format!("line thick {color}")).at("d", path(&middle)).empty();
}

/// The values of the axis. The first intervals are as wide as nothing else; they are cut at the axis, or all that follows
/// would be a line.
fn range(of: &[(f64, f64, (f64, f64))]) -> Option<(f64, f64)> {
    let (_, ratio, interval) = of.last().filter(|last| last.1.is_finite())?;
    let half = (interval.1 - interval.0).abs().max(1e-3);
    let from = of.len() / 4;
    let ends = || of[from..].iter().flat_map(|(_, _, interval)| [interval.0, interval.1]);
    let near = |value: f64| value.clamp(ratio - 4.0 * half, ratio + 4.0 * half);
    let finite = || ends().filter(|end| end.is_finite()).map(near).chain([interval.0, interval.1]);
    let low = finite().fold(f64::INFINITY, f64::min).max(0.0);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    // Where no difference is, is shown if it is near.
    let (low, high) = (
        if low > 1.0 && low < 1.3 { 1.0 } else { low },
        if high < 1.0 && high > 0.7 { 1.0 } else { high },
    );
    let margin = (high - low).max(1e-6) * 0.06;
    (low.is_finite() && high.is_finite()).then_some(((low - margin).max(0.0), high + margin))
}

fn description(judgement: &Judgement) -> String {
    let each = judgement.estimates.iter().take(MOST).map(|of| {
        let interval = [of.interval.0, of.interval.1].map(change::show).join(" to ");
        format!("{}: {}, {interval}", of.name, change::show(of.ratio))
    });
    each.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Estimated;

    #[test]
    fn the_axis_is_that_of_what_is_known_and_not_of_the_first_guess() {
        let wide = (2.0, 1.1, (0.0, 90.0));
        let of = [
            wide,
            wide,
            (4.0, 1.2, (1.1, 1.3)),
            (5.0, 1.2, (1.15, 1.25)),
            (6.0, 1.2, (1.18, 1.22)),
        ];
        let (low, high) = range(&of).unwrap();
        assert!(low > 0.9 && low < 1.0, "{low}: no difference is near, and shown");
        assert!(high > 1.3 && high < 1.5, "{high}");
        assert_eq!(range(&[(1.0, f64::NAN, (0.0, 1.0))]), None);
    }

    #[test]
    fn one_moment_is_no_course() {
        let estimated =
            Estimated { name: "a <b>".into(), place: Some(1), ratio: 1.5, interval: (1.2, 1.8) };
        let judgement = Judgement {
            trials: 4,
            blocks: 2,
            sentences: Vec::new(),
            estimates: vec![estimated],
            findings: Vec::new(),
        };
        let at = |trials| Judged { trials, estimates: judgement.estimates.clone() };
        assert!(narrowing(&judgement, &[at(4)]).is_none());
        let drawn = narrowing(&judgement, &[at(4), at(6)]).unwrap().finish();
        assert!(drawn.contains("a &lt;b&gt;") && drawn.contains("within s1"), "{drawn}");
    }

    /// Another ratio may be known before the first one is.
    #[test]
    fn estimates_of_earlier_moments_are_those_of_the_same_ratio() {
        let of = |name: &str, ratio| {
            let interval = (ratio - 0.1, ratio + 0.1);
            Estimated { name: name.into(), place: Some(1), ratio, interval }
        };
        let judgement = Judgement {
            trials: 6,
            blocks: 2,
            sentences: Vec::new(),
            estimates: vec![of("first", 1.5)],
            findings: Vec::new(),
        };
        let before = Judged { trials: 4, estimates: vec![of("second", 3.0)] };
        let now = Judged { trials: 6, estimates: vec![of("first", 1.5), of("second", 3.0)] };
        let drawn = narrowing(&judgement, &[before, now]).unwrap().finish();
        // It has one moment, so its line is level and short.
        let line = drawn.split("<path").find(|part| part.contains("line thick")).unwrap();
        let line = line.split(" d=\"").nth(1).unwrap().split('"').next().unwrap();
        let points: Vec<&str> =
            line.split(['M', 'L']).map(str::trim).filter(|it| !it.is_empty()).collect();
        assert_eq!(points.len(), 2, "{line}");
        let height = |point: &str| point.rsplit([' ', ',']).next().unwrap().to_owned();
        assert_eq!(height(points[0]), height(points[1]), "{line}");
    }
}
