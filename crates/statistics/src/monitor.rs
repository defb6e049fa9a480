//! What the host did during a trial, in fewer rows than were read: means over time, for charts.

use stormeter_trial::MonitorRow;

/// The rows' means over windows of `window_ns` since the trial began, each row weighing as much
/// as it is long: what charts of a longer run show (20 s in the `mpls-servers` study). A row
/// belongs to the window in which its middle lies and is not cut, so rows that are longer than
/// the window stay as they are, and there are never more means than rows. A CPU that a row does
/// not name was off: it counts as idle. Rows come in their order; windows without any are left
/// out.
pub fn averages(rows: &[MonitorRow], window_ns: u64) -> Vec<MonitorRow> {
    let window_of =
        |row: &MonitorRow| row.at_ns.saturating_add(row.length_ns / 2) / window_ns.max(1);
    rows.chunk_by(|row, next| window_of(row) == window_of(next)).map(mean).collect()
}

/// At most `most` rows (at least one, where there are any), each the mean of as many that follow one
/// another.
pub fn thinned(rows: &[MonitorRow], most: usize) -> Vec<MonitorRow> {
    rows.chunks(rows.len().div_ceil(most.max(1)).max(1)).map(mean).collect()
}

/// The mean of rows that follow one another.
fn mean(rows: &[MonitorRow]) -> MonitorRow {
    let length_ns = rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.length_ns));
    // Rows without a length, which no version writes, weigh alike.
    let weight = |row: &MonitorRow| match length_ns {
        0 => 1.0 / rows.len() as f64,
        all => row.length_ns as f64 / all as f64,
    };
    let of = |value: &dyn Fn(&MonitorRow) -> f64| -> f64 {
        rows.iter().map(|row| weight(row) * value(row)).sum()
    };
    let cores = rows.iter().map(|row| row.cores_busy.len()).max().unwrap_or(0);
    MonitorRow {
        at_ns: rows.first().map_or(0, |row| row.at_ns),
        length_ns,
        cpu_busy: of(&|row| row.cpu_busy),
        cores_busy: (0..cores)
            .map(|core| of(&|row| row.cores_busy.get(core).copied().unwrap_or(0.0)))
            .collect(),
        memory_used_bytes: of(&|row| row.memory_used_bytes as f64).round() as u64,
        network_receive_bytes_per_s: of(&|row| row.network_receive_bytes_per_s),
        network_transmit_bytes_per_s: of(&|row| row.network_transmit_bytes_per_s),
        loopback_bytes_per_s: of(&|row| row.loopback_bytes_per_s),
        disk_read_bytes_per_s: of(&|row| row.disk_read_bytes_per_s),
        disk_write_bytes_per_s: of(&|row| row.disk_write_bytes_per_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row whose every rate is `value`.
    fn row(at_s: u64, length_s: u64, value: f64) -> MonitorRow {
        MonitorRow {
            at_ns: at_s * 1_000_000_000,
            length_ns: length_s * 1_000_000_000,
            cpu_busy: value,
            cores_busy: vec![value, 0.0],
            memory_used_bytes: value as u64,
            network_receive_bytes_per_s: value,
            network_transmit_bytes_per_s: value,
            loopback_bytes_per_s: value,
            disk_read_bytes_per_s: value,
            disk_write_bytes_per_s: value,
        }
    }

    const WINDOW_NS: u64 = 20_000_000_000;

    #[test]
    fn a_long_row_weighs_more_than_a_short_one() {
        let rows = [row(0, 15, 1.0), row(15, 5, 5.0), row(20, 20, 7.0), row(40, 2, 9.0)];
        let found = averages(&rows, WINDOW_NS);
        assert_eq!(found, [row(0, 20, 2.0), row(20, 20, 7.0), row(40, 2, 9.0)]);
    }

    #[test]
    fn a_row_across_an_edge_belongs_to_its_middle() {
        let rows = [row(0, 18, 1.0), row(18, 6, 2.0), row(24, 6, 4.0)];
        assert_eq!(averages(&rows, WINDOW_NS), [row(0, 18, 1.0), row(18, 12, 3.0)]);
    }

    #[test]
    fn a_cpu_that_was_off_counts_as_idle() {
        let mut without = row(10, 10, 4.0);
        without.cores_busy.clear();
        let found = averages(&[row(0, 10, 4.0), without], WINDOW_NS);
        assert_eq!(found[0].cores_busy, [2.0, 0.0]);
        assert_eq!(found[0].cpu_busy, 4.0);
    }

    /// A results file may come from anywhere.
    #[test]
    fn rows_without_a_length_make_no_more_windows_than_rows() {
        let endless = MonitorRow { length_ns: u64::MAX, ..row(3, 1, 1.0) };
        let late = MonitorRow { at_ns: u64::MAX, ..endless.clone() };
        let rows = [endless, late, row(0, 0, 2.0), row(0, 0, 4.0)];
        for window_ns in [0, 1, WINDOW_NS, u64::MAX] {
            let found = averages(&rows, window_ns);
            assert!((1..=4).contains(&found.len()), "{window_ns}: {found:?}");
            assert!(found.iter().all(|row| row.cpu_busy.is_finite()), "{found:?}");
        }
        assert_eq!(averages(&rows[2..], WINDOW_NS)[0].cpu_busy, 3.0);
        assert_eq!(averages(&[], WINDOW_NS), []);
    }

    #[test]
    fn thinned_rows_are_so_many_means() {
        let rows = [row(0, 10, 9.0), row(10, 5, 3.0), row(15, 10, 1.0)];
        assert_eq!(thinned(&rows, 2), [row(0, 15, 7.0), row(15, 10, 1.0)]);
        assert_eq!(thinned(&rows, 3), rows);
        assert_eq!(thinned(&rows, 0).len(), 1);
        assert_eq!(thinned(&[], 2), []);
    }
}
