//! Whether both sides measure the same where they do the same: equal load on the same file.

use crate::Failure;
use crate::arguments::Arguments;
use crate::drive::Drive;
use crate::file::fio_on;
use crate::fio::Fio;
use crate::line::{Bound, Line, rate};
use crate::ours::{self, Store};
use crate::pairs::interleave;

/// Interleaved blocks at the least.
const BLOCKS: usize = 10;
const RAMP_MS: u64 = 500;
const TIMED_MS: u64 = 3000;
/// The open loop's load, as a share of what the closed loop reached: low enough that neither side
/// has to queue.
const OPEN_SHARE: f64 = 0.3;

pub(crate) fn measure(arguments: &Arguments, store: &Store) -> Result<Vec<Line>, Failure> {
    let disk = store.prepare(0, 1, arguments.file_mib << 20)?;
    let timed = Drive { ramp_ms: RAMP_MS, duration_ms: TIMED_MS, outstanding: 4, ..disk.clone() };
    let fio = fio_on(&timed, store);
    let mut lines = Vec::new();
    let name = "4 outstanding, 75 % reads";
    let closed_iops = blocks(arguments, name, &timed, &fio, &mut lines)?;

    // Reads only: fio paces each direction by itself.
    let rate_per_s = (closed_iops * OPEN_SHARE) as u64;
    let open = Drive { rate_per_s: Some(rate_per_s), read_percent: 100, ..timed };
    let fio = Fio {
        read_percent: 100,
        outstanding: 64,
        extra: [fio.extra, vec![format!("--rate_iops={rate_per_s}")]].concat(),
        ..fio
    };
    // fio's latencies begin when it issues a request, ours when the request was due; the lateness
    // of the system's timer lies between the two. The bound is the same: what misses it is shown.
    let name = format!("open loop of reads at {rate_per_s} a second");
    blocks(arguments, &name, &open, &fio, &mut lines)?;
    store.remove(&disk)?;
    Ok(lines)
}

/// Gives the median of our IOPS.
fn blocks(
    arguments: &Arguments,
    name: &str,
    drive: &Drive,
    fio: &Fio,
    lines: &mut Vec<Line>,
) -> Result<f64, Failure> {
    let [iops, p50, p99] = interleave(
        arguments.pairs.max(BLOCKS),
        || {
            let report = ours::run(drive, &[])?.0;
            Ok([report.iops, report.latency_p50_ns, report.latency_p99_ns])
        },
        || {
            let report = fio.run(&[])?.0;
            Ok([report.iops, report.latency_p50_ns, report.latency_p99_ns])
        },
    )?;
    let microseconds = |ns: f64| format!("{:.1} µs", ns / 1e3);
    let what = |figure: &str| format!("agreement, {name}: {figure}");
    lines.push(Line::paired(what("IOPS"), &iops, Bound::Within(0.02), rate));
    lines.push(Line::paired(what("p50"), &p50, Bound::Within(0.05), microseconds));
    lines.push(Line::paired(what("p99"), &p99, Bound::Within(0.05), microseconds));
    Ok(iops.ours)
}
