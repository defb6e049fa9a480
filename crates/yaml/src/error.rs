//! What is wrong with a file: where, what was found, what to write.
//!
//! All mistakes that can be found are reported at once, each with its line shown below it, so that
//! a user needs one run, not ten, to fix a file. A password in such a line is masked: messages end
//! up in logs.

use std::fmt;

use crate::redact::redacted;

/// A position in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of the text: 0 for the file itself, others in the order passed to
    /// [`Diagnostics::into_errors`].
    pub source: usize,
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Width in characters.
    pub width: usize,
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// Name of the text that has the mistake, if that is not the file itself: a value may come from
    /// the command line.
    pub source: Option<String>,
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Number of characters that it is about; at least 1.
    pub width: usize,
    /// What was found and what to write.
    pub message: String,
    /// The line itself, without its line break.
    pub source_line: String,
}

/// The mistakes of a file, in the order of their positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileErrors {
    /// Name of the file in messages.
    pub file: String,
    /// At least one.
    pub errors: Vec<FileError>,
    /// Lines that help with all of them, printed once at the end; often none.
    pub advice: Vec<String>,
}

impl FileErrors {
    /// Sets the file name that messages show.
    pub fn in_file(self, name: impl Into<String>) -> Self {
        Self { file: name.into(), ..self }
    }
}

impl std::error::Error for FileErrors {}

impl fmt::Display for FileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let FileError { source, line, column, width, message, source_line } = error;
            let file = source.as_deref().unwrap_or(&self.file);
            if index > 0 {
                f.write_str("\n")?;
            }
            writeln!(f, "{file}:{line}:{column}: {message}")?;
            let (shown, before) = excerpt(source_line, column - 1);
            let gutter = line.to_string();
            writeln!(f, "{gutter} | {shown}")?;
            let left = shown.chars().count().saturating_sub(before).max(1);
            let carets = "^".repeat((*width).clamp(1, left));
            write!(f, "{:>space$} | {:before$}{carets}", "", "", space = gutter.len())?;
        }
        self.advice.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

/// The part of a line that is worth showing, and the number of characters before the caret in it.
/// Tabs become spaces, so that the caret is in the right column.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    const MOST: usize = 100;
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let length = line.chars().count();
    if length <= MOST {
        return (line.chars().map(plain).collect(), column);
    }
    let first = column.saturating_sub(MOST / 2).min(length - MOST);
    (line.chars().skip(first).take(MOST).map(plain).collect(), column - first)
}

/// A remark about a file that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileNote {
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What was found and what to write.
    pub message: String,
}

impl fmt::Display for FileNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

/// A text that positions refer to.
#[derive(Debug, Clone, Copy)]
pub struct Source<'t> {
    /// Its name in messages.
    pub name: &'t str,
    /// The text.
    pub text: &'t str,
}

/// Collects mistakes while a file is read.
#[derive(Debug, Default)]
pub struct Diagnostics {
    found: Vec<(Place, String)>,
    notes: Vec<FileNote>,
    advice: Vec<String>,
}

impl Diagnostics {
    /// Adds a mistake.
    pub fn error_at(&mut self, place: Place, message: impl Into<String>) {
        self.found.push((place, message.into()));
    }

    /// Adds a remark, which is no mistake.
    pub fn note_at(&mut self, place: Place, message: impl Into<String>) {
        self.notes.push(FileNote {
            line: place.line.max(1),
            column: place.column.max(1),
            message: message.into(),
        });
    }

    /// Adds advice that helps with several mistakes, once.
    pub fn advise(&mut self, title: &str, lines: &[&str]) {
        if self.advice.is_empty() {
            self.advice.push(title.into());
            self.advice.extend(lines.iter().map(|line| format!("  {line}")));
        }
    }

    /// Whether there are no mistakes so far.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The number of mistakes so far: unchanged after reading a part means that all of it was read.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// The remarks, in the order of their positions.
    pub fn into_notes(mut self) -> Vec<FileNote> {
        self.notes.sort_by_key(|note| (note.line, note.column));
        self.notes
    }

    /// The mistakes as shown to the user; the first of the sources is the file.
    pub fn into_errors(mut self, sources: &[Source<'_>]) -> FileErrors {
        self.found.sort_by_key(|(place, _)| (place.source, place.line, place.column));
        self.found.dedup();
        let lines: Vec<Vec<&str>> =
            sources.iter().map(|source| source.text.lines().collect()).collect();
        let name = |index: usize| sources.get(index).map(|source| source.name.to_owned());
        let line_of = |place: Place| {
            let line = lines.get(place.source).and_then(|lines| lines.get(place.line.max(1) - 1));
            line.copied().unwrap_or_default()
        };
        let errors = self.found.into_iter().map(|(place, message)| FileError {
            source: name(place.source).filter(|_| place.source > 0),
            line: place.line.max(1),
            column: place.column.max(1),
            width: place.width.max(1),
            message: redacted(&message),
            source_line: redacted(line_of(place)),
        });
        FileErrors {
            errors: errors.collect(),
            file: name(0).unwrap_or_default(),
            advice: self.advice,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_points_at_its_place_and_mistakes_are_sorted() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.error_at(Place { source: 0, line: 2, column: 7, width: 3 }, "later");
        diagnostics.error_at(Place { source: 0, line: 1, column: 1, width: 5 }, "earlier");
        let file = Source { name: "study.yaml", text: "study: x\nload: abc\n" };
        let errors = diagnostics.into_errors(&[file]).in_file("night.yaml");
        assert_eq!(
            errors.to_string(),
            "night.yaml:1:1: earlier\n1 | study: x\n  | ^^^^^\n\
             night.yaml:2:7: later\n2 | load: abc\n  |       ^^^"
        );
    }

    #[test]
    fn of_a_long_line_the_part_around_the_place_is_shown() {
        let line = format!("{}here{}", "a".repeat(300), "b".repeat(300));
        let (shown, before) = excerpt(&line, 300);
        assert_eq!(shown.chars().count(), 100);
        assert!(shown.chars().skip(before).collect::<String>().starts_with("here"));
    }
}
