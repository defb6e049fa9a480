//! The measurements at one size: every repetition, and the rows into which they are grouped.
//!
//! The layout is that of the NFS datastore study (Panca, 2017): a cell has 10 rows of 100
//! repetitions, a row shows the mean of its repetitions, and the last line shows the mean of the
//! rows.

use serde::{Deserialize, Serialize};

use crate::request::{Direction, Sink};
use crate::size::decimal_size;
use crate::summary::{Summary, mean};

/// The number of repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Number of rows.
    pub rows: u32,
    /// Repetitions in each row.
    pub repeats: u32,
}

impl Layout {
    /// Number of all repetitions.
    pub fn count(self) -> u64 {
        u64::from(self.rows) * u64::from(self.repeats)
    }
}

/// What was timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "probe", rename_all = "kebab-case")]
pub enum Observed {
    /// A message and the answer of the same size, from the first byte written to the last byte
    /// read.
    RoundTrip,
    /// One transfer. Sending: from the first byte written to the far end's acknowledgement, on a
    /// disk including the creation of the file. Fetching: from the request to the last byte read.
    Transfer {
        /// The direction.
        direction: Direction,
        /// Memory or disk at the far end.
        sink: Sink,
        /// Whether a sent file was made durable (fsync of the file, not of its folder) before it
        /// was acknowledged.
        sync: bool,
        /// Whether the far end's page cache was asked to drop a file before it was fetched.
        cold: bool,
    },
}

impl Observed {
    /// A description in words.
    pub fn title(self) -> String {
        match self {
            Observed::RoundTrip => "Round trip".into(),
            Observed::Transfer { direction, sink, sync, cold } => {
                let verb = match direction {
                    Direction::Send => "Send into",
                    Direction::Fetch => "Fetch from",
                };
                let note = match (direction, sink) {
                    (_, Sink::Memory) => "",
                    (Direction::Send, Sink::Disk) if sync => ", with fsync",
                    (Direction::Send, Sink::Disk) => ", without fsync",
                    (Direction::Fetch, Sink::Disk) if cold => ", page cache dropped",
                    (Direction::Fetch, Sink::Disk) => ", page cache kept",
                };
                format!("{verb} the far end's {}{note}", sink.name())
            }
        }
    }
}

/// All repetitions of one probe at one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// What was timed.
    #[serde(flatten)]
    pub observed: Observed,
    /// The payload of one repetition, in bytes.
    pub length_bytes: u64,
    /// How the repetitions are grouped.
    pub layout: Layout,
    /// The time of each repetition in nanoseconds, in the order in which they were made.
    pub samples_ns: Vec<u64>,
}

/// One row of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its number, from 1.
    pub row: u32,
    /// The summary of its repetitions.
    pub summary: Summary,
}

impl Cell {
    /// The size in the study's notation: decimal units, 100 KB = 100 000 B.
    pub fn size(&self) -> String {
        decimal_size(self.length_bytes)
    }

    /// The summary of all repetitions; `None` if there are none.
    pub fn summary(&self) -> Option<Summary> {
        Summary::of(&self.samples_ns)
    }

    /// The rows.
    pub fn rows(&self) -> Vec<Row> {
        let repeats = usize::try_from(self.layout.repeats).unwrap_or(usize::MAX).max(1);
        let rows = self.samples_ns.chunks(repeats).zip(1..);
        rows.filter_map(|(samples_ns, row)| {
            Summary::of(samples_ns).map(|summary| Row { row, summary })
        })
        .collect()
    }

    /// The study's last line: the mean of the rows' means, in nanoseconds.
    pub fn mean_of_rows_ns(&self) -> Option<f64> {
        mean(self.rows().iter().map(|row| row.summary.mean_ns))
    }

    /// Payload divided by the mean time, in bytes per second; for round trips both directions
    /// count.
    pub fn mean_bytes_per_second(&self) -> Option<f64> {
        let ways = if self.observed == Observed::RoundTrip { 2.0 } else { 1.0 };
        let mean_ns = self.summary()?.mean_ns;
        (mean_ns > 0.0).then(|| ways * self.length_bytes as f64 * 1e9 / mean_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> Cell {
        Cell {
            observed: Observed::Transfer {
                direction: Direction::Send,
                sink: Sink::Disk,
                sync: true,
                cold: false,
            },
            length_bytes: 100_000,
            layout: Layout { rows: 2, repeats: 3 },
            samples_ns: vec![10, 20, 60, 100, 100, 250],
        }
    }

    #[test]
    fn rows_take_the_repetitions_in_turn() {
        let rows = cell().rows();
        let means: Vec<_> = rows.iter().map(|row| (row.row, row.summary.mean_ns)).collect();
        assert_eq!(means, [(1, 30.0), (2, 150.0)]);
        assert_eq!(cell().mean_of_rows_ns(), Some(90.0));
    }

    /// Table I of the study, local column: its last line is the mean of the ten above it.
    #[test]
    fn the_last_line_is_the_studys() {
        let printed_ms = [
            0.3227733, 0.3760763, 0.4554326, 0.3478442, 0.370346, 0.3447231, 0.3861392, 0.3761321,
            0.3331197, 0.3626582,
        ];
        // Rows of one repetition each: the mean of a row is the printed number.
        let samples_ns = printed_ms.iter().map(|ms: &f64| (ms * 1e6).round() as u64).collect();
        let layout = Layout { rows: 10, repeats: 1 };
        let mean_ns = Cell { layout, samples_ns, ..cell() }.mean_of_rows_ns().unwrap();
        assert!((mean_ns - 367_524.47).abs() < 0.5, "{mean_ns}");
    }

    #[test]
    fn the_studys_layout_makes_a_thousand() {
        assert_eq!(Layout { rows: 10, repeats: 100 }.count(), 1000);
    }

    #[test]
    fn it_survives_json_flat() {
        let value = serde_json::to_value(cell()).unwrap();
        assert_eq!(value["probe"], "transfer");
        assert_eq!(value["direction"], "send");
        assert_eq!(value["layout"]["repeats"], 3);
        assert_eq!(serde_json::from_value::<Cell>(value).unwrap(), cell());
    }

    #[test]
    fn a_round_trip_counts_both_ways() {
        let round = Cell { observed: Observed::RoundTrip, samples_ns: vec![1000], ..cell() };
        assert_eq!(round.mean_bytes_per_second(), Some(2e11));
        let once = Cell { samples_ns: vec![1000], ..cell() };
        assert_eq!(once.mean_bytes_per_second(), Some(1e11));
    }
}
