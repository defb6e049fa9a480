//! Whether the load generator had the CPUs that it needed, and who else had them.
//!
//! A driving thread that is ready to run and is not run answers completions late, and the wait is in their
//! latency: what is measured then is this machine's scheduler. No law about the figures themselves can see it
//! (the late latencies agree with the late counts), so it is judged by what the kernel says of the threads
//! (their delay on the run queue) and of the machine (time of others, time that the hypervisor took).

use stormeter_driver::CpuUsage;

use crate::laws::{Check, LawFinding, Severity};

/// To be woken takes this long on an idle CPU too: it is no wait for a CPU that another has.
const WAKING_NS: u64 = 10_000;
/// Beyond this share of their time ready threads had no CPU.
const STARVED: f64 = 0.02;
/// Others may have this share of all CPUs: a desktop, a monitoring agent, a cron job.
const OTHERS: f64 = 0.10;
/// And the hypervisor may give this share to others.
const STOLEN: f64 = 0.02;

/// What was wrong with the CPUs during a window of this length.
pub(crate) fn check_cpus(cpu: &CpuUsage, window_ns: u64) -> Vec<LawFinding> {
    // Nothing is known of a trial of an earlier version, or of a predicted one.
    if cpu.threads == 0 || window_ns == 0 {
        return Vec::new();
    }
    [starved(cpu, window_ns), others(cpu), stolen(cpu)].into_iter().flatten().collect()
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
fn others(cpu: &CpuUsage) -> Option<LawFinding> {
    let own_ns = cpu.threads_user_ns.max(cpu.process_ns.saturating_sub(cpu.threads_system_ns));
    let own_ns = own_ns.saturating_add(cpu.target_ns.unwrap_or(0));
    let share = cpu.host.user_ns.saturating_sub(own_ns) as f64 / all_ns(cpu);
    (share > OTHERS).then(|| LawFinding {
        law: 0,
        check: Check::Neighbours,
        severity: Severity::Warning,
        what: format!(
            "other programs had {:.0} % of this machine's CPUs meanwhile",
            share * 100.0
        ),
        advice: "end them, or measure when they do not run; a datastore's server that runs on this machine \
                 without being known as such is counted here too"
            .into(),
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
    use stormeter_driver::HostCpu;

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
                ..HostCpu::default()
            },
            target_ns: None,
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
        let host = HostCpu { user_ns: S, idle_ns: S, ..quiet().host };
        let busy = CpuUsage { host, ..quiet() };
        assert_eq!(found(&busy), [Check::Neighbours]);
        // The datastore's own server is no neighbour.
        assert_eq!(found(&CpuUsage { target_ns: Some(S), ..busy }), []);
    }

    #[test]
    fn stolen_time_is() {
        let host = HostCpu { steal_ns: S / 5, ..quiet().host };
        assert_eq!(found(&CpuUsage { host, ..quiet() }), [Check::Steal]);
    }
}
