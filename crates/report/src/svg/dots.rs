//! Values of one metric in one picture: rows of marks with whiskers, all on one axis.
//!
//! What is compared stands on a common scale (Cleveland & McGill, *JASA* 79 (1984) 531-554): bars in a chart of
//! each workload, each with its own axis, cannot be compared with each other, and thirteen of them fill three
//! screens. Where one side of the axis is better, that side is the right one.

use super::whisker::{Across, ends_of, whisker};
use super::{
    BOLD_CHARACTER, CHARACTER, Scale, WIDTH, chart, color_class, hit, line, mark, polygon,
    repeated_chart, text, titled,
};
use crate::label::elide;
use crate::markup::Markup;

/// Room above the rows: for the ticks, which also stand below the rows, and for what the sides mean.
const TOP: f64 = 24.0;
const SIDES: f64 = 16.0;
const UNDER: f64 = 24.0;
/// Height of a line of marks, and the margin of a row.
const LINE: f64 = 15.0;
const MARGIN: f64 = 9.0;
/// Height of a row whose label has a second line.
const NOTED: f64 = 26.0;
const HEADING: f64 = 24.0;
/// A higher picture does not fit a sheet of paper together with what stands above it.
const TALLEST: f64 = 1100.0;
/// Least distance between two ticks.
const TICK: f64 = 50.0;
/// Height of a label above its row.
const LABEL: f64 = 17.0;
/// The columns of labels and of values are as wide as their text, between these bounds.
const LABELS: (f64, f64) = (76.0, 300.0);
const VALUES: (f64, f64) = (70.0, 216.0);

/// A picture.
pub(crate) struct Dots {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) axis: Axis,
    /// A line across all rows: where there is no difference.
    pub(crate) reference: Option<f64>,
    /// How the axis writes a value.
    pub(crate) tick: Box<dyn Fn(f64) -> String>,
}

/// The axis without its place on the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) is_log: bool,
    /// Ticks are at round binary numbers.
    pub(crate) is_binary: bool,
    pub(crate) better: Better,
}

/// Which values are better; they are drawn on the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    High,
    Low,
    /// Ratios of metrics of which some are better low: their places are mirrored, so high ones are better.
    Mirrored,
    /// The values are not judged.
    Neither,
}

impl Better {
    /// For a metric.
    pub(crate) fn of(metric: stormeter_study::Metric) -> Self {
        if metric.higher_is_better() { Better::High } else { Better::Low }
    }
}

/// What the marks of a row have in common, such as a load.
#[derive(Default)]
pub(crate) struct Row {
    /// Stands above the row where another group begins.
    pub(crate) heading: Option<String>,
    pub(crate) label: String,
    /// A second, smaller line of the label.
    pub(crate) note: Option<&'static str>,
    pub(crate) is_strong: bool,
    pub(crate) dots: Vec<Dot>,
}

/// A value of a row.
pub(crate) struct Dot {
    pub(crate) mark: Mark,
    /// What is shown when the pointer rests on it.
    pub(crate) tooltip: String,
    /// What stands at the right, and the class that colours it.
    pub(crate) words: String,
    pub(crate) tone: &'static str,
    /// `None`: it failed or was not measured, and only the words are shown.
    pub(crate) value: Option<f64>,
    pub(crate) ends: Option<(f64, f64)>,
    pub(crate) is_settled: bool,
}

/// What a mark looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The colour and form of a place in the legend.
    Series(usize),
    /// A diamond in the colour of a reply.
    Reply(&'static str),
}

/// The picture in two forms, of which the page shows the one for its width; `None` when there is nothing in
/// it. One that is too high for a sheet of paper is several, with the same axis.
pub(crate) fn dots(dots: &Dots) -> Option<Markup> {
    let all = || dots.rows.iter().flat_map(|row| &row.dots);
    if !all().any(|dot| dot.value.is_some()) {
        return None;
    }
    let mut page = Markup::default();
    let parts = parts(&dots.rows);
    for (index, rows) in parts.iter().enumerate() {
        let mut part = Part { id: dots.id.clone(), title: dots.title.clone(), rows };
        if index > 0 {
            part.id = format!("{}-{}", dots.id, index + 1);
        }
        if parts.len() > 1 {
            part.title = format!("{} ({} of {})", dots.title, index + 1, parts.len());
        }
        // The narrow one first: a style can hide what follows it.
        page.append(drawn(dots, &part, Form::Narrow));
        page.append(drawn(dots, &part, Form::Wide));
    }
    Some(page)
}

/// The rows of one sheet.
struct Part<'a> {
    id: String,
    title: String,
    rows: &'a [Row],
}

/// Cuts rows where a group begins, or anywhere in a group that is too high by itself.
fn parts(rows: &[Row]) -> Vec<&[Row]> {
    let height = |rows: &[Row]| rows.iter().map(|row| row.height_in_group(Form::Wide)).sum::<f64>();
    let mut cuts = Vec::new();
    let mut start = 0;
    for group in rows.chunk_by(|_, next| next.heading.is_none()) {
        let begin = cuts.last().copied().unwrap_or(0);
        if start > begin && height(&rows[begin..start]) + height(group) > TALLEST {
            cuts.push(start);
        }
        for end in start + 1..=start + group.len() {
            let begin = cuts.last().copied().unwrap_or(0);
            if end - begin > 1 && height(&rows[begin..end]) > TALLEST {
                cuts.push(end - 1);
            }
        }
        start += group.len();
    }
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([rows.len()]);
    starts.zip(ends).map(|(start, end)| &rows[start..end]).collect()
}

/// For which screens a picture is drawn: shrunk to a telephone, the letters of a wide one are too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Labels stand on the left, and marks say what they are.
    Wide,
    /// Labels stand above their rows. It repeats the wide one, so readers who do not see it are spared it.
    Narrow,
}

impl Form {
    fn width(self) -> f64 {
        match self {
            Form::Wide => WIDTH,
            Form::Narrow => WIDTH / 2.0,
        }
    }
}

fn drawn(dots: &Dots, part: &Part<'_>, form: Form) -> Markup {
    let is_judged = dots.axis.better != Better::Neither;
    let top = TOP + if is_judged { SIDES } else { 0.0 };
    let rows: f64 = part.rows.iter().map(|row| row.height_in_group(form)).sum();
    let height = top + rows + UNDER;
    let left = match form {
        Form::Wide => {
            width(dots.rows.iter().map(|row| (row.label.as_str(), row.is_strong)), LABELS)
        }
        Form::Narrow => 8.0,
    };
    let words = dots.rows.iter().flat_map(|row| row.dots.iter().map(|dot| (dot, row.is_strong)));
    let words = words.map(|(dot, strong)| (dot.words.as_str(), strong));
    let right = form.width() - width(words, VALUES);
    let x = dots.axis.scale(left, right);
    let mut markup = match form {
        Form::Wide => chart(&part.id, height, &part.title, &description(part.rows)),
        Form::Narrow => repeated_chart((form.width(), height)),
    };
    let bottom = height - UNDER;
    if is_judged {
        text(&mut markup, "note start", (left, 10.0), "← worse");
        text(&mut markup, "note end", (right, 10.0), "better →");
    }
    for tick in dots.axis.ticks(&x) {
        let at = x.at(tick);
        line(&mut markup, "grid", (at, top - 4.0), (at, bottom)).empty();
        for y in [top - 9.0, bottom + 15.0] {
            text(&mut markup, "tick middle", (at, y), &(dots.tick)(tick));
        }
    }
    if let Some(at) = dots.reference.map(|value| x.at(value)) {
        line(&mut markup, "baseline", (at, top - 4.0), (at, bottom)).empty();
    }
    let mut y = top;
    for row in part.rows {
        if let Some(heading) = &row.heading {
            let longest = (form.width() / BOLD_CHARACTER) as usize;
            text(&mut markup, "name start strong", (0.0, y + 16.0), &elide(heading, longest));
            y += HEADING;
        }
        line(&mut markup, "row", (0.0, y), (form.width(), y)).empty();
        self::row(&mut markup, row, &x, y, form);
        y += row.height(form);
    }
    markup
}

impl Axis {
    /// For ratios to a baseline: logarithmic where some are written as multiples. It contains 1, every ratio,
    /// and every interval as far as it is not clipped.
    pub(crate) fn of_ratios(
        ratios: impl Iterator<Item = f64>,
        intervals: impl Iterator<Item = (f64, f64)>,
        better: Better,
    ) -> Self {
        let (low, high, has_multiples) = ends_of(ratios, intervals);
        Self::between(low, high, has_multiples, better)
    }

    /// The same for values of a metric.
    pub(crate) fn of(self, metric: stormeter_study::Metric) -> Self {
        Self { is_binary: metric == stormeter_study::Metric::Throughput, ..self }
    }

    /// From a value to a higher one, with a little room beyond both.
    pub(crate) fn between(low: f64, high: f64, is_log: bool, better: Better) -> Self {
        let (low, high) = if is_log {
            let room = (high / low).powf(0.04);
            (low / room, high * room)
        } else {
            let room = (high - low).max(0.02 * high.abs()) * 0.04;
            (low - room, high + room)
        };
        Self { low, high, is_log, is_binary: false, better }
    }

    /// Round values to label, as many as there is room for.
    fn ticks(&self, x: &Scale) -> Vec<f64> {
        let most = ((x.span().1 - x.span().0) / TICK) as usize;
        let has_room = |ticks: &Vec<f64>| {
            ticks.windows(2).all(|two| (x.at(two[1]) - x.at(two[0])).abs() >= TICK)
        };
        let fewer = (1..=most).rev().map(|count| self.about(count, x));
        let mut ticks = fewer.into_iter().find(has_room).unwrap_or_else(|| self.about(1, x));
        // Powers of ten over many decades.
        while !has_room(&ticks) {
            ticks = ticks.into_iter().step_by(2).collect();
        }
        ticks
    }

    /// About this many round values, in ascending order. Those of mirrored places are the same on both sides.
    fn about(&self, count: usize, x: &Scale) -> Vec<f64> {
        if !(self.is_log && self.better == Better::Mirrored) {
            return x.ticks(count);
        }
        let sides = Scale::log(1.0, self.high.max(1.0 / self.low), 0.0, 1.0).ticks(count / 2);
        let left = sides.iter().skip(1).rev().map(|tick| 1.0 / tick);
        let both = left.chain(sides.iter().copied());
        both.filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }

    fn scale(&self, left: f64, right: f64) -> Scale {
        let (from, to) = if self.better == Better::Low { (right, left) } else { (left, right) };
        let scale = match self.is_log {
            true => Scale::log(self.low, self.high, from, to),
            false => Scale::linear(self.low, self.high, from, to),
        };
        scale.binary(self.is_binary)
    }
}

impl Row {
    fn lines(&self) -> f64 {
        self.dots.len().max(1) as f64 * LINE
    }

    /// With the heading of the group that begins with it.
    fn height_in_group(&self, form: Form) -> f64 {
        self.height(form) + if self.heading.is_some() { HEADING } else { 0.0 }
    }

    fn height(&self, form: Form) -> f64 {
        let label = if self.note.is_some() { NOTED } else { 0.0 };
        match form {
            Form::Wide => self.lines().max(label) + MARGIN,
            Form::Narrow => LABEL + self.lines() + MARGIN,
        }
    }
}

/// Room for the longest of these texts, of which some are bold.
fn width<'a>(texts: impl Iterator<Item = (&'a str, bool)>, (least, most): (f64, f64)) -> f64 {
    let widths = texts.map(|(text, is_bold)| text.chars().count() as f64 * character(is_bold));
    (widths.fold(0.0, f64::max) + 22.0).clamp(least, most)
}

fn character(is_bold: bool) -> f64 {
    if is_bold { BOLD_CHARACTER } else { CHARACTER }
}

fn row(markup: &mut Markup, row: &Row, x: &Scale, top: f64, form: Form) {
    let (left, right) = x.span();
    let strong = if row.is_strong { " strong" } else { "" };
    let middle = match form {
        Form::Wide => {
            let middle = top + row.height(form) / 2.0;
            let at = middle + if row.note.is_some() { -1.5 } else { 4.0 };
            let longest = ((left - 16.0) / character(row.is_strong)) as usize;
            let class = format!("name end{strong}");
            text(markup, &class, (left - 14.0, at), &elide(&row.label, longest));
            if let Some(note) = row.note {
                text(markup, "note end", (left - 14.0, at + 13.0), note);
            }
            middle
        }
        Form::Narrow => {
            let longest = (form.width() / character(row.is_strong)) as usize;
            let label = match row.note {
                Some(note) => format!("{} ({note})", row.label),
                None => row.label.clone(),
            };
            let class = format!("name start{strong}");
            text(markup, &class, (0.0, top + LABEL - 3.0), &elide(&label, longest));
            top + LABEL + (row.height(form) - LABEL) / 2.0
        }
    };
    for (number, dot) in row.dots.iter().enumerate() {
        let y = middle - row.lines() / 2.0 + (number as f64 + 0.5) * LINE;
        self::dot(markup, dot, x, y, row.is_strong, form);
        let class = format!("value start{strong} tone {} {}", dot.tone, dot.color());
        text(markup, class.trim_end(), (right + 14.0, y + 4.0), &dot.words);
    }
}

fn dot(markup: &mut Markup, dot: &Dot, x: &Scale, y: f64, is_strong: bool, form: Form) {
    let own = dot.color();
    let unsettled = if dot.is_settled { "" } else { " unsettled" };
    let class = format!("dot{unsettled} {own}");
    if form == Form::Wide {
        titled(markup, class.trim_end(), &dot.tooltip);
        hit(markup, (x.span().0, y - LINE / 2.0), (WIDTH - x.span().0, LINE));
    } else {
        markup.tag("g").at("class", class.trim_end()).open();
    }
    if let Some(ends) = dot.ends {
        let class = if own.is_empty() { String::new() } else { format!("own {own}") };
        whisker(markup, &class, x, ends, Across::Row(y));
    }
    if let Some(at) = dot.value.filter(|value| value.is_finite()).map(|value| x.at(value)) {
        match dot.mark {
            Mark::Series(place) => mark(markup, place, at, y),
            Mark::Reply(class) => {
                let half = if is_strong { 6.0 } else { 4.5 };
                let corners = [(at, y - half), (at + half, y), (at, y + half), (at - half, y)];
                polygon(markup, &format!("reply-mark {class}"), corners.into_iter());
            }
        }
    }
    markup.close();
}

impl Dot {
    /// The class of the colour of a series.
    fn color(&self) -> String {
        match self.mark {
            Mark::Series(place) => color_class(place),
            Mark::Reply(_) => String::new(),
        }
    }
}

fn description(rows: &[Row]) -> String {
    const MOST: usize = 60;
    let tooltips = rows.iter().flat_map(|row| &row.dots).map(|dot| dot.tooltip.as_str());
    let mut tooltips: Vec<&str> = tooltips.collect();
    if tooltips.len() > MOST {
        tooltips.truncate(MOST);
        tooltips.push("the rest is in the table");
    }
    tooltips.join(". ") + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(better: Better) -> String {
        let dot = Dot {
            mark: Mark::Series(0),
            tooltip: "nas: −20 %".into(),
            words: "−20 %".into(),
            tone: "",
            value: Some(0.8),
            ends: Some((0.7, 0.9)),
            is_settled: true,
        };
        let picture = Dots {
            id: "changes".into(),
            title: "Changes".into(),
            rows: vec![Row { label: "vm-4k".into(), dots: vec![dot], ..Row::default() }],
            axis: Axis { low: 0.6, high: 1.4, is_log: false, is_binary: false, better },
            reference: Some(1.0),
            tick: Box::new(|value| format!("{value:.1}")),
        };
        super::dots(&picture).unwrap().finish()
    }

    /// Where the only mark and the line of no difference stand, in the wide form.
    fn places(drawn: &str) -> (f64, f64) {
        let drawn = drawn.split("</svg>").nth(1).unwrap();
        let after = |start: &str, name: &str| -> f64 {
            let rest = drawn.split(start).nth(1).unwrap().split(name).nth(1).unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        (after("<circle", " cx=\""), after("class=\"baseline\"", " x1=\""))
    }

    #[test]
    fn better_is_on_the_right() {
        let (fewer, none) = places(&drawn(Better::High));
        assert!(fewer < none, "fewer IOPS are worse");
        let (lower, none) = places(&drawn(Better::Low));
        assert!(lower > none, "a lower latency is better");
        assert!(drawn(Better::Low).contains("better →"));
        assert!(!drawn(Better::Neither).contains("better"));
    }

    #[test]
    fn mirrored_places_have_the_same_ticks_on_both_sides() {
        let axis =
            Axis { low: 0.2, high: 5.0, is_log: true, is_binary: false, better: Better::Mirrored };
        let ticks = axis.ticks(&axis.scale(0.0, 400.0));
        assert!(ticks.len() > 3, "{ticks:?}");
        assert!(ticks.is_sorted(), "{ticks:?}");
        for tick in &ticks {
            assert!(ticks.iter().any(|other| (other * tick - 1.0).abs() < 1e-9), "{ticks:?}");
        }
    }

    #[test]
    fn ticks_leave_each_other_room() {
        for (low, high) in [(0.3, 2.9), (0.9, 1.1), (0.001, 500.0), (0.4, 1.05)] {
            for (is_log, width) in [(true, 500.0), (true, 240.0), (false, 240.0)] {
                let axis = Axis { low, high, is_log, is_binary: false, better: Better::Low };
                let x = axis.scale(0.0, width);
                let at: Vec<f64> = axis.ticks(&x).iter().map(|tick| x.at(*tick)).collect();
                assert!(at.windows(2).all(|two| (two[1] - two[0]).abs() >= TICK), "{low}: {at:?}");
            }
        }
    }

    #[test]
    fn a_narrow_picture_repeats_the_wide_one_for_those_who_see_it() {
        let drawn = drawn(Better::High);
        let (narrow, wide) = drawn.split_once("</svg>").unwrap();
        assert!(narrow.contains("aria-hidden") && !narrow.contains("<title"), "{narrow}");
        for both in ["vm-4k", "−20 %", "class=\"baseline\"", "class=\"dot"] {
            assert!(narrow.contains(both) && wide.contains(both), "{both}");
        }
    }

    #[test]
    fn a_picture_is_cut_where_a_group_begins_and_else_where_it_is_too_high() {
        let row = |heading: bool| Row { heading: heading.then(String::new), ..Row::default() };
        let groups = |lengths: &[usize]| -> Vec<Row> {
            lengths.iter().flat_map(|&rows| (0..rows).map(move |at| row(at == 0))).collect()
        };
        let lengths = |rows: &[Row]| parts(rows).iter().map(|part| part.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&groups(&[5, 5])), [10]);
        assert_eq!(lengths(&groups(&[30, 30, 5])), [30, 35]);
        assert_eq!(lengths(&groups(&[5, 100])), [5, 44, 45, 11]);
        assert_eq!(lengths(&[]), [0]);
    }

    #[test]
    fn a_picture_without_a_value_is_none() {
        let mut picture = Dots {
            id: String::new(),
            title: String::new(),
            rows: vec![Row::default()],
            axis: Axis {
                low: 0.0,
                high: 1.0,
                is_log: false,
                is_binary: false,
                better: Better::Neither,
            },
            reference: None,
            tick: Box::new(|_| String::new()),
        };
        assert!(dots(&picture).is_none());
        picture.rows.clear();
        assert!(dots(&picture).is_none());
    }
}
