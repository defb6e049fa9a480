//! The JSON documents in what fio printed.
//!
//! fio prints its warnings to where the JSON goes, and output is often appended to a file that has one run. So a
//! document starts at a line that begins with `{`, ends where its JSON does, and lines between documents are text.

use super::notes::Notes;
use crate::error::ImportError;
use crate::json;

/// Whether a line of the text begins a JSON object, or the whole text is an array of them.
pub(crate) fn has_document(text: &str) -> bool {
    is_array(text) || text.lines().any(|line| line.trim_start_matches([' ', '\t']).starts_with('{'))
}

/// Reads all documents, in their order, each with its text and how many there are. Lines of text between them are
/// counted in `notes`.
pub(crate) fn read(
    format: &'static str,
    text: &str,
    notes: &mut Notes,
    mut each: impl FnMut(&str, usize, &mut Notes) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if is_array(text) {
        // Several results, put into one array by another tool. Anything else is a line of text, such as a prompt.
        if let Some(mut documents) = json::array(text) {
            let count = documents.clone().count();
            return documents.try_for_each(|document| each(document, count, notes));
        }
    }
    let mut count = 0;
    let mut skipped = Skipped::default();
    walk(format, text, &mut |part| match part {
        Part::Document(_) => {
            count += 1;
            Ok(())
        }
        Part::Text(line, text) => {
            skipped.line(line, text);
            Ok(())
        }
    })?;
    skipped.note(notes);
    walk(format, text, &mut |part| match part {
        Part::Document(document) => each(document, count, notes),
        Part::Text(..) => Ok(()),
    })
}

enum Part<'a> {
    Document(&'a str),
    /// A line, with its number.
    Text(usize, &'a str),
}

fn walk(
    format: &'static str,
    text: &str,
    each: &mut dyn FnMut(Part<'_>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let (mut at, mut line) = (0, 1);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = if rest.trim_start_matches([' ', '\t']).starts_with('{') {
            match json::next_document(rest) {
                Some(Ok(document)) => {
                    each(Part::Document(document))?;
                    document.len().max(1)
                }
                Some(Err(error)) => return Err(refused(format, &error, rest, line)),
                None => break,
            }
        } else {
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            each(Part::Text(line, rest.get(..end).unwrap_or_default()))?;
            end
        };
        line += rest.bytes().take(length).filter(|byte| *byte == b'\n').count();
        at += length;
    }
    Ok(())
}

fn is_array(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('[')
}

fn refused(
    format: &'static str,
    error: &serde_json::Error,
    rest: &str,
    first_line: usize,
) -> ImportError {
    if error.is_eof() {
        let lines = rest.trim_end().lines().count().max(1);
        return ImportError::Truncated { format, line: first_line + lines - 1 };
    }
    let text = error.to_string();
    // The place is in fields of its own, and the message repeats it.
    let what = text.split(" at line ").next().unwrap_or_default().to_owned();
    ImportError::Malformed {
        format,
        line: first_line + error.line().saturating_sub(1),
        column: error.column().max(1),
        what,
    }
}

#[derive(Debug, Default)]
struct Skipped {
    count: usize,
    first: Option<(usize, String)>,
}

impl Skipped {
    fn line(&mut self, line: usize, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        self.count += 1;
        if self.first.is_none() {
            self.first = Some((line, text.chars().take(80).collect()));
        }
    }

    fn note(self, notes: &mut Notes) {
        if let Some((line, text)) = self.first {
            notes.add(match self.count {
                1 => format!("line {line} is not JSON: {text}"),
                count => format!("{count} lines are not JSON, the first is line {line}: {text}"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> (Result<usize, ImportError>, Vec<String>) {
        let mut notes = Notes::default();
        let mut documents = 0;
        let read = read("fio JSON", text, &mut notes, |_, _, _| {
            documents += 1;
            Ok(())
        });
        (read.map(|()| documents), notes.into_sentences())
    }

    #[test]
    fn text_around_documents_is_left_out() {
        let (documents, notes) = read_all("fio: slow clock\n\n{\"a\": 1}\n{\n}\nfio: done\n");
        assert_eq!(documents, Ok(2));
        assert_eq!(notes, ["2 lines are not JSON, the first is line 1: fio: slow clock"]);
    }

    #[test]
    fn several_documents_may_be_an_array_or_a_line() {
        assert_eq!(read_all("[{}, {}]\n").0, Ok(2));
        assert_eq!(read_all("{} {}{}\n").0, Ok(3));
        assert_eq!(read_all("[root@host]# fio\n{}\n").0, Ok(1));
    }

    #[test]
    fn a_document_that_ends_too_early_says_where() {
        assert_eq!(
            read_all("note\n{\n\"a\": [1,\n").0,
            Err(ImportError::Truncated { format: "fio JSON", line: 3 })
        );
    }

    #[test]
    fn what_is_no_json_says_where() {
        let Err(ImportError::Malformed { line, column, .. }) = read_all("x\n{\n\"a\": nan\n}\n").0
        else {
            panic!("expected an error")
        };
        assert_eq!((line, column), (3, 7));
    }
}
