//! What iozone prints: its table, its report for spreadsheets (`-R`) and its throughput mode (`-t`).
//!
//! After iozone's own source (`iozone.c` of 3.414 and later: `print_header`, `dump_report`, `throughput_test`) and its
//! manual. Its kilobyte is 1024 bytes in every version, whether spelt `KB`, `Kbytes` or `kB`. With `-O` the numbers of
//! the table are records per second, and with `-N` microseconds per record; the banner says which.
//! The table has whole numbers, of which the fraction was cut.

mod banner;
mod kinds;
mod matrices;
mod table;
mod throughput;

#[cfg(test)]
mod tests;

use crate::error::ImportError;
use crate::place::{Line, lines, remark, truncated};
use crate::run::{Imported, Run};
use crate::series::Series;

use banner::Banner;
use matrices::Matrices;
use table::Columns;
use throughput::Blocks;

/// What this format is called.
pub(crate) const NAME: &str = "iozone";

const BEGIN: &str = "Iozone: Performance Test of File I/O";
const END: &str = "iozone test complete.";

/// Whether the text is what iozone prints.
pub(crate) fn is(text: &str) -> bool {
    text.contains(BEGIN)
}

/// Reads what iozone printed, once or several times.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported {
        tool: "iozone".into(),
        version: None,
        runs: Series::default(),
        left_out: Vec::new(),
    };
    let mut section: Option<Section> = None;
    for line in lines(NAME, text) {
        let trimmed = line.text.trim();
        if trimmed == BEGIN {
            if let Some(before) = section.replace(Section::default()) {
                if !before.complete {
                    return Err(line.error(trimmed, "the output before this line has no end"));
                }
                before.end(&mut imported);
            }
        } else if let Some(current) = &mut section {
            current.take(&line, &mut imported.left_out)?;
        }
    }
    match section {
        Some(last) if !last.complete => return Err(truncated(NAME, text)),
        Some(last) => last.end(&mut imported),
        None => {}
    }
    Ok(imported)
}

/// What one call of iozone printed.
#[derive(Debug, Default)]
struct Section {
    banner: Banner,
    columns: Option<Columns>,
    table: Series<Run>,
    matrices: Matrices,
    blocks: Blocks,
    /// Whether its end was seen, behind which only reports follow.
    complete: bool,
    /// Whether the summary of the blocks has started, which repeats them.
    summary: bool,
}

impl Section {
    fn take(&mut self, line: &Line<'_>, left_out: &mut Vec<String>) -> Result<(), ImportError> {
        let text = line.text.trim();
        if text == END {
            if self.blocks.open {
                return Err(line.error(text, "the last block has no line Min xfer"));
            }
            self.complete = true;
            return Ok(());
        }
        if self.summary || self.banner.take(line)? || self.blocks.take(line, &self.banner)? {
            return Ok(());
        }
        if let Some(columns) = Columns::of(line)? {
            self.columns = Some(columns);
        } else if text.starts_with("Run began:") {
            remark(left_out, "The start, which is stated without a time zone.");
        } else if text.to_ascii_lowercase().starts_with("cpu utilization: wall time") {
            remark(left_out, CPU);
        } else if text.starts_with("\"Throughput report") {
            self.summary = true;
        } else if self.matrices.take(line, &self.banner)? {
        } else if let Some(runs) =
            self.columns.as_ref().map(|columns| columns.row(line, &self.banner)).transpose()?
        {
            self.table.extend(runs.into_iter().flatten());
        }
        Ok(())
    }

    fn end(self, imported: &mut Imported) {
        if !self.blocks.runs.is_empty() {
            remark(&mut imported.left_out, BLOCKS);
        }
        if self.matrices.cpu {
            remark(&mut imported.left_out, CPU);
        }
        if imported.version.is_none() {
            imported.version = self.banner.version;
        }
        imported.runs.append(self.blocks.runs);
        // The report for spreadsheets repeats the table.
        let table = if self.table.is_empty() { self.matrices.runs } else { self.table };
        imported.runs.append(table);
    }
}

const CPU: &str = "The CPU utilization, which is of iozone's own processes and not of the host.";
const BLOCKS: &str = "Of throughput tests, all but the sum of the processes: the parent's view, \
                      and the slowest, fastest and mean process.";
