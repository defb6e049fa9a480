//! `stormeter replicate`: finds the study and prints the result. Everything else is in the crate of that name.

use std::path::Path;

use stormeter_replicate::{
    AnswerSource, Published, ReplicateTable, STUDIES, embedded, overview, replicate, terminal,
};

use super::replicate_answers;
use crate::arguments::ReplicateOptions;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_notes, terminal_width};

pub(crate) fn run(options: &ReplicateOptions) -> Result<Exit, Failure> {
    // Without a terminal, the width that the tables were made for.
    let width = terminal_width().unwrap_or(100);
    let Some(study) = &options.study else { return all(options.json, width) };
    let (place, text) = text_of(study)?;
    let published = read(&place, &text)?;
    let measured = replicate_answers::open(&options.measured)?;
    let predicted = replicate_answers::open(&options.predicted)?;
    let table = table(&published, measured.as_deref(), predicted.as_deref())?;
    if options.json {
        json(&table)?
    } else {
        print(&terminal(&table, width))?
    }
    Ok(Exit::Done)
}

/// All built-in studies, a few lines each.
fn all(as_json: bool, width: usize) -> Result<Exit, Failure> {
    let tables = STUDIES
        .iter()
        .map(|(name, text)| table(&read(name, text)?, None, None))
        .collect::<Result<Vec<_>, _>>()?;
    if as_json {
        json(&tables)?
    } else {
        print(&overview(&tables, width))?
    }
    Ok(Exit::Done)
}

fn table(
    published: &Published,
    measured: Option<&dyn AnswerSource>,
    predicted: Option<&dyn AnswerSource>,
) -> Result<ReplicateTable, Failure> {
    replicate(published, measured, predicted).map_err(|error| Failure::Usage(error.to_string()))
}

/// The text of a study and where it comes from: the name of one that is built in, a file, or a
/// directory with a `published.yaml`.
fn text_of(study: &str) -> Result<(String, String), Failure> {
    if let Some(text) = embedded(study) {
        return Ok((study.to_owned(), text.to_owned()));
    }
    let path = Path::new(study);
    let file = if path.is_dir() { path.join("published.yaml") } else { path.to_owned() };
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok((file.display().to_string(), text)),
        Err(error) => {
            let names = STUDIES.map(|(name, _)| name).join(", ");
            Err(Failure::Usage(format!(
                "there is no built-in study {study} ({names}), and {} cannot be read: {error}",
                file.display()
            )))
        }
    }
}

fn read(place: &str, text: &str) -> Result<Published, Failure> {
    let published =
        Published::read(text).map_err(|error| Failure::Usage(format!("{place}, {error}")))?;
    print_notes(place, &published.notes);
    Ok(published)
}

fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::File(e.to_string()))?;
    print(&format!("{text}\n"))
}
