//! elbencho's results: JSON (`--jsonfile`, an object per line and phase) and CSV (`--csvfile`, a line per phase).
//!
//! After elbencho's own source (`Statistics.cpp`, `LatencyHistogram.cpp`, `ProgArgs.cpp`) and its documentation of the
//! CSV. Its megabyte is 2^20 bytes. All numbers are whole, with the fraction cut. Of each phase it states what was
//! reached when the first thread ended and when the last one did; the latter is read.

mod lines;
mod table;

#[cfg(test)]
mod tests;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::run::{Imported, Load, Pattern, Run, Way};
use crate::units::{US, cut};

/// What this format is called.
pub(crate) const NAME: &str = "elbencho";

/// Whether the text is one of the two files.
pub(crate) fn is(text: &str) -> bool {
    lines::is(text) || table::is(text)
}

/// Reads one of the two files.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported =
        Imported { tool: "elbencho", version: None, runs: Vec::new(), left_out: Vec::new() };
    if lines::is(text) {
        lines::read(text, &mut imported)?;
    } else {
        table::read(text, &mut imported)?;
    }
    if !imported.runs.is_empty() {
        imported.left_out.push("What was reached when the first thread ended.".to_string());
    }
    Ok(imported)
}

const OTHERS: &str = "Phases that neither read nor write, such as the creation of directories.";

/// What the main numbers of a phase are of; in a mixed phase those of reads are apart.
fn way(phase: &str) -> Option<Way> {
    if phase.starts_with("READ") {
        Some(Way::Read)
    } else if phase.starts_with("WRITE") || mixed(phase) {
        Some(Way::Write)
    } else {
        None
    }
}

/// Whether a part of the requests, or some threads, read while the others write.
fn mixed(phase: &str) -> bool {
    phase.starts_with("RWMIX") || phase.starts_with("MIX-T")
}

/// The settings that both files have.
#[derive(Debug, Default)]
struct Settings {
    label: Option<String>,
    path_type: Option<String>,
    paths: Option<u64>,
    hosts: Option<u64>,
    threads: Option<u64>,
    file_size: Option<u64>,
    block_size: Option<u64>,
    direct: Option<bool>,
    random: Option<bool>,
    depth: Option<u64>,
    began_s: Option<f64>,
}

impl Settings {
    /// A run of this phase, still without figures.
    fn run(&self, phase: &str, place: String) -> Run {
        let workers = self.threads.and_then(|each| each.checked_mul(self.hosts.unwrap_or(1)));
        let one = self.paths == Some(1)
            && matches!(self.path_type.as_deref(), Some("file" | "blockdev" | "object"));
        let load = Load {
            request_bytes: self.block_size.filter(|&bytes| bytes > 0),
            read_share: way(phase).filter(|_| !mixed(phase)).map(|way| match way {
                Way::Read => 1.0,
                _ => 0.0,
            }),
            pattern: self
                .random
                .map(|random| if random { Pattern::Random } else { Pattern::Sequential }),
            outstanding: workers.zip(self.depth).and_then(|(all, depth)| all.checked_mul(depth)),
            workers,
            working_set_bytes: self.file_size.filter(|&bytes| one && bytes > 0),
            direct: self.direct,
            ..Load::default()
        };
        let name = match self.label.as_deref().filter(|label| !label.is_empty()) {
            Some(label) => format!("{label}: {phase}"),
            None => phase.to_string(),
        };
        Run { name, place, began_s: self.began_s, load, ..Run::default() }
    }
}

/// Cut microseconds. A mean is of cut ones and then cut again.
fn latency(figure: Figure, mean: bool) -> Figure {
    let figure = cut(figure).times(US);
    if mean { cut(figure) } else { figure }
}
