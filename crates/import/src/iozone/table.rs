//! iozone's table: a line per size of file and of record, a column per test. Tests that were not run leave their
//! columns blank, so that only the place of a number says whose it is.

use crate::error::ImportError;
use crate::place::{Line, quoted};
use crate::run::Run;
use crate::units::cut;

use super::banner::{Banner, bytes, direction};
use super::kinds::{KINDS, Kind};

/// How far the right edge of a number may be from its column's: versions differ by up to 2.
const REACH: usize = 3;

/// The columns of a table.
#[derive(Debug)]
pub(super) struct Columns {
    /// Each test's right edge, in characters.
    edges: Vec<(usize, &'static Kind)>,
}

impl Columns {
    /// The columns, if this is the (lower) line of headings.
    pub(super) fn of(line: &Line<'_>) -> Result<Option<Self>, ImportError> {
        let mut words = with_edges(line.text);
        let size = words.next().map(|(_, word)| word);
        let record = words.next().map(|(_, word)| word);
        if !size.is_some_and(|word| word.eq_ignore_ascii_case("kb")) || record != Some("reclen") {
            return Ok(None);
        }
        let mut edges = Vec::new();
        for (at, (edge, word)) in words.enumerate() {
            match KINDS.get(at).filter(|kind| kind.column == word) {
                Some(kind) => edges.push((edge, kind)),
                None => return Err(line.error(word, "this column is not one of iozone's")),
            }
        }
        Ok(Some(Self { edges }))
    }

    /// The runs of a row; `None` if the line is not one.
    pub(super) fn row(
        &self,
        line: &Line<'_>,
        banner: &Banner,
    ) -> Result<Option<Vec<Run>>, ImportError> {
        let mut words = line.words();
        let (Some(size), Some(record)) = (words.next(), words.next()) else { return Ok(None) };
        if size.parse::<u64>().is_err() {
            return Ok(None);
        }
        let (file, record) = (bytes(line, size)?, bytes(line, record)?);
        let values: Vec<_> = with_edges(line.text).skip(2).take(KINDS.len() + 1).collect();
        if values.len() > self.edges.len() {
            return Err(line.error(size, "more numbers than columns"));
        }
        let unit =
            banner.unit.ok_or_else(|| line.error(size, "no line before this one says the unit"))?;
        let full = values.len() == self.edges.len();
        let mut runs = Vec::new();
        let mut next = 0;
        for (at, (edge, word)) in values.into_iter().enumerate() {
            let found = if full { Some(at) } else { self.nearest(edge, next) };
            let Some((at, (_, kind))) = found.and_then(|at| Some((at, self.edges.get(at)?))) else {
                return Err(line.error(word, format!("{} is not below one column", quoted(word))));
            };
            next = at + 1;
            let mut run = banner.run(kind, line.number, Some(record), Some(file), 1);
            run.directions.push(direction(kind.way, unit, cut(line.figure(word)?)));
            runs.push(run);
        }
        Ok(Some(runs))
    }

    /// The column, from this one on, whose edge is the nearest.
    fn nearest(&self, edge: usize, from: usize) -> Option<usize> {
        let distance = |at: &usize| self.edges[*at].0.abs_diff(edge);
        let found = (from..self.edges.len()).min_by_key(distance)?;
        (distance(&found) <= REACH).then_some(found)
    }
}

/// The words, each with the number of characters up to its end.
fn with_edges(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut bytes, mut edge) = (0, 0);
    text.split_whitespace().map(move |word| {
        let end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
        edge += text[bytes..end].chars().count();
        bytes = end;
        (edge, word)
    })
}
