//! A log of HdrHistogram: an interval for each trial, with the histogram of its latencies in nanoseconds.
//!
//! After the format of HdrHistogram's own log writer, version 1.3: times in seconds since the start of the run, the
//! longest latency in milliseconds, and a tag for each cell. Reads, writes and durable writes are together, as in the
//! latencies of the report. `import` reads it back.

mod encoded;

use std::fmt::Write as _;

use crate::results::{Cell, Results};

/// All trials that have an I/O.
///
/// # Errors
/// A histogram cannot be compressed.
pub fn hdr_log(results: &Results<'_>) -> std::io::Result<String> {
    let began_s = results.began_unix_ms as f64 / 1e3;
    let mut text = format!(
        "#[stormeter {}, run {}: latencies in nanoseconds]\n#[Histogram log format version 1.3]\n\
         #[StartTime: {began_s:.3} (seconds since epoch)]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        results.version, results.run
    );
    for trial in &results.trials {
        let Some(cell) = results.cells.get(trial.cell) else { continue };
        let slots = encoded::slots(&trial.sample.total().histogram);
        let Some(longest_ns) = slots.last().map(|slot| slot.highest_ns()) else { continue };
        let start_s = trial.began_unix_ms.saturating_sub(results.began_unix_ms) as f64 / 1e3;
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "Tag={},{start_s:.3},{:.3},{:.6},{}",
            tag(cell),
            trial.sample.window_ns as f64 / 1e9,
            longest_ns as f64 / 1e6,
            encoded::encoded(&slots)?
        );
    }
    Ok(text)
}

/// A tag has no commas, spaces or line breaks.
fn tag(cell: &Cell) -> String {
    let mut text = format!("{}/{}/vms={}", cell.datastore, cell.workload, cell.vms);
    if let Some(outstanding) = cell.outstanding {
        let _ = write!(text, "/outstanding={outstanding}");
    }
    let mut tag = String::new();
    for character in text.chars() {
        match character {
            ',' | '%' | ' ' | '\n' | '\r' | '\t' => {
                let _ = write!(tag, "%{:02X}", character as u32);
            }
            other => tag.push(other),
        }
    }
    tag
}
