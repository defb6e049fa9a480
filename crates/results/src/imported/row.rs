//! Values of other tools' results as columns: figures, kinds of I/O, patterns.

use rusqlite::{Result, Row};
use stormeter_import::{Figure, Pattern, Way};

use crate::column::strange;

/// Reads a figure from its two columns.
pub(super) fn figure(row: &Row<'_>, column: &str) -> Result<Option<Figure>> {
    let value: Option<f64> = row.get(column)?;
    let half: Option<f64> = row.get(format!("{column}_half").as_str())?;
    Ok(value.zip(half).map(|(value, half)| Figure { value, half }))
}

const WAYS: [(Way, &str); 5] = [
    (Way::Read, "read"),
    (Way::Write, "write"),
    (Way::Both, "both"),
    (Way::Flush, "flush"),
    (Way::Trim, "trim"),
];

pub(super) fn name_of_way(way: Way) -> &'static str {
    let [.., (_, last)] = WAYS;
    WAYS.iter().find(|(known, _)| *known == way).map_or(last, |(_, name)| name)
}

pub(super) fn way(name: &str) -> Result<Way> {
    let found = WAYS.iter().find(|(_, known)| *known == name);
    found.map(|(way, _)| *way).ok_or_else(|| strange(format!("a kind of I/O called {name:?}")))
}

/// A pattern's word, and its share of random requests if that is not in the word.
pub(super) fn words_of_pattern(pattern: Option<Pattern>) -> (Option<&'static str>, Option<f64>) {
    match pattern {
        None => (None, None),
        Some(Pattern::Sequential) => (Some("sequential"), None),
        Some(Pattern::Random) => (Some("random"), None),
        Some(Pattern::Mixed(share)) => (Some("mixed"), Some(share)),
    }
}

pub(super) fn pattern(word: Option<&str>, share: Option<f64>) -> Result<Option<Pattern>> {
    match (word, share) {
        (None, None) => Ok(None),
        (Some("sequential"), None) => Ok(Some(Pattern::Sequential)),
        (Some("random"), None) => Ok(Some(Pattern::Random)),
        (Some("mixed"), Some(share)) => Ok(Some(Pattern::Mixed(share))),
        (word, share) => {
            Err(strange(format!("a pattern {word:?} with a random share of {share:?}")))
        }
    }
}
