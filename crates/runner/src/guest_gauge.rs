//! From two readings of guests to what they did in between.
//!
//! A guest may be killed and started again at any time, and then its counters start over. Differences are therefore taken
//! within one process only; in between there is no row, since a gap misleads less than a spike.

use std::collections::HashMap;

use stormeter_trial::{GuestActivity, GuestRow};

use crate::monitor_source::{GuestReading, ThreadReading};

/// A thread that is woken on an idle CPU waits for as long as this, too: it is no wait for a busy CPU.
const WAKING_NS: u64 = 10_000;

/// The guests' rows so far, and the last reading of each.
#[derive(Debug, Default)]
pub(crate) struct GuestGauge {
    last: HashMap<String, (u64, GuestReading)>,
    activities: Vec<GuestActivity>,
}

impl GuestGauge {
    /// Takes a reading of `at_ns` since the load started: a row for each guest that the last reading has, too.
    pub(crate) fn take(&mut self, at_ns: u64, readings: Vec<GuestReading>) {
        let mut before = std::mem::take(&mut self.last);
        for reading in readings {
            let known = self.activities.iter().position(|guest| guest.name == reading.name);
            let place = known.unwrap_or_else(|| {
                let (name, kind) = (reading.name.clone(), reading.kind);
                self.activities.push(GuestActivity { name, kind, rows: Vec::new() });
                self.activities.len() - 1
            });
            if let Some((from_ns, last)) = before.remove(&reading.name) {
                self.activities[place].rows.extend(row((from_ns, &last), (at_ns, &reading)));
            }
            self.last.insert(reading.name.clone(), (at_ns, reading));
        }
    }

    /// What each guest did.
    pub(crate) fn activities(self) -> Vec<GuestActivity> {
        self.activities
    }
}

/// `None` if both are not of one process, or no time has passed.
fn row(from: (u64, &GuestReading), to: (u64, &GuestReading)) -> Option<GuestRow> {
    let ((from_ns, last), (to_ns, now)) = (from, to);
    let length_ns = to_ns.checked_sub(from_ns).filter(|&length_ns| length_ns > 0)?;
    if last.life != now.life {
        return None;
    }
    let share = |ns: u64| ns as f64 / length_ns as f64;
    let per_s = |index: usize| {
        let (last, now) = (last.disk_bytes?, now.disk_bytes?);
        Some(now[index].saturating_sub(last[index]) as f64 * 1e9 / length_ns as f64)
    };
    Some(GuestRow {
        at_ns: from_ns,
        length_ns,
        cpus_busy: share(now.cpu_ns.saturating_sub(last.cpu_ns)),
        waited: share(longest_wait_ns(&last.threads, &now.threads)).min(1.0),
        memory_bytes: now.memory_bytes,
        disk_read_bytes_per_s: per_s(0),
        disk_write_bytes_per_s: per_s(1),
        network_receive_bytes_per_s: None,
        network_transmit_bytes_per_s: None,
    })
}

/// The wait of the thread that waited longest between two readings. A thread that is new counted from 0.
fn longest_wait_ns(last: &[(u64, ThreadReading)], now: &[(u64, ThreadReading)]) -> u64 {
    let last: HashMap<u64, ThreadReading> = last.iter().copied().collect();
    let wait = |(id, now): &(u64, ThreadReading)| {
        let before = last.get(id).copied().unwrap_or_default();
        let waking_ns = now.slices.saturating_sub(before.slices).saturating_mul(WAKING_NS);
        now.waited_ns.saturating_sub(before.waited_ns).saturating_sub(waking_ns)
    };
    now.iter().map(wait).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use stormeter_trial::GuestKind;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn reading(life: u64, cpu_ns: u64, bytes: u64) -> GuestReading {
        GuestReading {
            name: "pe1".into(),
            kind: GuestKind::Router,
            life,
            cpu_ns,
            threads: vec![],
            memory_bytes: 7,
            disk_bytes: Some([bytes, 2 * bytes]),
        }
    }

    fn rows(readings: impl IntoIterator<Item = (u64, Vec<GuestReading>)>) -> Vec<GuestRow> {
        let mut gauge = GuestGauge::default();
        readings.into_iter().for_each(|(at_ns, readings)| gauge.take(at_ns, readings));
        let mut all = gauge.activities();
        assert!(all.len() < 2, "{all:?}");
        all.pop().map_or_else(Vec::new, |guest| guest.rows)
    }

    #[test]
    fn two_readings_make_a_row_of_rates() {
        let found = rows([(S, vec![reading(1, S, 100)]), (3 * S, vec![reading(1, 4 * S, 300)])]);
        let expected = GuestRow {
            at_ns: S,
            length_ns: 2 * S,
            cpus_busy: 1.5,
            memory_bytes: 7,
            disk_read_bytes_per_s: Some(100.0),
            disk_write_bytes_per_s: Some(200.0),
            ..GuestRow::default()
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn the_thread_that_waited_longest_counts_without_its_wakings() {
        let mut first = reading(1, 0, 0);
        let mut second = first.clone();
        let of = |waited_ns, slices| ThreadReading { waited_ns, slices };
        first.threads = vec![(10, of(S, 5)), (11, of(0, 0))];
        // A quarter of a second with 5000 wakings; a tenth; and one that is new, a fifth.
        second.threads = vec![(10, of(S + S / 4, 5005)), (11, of(S / 10, 0)), (12, of(S / 5, 0))];
        let found = rows([(0, vec![first.clone()]), (S, vec![second])]);
        assert_eq!(found[0].waited, 0.2);
        // Woken a hundred thousand times, at once each time.
        let mut woken = first.clone();
        woken.threads[0].1 = of(S + S / 3, 100_000);
        assert_eq!(rows([(0, vec![first]), (S, vec![woken])])[0].waited, 0.0);
    }

    #[test]
    fn a_guest_has_no_rows_while_it_is_gone_and_starts_from_scratch() {
        let (before, after) = (reading(1, 50 * S, 1 << 40), reading(2, S, 50));
        let found = rows([
            (0, vec![before.clone()]),
            (S, vec![GuestReading { cpu_ns: 51 * S, ..before }]),
            (2 * S, vec![]),
            (3 * S, vec![after.clone()]),
            (4 * S, vec![GuestReading { cpu_ns: 2 * S, ..after }]),
        ]);
        let spans: Vec<_> = found.iter().map(|row| (row.at_ns, row.cpus_busy)).collect();
        assert_eq!(spans, [(0, 1.0), (3 * S, 1.0)]);
        assert!(found.iter().all(|row| row.disk_read_bytes_per_s == Some(0.0)), "{found:?}");
        // Restarted between two readings.
        assert_eq!(rows([(0, vec![reading(1, 9, 9)]), (S, vec![reading(2, 20 * S, 99)])]), []);
    }

    #[test]
    fn counters_that_run_backwards_count_as_nothing() {
        let found = rows([(0, vec![reading(1, 9 * S, 900)]), (S, vec![reading(1, S, 100)])]);
        let row = &found[0];
        assert_eq!((row.cpus_busy, row.disk_write_bytes_per_s), (0.0, Some(0.0)));
        // Two readings at one moment.
        assert_eq!(rows([(S, vec![reading(1, 0, 0)]), (S, vec![reading(1, S, 0)])]), []);
    }

    #[test]
    fn what_the_kernel_does_not_show_is_unknown() {
        let hidden = GuestReading { disk_bytes: None, ..reading(1, 0, 0) };
        let found = rows([(0, vec![reading(1, 0, 0)]), (S, vec![hidden])]);
        assert_eq!(found[0].disk_read_bytes_per_s, None);
    }
}
