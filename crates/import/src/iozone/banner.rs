//! What iozone says before its results: the unit, and how it does I/O.

use crate::error::ImportError;
use crate::figure::Figure;
use crate::place::Line;
use crate::room::kept;
use crate::run::{Direction, Load, Run, Way};

use super::kinds::Kind;

/// iozone's kilobyte.
pub(super) const KB: f64 = 1024.0;

/// What the numbers are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    /// 1024 bytes per second.
    Kilobytes,
    /// Records per second.
    Operations,
    /// Microseconds per record.
    Microseconds,
}

/// The settings that are stated.
#[derive(Debug, Default)]
pub(super) struct Banner {
    pub(super) version: Option<String>,
    pub(super) unit: Option<Unit>,
    target: Option<String>,
    /// Whether the command line was seen, after which what is not stated is not so.
    stated: bool,
    direct: bool,
    durability: Vec<&'static str>,
    mapped: bool,
    depth: Option<u64>,
    /// Of throughput mode: bytes of a process's file and of a record.
    pub(super) each: Option<(u64, Option<u64>)>,
}

impl Banner {
    /// Notes what the line says; false if it is not of the banner.
    pub(super) fn take(&mut self, line: &Line<'_>) -> Result<bool, ImportError> {
        let text = line.text.trim();
        if let Some(rest) = text.strip_prefix("Version $Revision:") {
            self.version = rest.split_whitespace().next().map(str::to_string);
        } else if let Some(command) = text.strip_prefix("Command line used:") {
            self.stated = true;
            self.target = target(command);
        } else if text.starts_with("Output is in") {
            self.unit = match text.to_ascii_lowercase().as_str() {
                "output is in kbytes/sec" => Some(Unit::Kilobytes),
                _ => return Err(line.error(text, "the unit is not one of iozone's")),
            };
        } else if text.starts_with("OPS Mode.") {
            self.unit = Some(Unit::Operations);
        } else if text.starts_with("Microseconds/op Mode.") {
            self.unit = Some(Unit::Microseconds);
        } else if text.starts_with("O_DIRECT") || text.starts_with("VxFS advanced feature") {
            self.direct |= !text.contains("not available");
        } else if text == "Include fsync in write timing" {
            self.durable("fsync at the end, in the time (-e)");
        } else if text == "SYNC Mode." {
            self.durable("O_SYNC (-o)");
        } else if text.starts_with("Using mmap files") {
            self.mapped = true;
        } else if text.to_ascii_lowercase().starts_with("posix async i/o") {
            let word = text.split_whitespace().next_back().unwrap_or(text);
            self.depth = Some(line.whole(word)?);
        } else if text.starts_with("Each ") && text.contains(" writes a ") {
            self.each = Some(each(line)?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn durable(&mut self, how: &'static str) {
        if !self.durability.contains(&how) {
            self.durability.push(how);
        }
    }

    /// A run of this kind, with records and files of this size, by this number of processes.
    pub(super) fn run(
        &self,
        kind: &Kind,
        place: usize,
        record: Option<u64>,
        file: Option<u64>,
        processes: u64,
    ) -> Run {
        let engine = match (self.depth, self.mapped, kind.calls) {
            (Some(_), _, _) => Some("POSIX AIO"),
            (None, true, _) => Some("mmap"),
            (None, false, calls) => calls,
        };
        let load = Load {
            request_bytes: record.filter(|&bytes| bytes > 0),
            read_share: match kind.way {
                Way::Read => Some(1.0),
                Way::Write => Some(0.0),
                _ => None,
            },
            pattern: kind.pattern,
            outstanding: processes.checked_mul(self.depth.unwrap_or(1)),
            workers: Some(processes),
            working_set_bytes: file.and_then(|bytes| bytes.checked_mul(processes)),
            direct: self.stated.then_some(self.direct),
            durability: self.stated.then(|| self.durability.join(", ")),
            engine: engine.map(str::to_string),
            ..Load::default()
        };
        Run {
            name: kind.name.to_string(),
            place: format!("line {place}"),
            target: self.target.clone(),
            load,
            ..Run::default()
        }
    }
}

/// The figure at its place.
pub(super) fn direction(way: Way, unit: Unit, figure: Figure) -> Direction {
    let mut direction = Direction::new(way);
    match unit {
        Unit::Kilobytes => direction.bytes_per_s = Some(figure.times(KB)),
        Unit::Operations => direction.iops = Some(figure),
        Unit::Microseconds => direction.latency.mean = Some(figure.times(1e3)),
    }
    direction
}

/// Kilobytes as bytes.
pub(super) fn bytes(line: &Line<'_>, word: &str) -> Result<u64, ImportError> {
    line.whole(word)?
        .checked_mul(KB as u64)
        .ok_or_else(|| line.error(word, "more bytes than can be counted"))
}

/// The file of the option `-f`, or the first of `-F`.
fn target(command: &str) -> Option<String> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        match word.strip_prefix("-f").or_else(|| word.strip_prefix("-F")) {
            Some("") => return words.next().map(kept),
            Some(attached) => return Some(kept(attached)),
            None => {}
        }
    }
    None
}

/// `Each process writes a 409600 kByte file in 64 kByte records`; with a telemetry file the records have no size.
fn each(line: &Line<'_>) -> Result<(u64, Option<u64>), ImportError> {
    let mut sizes = [None; 2];
    let mut count = 0;
    let mut before = "";
    for word in line.words() {
        if word.eq_ignore_ascii_case("kbyte") && count < 2 {
            sizes[count] = Some(bytes(line, before)?);
            count += 1;
        }
        before = word;
    }
    match sizes {
        [Some(file), record] => Ok((file, record)),
        _ => Err(line.error(line.text.trim_start(), "the size of a file is missing")),
    }
}
