//! iozone's report for spreadsheets (`-R`): of each test a matrix, files of a size below each other and records of a
//! size side by side, their sizes in quotes.

use crate::error::ImportError;
use crate::place::Line;
use crate::run::Run;
use crate::series::Series;
use crate::units::cut;

use super::banner::{Banner, bytes, direction};
use super::kinds::{KINDS, Kind};

/// Each is twice the one before it.
const MOST_RECORDS: usize = 64;

/// The matrices of a report.
#[derive(Debug, Default)]
pub(super) struct Matrices {
    /// The one that is being read: its test, and the sizes of records, which come first.
    open: Option<(&'static Kind, Vec<u64>)>,
    pub(super) runs: Series<Run>,
    /// Whether there are shares of CPUs, which have no place in a run.
    pub(super) cpu: bool,
}

impl Matrices {
    /// Reads the line if it is of a matrix.
    pub(super) fn take(&mut self, line: &Line<'_>, banner: &Banner) -> Result<bool, ImportError> {
        let text = line.text.trim();
        let Some((first, rest)) = text.strip_prefix('"').and_then(|text| text.split_once('"'))
        else {
            self.open = None;
            return Ok(false);
        };
        if let Some(title) = first.trim().strip_suffix("report") {
            let title = title.trim().to_ascii_lowercase();
            self.open = KINDS
                .iter()
                .find(|kind| !kind.matrix.is_empty() && kind.matrix == title)
                .map(|kind| (kind, Vec::new()));
            return match self.open {
                Some(_) => Ok(true),
                None => Err(line.error(first, "this report is not one of iozone's")),
            };
        }
        if first.contains("CPU utilization report") {
            self.open = None;
            self.cpu = true;
            return Ok(true);
        }
        let Some((kind, sizes)) = &mut self.open else { return Ok(false) };
        if sizes.is_empty() {
            for word in text.split_whitespace() {
                if sizes.len() == MOST_RECORDS {
                    return Err(
                        line.error(word, "more sizes of records than there are powers of two")
                    );
                }
                sizes.push(bytes(line, word.trim_matches('"'))?);
            }
            return Ok(true);
        }
        let unit =
            banner.unit.ok_or_else(|| line.error(text, "no line before this one says the unit"))?;
        let file = bytes(line, first)?;
        for (at, word) in rest.split_whitespace().enumerate() {
            let Some(&record) = sizes.get(at) else {
                return Err(line.error(word, "more numbers than sizes of records"));
            };
            let figure = line.figure(word)?;
            // A record that was not tried, such as one that is longer than the file.
            if figure.value == 0.0 {
                continue;
            }
            let mut run = banner.run(kind, line.number, Some(record), Some(file), 1);
            run.directions.push(direction(kind.way, unit, cut(figure)));
            self.runs.push(run);
        }
        Ok(true)
    }
}
