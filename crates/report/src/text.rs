//! Text for a terminal: lines of at most a given width, columns that line up, colours, and findings.

use stormeter_statistics::Verdict;

use crate::model::{Finding, Severity};
use crate::printable::printable;

/// How the text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Whether to colour by ANSI escapes; the caller knows `NO_COLOR` and what stdout is.
    pub color: bool,
    /// Width in columns. Tables take the widest form that fits.
    pub width: usize,
    /// Whether to end with the command that repeats the run.
    pub repeat: bool,
}

impl Default for TerminalOptions {
    fn default() -> Self {
        Self { color: false, width: 90, repeat: true }
    }
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

/// Breaks text at spaces into lines of at most `width` characters, of which the first starts with `first` and
/// the others with `hang`. A number keeps its `%`, and a word longer than a line stands alone.
pub fn wrap(text: &str, width: usize, first: &str, hang: &str) -> Vec<String> {
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

/// With the spaces of a terminal instead of those of a page.
pub(crate) fn plain(text: &str) -> String {
    text.replace('\u{202f}', " ")
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

#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Style {
    #[default]
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
