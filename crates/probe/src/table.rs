//! Results as text for a terminal of a given width.
//!
//! Sizes are decimal, as in the NFS datastore study: 100 KB = 100 000 B. Times are milliseconds. A
//! table that is wider than the terminal continues below, repeating its first column.

use crate::cell::Cell;
use crate::request::Direction;
use crate::summary::{Summary, mean};
use crate::throughput::Throughput;

/// A column of the table of rows.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    /// Its heading: a datastore (the study's `Local` and `NFS`) or a size.
    pub heading: &'a str,
    /// Its contents.
    pub cell: &'a Cell,
}

/// The tables of the study: a line for each row with the mean of its repetitions in milliseconds,
/// and below them `Avg`, the mean of the rows. The study has one such table per operation, sink and
/// size, with a column for each datastore; columns by size take less paper.
pub fn rows_table(title: &str, columns: &[Column], width: usize) -> String {
    let numbers = columns.iter().map(|column| column.cell.rows().len()).max().unwrap_or(0);
    let mut first = vec!["Row".to_owned()];
    first.extend((1..=numbers).map(|number| number.to_string()));
    first.push("Avg".into());
    let grid = columns.iter().map(|column| {
        let rows = column.cell.rows();
        let mut lines = vec![column.heading.to_owned()];
        lines.extend((0..numbers).map(|at| ms(rows.get(at).map(|row| row.summary.mean_ns))));
        lines.push(ms(column.cell.mean_of_rows_ns()));
        lines
    });
    format!(
        "{title} (ms, mean of each row)\n{}",
        side_by_side(&first, &grid.collect::<Vec<_>>(), width)
    )
}

/// A line for each size of one probe: number, mean, standard deviation, minimum, median, 99th
/// percentile, maximum, and payload over mean time.
pub fn summary_table(cells: &[Cell], width: usize) -> String {
    let mut text = String::new();
    let mut left = cells;
    while let Some(cell) = left.first() {
        let alike = left.iter().take_while(|other| other.observed == cell.observed).count();
        let (group, rest) = left.split_at(alike);
        if !text.is_empty() {
            text.push('\n');
        }
        text += &format!("{} (ms)\n{}", cell.observed.title(), summaries(group, width));
        left = rest;
    }
    text
}

fn summaries(cells: &[Cell], width: usize) -> String {
    let sizes: Vec<_> =
        std::iter::once("Size".to_owned()).chain(cells.iter().map(Cell::size)).collect();
    let column = |heading: &str, of: &dyn Fn(&Summary) -> String| -> Vec<String> {
        let values = cells.iter().map(|cell| cell.summary().map_or("-".into(), |s| of(&s)));
        std::iter::once(heading.to_owned()).chain(values).collect()
    };
    let speed = cells.iter().map(|cell| {
        cell.mean_bytes_per_second().map_or("-".into(), |speed| format!("{:.1}", speed / 1e6))
    });
    let columns = [
        column("n", &|s| s.n.to_string()),
        column("mean", &|s| ms(Some(s.mean_ns))),
        column("sd", &|s| ms(s.sd_ns)),
        column("min", &|s| ms(Some(s.min_ns as f64))),
        column("median", &|s| ms(Some(s.median_ns))),
        column("p99", &|s| ms(Some(s.p99_ns as f64))),
        column("max", &|s| ms(Some(s.max_ns as f64))),
        std::iter::once("MB/s".to_owned()).chain(speed).collect(),
    ];
    side_by_side(&sizes, &columns, width)
}

/// A line for each direction and number of streams: the rate of each measurement in Gbit/s and their
/// mean, and, if the line rate is known, the percentage of it that was reached.
pub fn throughput_table(
    measured: &[Throughput],
    line_bits_per_second: Option<f64>,
    width: usize,
) -> String {
    let mut kinds: Vec<(Direction, usize)> = Vec::new();
    for one in measured {
        let kind = (one.direction, one.stream_bytes.len());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let mut lines = vec![
        vec!["Streams".to_owned()],
        vec!["runs".to_owned()],
        vec!["min".to_owned()],
        vec!["mean".to_owned()],
        vec!["max".to_owned()],
    ];
    if line_bits_per_second.is_some() {
        lines.push(vec!["of line rate".to_owned()]);
    }
    for &(direction, streams) in &kinds {
        let rates: Vec<f64> = measured
            .iter()
            .filter(|one| (one.direction, one.stream_bytes.len()) == (direction, streams))
            .map(|one| one.bits_per_second() / 1e9)
            .collect();
        let mean = mean(rates.iter().copied()).unwrap_or(0.0);
        let min = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let max = rates.iter().copied().fold(0.0, f64::max);
        let mut values = vec![
            format!("{} {streams}", direction.name()),
            rates.len().to_string(),
            format!("{min:.3}"),
            format!("{mean:.3}"),
            format!("{max:.3}"),
        ];
        if let Some(line_rate) = line_bits_per_second.filter(|&rate| rate > 0.0) {
            values.push(format!("{:.1} %", mean * 1e11 / line_rate));
        }
        for (column, value) in lines.iter_mut().zip(values) {
            column.push(value);
        }
    }
    let (first, columns) = match lines.split_first() {
        Some((first, columns)) => (first.clone(), columns.to_vec()),
        None => return String::new(),
    };
    format!("Throughput (Gbit/s of payload)\n{}", side_by_side(&first, &columns, width))
}

fn ms(ns: Option<f64>) -> String {
    ns.map_or("-".into(), |ns| format!("{:.4}", ns / 1e6))
}

/// Columns next to a first one, as many as fit, and the rest below.
fn side_by_side(first: &[String], columns: &[Vec<String>], width: usize) -> String {
    let wide = |column: &[String]| column.iter().map(|s| s.chars().count()).max().unwrap_or(0);
    let first_width = wide(first);
    let mut text = String::new();
    let mut left = columns;
    while !left.is_empty() {
        let mut used = first_width;
        let fits = left.iter().take_while(|column| {
            used += 2 + wide(column);
            used <= width
        });
        // A column too wide for any terminal is shown nevertheless.
        let (shown, rest) = left.split_at(fits.count().max(1));
        if !text.is_empty() {
            text.push('\n');
        }
        for (at, name) in first.iter().enumerate() {
            let mut line = format!("{name:<first_width$}");
            for column in shown {
                let value = column.get(at).map_or("", String::as_str);
                line += &format!("  {value:>width$}", width = wide(column));
            }
            text += line.trim_end();
            text.push('\n');
        }
        left = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Layout, Observed};

    fn cell(length_bytes: u64, samples_ns: &[u64]) -> Cell {
        Cell {
            observed: Observed::RoundTrip,
            length_bytes,
            layout: Layout { rows: 2, repeats: 2 },
            samples_ns: samples_ns.to_vec(),
        }
    }

    #[test]
    fn the_table_of_rows_is_the_studys() {
        let local = cell(100_000, &[1_000_000, 2_000_000, 3_000_000, 5_000_000]);
        let nfs = cell(100_000, &[11_000_000, 12_000_000, 13_000_000, 15_000_000]);
        let columns =
            [Column { heading: "Local", cell: &local }, Column { heading: "NFS", cell: &nfs }];
        let expected = "\
100 KB (ms, mean of each row)
Row   Local      NFS
1    1.5000  11.5000
2    4.0000  14.0000
Avg  2.7500  12.7500
";
        assert_eq!(rows_table("100 KB", &columns, 80), expected);
    }

    #[test]
    fn what_is_too_wide_continues_below() {
        let one = cell(100_000, &[1_000_000; 4]);
        let columns = [Column { heading: "A", cell: &one }, Column { heading: "B", cell: &one }];
        let text = rows_table("T", &columns, 12);
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= 12), "{text}");
        assert_eq!(text.matches("Avg").count(), 2, "{text}");
        assert!(text.contains('A') && text.contains('B'), "{text}");
    }

    #[test]
    fn the_summary_has_a_line_a_size_and_a_table_a_probe() {
        let sizes = [cell(64, &[2_000_000; 4]), cell(1_000_000, &[4_000_000, 8_000_000])];
        let expected = "\
Round trip (ms)
Size  n    mean      sd     min  median     p99     max   MB/s
64 B  4  2.0000  0.0000  2.0000  2.0000  2.0000  2.0000    0.1
1 MB  2  6.0000  2.8284  4.0000  6.0000  8.0000  8.0000  333.3
";
        assert_eq!(summary_table(&sizes, 80), expected);
    }

    #[test]
    fn throughput_is_shown_against_the_line_rate() {
        let of = |bytes: &[u64]| Throughput {
            direction: Direction::Fetch,
            warm_up_ns: 0,
            window_ns: 1_000_000_000,
            stream_bytes: bytes.to_vec(),
        };
        let measured = [of(&[1_000_000_000]), of(&[1_250_000_000]), of(&[625_000_000; 4])];
        let expected = "\
Throughput (Gbit/s of payload)
Streams  runs     min    mean     max  of line rate
fetch 1     2   8.000   9.000  10.000        22.5 %
fetch 4     1  20.000  20.000  20.000        50.0 %
";
        assert_eq!(throughput_table(&measured, Some(40e9), 80), expected);
    }
}
