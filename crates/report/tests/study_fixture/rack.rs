//! A study on guests of a rack: each with its figures, and its means in every trial.

use stormeter_report::{GuestTrace, Report, StudyGuestRow};
use stormeter_trial::GuestRow;

use super::study;

/// The usual study, on eleven guests.
pub(crate) fn on_guests() -> Report {
    let mut report = study();
    let names = [
        ("ce1", "router"),
        ("ce2", "router"),
        ("pe1", "router"),
        ("pe2", "router"),
        ("core", "router"),
        ("san", "storage"),
        ("client", "host"),
        ("ftp1", "vm"),
        ("ftp2", "vm"),
        ("vnc1", "vm"),
        ("vnc2", "vm"),
    ];
    for (number, (name, kind)) in names.into_iter().enumerate() {
        let level = 0.08 * (number as f64 + 1.0);
        let rows = report.traces.iter().flat_map(|trace| {
            let wave = 1.0 + 0.3 * ((trace.block as f64) + number as f64).sin();
            let length_ns = (trace.end_ns - trace.start_ns) / 2;
            let is_agent = kind == "host";
            let row = move |half: u64| GuestRow {
                at_ns: trace.start_ns + half * length_ns,
                length_ns,
                cpus_busy: level * wave * (1.0 + 0.2 * half as f64),
                waited: level * wave * 0.2,
                memory_bytes: (64 + 10 * number as u64) << 20,
                disk_read_bytes_per_s: (kind != "router").then_some(level * wave * 4e7),
                disk_write_bytes_per_s: (kind != "router").then_some(level * 1e7),
                network_receive_bytes_per_s: is_agent.then_some(2e6 * wave),
                network_transmit_bytes_per_s: is_agent.then_some(4e5 * wave),
            };
            (0..2).map(row)
        });
        report.guest_traces.push(GuestTrace { name: name.into(), rows: rows.collect() });
        report.guests.push(StudyGuestRow {
            name: name.into(),
            kind: kind.into(),
            cpus_mean: level,
            cpus_most: level * 1.5,
            waited_mean: level * 0.2,
            waited_most: level * 0.26,
            memory_most_bytes: ((64 + 10 * number as u64) << 20) + 5,
        });
    }
    report
}
