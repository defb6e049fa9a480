//! CPU time of this process and the host, read when the driver opens and closes the window.

use std::fs;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use stormeter_driver::{CpuUsage, HostCpu};

/// CPU time consumed so far, at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading(CpuUsage);

impl Reading {
    /// Of the calling thread; of the process and the host too where `whole` is set (one thread of
    /// several reads those, or they would be counted several times).
    pub(crate) fn now(whole: bool) -> Self {
        let mut usage = CpuUsage::default();
        if let Ok(thread) = getrusage(UsageWho::RUSAGE_THREAD) {
            usage.threads_user_ns = nanoseconds(thread.user_time());
            usage.threads_system_ns = nanoseconds(thread.system_time());
            usage.voluntary_switches = thread.voluntary_context_switches() as u64;
            usage.involuntary_switches = thread.involuntary_context_switches() as u64;
        }
        usage.threads = 1;
        usage.run_delay_ns =
            fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|it| run_delay(&it));
        if whole {
            let process = getrusage(UsageWho::RUSAGE_SELF);
            usage.process_ns = process.as_ref().map(total_ns).unwrap_or(0);
            usage.host = fs::read_to_string("/proc/stat")
                .ok()
                .and_then(|text| parse_host(&text))
                .unwrap_or_default();
        }
        Reading(usage)
    }

    /// What was consumed from `earlier` to this.
    pub(crate) fn since(&self, earlier: &Reading) -> CpuUsage {
        let (now, then) = (&self.0, &earlier.0);
        let (host, before) = (&now.host, &then.host);
        CpuUsage {
            threads_user_ns: now.threads_user_ns.saturating_sub(then.threads_user_ns),
            threads_system_ns: now.threads_system_ns.saturating_sub(then.threads_system_ns),
            process_ns: now.process_ns.saturating_sub(then.process_ns),
            voluntary_switches: now.voluntary_switches.saturating_sub(then.voluntary_switches),
            involuntary_switches: now
                .involuntary_switches
                .saturating_sub(then.involuntary_switches),
            threads: now.threads,
            run_delay_ns: now
                .run_delay_ns
                .zip(then.run_delay_ns)
                .map(|(now, then)| now.saturating_sub(then)),
            host: HostCpu {
                user_ns: host.user_ns.saturating_sub(before.user_ns),
                system_ns: host.system_ns.saturating_sub(before.system_ns),
                irq_ns: host.irq_ns.saturating_sub(before.irq_ns),
                softirq_ns: host.softirq_ns.saturating_sub(before.softirq_ns),
                iowait_ns: host.iowait_ns.saturating_sub(before.iowait_ns),
                steal_ns: host.steal_ns.saturating_sub(before.steal_ns),
                idle_ns: host.idle_ns.saturating_sub(before.idle_ns),
                cpus: host.cpus,
            },
            target_ns: None,
        }
    }
}

fn total_ns(usage: &Usage) -> u64 {
    nanoseconds(usage.user_time()) + nanoseconds(usage.system_time())
}

fn nanoseconds(time: TimeVal) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_usec() as u64 * 1_000
}

/// The second of the three figures of a schedstat file (Documentation/scheduler/sched-stats.rst): time spent
/// waiting on a runqueue.
fn run_delay(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

/// The first line of /proc/stat (proc(5)): user nice system idle iowait irq softirq steal, in ticks
/// of 1/100 s, which is what the kernel reports to user space on every Linux in use (USER_HZ).
fn parse_host(text: &str) -> Option<HostCpu> {
    const TICK_NS: u64 = 10_000_000;
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> =
        line.split_whitespace().map(|word| word.parse().unwrap_or(0) * TICK_NS).collect();
    let field = |index: usize| ticks.get(index).copied().unwrap_or(0);
    let cpus =
        text.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count()
            as u32;
    Some(HostCpu {
        user_ns: field(0) + field(1),
        system_ns: field(2),
        idle_ns: field(3),
        iowait_ns: field(4),
        irq_ns: field(5),
        softirq_ns: field(6),
        steal_ns: field(7),
        cpus,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_split_of_proc_stat_is_kept() {
        let text = "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4\ncpu1 0 0 0 0\nintr 5\n";
        let host = parse_host(text).unwrap();
        let ms = 10_000_000;
        assert_eq!((host.user_ns, host.system_ns, host.idle_ns), (3 * ms, 3 * ms, 4 * ms));
        assert_eq!((host.iowait_ns, host.irq_ns, host.softirq_ns), (5 * ms, 6 * ms, 7 * ms));
        assert_eq!((host.steal_ns, host.cpus), (8 * ms, 2));
        assert_eq!(host.busy_ns(), (3 + 3 + 6 + 7) * ms);
        assert!(parse_host("nonsense").is_none());
    }

    #[test]
    fn the_run_delay_is_the_second_figure() {
        assert_eq!(run_delay("5277841 16129 57\n"), Some(16_129));
        assert_eq!(run_delay("5277841"), None);
        let own = Reading::now(false).0;
        assert!(own.threads == 1 && own.run_delay_ns.is_some(), "{own:?}");
    }

    #[test]
    fn work_shows_as_time_of_thread_and_process() {
        let before = Reading::now(true);
        let mut sum = 0u64;
        // Until the system's own accounting has seen it; bounded by a count, not by time.
        for round in 0..2_000_000_000u64 {
            sum = sum.wrapping_add(std::hint::black_box(round));
            if round % 10_000_000 == 0 && Reading::now(true).since(&before).process_ns > 20_000_000
            {
                break;
            }
        }
        std::hint::black_box(sum);
        let used = Reading::now(true).since(&before);
        assert!(used.threads_user_ns + used.threads_system_ns > 0, "{used:?}");
        assert!(used.process_ns > 20_000_000, "{used:?}");
    }
}
