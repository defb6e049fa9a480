//! The guests of the rack that a study ran on: what each used of the machine that runs them.

use stormeter_results::{Phase, TrialOutcome, TrialRecord};
use stormeter_statistics::guests::{GUEST_STARVED, GuestSummary, averages};
use stormeter_trial::GuestRow;
use stormeter_units::format_bytes;

use super::grid::Grid;
use crate::model::{GuestTrace, StudyGuestRow};

/// The head of the table.
pub(super) const HEAD: [&str; 7] =
    ["guest", "part", "CPUs, mean", "CPUs, most", "waited", "worst trial", "memory"];

/// The meaning of the figures.
pub(super) fn caption() -> String {
    format!(
        "CPUs: of the machine that runs the guests, used by the guest's process; the most is that of an interval. waited: \
         the share of the time that a thread of it was ready to run and had no CPU, over all trials and in the worst; \
         above {:.0} % its figures are also about the emulation. memory: the most that its process had.",
        GUEST_STARVED * 100.0
    )
}

/// The guests as the model has them.
pub(crate) fn guests(summaries: &[GuestSummary]) -> Vec<StudyGuestRow> {
    let row = |of: &GuestSummary| StudyGuestRow {
        name: of.name.clone(),
        kind: of.kind.name().into(),
        cpus_mean: of.cpus_mean,
        cpus_most: of.cpus_most,
        waited_mean: of.waited_mean,
        waited_most: of.waited_most,
        memory_most_bytes: of.memory_most_bytes,
    };
    summaries.iter().map(row).collect()
}

/// What each of them did in the measured trials of cells, as means over up to `window_ns`; `begin_ms` is the start of the
/// run.
pub(crate) fn guest_traces(
    guests: &[StudyGuestRow],
    records: &[&TrialRecord],
    (begin_ms, window_ns): (u64, u64),
) -> Vec<GuestTrace> {
    let is_shown = |record: &&&TrialRecord| {
        record.phase == Phase::Main && matches!(record.outcome, TrialOutcome::Measured { .. })
    };
    let trace = |guest: &StudyGuestRow| {
        let trials = records.iter().filter(is_shown).flat_map(|record| {
            let start_ns =
                record.started_unix_ms.saturating_sub(begin_ms).saturating_mul(1_000_000);
            let own = record.guests.iter().filter(|one| one.name == guest.name);
            own.flat_map(|one| averages(&one.rows, window_ns))
                .map(move |row| GuestRow { at_ns: row.at_ns.saturating_add(start_ns), ..row })
        });
        GuestTrace { name: guest.name.clone(), rows: trials.collect() }
    };
    guests.iter().map(trace).collect()
}

/// The table without its head.
pub(super) fn rows(grid: &Grid<'_>) -> Vec<[String; HEAD.len()]> {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let row = |guest: &StudyGuestRow| {
        // In whole mebibytes: more is noise.
        let memory = format_bytes(guest.memory_most_bytes.next_multiple_of(1 << 20));
        [
            guest.name.clone(),
            guest.kind.clone(),
            format!("{:.2}", guest.cpus_mean),
            format!("{:.2}", guest.cpus_most),
            percent(guest.waited_mean),
            percent(guest.waited_most),
            memory,
        ]
    };
    grid.report.guests.iter().map(row).collect()
}
