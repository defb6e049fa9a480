//! Many VMs on few threads: a thousand disks compared with one disk of the same total size.

use crate::arguments::Arguments;
use crate::drive::Drive;
use crate::failure::Failure;
use crate::file::fio_on;
use crate::line::{Bound, Line, rate};
use crate::ours::{self, LAST_NUMBER, Store};
use crate::pairs::interleave;

const VMS: u32 = 1000;
const OUTSTANDING: u32 = 4;
const DISK_BYTES: u64 = 4 << 20;
/// The limit on our resident memory, in addition to I/O buffers.
const MEMORY_MIB: f64 = 256.0;
/// The sets of disks: the thousand, and the single one.
const MANY_NUMBER: u32 = 1;
const ONE_NUMBER: u32 = LAST_NUMBER;

pub(crate) fn measure(arguments: &Arguments, store: &Store) -> Result<Vec<Line>, Failure> {
    let one = store.prepare(ONE_NUMBER, 1, u64::from(VMS) * DISK_BYTES)?;
    let one = Drive { outstanding: 64, ramp_ms: 500, duration_ms: 3000, ..one };
    let many = store.prepare(MANY_NUMBER, VMS, DISK_BYTES)?;
    // As in a comparison: one thread per CPU.
    let many =
        Drive { outstanding: OUTSTANDING, threads: 0, ramp_ms: 500, duration_ms: 3000, ..many };
    let fio = fio_on(&many, store);
    let mut memory = (0u64, 0u64);
    let [against_one] = interleave(
        arguments.pairs(),
        || Ok([ours::run(&many, &[])?.0.iops]),
        || Ok([ours::run(&one, &[])?.0.iops]),
    )?;
    let [against_fio] = interleave(
        arguments.pairs().min(3),
        || {
            let (report, _) = ours::run(&many, &[])?;
            memory.0 = memory.0.max(report.peak_memory_bytes);
            Ok([report.iops])
        },
        || {
            let (report, ended) = fio.run(&[])?;
            memory.1 = memory.1.max(ended.peak_memory_bytes);
            Ok([report.iops])
        },
    )?;
    store.remove(&one)?;
    store.remove(&many)?;

    // Both sides of this pair are ours.
    let first = Line::paired(
        "1000 VMs × 4 outstanding against 1 VM × 64: IOPS",
        &against_one,
        Bound::LeastWithinNoise(1.0),
        rate,
    )
    .reference("stormeter, 1 VM");
    let second = Line::paired("1000 VMs × 4 outstanding: IOPS", &against_fio, Bound::Shown, rate);
    Ok(vec![first, second, memory_line(memory)])
}

/// A read and a write buffer for each I/O that can be outstanding count as buffers.
fn memory_line((ours, theirs): (u64, u64)) -> Line {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let buffers = u64::from(2 * VMS * OUTSTANDING) * 4096;
    let without_buffers = mib(ours.saturating_sub(buffers));
    Line {
        what: "1000 VMs × 4 outstanding: peak memory, buffers included".into(),
        reference: "fio".into(),
        ours: format!("{:.0} MiB", mib(ours)),
        theirs: format!("{:.0} MiB", mib(theirs)),
        measure: format!("{without_buffers:.0} MiB in addition to buffers"),
        bound: format!("< {MEMORY_MIB:.0} MiB in addition to buffers"),
        bounded: true,
        holds: without_buffers < MEMORY_MIB,
        gate: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_taken_off_the_memory() {
        let buffers = 2 * 4000 * 4096;
        assert!(memory_line((buffers + (255 << 20), 0)).holds);
        assert!(!memory_line((buffers + (256 << 20), 0)).holds);
    }
}
