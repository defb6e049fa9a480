//! The hosts of a study: the offsets of their clocks, their load and their CPU time.

use stormeter_results::{EnvironmentNote, Header, HostDescription, HostShare, Phase, TrialRecord};
use stormeter_study::Metric;
use stormeter_trial::HostCpu;

use super::grid::{Grid, cell_name};
use crate::model::{StudyHostCell, StudyHostRow};
use crate::phrases::environment_note;
use crate::quantity::metric_value;

/// The meaning of the figures.
pub(super) const CAPTION: &str = "clock: the host's time of day less that of the machine that ran the \
                                  study when it began, ± half of the shortest round trip; CPU per I/O: \
                                  of the agent.";

/// The hosts of a study, from their activity in its trials.
pub(crate) fn hosts(
    header: &Header,
    trials: &[&TrialRecord],
    shares: &[(u64, HostShare)],
) -> Vec<StudyHostRow> {
    let rows = (0u32..).zip(&header.environment.hosts).map(|(number, host)| StudyHostRow {
        name: host.name.clone(),
        reached_by: host.reached_by.clone(),
        cpus: host.environment.cpus,
        clock_offset_ns: host.clock_offset_ns,
        clock_error_ns: host.clock_error_ns,
        notes: host.environment.notes.iter().map(environment_note).collect(),
        cells: cells(header, number, trials, shares),
    });
    rows.collect()
}

fn cells(
    header: &Header,
    number: u32,
    trials: &[&TrialRecord],
    shares: &[(u64, HostShare)],
) -> Vec<StudyHostCell> {
    let own = |cell: usize| {
        let of_cell = move |id: &u64| {
            let mut trials = trials.iter();
            trials.any(|it| it.id == *id && it.phase == Phase::Main && it.cell == Some(cell))
        };
        let own = shares.iter().filter(move |(id, share)| share.number == number && of_cell(id));
        own.map(|(_, share)| share).collect::<Vec<_>>()
    };
    let cells = (0..header.plan.cells().len()).filter_map(|cell| {
        let own = own(cell);
        let first = own.first()?;
        let sum = |part: fn(&HostShare) -> u64| own.iter().map(|share| part(share) as f64).sum();
        let operations: f64 = sum(|share| share.operations);
        let window_ns: f64 = sum(|share| share.window_ns);
        let each = |total: f64| (operations > 0.0).then(|| total / operations);
        let busy_ns: f64 = sum(|share| share.cpu.host.busy_ns());
        let all_ns: f64 = busy_ns + sum(|share| idle_ns(&share.cpu.host));
        Some(StudyHostCell {
            cell,
            trials: own.len() as u32,
            vms: first.vms,
            iops: if window_ns > 0.0 { operations * 1e9 / window_ns } else { 0.0 },
            latency_mean_ns: each(sum(|share| share.latency_sum_ns)),
            cpu_per_io_ns: each(sum(|share| share.cpu.initiator_ns())),
            host_cpu: (all_ns > 0.0).then(|| busy_ns / all_ns),
        })
    });
    cells.collect()
}

fn idle_ns(host: &HostCpu) -> u64 {
    host.idle_ns + host.iowait_ns
}

/// `−1.2 ms ± 30 µs`: the clock of a host.
fn clock(host: &StudyHostRow) -> String {
    let sign = if host.clock_offset_ns < 0 { "-" } else { "+" };
    let time = |ns: u64| stormeter_units::format_duration_ns(ns as f64);
    format!("{sign}{} ± {}", time(host.clock_offset_ns.unsigned_abs()), time(host.clock_error_ns))
}

/// The hosts as rows of text with a head: each host with its clock and its means over cells.
pub(super) fn rows(grid: &Grid<'_>) -> Vec<Vec<String>> {
    let head =
        ["host", "reached by", "CPUs", "clock", "cell", "VMs", "IOPS", "CPU per I/O", "host CPU"];
    let mut rows = vec![head.map(String::from).to_vec()];
    let value = |metric, value: Option<f64>| {
        value.map_or_else(|| "–".to_owned(), |value| metric_value(metric, value))
    };
    let of_plan = grid.report.plan().cells();
    for host in &grid.report.hosts {
        let own = [host.name.clone(), host.reached_by.clone(), host.cpus.to_string(), clock(host)];
        if host.cells.is_empty() {
            rows.push(own.iter().cloned().chain(std::iter::repeat_n("–".into(), 5)).collect());
        }
        for (place, cell) in host.cells.iter().enumerate() {
            let own = own.iter().map(|it| if place == 0 { it.clone() } else { String::new() });
            let done = [
                cell_name(grid.report, &of_plan, cell.cell),
                cell.vms.to_string(),
                value(Metric::Iops, Some(cell.iops)),
                value(Metric::CpuPerIo, cell.cpu_per_io_ns),
                value(Metric::HostCpu, cell.host_cpu),
            ];
            rows.push(own.chain(done).collect());
        }
    }
    rows
}

/// The notes on the hosts; one that several share is shown once: `vm1, vm2: run under tcg`.
pub(super) fn notes(hosts: &[HostDescription]) -> Vec<String> {
    let mut found: Vec<(&EnvironmentNote, Vec<&str>)> = Vec::new();
    for host in hosts {
        for note in &host.environment.notes {
            match found.iter_mut().find(|(known, _)| *known == note) {
                Some((_, names)) => names.push(&host.name),
                None => found.push((note, vec![&host.name])),
            }
        }
    }
    let said = |(note, names): &(&EnvironmentNote, Vec<&str>)| {
        format!("{}: {}.", names.join(", "), environment_note(note))
    };
    found.iter().map(said).collect()
}

#[cfg(test)]
mod tests {
    use stormeter_results::Environment;

    use super::*;

    #[test]
    fn what_several_hosts_share_is_said_once() {
        let host = |name: &str, notes: Vec<EnvironmentNote>| HostDescription {
            name: name.into(),
            environment: Environment { notes, ..Environment::default() },
            ..HostDescription::default()
        };
        let guest = || EnvironmentNote::LabGuest { accelerator: "tcg".into() };
        let old = EnvironmentNote::Early { said: "old".into() };
        let hosts = [host("vm1", vec![guest()]), host("vm2", vec![guest(), old])];
        let expected = ["vm1, vm2: a guest of the lab, run under tcg.", "vm2: old."];
        assert_eq!(notes(&hosts), expected);
    }
}
