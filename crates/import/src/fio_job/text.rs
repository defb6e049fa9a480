//! The text of a job file: sections and their lines.
//!
//! As in fio's parser (HOWTO, "Job file format"): `;` and `#` start a comment anywhere in a line, `include FILE` is
//! replaced by that file, and `${NAME}` by the environment.

use super::error::{FioJobError, JobPlace};
use super::surroundings::Surroundings;

/// A key of a section.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) place: JobPlace,
    pub(super) key: String,
    /// What follows the `=`; `None`: there is none.
    pub(super) value: Option<String>,
}

/// A section with its lines.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub(super) place: JobPlace,
    pub(super) name: String,
    pub(super) lines: Vec<Line>,
}

/// The most sections, as in fio (REAL_MAX_JOBS).
const MOST_SECTIONS: usize = 4096;

/// Files that include each other: no more than this deep.
const DEEPEST: usize = 16;

/// The sections in the order of the file, those of included files in their place.
pub(super) fn sections(text: &str, around: &Surroundings<'_>) -> Result<Vec<Section>, FioJobError> {
    let mut sections = Vec::new();
    read(text, None, around, 0, &mut sections)?;
    Ok(sections)
}

fn read(
    text: &str,
    file: Option<&str>,
    around: &Surroundings<'_>,
    depth: usize,
    sections: &mut Vec<Section>,
) -> Result<(), FioJobError> {
    for (index, line) in text.lines().enumerate() {
        let place = JobPlace { file: file.map(str::to_owned), line: index + 1 };
        let malformed = |what: String| FioJobError::Malformed { place: place.clone(), what };
        let content = line.split([';', '#']).next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        if let Some(rest) = content.strip_prefix('[') {
            let Some((name, _)) = rest.rsplit_once(']') else {
                return Err(malformed("a section has no ]; write it as [job]".into()));
            };
            if sections.len() == MOST_SECTIONS {
                return Err(malformed(format!("there are more than {MOST_SECTIONS} sections")));
            }
            let name = name.trim().to_owned();
            sections.push(Section { place, name, lines: Vec::new() });
            continue;
        }
        if let Some(name) =
            content.strip_prefix("include").filter(|rest| rest.starts_with([' ', '\t']))
        {
            let name = name.trim();
            if depth == DEEPEST {
                return Err(malformed(format!(
                    "{name} is included {DEEPEST} levels deep; do files include themselves?"
                )));
            }
            let Some(included) = (around.include)(name) else {
                return Err(malformed(format!(
                    "{name} cannot be read; put it next to the job file, or write its lines here"
                )));
            };
            read(&included, Some(name), around, depth + 1, sections)?;
            continue;
        }
        let (key, value) = match content.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
            None => (content, None),
        };
        if content.chars().any(|c| c.is_control() && c != '\t') {
            return Err(malformed("it has control characters; is this a fio job file?".into()));
        }
        let is_key =
            !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        if !is_key {
            return Err(malformed(format!(
                "\"{}\" is neither a section nor a key; is this a fio job file?",
                content.chars().take(40).collect::<String>()
            )));
        }
        let Some(section) = sections.last_mut() else {
            return Err(malformed(format!(
                "{key} stands in no section; write [global] or [job] above it"
            )));
        };
        section.lines.push(Line { place, key: key.to_owned(), value });
    }
    Ok(())
}
