//! Reads `load`, `disk` and `measure`: the load, the disks and the timing.

use super::keys;
use crate::plan::{EqualLoad, Timing};
use crate::study_plan::{Prepare, Unit};
use stormeter_units::format_duration_ns;
use stormeter_yaml::Diagnostics;
use stormeter_yaml::Section;

/// The levels of the load.
pub(super) struct Load {
    pub(super) vms: Vec<u32>,
    pub(super) outstanding: Vec<u32>,
    pub(super) equal: Option<EqualLoad>,
}

/// The default is one VM with its workload's queue depth.
pub(super) fn load(study: &Section<'_>, diagnostics: &mut Diagnostics) -> Load {
    let mut load = Load { vms: vec![1], outstanding: Vec::new(), equal: None };
    let Some(node) = study.get("load") else { return load };
    let Some(section) = Section::open(node, "load", &keys::LOAD, diagnostics) else { return load };
    load.vms = section.levels("vms", diagnostics).unwrap_or(load.vms);
    if let Some(levels) = section.levels("outstanding", diagnostics) {
        // The driver's own limit; see `Workload::check`.
        if levels.iter().any(|&level| level > 65_536) {
            diagnostics
                .error_at(section.place_of("outstanding"), "outstanding is at most 65536 a VM");
        }
        load.outstanding = levels;
    }
    // A fixed rate is set in the workload.
    load.equal = section.choice("equal", &[("auto", EqualLoad::Auto)], diagnostics);
    load
}

/// The virtual disks.
pub(super) struct Disk {
    pub(super) bytes: u64,
    pub(super) prepare: Prepare,
}

/// The default is 1 GiB of random bytes, as with `compare`.
pub(super) fn disk(study: &Section<'_>, diagnostics: &mut Diagnostics) -> Disk {
    let mut disk = Disk { bytes: 1 << 30, prepare: Prepare::Random };
    let Some(node) = study.get("disk") else { return disk };
    let Some(section) = Section::open(node, "disk", &keys::DISK, diagnostics) else { return disk };
    disk.bytes = section.size("size", diagnostics).unwrap_or(disk.bytes);
    let prepare = [("random", Prepare::Random), ("zero", Prepare::Zero)];
    disk.prepare = section.choice("prepare", &prepare, diagnostics).unwrap_or(disk.prepare);
    disk
}

/// The timing of a trial.
pub(super) struct Measure {
    pub(super) timing: Timing,
    pub(super) verify: bool,
    pub(super) threads: u32,
    pub(super) unit: Unit,
}

/// The shortest window, as in comparisons.
const LEAST_DURATION_NS: u64 = 100_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// The default is a ramp of 2 s and a window of 10 s in rows of 1 s.
pub(super) fn measure(study: &Section<'_>, diagnostics: &mut Diagnostics) -> Measure {
    let timing =
        Timing { ramp_ns: 2 * SECOND_NS, duration_ns: 10 * SECOND_NS, interval_ns: SECOND_NS };
    let mut measure = Measure { timing, verify: false, threads: 0, unit: Unit::Trial };
    let Some(node) = study.get("measure") else { return measure };
    let Some(section) = Section::open(node, "measure", &keys::MEASURE, diagnostics) else {
        return measure;
    };
    let timing = &mut measure.timing;
    timing.ramp_ns = section.duration("ramp", diagnostics).unwrap_or(timing.ramp_ns);
    if let Some(duration_ns) = section.duration("duration", diagnostics) {
        timing.duration_ns = duration_ns;
        if duration_ns < LEAST_DURATION_NS {
            diagnostics.error_at(
                section.place_of("duration"),
                "a trial this short cannot be measured; give a duration of at least 100ms",
            );
        }
    }
    // A tenth, so that a short trial has rows too.
    timing.interval_ns = (timing.duration_ns / 10).clamp(1, SECOND_NS);
    if let Some(interval_ns) = section.duration("interval", diagnostics) {
        if interval_ns == 0 || interval_ns > timing.duration_ns {
            diagnostics.error_at(
                section.place_of("interval"),
                format!(
                    "an interval of {} does not fit into a duration of {}; give one of at least \
                     1ms and at most the duration",
                    format_duration_ns(interval_ns as f64),
                    format_duration_ns(timing.duration_ns as f64)
                ),
            );
        }
        timing.interval_ns = interval_ns.max(1);
    }
    let rows = timing.duration_ns / timing.interval_ns;
    if diagnostics.is_empty() && rows > MOST_ROWS {
        diagnostics.error_at(
            section.place_of("interval"),
            format!(
                "{rows} intervals a trial are more than the {MOST_ROWS} that are kept; \
                     lengthen them"
            ),
        );
    }
    let unit = [("trial", Unit::Trial), ("interval", Unit::Interval)];
    measure.unit = section.choice("unit", &unit, diagnostics).unwrap_or_default();
    measure.verify = section.flag("verify", diagnostics).unwrap_or_default();
    measure.threads = section.count("threads", 1, diagnostics).unwrap_or_default();
    measure
}

/// Rows are kept in memory while a trial runs, and in the results file.
const MOST_ROWS: u64 = 100_000;
