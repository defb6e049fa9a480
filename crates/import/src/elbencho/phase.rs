//! A phase of elbencho, which both of its files have: its kind of I/O, its settings and its latencies.

use crate::figure::Figure;
use crate::run::{Load, Pattern, Run, Way};
use crate::units::{US, cut};

/// What this format is called.
pub(crate) const NAME: &str = "elbencho";

/// What is left out of phases of other kinds.
pub(super) const OTHERS: &str =
    "Phases that neither read nor write, such as the creation of directories.";

/// What the main numbers of a phase are of; in a mixed phase those of reads are apart.
pub(super) fn way(phase: &str) -> Option<Way> {
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
pub(super) struct Settings {
    pub(super) label: Option<String>,
    pub(super) path_type: Option<String>,
    pub(super) paths: Option<u64>,
    pub(super) hosts: Option<u64>,
    pub(super) threads: Option<u64>,
    pub(super) file_size: Option<u64>,
    pub(super) block_size: Option<u64>,
    pub(super) direct: Option<bool>,
    pub(super) random: Option<bool>,
    pub(super) depth: Option<u64>,
    pub(super) began_s: Option<f64>,
}

impl Settings {
    /// A run of this phase, still without figures.
    pub(super) fn run(&self, phase: &str, place: String) -> Run {
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
pub(super) fn latency(figure: Figure, mean: bool) -> Figure {
    let figure = cut(figure).times(US);
    if mean { cut(figure) } else { figure }
}
