//! Answers in pictures: the estimate of one with its parts, one under the other (a forest plot), and the
//! changes of all questions on one axis.

use stormeter_statistics::{Answer, Interval, Reply};
use stormeter_study::question::{self, Vocabulary};

use crate::change::{is_multiple, oriented};
use crate::full::grid::Grid;
use crate::full::words::{self, Scale as Shown};
use crate::markup::Markup;
use crate::phrases;
use crate::quantity::level_percent;
use crate::svg::dots::{Axis, Better, Dot, Dots, Mark, Row, dots};
use crate::title::Titles;

/// More parts than this are left to the table.
const MOST_PARTS: usize = 24;
/// More questions than this are left to the table.
const MOST_QUESTIONS: usize = 24;

/// A value of an answer, with its place on the axis.
struct Value {
    label: String,
    value: f64,
    interval: Option<Interval>,
    reply: Reply,
    is_whole: bool,
    higher_is_better: Option<bool>,
}

/// The forest plot; `None` when there is nothing to estimate.
pub(super) fn forest(grid: &Grid<'_>, answer: &Answer, id: &str) -> Option<Markup> {
    let shown = Shown::of(answer, Titles::of_answer(grid.report.plan(), answer));
    let higher_is_better = higher_is_better(grid, answer);
    let mut values: Vec<Value> = Vec::new();
    if answer.parts.len() <= MOST_PARTS {
        values.extend(answer.parts.iter().map(|part| Value {
            label: phrases::load(&part.load),
            value: part.value,
            interval: part.interval,
            reply: part.reply,
            is_whole: false,
            higher_is_better,
        }));
    }
    let is_alone = values.is_empty();
    values.extend(answer.estimate.iter().map(|estimate| Value {
        label: if is_alone {
            phrases::estimated(answer, Titles::of_answer(grid.report.plan(), answer))
        } else {
            "all loads".into()
        },
        value: estimate.value,
        interval: estimate.interval,
        reply: words::marked_reply(grid.report, answer),
        is_whole: true,
        higher_is_better,
    }));
    values.retain(|value| value.value.is_finite());
    let better = match higher_is_better {
        Some(true) => Better::High,
        Some(false) => Better::Low,
        None => Better::Neither,
    };
    // Where there is no difference: at a ratio of 1, and at 0 where an interval reaches below it.
    let reference = match shown {
        Shown::Ratio => Some(1.0),
        Shown::Of(..) => {
            values.iter().any(|value| value.interval.is_some_and(|i| i.low <= 0.0)).then_some(0.0)
        }
    };
    let axis = axis(&values, reference, shown, better);
    dots(&Dots {
        id: id.into(),
        title: format!("Estimate: {}", answer.question),
        rows: values.iter().map(|value| row(value, shown, value.value, ends(value))).collect(),
        axis,
        reference,
        tick: Box::new(move |value| shown.tick(value, axis.is_log)),
    })
}

/// The changes that several answers are about, the better on the right; `None` where there are fewer than
/// two or too many.
pub(super) fn overview(grid: &Grid<'_>) -> Option<Markup> {
    let answers = &grid.report.analysis.answers;
    let values: Vec<Value> = answers
        .iter()
        .filter(|answer| {
            Shown::of(answer, Titles::of_answer(grid.report.plan(), answer)) == Shown::Ratio
        })
        .filter_map(|answer| {
            let estimate = answer.estimate.as_ref().filter(|it| it.value.is_finite())?;
            Some(Value {
                label: answer.question.clone(),
                value: estimate.value,
                interval: estimate.interval,
                reply: words::marked_reply(grid.report, answer),
                is_whole: false,
                higher_is_better: Some(higher_is_better(grid, answer)?),
            })
        })
        .collect();
    if !(2..=MOST_QUESTIONS).contains(&values.len()) {
        return None;
    }
    let is_log = values.iter().any(|value| is_multiple(value.value));
    let up = |value: &Value| value.higher_is_better.unwrap_or(true);
    let place = |value: &Value| oriented::place(value.value, up(value), is_log);
    let ends = |value: &Value| Some(oriented::ends(self::ends(value)?, up(value), is_log));
    let places = values.iter().map(place);
    let axis = Axis::of_ratios(places, values.iter().filter_map(ends), Better::Mirrored);
    let rows = values.iter().map(|value| row(value, Shown::Ratio, place(value), ends(value)));
    dots(&Dots {
        id: "answers-picture".into(),
        title: "The change that each question is about".into(),
        rows: rows.collect(),
        axis: Axis { is_log, ..axis },
        reference: Some(1.0),
        tick: Box::new(move |place| oriented::tick(place, is_log)),
    })
}

/// Whether more of the metric of a question is better; `None` where the question is of another version and
/// cannot be read.
fn higher_is_better(grid: &Grid<'_>, answer: &Answer) -> Option<bool> {
    let plan = grid.report.plan();
    let claim = question::parse(&answer.question, &Vocabulary::of(plan)).ok()?.claim;
    Some(claim.metric().unwrap_or(plan.design.metric).higher_is_better())
}

fn ends(value: &Value) -> Option<(f64, f64)> {
    value.interval.map(|interval| (interval.low, interval.high))
}

fn axis(values: &[Value], reference: Option<f64>, shown: Shown, better: Better) -> Axis {
    let each = values.iter().map(|value| value.value);
    let intervals = values.iter().filter_map(ends);
    if shown == Shown::Ratio {
        return Axis::of_ratios(each, intervals, better);
    }
    // An interval without end is drawn to the edge and does not set the axis.
    let ends = each.chain(intervals.flat_map(|(low, high)| [low, high]));
    let ends = ends.filter(|end| end.is_finite() && end.abs() < 1e15);
    let start = reference.or(values.first().map(|value| value.value)).unwrap_or(0.0);
    let (low, high) = ends.fold((start, start), |(low, high), end| (low.min(end), high.max(end)));
    let axis = Axis::between(low, high, false, better);
    if let Shown::Of(metric, _) = shown { axis.of(metric) } else { axis }
}

fn row(of: &Value, shown: Shown, place: f64, ends: Option<(f64, f64)>) -> Row {
    let interval = of.interval.map(|interval| {
        let range = shown.range(of.value, &interval);
        format!(", {} % interval {range}", level_percent(interval.level))
    });
    let value = shown.show(of.value);
    Row {
        label: of.label.clone(),
        is_strong: of.is_whole,
        dots: vec![Dot {
            mark: Mark::Reply(words::class_of(of.reply)),
            tooltip: format!("{}: {value}{}", of.label, interval.unwrap_or_default()),
            words: format!("{value}, {}", words::reply(of.reply)),
            tone: "",
            value: Some(place),
            ends,
            is_settled: true,
        }],
        ..Row::default()
    }
}
