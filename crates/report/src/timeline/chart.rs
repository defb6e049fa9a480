//! A metric of a cell over the runs: a mark for each run where it was in time, its interval as a whisker, and a vertical
//! line where something happened between runs.

use super::model::{Timeline, TimelineCell, TimelineMetric};
use super::trend::span;
use super::words;
use crate::label::elide;
use crate::markup::Markup;
use crate::svg::whisker::{Across, whisker};
use crate::svg::{
    CHARACTER, Scale, WIDTH, chart, color_class, hit, line, metric_tick, path, repeated_chart,
    text, titled, y_axis,
};
use crate::title::Titles;

const LEFT: f64 = 66.0;
const RIGHT: f64 = 14.0;
const PLOT: f64 = 150.0;
const UNDER: f64 = 26.0;
/// Height of a line of labels of marks.
const LABEL: f64 = 15.0;
const NARROW: f64 = 380.0;
const LONGEST_LABEL: usize = 28;
/// How far beyond the values a whisker may stretch the axis, as a share of their range.
const REACH: f64 = 1.0;
/// The colour of the values: the first that is not the baseline's.
const COLOR: usize = 1;

/// The chart, after one for narrow screens; `None` without two values.
pub(super) fn over_runs(
    timeline: &Timeline,
    cell: &TimelineCell,
    metric: &TimelineMetric,
    id: &str,
) -> Option<(Markup, Markup)> {
    let values = metric.values.iter().flatten().filter(|value| value.value.is_finite());
    if values.count() < 2 {
        return None;
    }
    let drawing = Drawing::of((timeline, cell), metric, WIDTH)?;
    let title =
        format!("{} of {} over {} runs", titled_metric(metric), cell.name, timeline.runs.len());
    let mut wide = chart(id, drawing.height(), &title, &description(timeline, metric));
    drawing.draw(&mut wide);
    let drawing = Drawing::of((timeline, cell), metric, NARROW)?;
    let mut narrow = repeated_chart((NARROW, drawing.height()));
    drawing.draw(&mut narrow);
    Some((narrow, wide))
}

fn titled_metric(metric: &TimelineMetric) -> &'static str {
    Titles::Usual.of(metric.metric)
}

fn description(timeline: &Timeline, metric: &TimelineMetric) -> String {
    const MOST: usize = 60;
    let named = timeline.runs.iter().zip(&metric.values).filter_map(|(run, value)| {
        let value = value.as_ref()?;
        Some(format!("{} {}", run.name, metric_tick(metric.metric, value.value)))
    });
    let mut named: Vec<String> = named.collect();
    if named.len() > MOST {
        named.truncate(MOST);
        named.push("the rest is in the table".into());
    }
    named.join(", ") + "."
}

/// What is drawn, in one of two widths.
struct Drawing<'a> {
    timeline: &'a Timeline,
    cell: &'a TimelineCell,
    metric: &'a TimelineMetric,
    width: f64,
    /// Lines of labels above the plot.
    rows: usize,
    /// By mark: its place, the line and the anchor of its label.
    marks: Vec<(f64, usize, &'static str)>,
    /// The place of each run.
    xs: Vec<f64>,
    y: Scale,
}

impl<'a> Drawing<'a> {
    fn of(
        (timeline, cell): (&'a Timeline, &'a TimelineCell),
        metric: &'a TimelineMetric,
        width: f64,
    ) -> Option<Self> {
        let places = Places::of(timeline, width);
        let xs: Vec<f64> = (0..timeline.runs.len()).map(|run| places.run(timeline, run)).collect();
        let mut marks: Vec<(f64, usize, &'static str)> = Vec::new();
        let mut ends: Vec<f64> = Vec::new();
        for mark in &timeline.marks {
            let x = places.moment(mark.at_unix_ms);
            let length =
                elide(&mark.label, LONGEST_LABEL).chars().count() as f64 * CHARACTER + 12.0;
            // A label at the right end stands to the left of its line.
            let (from, to, anchor) = match x + length > width {
                true => (x - length, x, "end"),
                false => (x, x + length, "start"),
            };
            let free = ends.iter().position(|end| *end <= from).unwrap_or(ends.len());
            match ends.get_mut(free) {
                Some(end) => *end = to,
                None => ends.push(to),
            }
            marks.push((x, free, anchor));
        }
        let rows = ends.len();
        let top = Self::top(rows);
        let (low, high) = range(metric)?;
        let y = Scale::linear(low, high, top + PLOT, top).of(metric.metric);
        Some(Self { timeline, cell, metric, width, rows, marks, xs, y })
    }

    fn top(rows: usize) -> f64 {
        8.0 + LABEL * rows as f64
    }

    fn height(&self) -> f64 {
        Self::top(self.rows) + PLOT + UNDER
    }

    fn draw(&self, markup: &mut Markup) {
        let metric = self.metric.metric;
        let ticks = self.y.ticks(6).into_iter().map(|it| (it, metric_tick(metric, it)));
        let ticks: Vec<_> = ticks.collect();
        y_axis(markup, &self.y, (LEFT, self.width - RIGHT), &ticks);
        self.dates(markup);
        self.marks(markup);
        self.means(markup);
        self.lines(markup);
        for run in 0..self.timeline.runs.len() {
            self.run(markup, run);
        }
    }

    /// The days below the plot, as far as there is room; the numbers of runs without times.
    fn dates(&self, markup: &mut Markup) {
        let bottom = Self::top(self.rows) + PLOT;
        let began = |run: usize| self.timeline.runs[run].run.began_unix_ms.unwrap_or(0);
        let last = self.timeline.runs.len() - 1;
        let is_one_day = words::date(began(0)) == words::date(began(last));
        let mut free = 0.0;
        let mut shown = String::new();
        for (run, x) in self.xs.iter().enumerate() {
            let label = match (self.timeline.is_dated, is_one_day) {
                (false, _) => (run + 1).to_string(),
                (true, false) => words::date(began(run)),
                (true, true) => {
                    let minute = words::began(&self.timeline.runs[run]);
                    minute.split(' ').nth(1).unwrap_or_default().to_owned()
                }
            };
            let half = label.chars().count() as f64 * CHARACTER / 2.0;
            let at = x.clamp(half, self.width - half);
            if at - half < free || label == shown {
                continue;
            }
            text(markup, "tick middle", (at, bottom + 18.0), &label);
            line(markup, "axis", (*x, bottom), (*x, bottom + 4.0)).empty();
            free = at + half + 1.5 * CHARACTER;
            shown = label;
        }
    }

    fn marks(&self, markup: &mut Markup) {
        let bottom = Self::top(self.rows) + PLOT;
        for ((x, row, anchor), mark) in self.marks.iter().zip(&self.timeline.marks) {
            titled(markup, "", &words::mark(mark));
            let y = 11.0 + LABEL * *row as f64;
            line(markup, "mark", (*x, y + 4.0), (*x, bottom)).empty();
            let label = elide(&mark.label, LONGEST_LABEL);
            let aside = if *anchor == "end" { -4.0 } else { 4.0 };
            text(markup, &format!("note {anchor} halo"), (x + aside, y), &label);
            markup.close();
        }
    }

    /// The mean of each side of a mark, from its first to its last run.
    fn means(&self, markup: &mut Markup) {
        let mut from = 0;
        for (place, sides) in self.timeline.compared.iter().enumerate() {
            let cell = sides.loads.iter().find(|load| load.name == self.cell.name);
            let metric = cell
                .and_then(|load| load.metrics.iter().find(|it| it.metric == self.metric.metric));
            let to = self.timeline.before(place);
            let end = match self.timeline.marks.get(place + 1) {
                Some(_) => self.timeline.before(place + 1),
                None => self.xs.len(),
            };
            let both = [(0, from..to), (1, to..end)];
            for (side, runs) in both.into_iter().skip(usize::from(place > 0)) {
                let value = metric.and_then(|it| it.values.get(side)?.as_ref());
                let ends = runs.clone().next().zip(runs.last());
                let (Some(value), Some((first, last))) = (value, ends) else { continue };
                let y = self.y.at(value.value);
                let (a, b) = ((self.xs[first] - 8.0, y), (self.xs[last] + 8.0, y));
                line(markup, "baseline", a, b).empty();
            }
            from = to;
        }
    }

    /// A line through the values, broken at marks.
    fn lines(&self, markup: &mut Markup) {
        let breaks: Vec<usize> =
            (0..self.marks.len()).map(|mark| self.timeline.before(mark)).collect();
        let mut part: Vec<(f64, f64)> = Vec::new();
        for run in 0..=self.xs.len() {
            if breaks.contains(&run) || run == self.xs.len() {
                if part.len() > 1 {
                    let class = format!("line {}", color_class(COLOR));
                    markup.tag("path").at("class", class).at("d", path(&part)).empty();
                }
                part.clear();
            }
            let value = self.metric.values.get(run).and_then(Option::as_ref);
            if let Some(value) = value.filter(|value| value.value.is_finite()) {
                part.push((self.xs[run], self.y.at(value.value)));
            }
        }
    }

    /// A run: hollow where it is not like the first.
    fn run(&self, markup: &mut Markup, run: usize) {
        let Some(value) = &self.metric.values[run] else { return };
        if !value.value.is_finite() {
            return;
        }
        let (x, y) = (self.xs[run], self.y.at(value.value));
        let is_unlike = value.first.as_ref().is_some_and(|(_, is_alike)| !is_alike);
        let name = &self.timeline.runs[run].name;
        let mut title = format!("{name}: {}", metric_tick(self.metric.metric, value.value));
        let half = words::half_width(value.value, value.within);
        if !half.is_empty() {
            title += &format!(" ± {half}");
        }
        if is_unlike {
            title += ", not like the first run";
        }
        titled(markup, if is_unlike { "unsettled" } else { "" }, &title);
        if let Some(within) = value.within {
            let class = format!("own {}", color_class(COLOR));
            whisker(markup, &class, &self.y, (within.low, within.high), Across::Column(x));
        }
        let class = format!("fill {}", color_class(COLOR));
        markup.tag("circle").at("class", class).at("cx", x).at("cy", y).at("r", 4.2).empty();
        hit(markup, (x - 8.0, y - 12.0), (16.0, 24.0));
        markup.close();
    }
}

/// The ends of the axis: all values, and whiskers as far as they do not squeeze the values.
fn range(metric: &TimelineMetric) -> Option<(f64, f64)> {
    let values = metric.values.iter().flatten();
    let (low, high) = span(values.clone().map(|value| value.value))?;
    let reach = REACH * (high - low);
    let ends = values.filter_map(|value| value.within);
    let (least, most) = ends.fold((low, high), |(low, high), it| {
        (
            if it.low.is_finite() { low.min(it.low) } else { low },
            if it.high.is_finite() { high.max(it.high) } else { high },
        )
    });
    let (least, most) = (least.max(low - reach).max(0.0), most.min(high + reach));
    Some((least, most + 0.04 * (most - least)))
}

/// Where runs and marks are from left to right.
struct Places {
    scale: Scale,
    /// Whether the scale is of time; otherwise of the order.
    is_of_time: bool,
}

impl Places {
    fn of(timeline: &Timeline, width: f64) -> Self {
        let (from, to) = (LEFT + 14.0, width - RIGHT - 14.0);
        let began = || timeline.runs.iter().filter_map(|it| it.run.began_unix_ms);
        match (timeline.is_dated, began().min(), began().max()) {
            (true, Some(first), Some(last)) if last > first => {
                Self { scale: Scale::linear(first as f64, last as f64, from, to), is_of_time: true }
            }
            _ => Self {
                scale: Scale::linear(0.0, (timeline.runs.len() - 1) as f64, from, to),
                is_of_time: false,
            },
        }
    }

    fn run(&self, timeline: &Timeline, run: usize) -> f64 {
        match timeline.runs[run].run.began_unix_ms.filter(|_| self.is_of_time) {
            Some(began) => self.scale.at(began as f64),
            None => self.scale.at(run as f64),
        }
    }

    fn moment(&self, unix_ms: u64) -> f64 {
        self.scale.at(unix_ms as f64)
    }
}
