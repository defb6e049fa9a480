//! The report as text for a terminal: the sentence first, then what is wrong with it, then the
//! numbers. It fits any width from 40 columns on.

use stormeter_statistics::Verdict;

use crate::model::{Finding, Report, Severity};
use crate::printable::printable;
use crate::quantity::{level_percent, percent};
use crate::sentence::headline;
use crate::touched;
use crate::wording;

mod pair;

/// How the text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Whether to colour by ANSI escapes; the caller knows `NO_COLOR` and what stdout is.
    pub color: bool,
    /// Columns to fill. Tables take the form that fits.
    pub width: usize,
    /// Whether to end with the command that repeats the run.
    pub repeat: bool,
}

impl Default for TerminalOptions {
    fn default() -> Self {
        Self { color: false, width: 90, repeat: true }
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
    for words in [touched::line(report), wording::verified(report)].into_iter().flatten() {
        for line in wrap(&printable(&words), width, "", "  ") {
            push_line(&mut text, &line);
        }
    }
    push_line(&mut text, "");
    legend(report, width, paint, &mut text);
    for candidate in 0..report.datastores.len() {
        if candidate != report.header.plan.baseline {
            push_line(&mut text, "");
            pair::table(report, candidate, (width, paint), &mut text);
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
    if options.repeat {
        push_line(&mut text, "");
        push_line(&mut text, &format!("Repeat it: {}", printable(&report.repeat_command)));
    }
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
    let beside = longest + 4;
    for (index, datastore) in report.datastores.iter().enumerate() {
        let role = if index == report.header.plan.baseline { "baseline = 100; " } else { "" };
        let mut words = format!("{role}{}", wording::datastore(&datastore.description));
        if datastore.description.url != datastore.label {
            words = format!("{}; {words}", datastore.description.url);
        }
        // Beside long names on a narrow terminal too little room is left, for a URL on any.
        let widest = words.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
        if beside > width / 2 || beside + widest > width {
            let hang = " ".repeat(4);
            let label = format!("  {}", printable(&datastore.label));
            push_line(text, &paint.with(Style::Bold, &label));
            for line in wrap(&printable(&words), width, &hang, &hang) {
                push_line(text, &line);
            }
            continue;
        }
        let hang = " ".repeat(beside);
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

fn caption(report: &Report) -> String {
    let plan = &report.header.plan;
    let adjusted = if report.metrics().len() > 1 { " (other metrics: Holm-adjusted)" } else { "" };
    format!(
        "* decides the verdict. Relative values are ratios within blocks, baseline = 100, with their \
         {} % interval{adjusted}: ± where it is symmetric, otherwise its ends. Equivalence margin \
         {} %, requested precision {} %, seed {}.",
        level_percent(plan.level),
        percent(plan.margin),
        percent(plan.precision),
        plan.seed
    )
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
