//! A section of an entry, such as `read`, as a kind of I/O.
//!
//! The traps are its units: `io_bytes` was KiB until 2.20, `bw` is KiB/s cut to whole ones, `bw_bytes` came later,
//! and `iops` was once a whole number. A group's section has the sums of its jobs' counts and the longest of their
//! runtimes, from which fio computes the rates, so that rate × runtime is the count for groups too.

use super::latency::{self, Context};
use super::notes::Notes;
use crate::error::ImportError;
use crate::figure::Figure;
use crate::json::Node;
use crate::run::{Direction, Way};

/// Reads `jobs[0].read` and its kin; `None` if nothing was done. The runtime is set, the caller compares it with
/// those of other kinds.
pub(crate) fn read(
    section: &Node<'_>,
    way: Way,
    context: Context,
    notes: &mut Notes,
) -> Result<Option<Direction>, ImportError> {
    section.object()?;
    let operations = section.count("total_ios")?;
    let runtime_ms = section.count("runtime")?;
    let bytes = bytes(section)?;
    let moved = bytes.is_some_and(|(_, any)| any);
    if operations.unwrap_or(0) == 0 && !moved && runtime_ms.unwrap_or(0) == 0 {
        return Ok(None);
    }
    let mut direction = Direction::new(way);
    direction.operations = operations.map(|count| Figure::exact(count as f64));
    direction.bytes = bytes.map(|(figure, _)| figure);
    // Without a runtime, fio prints 0 for the rates.
    if runtime_ms.unwrap_or(0) > 0 {
        direction.iops = iops(section, context)?;
        direction.bytes_per_s = bytes_per_s(section)?;
        direction.runtime_s = runtime_ms.map(runtime);
    }
    direction.latency = latency::read(section, context, notes)?.latency;
    for (key, what) in
        [("short_ios", "moved less than was asked for"), ("drop_ios", "were dropped")]
    {
        let count = section.count(key)?.unwrap_or(0);
        if count > 0 {
            notes.add(format!("{}: {count} I/Os {what} ({key})", section.path()));
        }
    }
    Ok(Some(direction))
}

/// Reads `jobs[0].sync`: flushes, of which fio states latencies and no rate.
pub(crate) fn read_flushes(
    section: &Node<'_>,
    context: Context,
    notes: &mut Notes,
) -> Result<Option<Direction>, ImportError> {
    section.object()?;
    // Synchronous engines flush without counting it here; then the number of latencies tells.
    let stated = section.count("total_ios")?.filter(|count| *count > 0);
    let latencies = latency::read(section, context, notes)?;
    let operations = stated.or(latencies.samples);
    if operations.is_none() && latencies.latency.mean.is_none() {
        return Ok(None);
    }
    let mut direction = Direction::new(Way::Flush);
    direction.operations = operations.map(|count| Figure::exact(count as f64));
    direction.latency = latencies.latency;
    Ok(Some(direction))
}

/// fio rounds a runtime up to whole milliseconds, and computes its rates from these.
pub(crate) fn runtime(ms: u64) -> Figure {
    Figure { value: ms as f64, half: 1.0 }.times(1e-3)
}

/// Bytes, and whether there are any.
fn bytes(section: &Node<'_>) -> Result<Option<(Figure, bool)>, ImportError> {
    let in_kib = section.count("io_kbytes")?;
    let stated = section.count("io_bytes")?;
    Ok(match (stated, in_kib) {
        (Some(bytes), Some(_)) => Some((Figure::exact(bytes as f64), bytes > 0)),
        // Until 2.20, `io_bytes` is KiB.
        (Some(kib), None) | (None, Some(kib)) => Some((cut(kib, 1024.0), kib > 0)),
        (None, None) => None,
    })
}

fn bytes_per_s(section: &Node<'_>) -> Result<Option<Figure>, ImportError> {
    if let Some(bytes) = section.count("bw_bytes")? {
        return Ok(Some(cut(bytes, 1.0)));
    }
    Ok(section.count("bw")?.map(|kib| cut(kib, 1024.0)))
}

fn iops(section: &Node<'_>, context: Context) -> Result<Option<Figure>, ImportError> {
    // fio 2.0 and 2.1 cut it to a whole number, and so may a tool that prints the file again.
    let has_nanoseconds = section.get("lat_ns").is_some() || section.get("clat_ns").is_some();
    Ok(section.amount("iops")?.map(|(value, is_whole)| match is_whole && !has_nanoseconds {
        true => Figure { value: value + 0.5, half: 0.5 },
        false => Figure { value, half: context.half_of_fractions },
    }))
}

/// A value that was cut to whole units of this size: it is between this one and the next.
pub(crate) fn cut(value: u64, unit: f64) -> Figure {
    Figure { value: value as f64 + 0.5, half: 0.5 }.times(unit)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const CONTEXT: Context = Context { half_of_fractions: 0.005, of_total: false };

    fn read_json(section: &Value) -> Result<Option<Direction>, ImportError> {
        let mut notes = Notes::default();
        read(
            &Node::root("fio JSON", "jobs[0].read", &section.to_string()),
            Way::Read,
            CONTEXT,
            &mut notes,
        )
    }

    #[test]
    fn bytes_were_once_kib() {
        let old = json!({"io_bytes": 8, "bw": 4, "iops": 1, "runtime": 2000});
        let old = read_json(&old).unwrap().unwrap();
        assert_eq!(old.bytes, Some(Figure { value: 8704.0, half: 512.0 }));
        assert_eq!(old.bytes_per_s, Some(Figure { value: 4608.0, half: 512.0 }));
        assert_eq!(old.iops, Some(Figure { value: 1.5, half: 0.5 }));

        let new = json!({"io_bytes": 8192, "io_kbytes": 8, "bw_bytes": 4096, "bw": 4, "iops": 1.0,
            "runtime": 2000, "total_ios": 2, "lat_ns": {}});
        let new = read_json(&new).unwrap().unwrap();
        assert_eq!(new.bytes, Some(Figure::exact(8192.0)));
        assert_eq!(new.bytes_per_s, Some(Figure { value: 4096.5, half: 0.5 }));
        assert_eq!(new.runtime_s, Some(Figure { value: 2.0, half: 1e-3 }));
    }

    #[test]
    fn nothing_done_is_no_kind() {
        let idle = json!({"io_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0});
        assert_eq!(read_json(&idle), Ok(None));
    }

    #[test]
    fn a_negative_count_is_wrong() {
        let Err(ImportError::Wrong { path, what, .. }) = read_json(&json!({"total_ios": -5}))
        else {
            panic!("expected an error")
        };
        assert_eq!((path.as_str(), what.as_str()), ("jobs[0].read.total_ios", "-5 is no count"));
    }
}
