//! An entry of `jobs` or `client_stats` as a run.
//!
//! With `group_reporting`, an entry is a whole group: it has the name of the first job and the options of the last
//! one, and nothing in it says that there were several. What tells is the number of entries with the same name, a
//! name among the options that is another one, and the summed runtime of the jobs.

use std::borrow::Cow;

use super::latency::Context;
use super::notes::Notes;
use super::options::Options;
use super::section;
use crate::error::ImportError;
use crate::figure::Figure;
use crate::json::Node;
use crate::room::kept;
use crate::run::{Direction, Run, Way};
use crate::series::Series;

/// The sections of an entry, and what they are.
const SECTIONS: [(&str, Way); 4] =
    [("read", Way::Read), ("write", Way::Write), ("trim", Way::Trim), ("mixed", Way::Both)];

/// What makes entries copies of one job: who ran it, its group and its name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Identity<'a> {
    /// Of a client/server run.
    pub(crate) host: Option<Cow<'a, str>>,
    /// The port of the server: one host may have several servers.
    pub(crate) port: Option<u64>,
    group: Option<u64>,
    /// The name of the job.
    pub(crate) name: Cow<'a, str>,
}

impl<'a> Identity<'a> {
    /// Reads it.
    pub(crate) fn read(entry: &Node<'a>) -> Result<Self, ImportError> {
        entry.object()?;
        let text = |key: &str| entry.get(key).and_then(|node| node.text());
        Ok(Self {
            host: text("hostname"),
            port: entry.count("port")?,
            group: entry.count("groupid")?,
            name: text("jobname").unwrap_or_default(),
        })
    }
}

/// What the document knows that an entry needs.
#[derive(Debug)]
pub(crate) struct Surroundings<'a, 't> {
    /// Options of all jobs.
    pub(crate) options: &'a Options<'t>,
    /// Half of the last decimal of fractions.
    pub(crate) half_of_fractions: f64,
    /// How many entries have this one's identity.
    pub(crate) copies: u64,
    /// Busy share of the host's CPUs.
    pub(crate) cpu_busy: Option<Figure>,
}

/// Reads an entry.
pub(crate) fn read<'t>(
    entry: &Node<'t>,
    identity: &Identity<'_>,
    surroundings: &Surroundings<'_, 't>,
    notes: &mut Notes,
) -> Result<Run, ImportError> {
    let mut options = surroundings.options.clone();
    if let Some(own) = entry.get("job options") {
        options.extend(&own)?;
    }
    let context = Context {
        half_of_fractions: surroundings.half_of_fractions,
        of_total: options.is_set("lat_percentiles"),
    };
    let mut directions = Vec::new();
    for (key, way) in SECTIONS {
        if let Some(node) = entry.get(key) {
            directions.extend(section::read(&node, way, context, notes)?);
        }
    }
    if directions.is_empty() {
        notes.add(format!("{} has no I/O", entry.path()));
    }
    let trims = directions.iter().any(|direction| direction.way == Way::Trim);
    if trims && directions.iter().any(|direction| direction.way == Way::Both) {
        notes.add(format!("{}.mixed has trims in addition to reads and writes", entry.path()));
    }
    let window = window(&mut directions);
    if let Some(node) = entry.get("sync") {
        directions.extend(section::read_flushes(&node, context, notes)?);
    }
    let lasted_s = window.map(|window| window.value);
    let load = match workers(entry, identity, &options, surroundings.copies, lasted_s)? {
        Jobs::Known(workers) => options.load(workers, lasted_s),
        Jobs::Mixed => {
            notes.add(format!(
                "{}: several jobs are reported as one group, and the options are of the last one only",
                entry.path()
            ));
            Options::default().load(None, None)
        }
    };
    let host = identity.host.as_deref();
    Ok(Run {
        name: match host {
            Some(host) => format!("{} ({host})", identity.name),
            None => identity.name.to_string(),
        },
        place: entry.path().to_owned(),
        target: options.target().or(host.map(kept)),
        began_s: began(entry)?,
        load,
        window_s: window,
        directions,
        outstanding_mean: None,
        cpu_busy: surroundings.cpu_busy,
        intervals: Series::default(),
        errors: errors(entry, notes)?,
    })
}

/// The longest runtime of all kinds is the run's; only others keep their own.
fn window(directions: &mut [Direction]) -> Option<Figure> {
    let longest = directions
        .iter()
        .filter_map(|direction| direction.runtime_s)
        .max_by(|one, other| one.value.total_cmp(&other.value));
    for direction in directions {
        if direction.runtime_s == longest {
            direction.runtime_s = None;
        }
    }
    longest
}

/// How many jobs an entry is of.
enum Jobs {
    /// One job or copies of it; `None`: the file does not tell how many.
    Known(Option<u64>),
    /// Jobs that differ.
    Mixed,
}

fn workers(
    entry: &Node<'_>,
    identity: &Identity<'_>,
    options: &Options<'_>,
    copies: u64,
    lasted_s: Option<f64>,
) -> Result<Jobs, ImportError> {
    if options.get("name").is_some_and(|name| name != identity.name) {
        return Ok(Jobs::Mixed);
    }
    if options.is_empty() {
        return Ok(Jobs::Known(None));
    }
    let jobs = options.whole("numjobs").filter(|jobs| *jobs > 0).unwrap_or(1);
    // Copies with an entry each are not a group.
    let workers = if jobs > 1 && copies == 1 { jobs } else { 1 };
    let all_s = entry.count("job_runtime")?.map(|ms| ms as f64 / 1e3);
    // What a job does outside of its window is in the summed runtime too.
    let is_longer = LONGER.iter().any(|name| options.get(name).is_some());
    let known = all_s.zip(lasted_s).filter(|(_, lasted)| *lasted >= SHORTEST_S && !is_longer);
    match known {
        Some((all, lasted)) if all / lasted > workers as f64 + 0.75 => Ok(Jobs::Mixed),
        _ => Ok(Jobs::Known(Some(workers))),
    }
}

/// Options that let a job last longer than its window.
const LONGER: &[&str] = &["ramp_time", "end_fsync", "fsync_on_close", "verify", "verify_only"];
/// Starting takes a good part of shorter windows.
const SHORTEST_S: f64 = 0.5;

/// `job_start`, since 3.36: milliseconds of the clock of the day, unless another clock is configured.
fn began(entry: &Node<'_>) -> Result<Option<f64>, ImportError> {
    const PLAUSIBLE_MS: u64 = 1_000_000_000_000;
    let start = entry.count("job_start")?.filter(|ms| *ms > PLAUSIBLE_MS);
    Ok(start.map(|ms| ms as f64 / 1e3))
}

/// With `continue_on_error`, fio counts errors; otherwise the first one ends the job, and only its number is there.
fn errors(entry: &Node<'_>, notes: &mut Notes) -> Result<Option<u64>, ImportError> {
    let number = match entry.get("error").and_then(|node| node.text()) {
        Some(text) => text
            .parse::<i64>()
            .map_err(|_| entry.wrong_at("error", "expected the number of an error"))?,
        None => return Ok(None),
    };
    if number != 0 {
        notes.add(format!("{} ended with error {number}", entry.path()));
    }
    Ok(entry.count("total_err")?.or(Some(u64::from(number != 0))))
}
