//! Whether the load generator had the CPUs that it needed, and who else had them.
//!
//! A driving thread that is ready to run and is not run answers completions late, and the wait is in their
//! latency: what is measured then is this machine's scheduler. No law about the figures themselves can see it
//! (the late latencies agree with the late counts), so it is judged by what the kernel says of the threads
//! (their delay on the run queue) and of the machine (time of others, time that the hypervisor took, pressure).
//!
//! And whether the machine's CPU time can be believed: a part cannot have spent more than the whole.

use stormeter_trial::CpuUsage;
use stormeter_units::format_duration_ns;

use crate::laws::{Check, LawFinding, Severity};

/// To be woken takes this long on an idle CPU too: it is no wait for a CPU that another has.
const WAKING_NS: u64 = 10_000;
/// Beyond this share of their time ready threads had no CPU.
const STARVED: f64 = 0.02;
/// Others may have this share of all CPUs: a desktop, a monitoring agent, a cron job.
const OTHERS: f64 = 0.10;
/// And the hypervisor may give this share to others.
const STOLEN: f64 = 0.02;

/// Tasks may wait for memory for this share of the time.
const SHORT_OF_MEMORY: f64 = 0.05;
/// A machine may be busy to this share while nothing is driven.
const BUSY_WHEN_IDLE: f64 = 0.10;
/// Accounts may be read so much of the window after its ends.
const LATE: f64 = 0.02;
/// The host's CPU time may come out below that of its parts by this share, because its ends and theirs were
/// not read at the same moment…
const BELOW: f64 = 0.02;
/// … and by a step of 10 ms of each of idle, iowait and steal (/proc/stat).
const STEPS_NS: f64 = 30_000_000.0;

/// What was wrong with the CPUs during a window of this length.
pub(crate) fn check_cpus(cpu: &CpuUsage, window_ns: u64) -> Vec<LawFinding> {
    // Nothing is known of a trial of an earlier version, or of a predicted one.
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
    (share > STARVED).then(|| LawFinding {
        law: 0,
        check: Check::Starvation,
        severity: Severity::Warning,
        what: format!(
            "the load generator was ready to run and had no CPU for {:.1} % of the time, and was pushed \
             off its CPU {} times: its latencies are partly this machine's",
            share * 100.0,
            cpu.involuntary_switches
        ),
        advice: "leave it a CPU of its own: end what else runs, or use fewer --threads than CPUs"
            .into(),
    })
}

/// Everything of a machine's CPUs, in nanoseconds.
fn all_ns(cpu: &CpuUsage) -> f64 {
    let host = &cpu.host;
    host.busy_ns() as f64 + (host.idle_ns + host.iowait_ns + host.steal_ns) as f64
}

/// User time is judged alone: time of the kernel may be the price of this run's own I/O (its workers and
/// interrupts are in no process of ours).
fn others(cpu: &CpuUsage, window_ns: u64) -> Option<LawFinding> {
    let own_ns = cpu.threads_user_ns.max(cpu.process_ns.saturating_sub(cpu.threads_system_ns));
    let own_ns = own_ns.saturating_add(cpu.target_ns.unwrap_or(0));
    let share = cpu.host.user_ns.saturating_sub(own_ns) as f64 / all_ns(cpu);
    (share > OTHERS).then(|| LawFinding {
        law: 0,
        check: Check::Neighbours,
        severity: Severity::Warning,
        what: format!(
            "other programs had {:.0} % of this machine's CPUs meanwhile{}",
            share * 100.0,
            waited_for_cpus(cpu, window_ns)
        ),
        advice: "end them, or measure when they do not run; a datastore's server that runs on this machine \
                 without being known as such is counted here too"
            .into(),
    })
}

/// What the kernel says of the machine's run queues, where it says something.
fn waited_for_cpus(cpu: &CpuUsage, window_ns: u64) -> String {
    let share = |ns: u64| 100.0 * ns as f64 / window_ns as f64;
    let waited = cpu.pressure.cpu_ns.filter(|ns| *ns > 0);
    waited.map_or_else(String::new, |ns| {
        format!(", and somebody waited for a CPU for {:.0} % of the time", share(ns).min(100.0))
    })
}

/// Memory that runs short is read back from storage: by the load itself through a page cache, or by whoever
/// else is on the machine.
fn short_of_memory(cpu: &CpuUsage, window_ns: u64) -> Option<LawFinding> {
    let share = cpu.pressure.memory_ns? as f64 / window_ns as f64;
    (share > SHORT_OF_MEMORY).then(|| LawFinding {
        law: 0,
        check: Check::MemoryPressure,
        severity: Severity::Warning,
        what: format!(
            "tasks of this machine waited for memory for {:.0} % of the time (pressure)",
            (share * 100.0).min(100.0)
        ),
        advice: "free memory: end other programs, or use direct I/O where the page cache is not what you \
                 ask about"
            .into(),
    })
}

/// What runs all the time is taken off host CPU, but not off the latencies.
fn busy_when_idle(cpu: &CpuUsage) -> Option<LawFinding> {
    let share = cpu.host.background_ns? as f64 / cpu.host.capacity_ns as f64;
    (share > BUSY_WHEN_IDLE && share.is_finite()).then(|| LawFinding {
        law: 0,
        check: Check::Background,
        severity: Severity::Warning,
        what: format!(
            "this machine's CPUs were {:.0} % busy before anything was driven; that share is taken off \
             host CPU per I/O, which is uncertain by as much as it varies",
            share * 100.0
        ),
        advice: "end what else runs, or go by the initiator's and the target's CPU time".into(),
    })
}

/// Whoever reads the accounts of process and host needs a CPU for it, like everybody.
fn read_late(cpu: &CpuUsage, window_ns: u64) -> Option<LawFinding> {
    (cpu.late_ns as f64 > LATE * window_ns as f64).then(|| LawFinding {
        law: 0,
        check: Check::LateReading,
        severity: Severity::Note,
        what: format!(
            "the CPU time of process, target and host was read {} after an end of the window",
            format_duration_ns(cpu.late_ns as f64)
        ),
        advice: "leave a CPU free beside the driving threads, or use a longer duration".into(),
    })
}

/// A part cannot have spent more than the whole. Where it seems so the whole is wrong: counted by ticks that
/// miss what sleeps and wakes between them, or less an idle machine that was not idle.
fn host_below_parts(cpu: &CpuUsage, window_ns: u64) -> Option<LawFinding> {
    let is_below = |whole_ns: u64, parts_ns: u64| {
        (whole_ns as f64) < parts_ns as f64 * (1.0 - BELOW) - STEPS_NS
    };
    let target_ns = cpu.target_ns.unwrap_or(0);
    let finding = |(whole_ns, parts_ns): (u64, u64), why: &str, advice: &str| LawFinding {
        law: 0,
        check: Check::HostBelowParts,
        severity: Severity::Warning,
        what: format!(
            "host CPU is below initiator + target ({:.0} and {:.0} ms a second): {why}",
            whole_ns as f64 * 1e3 / window_ns as f64,
            parts_ns as f64 * 1e3 / window_ns as f64
        ),
        advice: advice.into(),
    };
    let all = (cpu.host.busy_ns(), cpu.process_ns.saturating_add(target_ns));
    if is_below(all.0, all.1) {
        return Some(finding(
            all,
            "the kernel counts by ticks",
            "host CPU is unreliable on this machine: go by the initiator's and the target's CPU time",
        ));
    }
    let net = (cpu.host_ns(), cpu.initiator_ns().saturating_add(target_ns));
    is_below(net.0, net.1).then(|| {
        finding(
            net,
            "this machine was busier before anything was driven than during the trial",
            "end what else runs and measure again, or go by the initiator's and the target's CPU time",
        )
    })
}

fn stolen(cpu: &CpuUsage) -> Option<LawFinding> {
    let share = cpu.host.steal_ns as f64 / all_ns(cpu);
    (share > STOLEN).then(|| LawFinding {
        law: 0,
        check: Check::Steal,
        severity: Severity::Warning,
        what: format!(
            "the hypervisor gave {:.1} % of this machine's CPU time to others (steal)",
            share * 100.0
        ),
        advice: "measure in a VM with reserved CPUs, or when its neighbours are quiet".into(),
    })
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

    fn found(cpu: &CpuUsage) -> Vec<Check> {
        check_cpus(cpu, S).into_iter().map(|finding| finding.check).collect()
    }

    #[test]
    fn a_quiet_machine_is_not_mentioned() {
        assert_eq!(found(&quiet()), []);
    }

    #[test]
    fn a_thread_that_waits_for_a_cpu_is() {
        let waits = CpuUsage { run_delay_ns: Some(S / 2), involuntary_switches: 0, ..quiet() };
        assert_eq!(found(&waits), [Check::Starvation]);
        let finding = &check_cpus(&waits, S)[0];
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.what.contains("40.0 % of the time"), "{}", finding.what);
        // Shared by four threads it is a tenth each.
        assert_eq!(found(&CpuUsage { threads: 32, ..waits }), []);
        assert_eq!(found(&CpuUsage { run_delay_ns: None, ..waits }), [], "not known");
        assert_eq!(found(&CpuUsage { threads: 0, ..waits }), [], "of an earlier version");
    }

    #[test]
    fn others_on_the_cpus_are() {
        let host = HostCpu { user_ns: S, idle_ns: 9 * S / 10, ..quiet().host };
        let busy = CpuUsage { host, ..quiet() };
        assert_eq!(found(&busy), [Check::Neighbours]);
        let waited = Pressure { cpu_ns: Some(3 * S / 4), ..Pressure::default() };
        let what = &check_cpus(&CpuUsage { pressure: waited, ..busy }, S)[0].what;
        assert!(what.contains("42 %") && what.contains("for 75 % of the time"), "{what}");
        // The datastore's own server is no neighbour.
        assert_eq!(found(&CpuUsage { target_ns: Some(4 * S / 5), ..busy }), []);
    }

    #[test]
    fn stolen_time_is() {
        let host = HostCpu { steal_ns: S / 5, idle_ns: 7 * S / 5, ..quiet().host };
        assert_eq!(found(&CpuUsage { host, ..quiet() }), [Check::Steal]);
    }

    #[test]
    fn accounts_that_were_read_late_are_mentioned() {
        let late = CpuUsage { late_ns: S / 10, ..quiet() };
        assert_eq!(found(&late), [Check::LateReading]);
        let what = &check_cpus(&late, S)[0].what;
        assert!(what.contains("100ms after"), "{what}");
        assert_eq!(found(&CpuUsage { late_ns: S / 100, ..quiet() }), []);
    }

    #[test]
    fn a_machine_short_of_memory_is_named() {
        let pressure = Pressure { memory_ns: Some(S / 5), ..Pressure::default() };
        let short = CpuUsage { pressure, ..quiet() };
        assert_eq!(found(&short), [Check::MemoryPressure]);
        assert!(check_cpus(&short, S)[0].what.contains("for 20 % of the time"));
        // The load itself waits for storage all the time.
        let pressure = Pressure { io_ns: Some(S), memory_ns: Some(S / 100), cpu_ns: Some(S / 3) };
        assert_eq!(found(&CpuUsage { pressure, ..quiet() }), []);
    }

    #[test]
    fn a_machine_that_was_busy_before_is_named() {
        let host = HostCpu { background_ns: Some(S / 4), idle_ns: 4 * S / 5, ..quiet().host };
        assert_eq!(found(&CpuUsage { host, ..quiet() }), [Check::Background]);
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
        assert_eq!(found(&busy), [Check::HostBelowParts]);
        let what = &check_cpus(&busy, S)[0].what;
        assert!(what.contains("710 and 820 ms") && what.contains("by ticks"), "{what}");
        // By idle time, which is clocked, it was more.
        let host = HostCpu { idle_ns: 115 * S / 100, capacity_ns: 2 * S, ..busy.host };
        assert_eq!(found(&CpuUsage { host, ..busy }), []);
        let less = HostCpu { background_ns: Some(S / 10), ..host };
        let what = &check_cpus(&CpuUsage { host: less, ..busy }, S)[0].what;
        assert!(what.contains("busier before"), "{what}");
        // The server on this machine is a part, too.
        let with_target = CpuUsage { host, target_ns: Some(S / 10), ..busy };
        assert_eq!(found(&with_target), [Check::HostBelowParts]);
    }
}
