//! The report as text for a terminal of 80 to 100 columns: the sentence first, then what is
//! wrong with it, then the numbers.

use stormeter_statistics::Verdict;
use stormeter_study::Metric;

use crate::label::elide;
use crate::model::{Datastore, Finding, MetricComparison, Report, Severity};
use crate::printable::printable;
use crate::quantity::{level_percent, metric_value, percent, spread_percent};
use crate::sentence::{headline, verdict_word_for};
use crate::wording;

/// How the text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Whether to colour by ANSI escapes; the caller knows `NO_COLOR` and what stdout is.
    pub color: bool,
    /// Columns to fill with running text. Tables need 80.
    pub width: usize,
}

impl Default for TerminalOptions {
    fn default() -> Self {
        Self { color: false, width: 90 }
    }
}

/// The report as text, ending in a line break.
pub fn terminal(report: &Report, options: TerminalOptions) -> String {
    let width = options.width.clamp(40, 120);
    let paint = Paint(options.color);
    let mut text = String::new();
    let verdicts: Vec<Verdict> = report.primaries().map(|c| c.comparison.verdict).collect();
    for (index, sentence) in headline(report).iter().enumerate() {
        let style = verdicts.get(index).copied().map_or(Style::Bold, Style::of);
        for line in wrap(&printable(sentence), width, "", "") {
            push_line(&mut text, &paint.with(style, &line));
        }
    }
    push_line(&mut text, "");
    findings(&report.findings, width, paint, &mut text);
    for line in wrap(&wording::status(&report.status), width, "", "") {
        push_line(&mut text, &line);
    }
    let workload = &report.header.plan.workload;
    let load = format!(
        "Workload {}: {}; {}.",
        workload.name,
        wording::workload(workload),
        wording::load(report)
    );
    for line in wrap(&printable(&load), width, "", "") {
        push_line(&mut text, &line);
    }
    if let Some(verified) = wording::verified(report) {
        for line in wrap(&printable(&verified), width, "", "  ") {
            push_line(&mut text, &line);
        }
    }
    push_line(&mut text, "");
    legend(report, width, paint, &mut text);
    for candidate in 0..report.datastores.len() {
        if candidate != report.header.plan.baseline {
            push_line(&mut text, "");
            table(report, candidate, paint, &mut text);
        }
    }
    push_line(&mut text, "");
    let caption = caption(report);
    for line in wrap(&caption, width, "", "") {
        push_line(&mut text, &paint.with(Style::Dim, &line));
    }
    let times = report.is_open_loop().then(|| wording::OPEN_LOOP_TIMES.to_string());
    for sentence in times.into_iter().chain(wording::ceilings(report)) {
        for line in wrap(&printable(&sentence), width, "", "") {
            push_line(&mut text, &paint.with(Style::Dim, &line));
        }
    }
    push_line(&mut text, "");
    push_line(&mut text, &format!("Repeat it: {}", printable(&report.repeat_command)));
    text
}

pub(crate) fn findings(findings: &[Finding], width: usize, paint: Paint, text: &mut String) {
    for finding in findings {
        let style = match finding.severity {
            Severity::Invalid => Style::Bad,
            Severity::Warning => Style::Unsure,
            Severity::Note => Style::Dim,
        };
        let subject = match finding.subject.as_str() {
            "" => String::new(),
            subject => format!("{subject}: "),
        };
        let message = printable(&format!("{}: {subject}{}", finding.severity.name(), finding.what));
        for line in wrap(&message, width, "", "  ") {
            push_line(text, &paint.with(style, &line));
        }
        if !finding.advice.is_empty() {
            for line in wrap(&printable(&finding.advice), width, "  → ", "    ") {
                push_line(text, &line);
            }
        }
    }
    if !findings.is_empty() {
        push_line(text, "");
    }
}

fn legend(report: &Report, width: usize, paint: Paint, text: &mut String) {
    let longest = report.datastores.iter().map(|d| d.label.chars().count()).max().unwrap_or(0);
    let hang = " ".repeat(longest + 4);
    for (index, datastore) in report.datastores.iter().enumerate() {
        let role = if index == report.header.plan.baseline { "baseline = 100; " } else { "" };
        let mut words = format!("{role}{}", wording::datastore(&datastore.description));
        if datastore.description.url != datastore.label {
            words = format!("{}; {words}", datastore.description.url);
        }
        let label = pad_right(&printable(&datastore.label), longest);
        let lines = wrap(&printable(&words), width, &format!("  {label}  "), &hang);
        for (number, line) in lines.iter().enumerate() {
            // The label is padded before it is painted: escapes have no width.
            let line = match (number, line.split_at_checked(2 + label.len())) {
                (0, Some((head, tail))) => format!("{}{tail}", paint.with(Style::Bold, head)),
                _ => line.clone(),
            };
            push_line(text, &line);
        }
    }
}

/// A candidate beside the baseline, a metric a row.
fn table(report: &Report, candidate: usize, paint: Paint, text: &mut String) {
    let (Some(base), Some(other)) = (report.baseline(), report.datastores.get(candidate)) else {
        return;
    };
    const HEAD_LONGEST: usize = 18;
    let mut rows = vec![[
        String::new(),
        elide(&printable(&base.label), HEAD_LONGEST),
        elide(&printable(&other.label), HEAD_LONGEST),
        "relative".to_string(),
        String::new(),
    ]];
    let mut styles = vec![Style::Bold];
    let (left, right) = (Absolute::widths(report, base), Absolute::widths(report, other));
    for metric in report.metrics() {
        let comparison = report.comparison(candidate, metric);
        let mark = if metric == report.header.plan.metric { " *" } else { "" };
        rows.push([
            format!("{}{mark}", metric.title()),
            Absolute::of(base, metric).padded(left),
            Absolute::of(other, metric).padded(right),
            comparison.map_or("–".into(), relative),
            comparison.map_or("", |c| verdict_word_for(metric, c.comparison.verdict)).to_string(),
        ]);
        styles.push(comparison.map_or(Style::Plain, |c| Style::of(c.comparison.verdict)));
    }
    let widths: [usize; 5] = std::array::from_fn(|column| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    });
    for (number, (row, style)) in rows.iter().zip(&styles).enumerate() {
        let line = format!(
            "{}  {}  {}  {}",
            pad_right(&row[0], widths[0]),
            pad_left(&row[1], widths[1]),
            pad_left(&row[2], widths[2]),
            pad_left(&row[3], widths[3]),
        );
        let line = match number {
            0 => paint.with(Style::Bold, &line),
            _ if row[4].is_empty() => line,
            _ => format!("{line}  {}", paint.with(*style, &row[4])),
        };
        push_line(text, line.trim_end());
    }
}

/// A value and its spread, which line up on their own.
struct Absolute {
    value: String,
    spread: String,
}

impl Absolute {
    fn of(datastore: &Datastore, metric: Metric) -> Self {
        match datastore.value(metric) {
            None => Self { value: "–".into(), spread: String::new() },
            Some(value) => Self {
                value: metric_value(metric, value.value),
                spread: spread_percent(value).map(|s| format!("±{s}%")).unwrap_or_default(),
            },
        }
    }

    /// The widest spread of a column.
    fn widths(report: &Report, datastore: &Datastore) -> usize {
        let spreads = report.metrics().into_iter().map(|m| Self::of(datastore, m).spread);
        spreads.map(|spread| spread.chars().count()).max().unwrap_or(0)
    }

    fn padded(&self, spread_width: usize) -> String {
        format!("{} {}", self.value, pad_left(&self.spread, spread_width))
    }
}

/// The candidate when the baseline is 100: `76.6 ±1.5`.
fn relative(of: &MetricComparison) -> String {
    let comparison = &of.comparison;
    let digits = if comparison.ratio >= 10.0 { 0 } else { 1 };
    let value = format!("{:.digits$}", comparison.ratio * 100.0);
    let half = comparison.half_width * comparison.ratio * 100.0;
    if half.is_finite() { format!("{value} ±{half:.digits$}") } else { format!("{value} ±–") }
}

fn caption(report: &Report) -> String {
    let plan = &report.header.plan;
    let mut text = format!(
        "* carries the verdict. Relative values come from the ratios within the blocks, baseline = \
         100; ± is the larger side of the {} % interval",
        level_percent(plan.level)
    );
    if report.metrics().len() > 1 {
        text += ", Holm-adjusted for the other metrics";
    }
    text += &format!(
        ". Margin of equivalence {} %, wanted precision {} %, seed {}.",
        percent(plan.margin),
        percent(plan.precision),
        plan.seed
    );
    text
}

/// Breaks text at spaces into lines of at most `width` characters; a number keeps its `%`, and
/// a word longer than a line stands alone.
pub(crate) fn wrap(text: &str, width: usize, first: &str, hang: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_string();
    let mut is_fresh = true;
    let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let mut word = word.to_string();
        while let Some(next) = words.next_if(|next| next.starts_with('%')) {
            word = format!("{word} {next}");
        }
        if !is_fresh && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, hang.to_string()));
            is_fresh = true;
        }
        if !is_fresh {
            line.push(' ');
        }
        line.push_str(&word);
        is_fresh = false;
    }
    lines.push(line);
    lines
}

pub(crate) fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}

pub(crate) fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.chars().count())))
}

pub(crate) fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Style {
    Plain,
    Bold,
    Dim,
    Good,
    Bad,
    Same,
    Unsure,
}

impl Style {
    pub(crate) fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Faster => Style::Good,
            Verdict::Slower | Verdict::Invalid => Style::Bad,
            Verdict::Equivalent => Style::Same,
            Verdict::Inconclusive => Style::Unsure,
        }
    }

    /// Parameters of the "select graphic rendition" sequence, ECMA-48 section 8.3.117.
    fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Good => "1;32",
            Style::Bad => "1;31",
            Style::Same => "1;36",
            Style::Unsure => "1;33",
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    pub(crate) fn with(self, style: Style, text: &str) -> String {
        if self.0 && style != Style::Plain {
            format!("\x1b[{}m{text}\x1b[0m", style.code())
        } else {
            text.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces_and_never_before_a_per_cent_sign() {
        let lines = wrap("it is 23.4 % slower than the other one", 12, "", "  ");
        assert_eq!(lines, ["it is 23.4 %", "  slower", "  than the", "  other one"]);
        let lines = wrap("a-word-longer-than-the-line x", 10, "", "");
        assert_eq!(lines, ["a-word-longer-than-the-line", "x"]);
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\x1b[31mb\nc"), "a\u{fffd}[31mb\u{fffd}c");
    }
}
