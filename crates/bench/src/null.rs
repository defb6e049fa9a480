//! The generator alone: nothing is stored, every I/O completes at once.

use crate::arguments::Arguments;
use crate::cpus::cpus;
use crate::drive::Drive;
use crate::failure::Failure;
use crate::fio::{Engine, Fio, Stop};
use crate::instructions::{callgrind, callgrind_of_threads, collected};
use crate::line::{Bound, Line, rate};
use crate::pairs::interleave;
use crate::{instructions, ours};

const DISK_BYTES: u64 = 64 << 30;
/// Short and long runs under callgrind: fio's in I/Os, ours in milliseconds.
const FIO_OPERATIONS: [u64; 2] = [20_000, 80_000];
const OUR_MS: [u64; 2] = [300, 1500];
/// One timed run.
const TIMED_MS: u64 = 2000;

/// Queue depths with the limits on instructions, on IOPS, and on IOPS relative to fio tuned for
/// speed.
const BOUNDS: [(u32, f64, f64, f64); 2] = [(16, 0.10, 8.0, 3.0), (1, 0.20, 3.0, 1.5)];

/// The fastest options of fio: no map of visited blocks, the cheapest generator, no latencies, and
/// batches.
fn tuned(outstanding: u32) -> Vec<String> {
    ["--norandommap=1", "--random_generator=lfsr", "--gtod_reduce=1"]
        .map(str::to_owned)
        .into_iter()
        .chain([
            format!("--iodepth_batch_submit={outstanding}"),
            format!("--iodepth_batch_complete_max={outstanding}"),
        ])
        .collect()
}

pub(crate) fn measure(arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    let mut lines = Vec::new();
    for (outstanding, instructions_bound, ..) in BOUNDS {
        let drive = Drive { outstanding, disk_bytes: DISK_BYTES, ..Drive::default() };
        let fio = fio(outstanding, Vec::new());
        let pairs = if arguments.short { 1 } else { 3 };
        let [paired] = interleave(
            pairs,
            || our_instructions(&drive, OUR_MS).map(|count| [count]),
            || fio_instructions(&fio, FIO_OPERATIONS).map(|count| [count]),
        )?;
        let what = format!("`null:`, {outstanding} outstanding: instructions per I/O");
        let show = |count: f64| format!("{count:.0}");
        lines.push(Line::paired(what, &paired, Bound::Most(instructions_bound), show).gate());
    }
    if arguments.short {
        return Ok(lines);
    }
    for (outstanding, _, default_bound, tuned_bound) in BOUNDS {
        for (extra, name, bound) in [
            (Vec::new(), "IOPS on one core", default_bound),
            (tuned(outstanding), "IOPS on one core, fio tuned for speed", tuned_bound),
        ] {
            let cpu = cpus().last;
            let pinned = ["taskset".to_owned(), "-c".to_owned(), cpu];
            let drive = Drive {
                outstanding,
                disk_bytes: DISK_BYTES,
                ramp_ms: 200,
                duration_ms: TIMED_MS,
                ..Drive::default()
            };
            let fio =
                Fio { stop: Stop::Milliseconds(TIMED_MS), ramp_ms: 200, ..fio(outstanding, extra) };
            let [paired] = interleave(
                arguments.pairs(),
                || Ok([ours::run(&drive, &pinned)?.0.iops]),
                || Ok([fio.run(&pinned)?.0.iops]),
            )?;
            let what = format!("`null:`, {outstanding} outstanding: {name}");
            lines.push(Line::paired(what, &paired, Bound::Least(bound), rate));
        }
    }
    Ok(lines)
}

fn fio(outstanding: u32, extra: Vec<String>) -> Fio {
    Fio {
        engine: Engine::Null { bytes: DISK_BYTES },
        outstanding,
        read_percent: 75,
        is_log: false,
        ramp_ms: 0,
        stop: Stop::Operations(0),
        extra,
    }
}

/// Our instructions per I/O, from runs of two lengths.
pub(crate) fn our_instructions(drive: &Drive, ms: [u64; 2]) -> Result<f64, Failure> {
    instructions::measure(ms, |duration_ms| {
        let drive = Drive { duration_ms, ..drive.clone() };
        let (report, ended) = ours::run(&drive, &callgrind_of_threads())?;
        Ok((collected(&ended)?, report.operations))
    })
}

/// fio's instructions per I/O, from runs of two lengths.
pub(crate) fn fio_instructions(fio: &Fio, operations: [u64; 2]) -> Result<f64, Failure> {
    instructions::measure(operations, |operations| {
        let fio = Fio { stop: Stop::Operations(operations), ..fio.clone() };
        let (report, ended) = fio.run(&callgrind())?;
        Ok((collected(&ended)?, report.operations))
    })
}
