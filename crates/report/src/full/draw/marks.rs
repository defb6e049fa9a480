//! What was done while something is drawn over time: a line across the panel with a number, which a table
//! beside the chart explains.

use super::time::Frame;
use crate::full::steps::StepMark;
use crate::markup::Markup;
use crate::svg::{Scale, line, spread, text};

/// Numbers stand at least so far apart, however close their lines are.
const APART: f64 = 13.0;

/// Draws the marks into a panel. `span` is the time from left to right, in nanoseconds.
pub(crate) fn marks(markup: &mut Markup, steps: &[StepMark], frame: Frame, span: (f64, f64)) {
    let Frame { left, right, top, bottom } = frame;
    let x = Scale::linear(span.0, span.1, left, right);
    let at: Vec<f64> =
        steps.iter().map(|step| x.at(step.at_ns as f64).clamp(left, right)).collect();
    let numbers = spread(&at, APART, left, right);
    for ((step, at), (number, place)) in steps.iter().zip(at).zip((1..).zip(numbers)) {
        markup.tag("g").open();
        markup.leaf("title", &format!("{number}: {}", step.what));
        line(markup, "mark", (at, top - 1.0), (at, bottom)).empty();
        text(markup, "note middle halo", (place, top + 8.0), &number.to_string());
        markup.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_its_line_where_it_was_begun_and_numbers_do_not_lie_over_each_other() {
        let step = |at_ns| StepMark {
            what: "pause <nas>".into(),
            at_ns,
            planned_ns: at_ns,
            took_ns: 0,
            recovery: None,
        };
        let mut markup = Markup::default();
        let frame = Frame { left: 0.0, right: 100.0, top: 20.0, bottom: 60.0 };
        marks(&mut markup, &[step(500), step(510)], frame, (0.0, 1000.0));
        let drawn = markup.finish();
        assert!(drawn.contains("x1=\"50\"") && drawn.contains("x1=\"51\""), "{drawn}");
        assert!(drawn.contains("x=\"50\"") && drawn.contains("x=\"63\""), "{drawn}");
        assert!(drawn.contains("1: pause &lt;nas&gt;"), "{drawn}");
    }
}
