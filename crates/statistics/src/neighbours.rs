//! Whether the load generator had the CPUs that it needed, and who else had them.
//!
//! A driving thread that is ready to run and is not run answers completions late, and the wait is in their
//! latency: the trial then measures this machine's scheduler. No law about the figures themselves can see it
//! (the late latencies agree with the late counts), so it is judged by what the kernel reports about the threads
//! (their delay on the run queue) and about the machine (CPU time of other programs, steal time, pressure).
//!
//! Also checked is whether the machine's CPU time is plausible: a part cannot have spent more than the whole.

use stormeter_trial::CpuUsage;

use crate::finding::{Fact, LawFinding};

/// Waking up takes this long on an idle CPU too: it is no wait for a busy CPU.
const WAKING_NS: u64 = 10_000;
/// Ready threads may be without a CPU for this share of their time.
const STARVED: f64 = 0.02;
/// Other programs may use this share of all CPUs: a desktop, a monitoring agent, a cron job.
const OTHERS: f64 = 0.10;
/// The hypervisor may give this share to other guests.
const STOLEN: f64 = 0.02;

/// Tasks may wait for memory for this share of the time.
const SHORT_OF_MEMORY: f64 = 0.05;
/// A machine may be this busy while nothing is driven.
const BUSY_WHEN_IDLE: f64 = 0.10;
/// Accounts may be read this share of the window after its ends.
const LATE: f64 = 0.02;
/// The host's CPU time may come out below that of its parts by this share, because its ends and theirs were
/// not read at the same moment…
const BELOW: f64 = 0.02;
/// … and by a step of 10 ms of each of idle, iowait and steal (/proc/stat).
const STEPS_NS: f64 = 30_000_000.0;

/// What was wrong with the CPUs during a window of this length.
pub(crate) fn check_cpus(cpu: &CpuUsage, window_ns: u64) -> Vec<LawFinding> {
    // Nothing is known about a trial of an earlier version, or about a predicted one.
    if cpu.threads == 0 || window_ns == 0 {
        return Vec::new();
    }
    let checks = [
        starved(cpu, window_ns),
        others(cpu, window_ns),
        stolen(cpu),
        short_of_memory(cpu, window_ns),
        busy_when_idle(cpu),
        read_late(cpu, window_ns),
        host_below_parts(cpu, window_ns),
    ];
    checks.into_iter().flatten().collect()
}

/// Whether the driving threads waited for CPUs for more than a small share of a window of this length.
pub fn is_starved(cpu: &CpuUsage, window_ns: u64) -> bool {
    starved(cpu, window_ns).is_some()
}

fn starved(cpu: &CpuUsage, window_ns: u64) -> Option<LawFinding> {
    if cpu.threads == 0 || window_ns == 0 {
        return None;
    }
    let switches = cpu.voluntary_switches + cpu.involuntary_switches;
    let waited_ns = cpu.run_delay_ns?.saturating_sub(switches * WAKING_NS) as f64;
    let share = waited_ns / (f64::from(cpu.threads) * window_ns as f64);
    let pushed_off = cpu.involuntary_switches;
    (share > STARVED).then(|| LawFinding::warning(Fact::Starved { share, pushed_off }))
}

/// All CPU time of a machine, idle time included, in nanoseconds.
fn all_ns(cpu: &CpuUsage) -> f64 {
    let host = &cpu.host;
    host.busy_ns() as f64 + (host.idle_ns + host.iowait_ns + host.steal_ns) as f64
}

/// Only user time is judged: kernel time may be the cost of this run's own I/O (its workers and
/// interrupts are in no process of ours).
fn others(cpu: &CpuUsage, window_ns: u64) -> Option<LawFinding> {
    let own_ns = cpu.threads_user_ns.max(cpu.process_ns.saturating_sub(cpu.threads_system_ns));
    let own_ns = own_ns.saturating_add(cpu.target_ns.unwrap_or(0));
    let share = cpu.host.user_ns.saturating_sub(own_ns) as f64 / all_ns(cpu);
    let waited_share = cpu.pressure.cpu_ns.filter(|ns| *ns > 0);
    let waited_share = waited_share.map(|ns| (ns as f64 / window_ns as f64).min(1.0));
    (share > OTHERS).then(|| LawFinding::warning(Fact::OtherPrograms { share, waited_share }))
}

/// Memory that runs short is read back from storage: by the load itself through a page cache, or by another
/// program on the machine.
fn short_of_memory(cpu: &CpuUsage, window_ns: u64) -> Option<LawFinding> {
    let share = cpu.pressure.memory_ns? as f64 / window_ns as f64;
    (share > SHORT_OF_MEMORY).then(|| LawFinding::warning(Fact::ShortOfMemory(share.min(1.0))))
}

/// Constant background load is subtracted from host CPU, but not from the latencies.
fn busy_when_idle(cpu: &CpuUsage) -> Option<LawFinding> {
    let share = cpu.host.background_ns? as f64 / cpu.host.capacity_ns as f64;
    (share > BUSY_WHEN_IDLE && share.is_finite())
        .then(|| LawFinding::warning(Fact::BusyBefore(share)))
}

/// The thread that reads the accounts of process and host needs a CPU too, and may wait for it.
fn read_late(cpu: &CpuUsage, window_ns: u64) -> Option<LawFinding> {
    let late_ns = cpu.late_ns;
    (late_ns as f64 > LATE * window_ns as f64)
        .then(|| LawFinding::note(Fact::AccountsReadLate { late_ns }))
}

/// A part cannot have spent more than the whole. Where it seems so the whole is wrong: it was counted by ticks
/// that miss threads which sleep and wake between them, or the background that was subtracted was not constant.
fn host_below_parts(cpu: &CpuUsage, window_ns: u64) -> Option<LawFinding> {
    let is_below = |whole_ns: u64, parts_ns: u64| {
        (whole_ns as f64) < parts_ns as f64 * (1.0 - BELOW) - STEPS_NS
    };
    let target_ns = cpu.target_ns.unwrap_or(0);
    let finding = |(whole_ns, parts_ns): (u64, u64), busier_before| {
        let (whole, parts) =
            (whole_ns as f64 / window_ns as f64, parts_ns as f64 / window_ns as f64);
        LawFinding::warning(Fact::HostBelowParts { whole, parts, busier_before })
    };
    let all = (cpu.host.busy_ns(), cpu.process_ns.saturating_add(target_ns));
    if is_below(all.0, all.1) {
        return Some(finding(all, false));
    }
    let net = (cpu.host_ns(), cpu.initiator_ns().saturating_add(target_ns));
    is_below(net.0, net.1).then(|| finding(net, true))
}

fn stolen(cpu: &CpuUsage) -> Option<LawFinding> {
    let share = cpu.host.steal_ns as f64 / all_ns(cpu);
    (share > STOLEN).then(|| LawFinding::warning(Fact::Stolen(share)))
}

#[cfg(test)]
mod tests {
    use stormeter_trial::{HostCpu, Pressure};

    use super::*;

    const S: u64 = 1_000_000_000;

    /// A quiet machine of two CPUs: one thread that works for a tenth of a second and is woken often.
    fn quiet() -> CpuUsage {
        CpuUsage {
            threads_user_ns: S / 10,
            threads_system_ns: S / 10,
            process_ns: S / 4,
            voluntary_switches: 10_000,
            involuntary_switches: 3,
            threads: 1,
            run_delay_ns: Some(S / 20),
            host: HostCpu {
                user_ns: S / 5,
                system_ns: S / 5,
                idle_ns: 8 * S / 5,
                cpus: 2,
                capacity_ns: 2 * S,
                background_ns: Some(S / 50),
                ..HostCpu::default()
            },
            tool_ns: Some(S / 100),
            ..CpuUsage::default()
        }
    }

    fn found(cpu: &CpuUsage) -> Vec<Fact> {
        check_cpus(cpu, S).into_iter().map(|finding| finding.fact).collect()
    }

    #[test]
    fn a_quiet_machine_is_not_mentioned() {
        assert_eq!(found(&quiet()), []);
    }

    #[test]
    fn a_thread_that_waits_for_a_cpu_is() {
        let waits = CpuUsage { run_delay_ns: Some(S / 2), involuntary_switches: 0, ..quiet() };
        let starved = Fact::Starved { share: 0.4, pushed_off: 0 };
        assert_eq!(check_cpus(&waits, S), [LawFinding::warning(starved)]);
        // Shared by four threads it is a tenth each.
        assert_eq!(found(&CpuUsage { threads: 32, ..waits }), []);
        assert_eq!(found(&CpuUsage { run_delay_ns: None, ..waits }), [], "not known");
        assert_eq!(found(&CpuUsage { threads: 0, ..waits }), [], "of an earlier version");
    }

    #[test]
    fn others_on_the_cpus_are() {
        let host = HostCpu { user_ns: S, idle_ns: 9 * S / 10, ..quiet().host };
        let busy = CpuUsage { host, ..quiet() };
        let share = found(&busy);
        let [Fact::OtherPrograms { share, waited_share: None }] = share[..] else {
            panic!("{share:?}")
        };
        assert!((share - 0.425).abs() < 1e-9, "{share}");
        let waited = Pressure { cpu_ns: Some(3 * S / 4), ..Pressure::default() };
        let with_pressure = found(&CpuUsage { pressure: waited, ..busy });
        let waited_share = Some(0.75);
        assert_eq!(with_pressure, [Fact::OtherPrograms { share, waited_share }]);
        // The datastore's own server is no neighbour.
        assert_eq!(found(&CpuUsage { target_ns: Some(4 * S / 5), ..busy }), []);
    }

    #[test]
    fn stolen_time_is() {
        let host = HostCpu { steal_ns: S / 5, idle_ns: 7 * S / 5, ..quiet().host };
        let found = found(&CpuUsage { host, ..quiet() });
        assert!(
            matches!(found[..], [Fact::Stolen(share)] if share > 0.09 && share < 0.12),
            "{found:?}"
        );
    }

    #[test]
    fn accounts_that_were_read_late_are_mentioned() {
        let late = CpuUsage { late_ns: S / 10, ..quiet() };
        assert_eq!(found(&late), [Fact::AccountsReadLate { late_ns: S / 10 }]);
        assert_eq!(found(&CpuUsage { late_ns: S / 100, ..quiet() }), []);
    }

    #[test]
    fn a_machine_short_of_memory_is_named() {
        let pressure = Pressure { memory_ns: Some(S / 5), ..Pressure::default() };
        let short = CpuUsage { pressure, ..quiet() };
        assert_eq!(found(&short), [Fact::ShortOfMemory(0.2)]);
        // The load itself waits for storage all the time.
        let pressure = Pressure { io_ns: Some(S), memory_ns: Some(S / 100), cpu_ns: Some(S / 3) };
        assert_eq!(found(&CpuUsage { pressure, ..quiet() }), []);
    }

    #[test]
    fn a_machine_that_was_busy_before_is_named() {
        let host = HostCpu { background_ns: Some(S / 4), idle_ns: 4 * S / 5, ..quiet().host };
        assert_eq!(found(&CpuUsage { host, ..quiet() }), [Fact::BusyBefore(0.125)]);
        let unread = HostCpu { background_ns: None, capacity_ns: 0, ..quiet().host };
        assert_eq!(found(&CpuUsage { host: unread, ..quiet() }), []);
    }

    /// Seen on a machine that counts by ticks: 7.1 µs an I/O of the host and 8.2 of the initiator.
    #[test]
    fn a_part_that_spent_more_than_the_whole_is_a_finding() {
        let busy = CpuUsage {
            threads_user_ns: S / 5,
            threads_system_ns: 3 * S / 5,
            process_ns: 82 * S / 100,
            host: HostCpu {
                user_ns: S / 5,
                system_ns: 51 * S / 100,
                idle_ns: 129 * S / 100,
                cpus: 2,
                ..HostCpu::default()
            },
            ..quiet()
        };
        let by_ticks = Fact::HostBelowParts { whole: 0.71, parts: 0.82, busier_before: false };
        assert_eq!(found(&busy), [by_ticks]);
        // By idle time, which is clocked, it was more.
        let host = HostCpu { idle_ns: 115 * S / 100, capacity_ns: 2 * S, ..busy.host };
        assert_eq!(found(&CpuUsage { host, ..busy }), []);
        let less = HostCpu { background_ns: Some(S / 10), ..host };
        let found_less = found(&CpuUsage { host: less, ..busy });
        let is_before =
            |fact: &Fact| matches!(fact, Fact::HostBelowParts { busier_before: true, .. });
        assert!(found_less.iter().all(is_before) && found_less.len() == 1, "{found_less:?}");
        // The server on this machine is a part, too.
        let with_target = CpuUsage { host, target_ns: Some(S / 10), ..busy };
        let found = found(&with_target);
        assert!(matches!(found[..], [Fact::HostBelowParts { .. }]), "{found:?}");
    }
}
