//! Combines the results of several hosts.
//!
//! Samples are combined like those of threads: counts and histograms add up. CPU time adds up over
//! machines; agents on the same machine count it once.

use stormeter_results::{DatastoreDescription, DatastoreFact, DatastoreNote, HostShare};
use stormeter_runner::{OpenedStores, PreparedStore, TrialEnd};
use stormeter_trial::{CpuUsage, HostCpu, MonitorRow, NoteFact, Sample};

use super::Host;
use super::drivers::Drivers;
use super::ended::Ended;

/// The datastores as the first of their hosts found them, with the notes of the others.
pub(super) fn opened(hosts: &[Host], opened: Vec<OpenedStores>, drivers: &Drivers) -> OpenedStores {
    let mut found: Vec<Option<DatastoreDescription>> = vec![None; drivers.store_of.len()];
    let mut shared_by = None;
    for (number, (one, host)) in opened.into_iter().zip(hosts).enumerate() {
        for (datastore, theirs) in drivers.of_host(number).zip(one.datastores) {
            let Some(mine) = &mut found[datastore] else {
                found[datastore] = Some(theirs);
                continue;
            };
            for note in theirs.notes {
                if !mine.notes.contains(&note) {
                    mine.notes.push(DatastoreNote { host: Some(host.name.clone()), ..note });
                }
            }
            let differs = (&mine.kind, &mine.file_system, mine.direct, &mine.engine)
                != (&theirs.kind, &theirs.file_system, theirs.direct, &theirs.engine);
            if differs {
                let kind = theirs.file_system.unwrap_or(theirs.kind);
                let fact =
                    DatastoreFact::Unlike { kind, direct: theirs.direct, engine: theirs.engine };
                mine.notes.push(DatastoreNote { host: Some(host.name.clone()), fact });
            }
        }
        let shared = one.shared.map(|mut shared| {
            shared.host = (hosts.len() > 1).then(|| host.name.clone());
            shared
        });
        shared_by = shared_by.or(shared);
    }
    OpenedStores {
        datastores: found.into_iter().flatten().collect(),
        store_of: drivers.store_of.clone(),
        shared: shared_by,
    }
}

/// Disks count as reused if no host wrote them again.
pub(super) fn prepared<'h>(
    hosts: impl Iterator<Item = &'h Host>,
    prepared: Vec<PreparedStore>,
) -> PreparedStore {
    let mut all = PreparedStore { reused: true, notes: Vec::new() };
    for (one, host) in prepared.into_iter().zip(hosts) {
        all.reused &= one.reused;
        for note in one.notes {
            // What several hosts say is noted of the first of them.
            if !all.notes.iter().any(|known| known.fact == note.fact) {
                all.notes.push(DatastoreNote { host: Some(host.name.clone()), ..note });
            }
        }
    }
    all
}

/// The combined trial; `None` if no host took part in it.
pub(super) fn trial(hosts: &[Host], ended: Vec<Ended>) -> Option<TrialEnd> {
    let mut all: Option<TrialEnd> = None;
    let mut machines: Vec<&str> = Vec::new();
    let (count, drivers) = (hosts.len(), ended.len() as u32);
    for (place, Ended { host: number, vms, mut end, late_ns }) in (0..).zip(ended) {
        let host = &hosts[number];
        renumber(&mut end.sample, place, drivers);
        let share = share(number, host, vms, &end, late_ns);
        if late_ns > 0 {
            end.notes.push(NoteFact::LateStart { late_ns }.into());
        }
        if count > 1 {
            for note in &mut end.notes {
                note.host = Some(host.name.clone());
            }
            for incident in &mut end.incidents {
                incident.host = Some(host.name.clone());
            }
        }
        let is_new = match host.facts.boot_id.as_deref() {
            Some(id) if machines.contains(&id) => false,
            Some(id) => {
                machines.push(id);
                true
            }
            None => true,
        };
        match &mut all {
            None => {
                end.hosts = vec![share];
                all = Some(end);
            }
            Some(all) => {
                all.sample.merge(end.sample);
                add_cpu(&mut all.cpu, &end.cpu, is_new);
                all.clock_deviation = all.clock_deviation.max(end.clock_deviation);
                all.notes.extend(end.notes);
                all.incidents.extend(end.incidents);
                if is_new {
                    let cpus = all.cpu.host.cpus.saturating_sub(end.cpu.host.cpus);
                    add_monitor(&mut all.monitor, &end.monitor, (cpus, end.cpu.host.cpus));
                }
                all.hosts.push(share);
            }
        }
    }
    all
}

/// VM 0 of host 1 of 3 becomes VM 1 overall, its VM 1 becomes VM 4.
fn renumber(sample: &mut Sample, host: u32, hosts: u32) {
    let number = |disk: u32| disk.saturating_mul(hosts).saturating_add(host);
    sample.disks.iter_mut().for_each(|row| row.disk = number(row.disk));
    sample.io_failures.iter_mut().for_each(|failure| failure.disk = number(failure.disk));
    for corruption in sample.verified.iter_mut().flat_map(|it| &mut it.corruptions) {
        corruption.expected.disk = number(corruption.expected.disk);
    }
}

fn share(number: usize, host: &Host, vms: u32, end: &TrialEnd, late_ns: u64) -> HostShare {
    let total = end.sample.total();
    HostShare {
        number: number as u32,
        name: host.name.clone(),
        vms,
        operations: total.operations,
        bytes: total.bytes,
        latency_sum_ns: total.latency_sum_ns,
        window_ns: end.sample.window_ns,
        clock_offset_ns: host.offset.unix_ns,
        clock_error_ns: host.offset.error_ns,
        late_ns,
        cpu: end.cpu,
        monitor: end.monitor.clone(),
    }
}

/// Adds another agent's CPU time; the machine's time only if it is another machine.
fn add_cpu(all: &mut CpuUsage, one: &CpuUsage, is_new: bool) {
    let machine =
        HostCpu { cpus: all.host.cpus + if is_new { one.host.cpus } else { 0 }, ..all.host };
    let mut one = *one;
    if !is_new {
        one.host = HostCpu::default();
        // Both have seen a datastore's server on that machine.
        one.target_ns = all.target_ns.map(|_| 0);
    }
    let (host, target_ns, pressure) = (all.host, all.target_ns, all.pressure);
    all.add_later(&one);
    if !is_new {
        (all.host, all.target_ns) = (host, target_ns);
    }
    // They waited at the same time: the share of the window is that of the machine that waited
    // longest.
    all.pressure = if is_new { pressure.zip(one.pressure, u64::max) } else { pressure };
    all.host.cpus = machine.cpus;
}

/// Combines the monitoring rows of two machines, row by row: they started at about the same time. `cpus`
/// are the CPU counts of both sides, by which their shares are weighted.
fn add_monitor(all: &mut Vec<MonitorRow>, one: &[MonitorRow], cpus: (u32, u32)) {
    all.truncate(one.len());
    let (mine, theirs) = (f64::from(cpus.0), f64::from(cpus.1));
    for (row, other) in all.iter_mut().zip(one) {
        row.length_ns = row.length_ns.min(other.length_ns);
        if mine + theirs > 0.0 {
            let busy = row.cpu_busy * mine + other.cpu_busy * theirs;
            row.cpu_busy = busy / (mine + theirs);
        }
        row.cores_busy.extend(&other.cores_busy);
        row.memory_used_bytes = row.memory_used_bytes.saturating_add(other.memory_used_bytes);
        row.network_receive_bytes_per_s += other.network_receive_bytes_per_s;
        row.network_transmit_bytes_per_s += other.network_transmit_bytes_per_s;
        row.loopback_bytes_per_s += other.loopback_bytes_per_s;
        row.disk_read_bytes_per_s += other.disk_read_bytes_per_s;
        row.disk_write_bytes_per_s += other.disk_write_bytes_per_s;
    }
}

#[cfg(test)]
mod tests {
    use stormeter_trial::Pressure;

    use super::*;

    fn cpu(process_ns: u64, busy_ns: u64, target_ns: Option<u64>) -> CpuUsage {
        let host = HostCpu {
            user_ns: busy_ns,
            cpus: 2,
            capacity_ns: 1_000,
            background_ns: Some(7),
            ..HostCpu::default()
        };
        let pressure = Pressure { cpu_ns: Some(busy_ns), ..Pressure::default() };
        CpuUsage { process_ns, tool_ns: Some(1), host, pressure, target_ns, ..CpuUsage::default() }
    }

    #[test]
    fn a_machine_counts_once_and_agents_each() {
        let mut all = cpu(10, 100, Some(5));
        add_cpu(&mut all, &cpu(20, 100, Some(5)), false);
        assert_eq!((all.process_ns, all.host.user_ns, all.host.cpus), (30, 100, 2));
        assert_eq!((all.host.capacity_ns, all.host.background_ns), (1_000, Some(7)));
        assert_eq!((all.tool_ns, all.target_ns), (Some(2), Some(5)));
        add_cpu(&mut all, &cpu(5, 50, Some(1)), true);
        assert_eq!((all.process_ns, all.host.user_ns, all.host.cpus), (35, 150, 4));
        assert_eq!((all.host.capacity_ns, all.host.background_ns), (2_000, Some(14)));
        assert_eq!((all.pressure.cpu_ns, all.target_ns), (Some(100), Some(6)));
        add_cpu(&mut all, &cpu(5, 50, None), true);
        assert_eq!(all.target_ns, None, "unknown of one is unknown of all");
    }

    #[test]
    fn lives_of_machines_are_weighed_by_their_cpus() {
        let row = |busy: f64, cores: &[f64]| MonitorRow {
            length_ns: 10,
            cpu_busy: busy,
            cores_busy: cores.to_vec(),
            memory_used_bytes: 7,
            ..MonitorRow::default()
        };
        let mut all = vec![row(1.0, &[1.0, 1.0, 1.0]), row(1.0, &[1.0])];
        add_monitor(&mut all, &[row(0.0, &[0.0])], (3, 1));
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].cpu_busy, 0.75);
        assert_eq!(all[0].cores_busy, [1.0, 1.0, 1.0, 0.0]);
        assert_eq!(all[0].memory_used_bytes, 14);
    }
}
