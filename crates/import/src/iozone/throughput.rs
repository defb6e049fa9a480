//! iozone with several processes (`-t`): a block of lines per test.

use crate::error::ImportError;
use crate::place::{Line, quoted};
use crate::run::Run;
use crate::series::Series;

use super::banner::{Banner, Unit, direction};
use super::kinds::KINDS;

/// The blocks.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Whether a block has started and not ended.
    pub(super) open: bool,
    pub(super) runs: Series<Run>,
}

impl Blocks {
    /// Reads the line if it is of a block.
    pub(super) fn take(&mut self, line: &Line<'_>, banner: &Banner) -> Result<bool, ImportError> {
        let text = line.text.trim();
        if let Some(rest) = text.strip_prefix("Children see throughput for ") {
            if self.open {
                return Err(line.error(text, "the block before this one has no line Min xfer"));
            }
            self.open = true;
            self.runs.push(first(line, rest.trim_start(), banner)?);
            return Ok(true);
        }
        if !self.open {
            return Ok(false);
        }
        let known =
            ["Parent sees throughput", "Min throughput", "Max throughput", "Avg throughput"];
        if text.starts_with("Min xfer") {
            self.open = false;
        } else if !known.iter().any(|prefix| text.starts_with(prefix)) {
            return Ok(false);
        }
        value(line, text)?;
        Ok(true)
    }
}

/// ` 4 initial writers   =  477185.91 kB/sec`.
fn first(line: &Line<'_>, rest: &str, banner: &Banner) -> Result<Run, ImportError> {
    let (who, _) = rest.split_once('=').ok_or_else(|| line.error(rest, "= is missing"))?;
    let (count, name) = who.split_once(' ').ok_or_else(|| line.error(who, "who did it?"))?;
    let processes = line.whole(count)?;
    let name = name.trim();
    let kind = KINDS
        .iter()
        .find(|kind| !kind.children.is_empty() && kind.children == name)
        .ok_or_else(|| line.error(name, format!("{} is no test of iozone", quoted(name))))?;
    let (word, unit) = value(line, rest)?;
    let unit = match unit.to_ascii_lowercase().as_str() {
        "kb/sec" => Unit::Kilobytes,
        "ops/sec" => Unit::Operations,
        _ => return Err(line.error(unit, "the unit is not one of iozone's")),
    };
    let (file, record) = match banner.each {
        Some((file, record)) => (Some(file), record),
        None => (None, None),
    };
    let mut run = banner.run(kind, line.number, record, file, processes);
    run.directions.push(direction(kind.way, unit, line.figure(word)?));
    Ok(run)
}

/// The number and the unit behind `=`.
fn value<'a>(line: &Line<'a>, text: &'a str) -> Result<(&'a str, &'a str), ImportError> {
    let mut words = text.split_once('=').map_or("", |(_, value)| value).split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(word), Some(unit), None) => {
            line.figure(word)?;
            Ok((word, unit))
        }
        _ => Err(line.error(text, "a number with its unit is missing")),
    }
}
