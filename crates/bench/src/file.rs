//! A file with direct I/O through io_uring, 4 KiB: the same file for both sides.

use crate::arguments::Arguments;
use crate::cpus::cpus;
use crate::drive::{Drive, disk_path};
use crate::failure::Failure;
use crate::fio::{Engine, Fio, Stop};
use crate::instructions::slope;
use crate::line::{Bound, Line, rate};
use crate::null::{fio_instructions, our_instructions};
use crate::ours::{self, Store};
use crate::pairs::interleave;

/// Short and long runs under callgrind: fio's in I/Os, ours in milliseconds.
const FIO_OPERATIONS: [u64; 2] = [5_000, 20_000];
const OUR_MS: [u64; 2] = [400, 2000];
/// One timed run, and one that only starts up.
const TIMED_MS: u64 = 3000;
const START_MS: u64 = 100;

/// Queue depths with the limit on instructions, if there is one.
const DEPTHS: [(u32, Option<f64>); 4] =
    [(1, Some(0.25)), (4, None), (16, Some(0.15)), (64, Some(0.15))];

pub(crate) fn measure(arguments: &Arguments, store: &Store) -> Result<Vec<Line>, Failure> {
    let disk = store.prepare(0, 1, arguments.file_mib << 20)?;
    let mut lines = Vec::new();
    for (outstanding, bound) in DEPTHS {
        let Some(bound) = bound else { continue };
        let drive = Drive { outstanding, ..disk.clone() };
        let fio = fio_on(&drive, store);
        let [paired] = interleave(
            // With a real device the number of completions per poll depends on the machine, so one pair is
            // not enough for a gate.
            3,
            || our_instructions(&drive, OUR_MS).map(|count| [count]),
            || fio_instructions(&fio, FIO_OPERATIONS).map(|count| [count]),
        )?;
        let what = format!("file, {outstanding} outstanding: user instructions per I/O");
        let show = |count: f64| format!("{count:.0}");
        lines.push(Line::paired(what, &paired, Bound::Most(bound), show).gate());
    }
    if !arguments.short {
        for (outstanding, _) in DEPTHS {
            lines.extend(timed(arguments, store, &Drive { outstanding, ..disk.clone() })?);
        }
    }
    store.remove(&disk)?;
    Ok(lines)
}

/// IOPS and CPU time of the whole process per I/O, without start-up.
fn timed(arguments: &Arguments, store: &Store, drive: &Drive) -> Result<[Line; 2], Failure> {
    let outstanding = drive.outstanding;
    let our_run = |duration_ms| {
        let (report, ended) = ours::run(&Drive { duration_ms, ..drive.clone() }, &[])?;
        Ok::<_, Failure>((report.iops, (ended.cpu_ns, report.operations)))
    };
    let fio_run = |ms| {
        let fio = Fio { stop: Stop::Milliseconds(ms), ..fio_on(drive, store) };
        let (report, ended) = fio.run(&[])?;
        Ok::<_, Failure>((report.iops, (ended.cpu_ns, report.operations)))
    };
    let (our_start, fio_start) = (our_run(START_MS)?.1, fio_run(START_MS)?.1);
    let figures = |(iops, run), start| Ok([iops, slope(start, run)?]);
    let [iops, cpu] = interleave(
        arguments.pairs(),
        || figures(our_run(TIMED_MS)?, our_start),
        || figures(fio_run(TIMED_MS)?, fio_start),
    )?;
    let microseconds = |ns: f64| format!("{:.2} µs", ns / 1e3);
    let what = |figure: &str| format!("file, {outstanding} outstanding: {figure}");
    Ok([
        Line::paired(what("IOPS"), &iops, Bound::LeastWithinNoise(1.0), rate),
        Line::paired(what("CPU time per I/O"), &cpu, Bound::Most(0.8), microseconds),
    ])
}

/// fio on the files of `drive`, pinned to the same CPU as our I/O thread.
pub(crate) fn fio_on(drive: &Drive, store: &Store) -> Fio {
    let file = |disk| disk_path(store.directory(), drive.number, disk);
    let cpu = cpus().first;
    Fio {
        engine: Engine::Uring {
            files: (0..drive.vms).map(file).collect(),
            bytes: drive.disk_bytes,
        },
        outstanding: drive.outstanding,
        read_percent: drive.read_percent,
        is_log: drive.is_log,
        ramp_ms: drive.ramp_ms,
        stop: Stop::Milliseconds(drive.duration_ms),
        extra: if drive.vms == 1 { vec![format!("--cpus_allowed={cpu}")] } else { Vec::new() },
    }
}
