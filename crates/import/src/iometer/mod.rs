//! Iometer's results file: of every test the rows of the whole, of managers, workers and targets.
//!
//! After Iometer's own source (`ManagerList.cpp`, `AccessSpecList.cpp` and `PageSetup.cpp` of 1.1, `IOCommon.h` of 2003
//! to 2006). Only the rows `ALL` are read, which sum the others. The column `MBps` of versions before 1.1 counts 2^20
//! bytes; later ones have a column of each kind, and the binary one is taken. Times are milliseconds.

mod rows;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::error::ImportError;
use crate::place::{Line, lines, remark, truncated};
use crate::room::Room;
use crate::run::{Imported, Pattern};
use crate::series::Series;

use rows::Columns;

/// What this format is called.
pub(crate) const NAME: &str = "Iometer CSV";

/// Whether the text is Iometer's results file.
pub(crate) fn is(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with("'Test Type,Test Description")
}

/// What the lines that follow are.
#[derive(Debug, Default)]
enum Part {
    #[default]
    Nothing,
    Version,
    /// Behind the heading `'Time Stamp`, which ends the results.
    Stamp,
    /// Behind the heading `'Access specification name`.
    Name,
    /// Behind the heading `'size,% of size,…`, of the specification of this name.
    Sizes(String),
    Results(Box<Columns>),
}

/// Shares of request kinds that a specification consists of.
#[derive(Debug, Clone, Copy)]
struct Kind {
    bytes: u64,
    share: f64,
    reads: f64,
    random: f64,
}

/// Reads the file.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported {
        tool: "Iometer".into(),
        version: None,
        runs: Series::default(),
        left_out: Vec::new(),
    };
    let mut part = Part::Nothing;
    let mut specifications: HashMap<String, Vec<Kind>> = HashMap::new();
    // Each part with results ends with a time, and in later versions the test with a line of its own.
    let mut ended = true;
    let mut results = false;
    let mut room = Room::of(text);
    for line in lines(NAME, text.trim_start_matches('\u{feff}')) {
        if let Some(heading) = line.text.trim().strip_prefix('\'') {
            part = match heading.split(',').next().unwrap_or(heading) {
                "Test Type" => {
                    if !ended {
                        return Err(line.error(heading, "the test before this line has no end"));
                    }
                    ended = false;
                    results = false;
                    specifications.clear();
                    Part::Nothing
                }
                "Access specifications" => {
                    ended = false;
                    results = false;
                    Part::Nothing
                }
                "Version" => Part::Version,
                "Access specification name" => Part::Name,
                "size" => match part {
                    Part::Sizes(name) => Part::Sizes(name),
                    _ => return Err(line.error(heading, "no name of a specification before it")),
                },
                "Target Type" => {
                    ended = false;
                    results = true;
                    Part::Results(Box::new(Columns::of(&line)?))
                }
                "Time Stamp" if !heading.contains("Target Type") => Part::Stamp,
                _ if heading.contains("Target Type") => {
                    return Err(line.error(heading, "values of instants are not read"));
                }
                "End Test" => {
                    ended = true;
                    Part::Nothing
                }
                _ => Part::Nothing,
            };
            continue;
        }
        if line.text.trim().is_empty() {
            continue;
        }
        match &mut part {
            Part::Nothing => {}
            Part::Stamp => {
                // 2026-03-03 14:05:09:123
                if line.text.trim().matches(':').count() < 2 {
                    return Err(line.error(line.text, "not a time"));
                }
                ended |= results;
            }
            Part::Version => imported.version = Some(line.text.trim().to_string()),
            Part::Name => {
                let (name, _) = line.text.split_once(',').unwrap_or((line.text, ""));
                let size = 2 * (name.len() + size_of::<(String, Vec<Kind>)>());
                room.take(size).map_err(|what| line.error(name, what))?;
                specifications.insert(name.to_string(), Vec::new());
                part = Part::Sizes(name.to_string());
            }
            Part::Sizes(name) => {
                let (kind, waits) = kind(&line)?;
                if waits {
                    remark(&mut imported.left_out, WAITS);
                }
                room.take(3 * size_of::<Kind>()).map_err(|what| line.error(line.text, what))?;
                if let Some(kinds) = specifications.get_mut(name) {
                    kinds.push(kind);
                }
            }
            Part::Results(columns) => {
                let Some(mut run) = columns.run(&line)? else { continue };
                if let Some(kinds) = specifications.get(&run.name) {
                    mix(kinds, &mut run.load);
                }
                imported.runs.push(run);
            }
        }
    }
    if !ended {
        return Err(truncated(NAME, text));
    }
    Ok(imported)
}

/// A line of a specification, and whether it has waits between bursts.
fn kind(line: &Line<'_>) -> Result<(Kind, bool), ImportError> {
    let mut fields = line.text.split(',').map(str::trim);
    let mut next = || fields.next().filter(|field| !field.is_empty());
    let (Some(bytes), Some(share), Some(reads), Some(random)) = (next(), next(), next(), next())
    else {
        return Err(line.error(line.text, "a line of a specification has at least four numbers"));
    };
    let percent = |field| {
        let value = line.figure(field)?.value;
        if value > 100.0 {
            return Err(line.error(field, "more than 100%"));
        }
        Ok(value / 100.0)
    };
    let kind = Kind {
        bytes: line.whole(bytes)?,
        share: percent(share)?,
        reads: percent(reads)?,
        random: percent(random)?,
    };
    let waits = next().is_some_and(|delay| delay != "0");
    Ok((kind, waits))
}

/// What the specification says about the load.
fn mix(kinds: &[Kind], load: &mut crate::run::Load) {
    let used = || kinds.iter().filter(|kind| kind.share > 0.0);
    let total: f64 = used().map(|kind| kind.share).sum();
    let Some(first) = used().next() else { return };
    if used().all(|kind| kind.bytes == first.bytes) {
        load.request_bytes = Some(first.bytes);
    }
    let mean = |of: fn(&Kind) -> f64| used().map(|kind| kind.share * of(kind)).sum::<f64>() / total;
    load.read_share = Some(mean(|kind| kind.reads));
    let random = mean(|kind| kind.random);
    load.pattern = Some(if random == 0.0 {
        Pattern::Sequential
    } else if random == 1.0 {
        Pattern::Random
    } else {
        Pattern::Mixed(random)
    });
}

const WAITS: &str = "The delays between bursts of an access specification.";
