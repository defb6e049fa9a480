//! What the guests of a rack did in the trials of a study, and whether the machine that runs them had CPUs for them.
//!
//! Guests share the CPUs of one machine. A guest that is ready to run and gets none is slower than its links and disks
//! allow, and no law about the figures can see it; so it is judged by what the kernel reports about the threads of its
//! process.

use stormeter_trial::{GuestActivity, GuestKind, GuestRow};

use crate::finding::{Fact, GuestWait, LawFinding, SeenIn};

/// A guest may wait for a CPU for this share of the window. What it does in a second changes by about the share that it
/// waited: a tenth is what studies in a rack look for, and far more than the turns that guests take on a machine with
/// room for all, where each wait ends within a time slice of some milliseconds.
pub const GUEST_STARVED: f64 = 0.10;

/// A measured trial, for what its guests did.
#[derive(Debug, Clone, Copy)]
pub struct GuestTrial<'a> {
    /// Which cell.
    pub cell: usize,
    /// The ramp before its window.
    pub ramp_ns: u64,
    /// What the guests did, ramp included.
    pub guests: &'a [GuestActivity],
}

/// A guest over the windows of all trials.
#[derive(Debug, Clone, PartialEq)]
pub struct GuestSummary {
    /// Its name in the rack.
    pub name: String,
    /// Its part in the rack.
    pub kind: GuestKind,
    /// Its CPU time in CPUs of the machine, on average.
    pub cpus_mean: f64,
    /// In the interval in which it used most.
    pub cpus_most: f64,
    /// The share of the time that it waited for a CPU, on average.
    pub waited_mean: f64,
    /// In the trial in which it waited longest.
    pub waited_most: f64,
    /// The most memory that its process had.
    pub memory_most_bytes: u64,
}

/// The guests in the order in which they are first named, without those that ran in no window.
pub fn summaries(trials: &[GuestTrial<'_>]) -> Vec<GuestSummary> {
    let mut found: Vec<(GuestSummary, f64)> = Vec::new();
    for trial in trials {
        for guest in trial.guests {
            let rows = window(&guest.rows, trial.ramp_ns);
            let Some(mean) = mean(rows) else { continue };
            let place = found.iter().position(|(known, _)| known.name == guest.name);
            let place = place.unwrap_or_else(|| {
                let none = GuestSummary {
                    name: guest.name.clone(),
                    kind: guest.kind,
                    cpus_mean: 0.0,
                    cpus_most: 0.0,
                    waited_mean: 0.0,
                    waited_most: 0.0,
                    memory_most_bytes: 0,
                };
                found.push((none, 0.0));
                found.len() - 1
            });
            let (all, weight) = &mut found[place];
            let own = mean.length_ns as f64;
            *weight += own;
            let share = own / weight.max(1.0);
            all.cpus_mean += (mean.cpus_busy - all.cpus_mean) * share;
            all.waited_mean += (mean.waited - all.waited_mean) * share;
            all.waited_most = all.waited_most.max(mean.waited);
            for row in rows {
                all.cpus_most = all.cpus_most.max(row.cpus_busy);
                all.memory_most_bytes = all.memory_most_bytes.max(row.memory_bytes);
            }
        }
    }
    found.into_iter().map(|(summary, _)| summary).collect()
}

/// The trials whose guests waited for CPUs for more than [`GUEST_STARVED`] of the window, as one finding about the cell
/// of the trial with the longest wait.
pub fn starved(trials: &[GuestTrial<'_>]) -> Option<(usize, LawFinding)> {
    let (mut worst, mut count) = (None::<(usize, Vec<GuestWait>)>, 0);
    for trial in trials {
        let waits = trial.guests.iter().filter_map(|guest| {
            let share = mean(window(&guest.rows, trial.ramp_ns))?.waited;
            (share > GUEST_STARVED).then(|| GuestWait { guest: guest.name.clone(), share })
        });
        let mut waits: Vec<GuestWait> = waits.collect();
        waits.sort_by(|a, b| b.share.total_cmp(&a.share));
        let Some(longest) = waits.first().map(|wait| wait.share) else { continue };
        count += 1;
        if worst.as_ref().is_none_or(|(_, known)| longest > known[0].share) {
            worst = Some((trial.cell, waits));
        }
    }
    let (cell, waits) = worst?;
    let seen_in = SeenIn { trials: count, of: trials.len() as u32 };
    Some((cell, LawFinding::warning(Fact::GuestsStarved { seen_in, waits })))
}

/// The rows' means over windows of `window_ns` since the load started, as [`crate::monitor::averages`] has them of the
/// host's rows. A row belongs to the window in which its middle lies.
pub fn averages(rows: &[GuestRow], window_ns: u64) -> Vec<GuestRow> {
    let window_of = |row: &GuestRow| row.at_ns.saturating_add(row.length_ns / 2) / window_ns.max(1);
    rows.chunk_by(|row, next| window_of(row) == window_of(next)).filter_map(mean).collect()
}

/// The rows whose middle is after the ramp.
fn window(rows: &[GuestRow], ramp_ns: u64) -> &[GuestRow] {
    let is_ramp = |row: &GuestRow| row.at_ns.saturating_add(row.length_ns / 2) < ramp_ns;
    let from = rows.iter().take_while(|row| is_ramp(row)).count();
    // The only row of a short trial has both.
    if from == rows.len() { rows } else { &rows[from..] }
}

/// The mean of rows, each weighing as much as it is long; `None` of none. A rate that one of them does not know is not
/// known.
fn mean(rows: &[GuestRow]) -> Option<GuestRow> {
    let first = rows.first()?;
    let length_ns = rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.length_ns));
    // Rows without a length, which no version writes, weigh alike.
    let weight = |row: &GuestRow| match length_ns {
        0 => 1.0 / rows.len() as f64,
        all => row.length_ns as f64 / all as f64,
    };
    let of = |value: &dyn Fn(&GuestRow) -> f64| -> f64 {
        rows.iter().map(|row| weight(row) * value(row)).sum()
    };
    let known = |value: fn(&GuestRow) -> Option<f64>| -> Option<f64> {
        rows.iter().map(|row| Some(weight(row) * value(row)?)).sum()
    };
    Some(GuestRow {
        at_ns: first.at_ns,
        length_ns,
        cpus_busy: of(&|row| row.cpus_busy),
        waited: of(&|row| row.waited),
        memory_bytes: of(&|row| row.memory_bytes as f64).round() as u64,
        disk_read_bytes_per_s: known(|row| row.disk_read_bytes_per_s),
        disk_write_bytes_per_s: known(|row| row.disk_write_bytes_per_s),
        network_receive_bytes_per_s: known(|row| row.network_receive_bytes_per_s),
        network_transmit_bytes_per_s: known(|row| row.network_transmit_bytes_per_s),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    const S: u64 = 1_000_000_000;

    fn row(at_s: u64, length_s: u64, cpus_busy: f64, waited: f64) -> GuestRow {
        let (at_ns, length_ns) = (at_s * S, length_s * S);
        GuestRow { at_ns, length_ns, cpus_busy, waited, memory_bytes: at_s, ..GuestRow::default() }
    }

    fn guest(name: &str, rows: Vec<GuestRow>) -> GuestActivity {
        GuestActivity { name: name.into(), kind: GuestKind::Router, rows }
    }

    fn trial(cell: usize, guests: &[GuestActivity]) -> GuestTrial<'_> {
        GuestTrial { cell, ramp_ns: 2 * S, guests }
    }

    #[test]
    fn a_guest_is_summed_up_over_the_windows_of_trials() {
        let first =
            [guest("a", vec![row(0, 2, 9.0, 0.9), row(2, 1, 0.4, 0.0), row(3, 3, 0.8, 0.2)])];
        let second = [guest("b", vec![]), guest("a", vec![row(2, 4, 0.3, 0.05)])];
        let found = summaries(&[trial(0, &first), trial(1, &second)]);
        assert_eq!(found.len(), 1, "b never ran: {found:?}");
        let of = &found[0];
        assert!((of.cpus_mean - 0.5).abs() < 1e-12, "{of:?}");
        assert!((of.waited_mean - 0.1).abs() < 1e-12, "{of:?}");
        assert!((of.waited_most - 0.15).abs() < 1e-12, "{of:?}");
        assert_eq!((of.cpus_most, of.memory_most_bytes), (0.8, 3));
    }

    #[test]
    fn guests_that_waited_are_one_finding_about_the_worst_trial() {
        let quiet = [guest("a", vec![row(0, 2, 0.1, 0.9), row(2, 8, 0.5, GUEST_STARVED)])];
        assert_eq!(starved(&[trial(0, &quiet)]), None, "a wait in the ramp is not counted");
        let some = [guest("a", vec![row(2, 8, 0.5, 0.12)]), guest("b", vec![row(2, 8, 0.5, 0.05)])];
        let more = [guest("a", vec![row(2, 8, 0.5, 0.2)]), guest("b", vec![row(2, 8, 0.5, 0.3)])];
        let all = [trial(0, &quiet), trial(1, &some), trial(2, &more), trial(1, &some)];
        let Some((2, LawFinding { severity: Severity::Warning, fact, seen_in: None })) =
            starved(&all)
        else {
            panic!("{:?}", starved(&all))
        };
        let wait = |guest: &str, share| GuestWait { guest: guest.into(), share };
        let waits = vec![wait("b", 0.3), wait("a", 0.2)];
        assert_eq!(fact, Fact::GuestsStarved { seen_in: SeenIn { trials: 3, of: 4 }, waits });
        assert_eq!(starved(&[]), None);
    }

    #[test]
    fn the_only_row_of_a_short_trial_counts() {
        let short = [guest("a", vec![row(0, 1, 0.5, 0.5)])];
        assert_eq!(summaries(&[trial(0, &short)])[0].waited_mean, 0.5);
    }

    #[test]
    fn means_are_over_windows_and_unknown_where_a_part_is() {
        let known = |at_s, length_s, rate| GuestRow {
            disk_read_bytes_per_s: Some(rate),
            ..row(at_s, length_s, rate, 0.0)
        };
        let rows = [known(0, 15, 1.0), known(15, 5, 5.0), known(20, 20, 7.0), row(40, 2, 9.0, 0.0)];
        let found = averages(&rows, 20 * S);
        let rates: Vec<_> = found.iter().map(|row| row.disk_read_bytes_per_s).collect();
        assert_eq!(rates, [Some(2.0), Some(7.0), None]);
        let cpus: Vec<_> = found.iter().map(|row| row.cpus_busy).collect();
        assert_eq!(cpus, [2.0, 7.0, 9.0]);
        assert_eq!(averages(&[], 20 * S), []);
        // A results file may come from anywhere.
        let endless = GuestRow { length_ns: u64::MAX, ..row(3, 1, 1.0, 0.0) };
        for rows in [vec![endless.clone(), endless], vec![row(0, 0, 2.0, 0.0), row(0, 0, 4.0, 0.0)]]
        {
            assert!(averages(&rows, 0).iter().all(|row| row.cpus_busy.is_finite()), "{rows:?}");
        }
    }
}
