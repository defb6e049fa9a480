//! Results as tidy CSV: a header, then one observation per row (RFC 4180, but with bare line
//! feeds).
//!
//! No field needs quoting: all are numbers and fixed words.

use std::fmt::Write;

use crate::cell::{Cell, Observed};
use crate::throughput::Throughput;

/// One repetition per row: `probe,direction,sink,fsync,page_cache_dropped,length_bytes,row,repeat,
/// time_ns`. Fields that do not apply are empty; rows and repeats count from 1.
pub fn cells_csv(cells: &[Cell]) -> String {
    let mut text = String::from(
        "probe,direction,sink,fsync,page_cache_dropped,length_bytes,row,repeat,time_ns\n",
    );
    for cell in cells {
        let what = match cell.observed {
            Observed::RoundTrip => "round-trip,,,,".to_owned(),
            Observed::Transfer { direction, sink, sync, cold } => {
                format!("transfer,{},{},{sync},{cold}", direction.name(), sink.name())
            }
        };
        let repeats = u64::from(cell.layout.repeats).max(1);
        for (at, time_ns) in (0_u64..).zip(&cell.samples_ns) {
            let (row, repeat) = (at / repeats + 1, at % repeats + 1);
            // Writing to a string does not fail.
            let _ = writeln!(text, "{what},{},{row},{repeat},{time_ns}", cell.length_bytes);
        }
    }
    text
}

/// One stream of one measurement per row:
/// `probe,direction,streams,repeat,stream,warm_up_ns,window_ns, acknowledged_bytes`. Repeats count
/// measurements of the same kind, from 1, and so do streams.
pub fn throughput_csv(measured: &[Throughput]) -> String {
    let mut text = String::from(
        "probe,direction,streams,repeat,stream,warm_up_ns,window_ns,acknowledged_bytes\n",
    );
    for (at, one) in measured.iter().enumerate() {
        let is_alike = |other: &&Throughput| {
            other.direction == one.direction && other.stream_bytes.len() == one.stream_bytes.len()
        };
        let repeat = measured.iter().take(at + 1).filter(is_alike).count();
        for (stream, bytes) in (1..).zip(&one.stream_bytes) {
            let stream: u64 = stream;
            let _ = writeln!(
                text,
                "throughput,{},{},{repeat},{stream},{},{},{bytes}",
                one.direction.name(),
                one.stream_bytes.len(),
                one.warm_up_ns,
                one.window_ns,
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Layout;
    use crate::request::{Direction, Sink};

    #[test]
    fn a_repetition_has_a_row_of_its_own() {
        let (direction, sink) = (Direction::Fetch, Sink::Disk);
        let cells = [
            Cell {
                observed: Observed::RoundTrip,
                length_bytes: 64,
                layout: Layout { rows: 2, repeats: 2 },
                samples_ns: vec![5, 6, 7, 8],
            },
            Cell {
                observed: Observed::Transfer { direction, sink, sync: false, cold: true },
                length_bytes: 100_000,
                layout: Layout { rows: 1, repeats: 1 },
                samples_ns: vec![9],
            },
        ];
        assert_eq!(
            cells_csv(&cells),
            "probe,direction,sink,fsync,page_cache_dropped,length_bytes,row,repeat,time_ns\n\
             round-trip,,,,,64,1,1,5\n\
             round-trip,,,,,64,1,2,6\n\
             round-trip,,,,,64,2,1,7\n\
             round-trip,,,,,64,2,2,8\n\
             transfer,fetch,disk,false,true,100000,1,1,9\n"
        );
    }

    #[test]
    fn a_stream_has_a_row_of_its_own() {
        let of = |bytes: &[u64]| Throughput {
            direction: Direction::Send,
            warm_up_ns: 1,
            window_ns: 2,
            stream_bytes: bytes.to_vec(),
        };
        assert_eq!(
            throughput_csv(&[of(&[3]), of(&[4, 5]), of(&[6, 7])]),
            "probe,direction,streams,repeat,stream,warm_up_ns,window_ns,acknowledged_bytes\n\
             throughput,send,1,1,1,1,2,3\n\
             throughput,send,2,1,1,1,2,4\n\
             throughput,send,2,1,2,1,2,5\n\
             throughput,send,2,2,1,1,2,6\n\
             throughput,send,2,2,2,1,2,7\n"
        );
    }
}
