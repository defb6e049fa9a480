//! The kernel's accounts of the host's CPU time and pressure, read at one instant.
//!
//! The kernel measures idle time by a clock, but busy time mostly by ticks (see [`HostCpu`]). So each reading has its
//! own time: the time between two readings, minus idle time, is busy time, whatever the ticks missed. `/proc/stat`
//! shows idle time in steps of 10 ms, over all CPUs together.

use std::fs;
use std::time::Instant;

use stormeter_trial::{HostCpu, Pressure};

/// The host's cumulative accounts at one instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostTime {
    pub(crate) at: Instant,
    /// Since boot; all 0 if it cannot be read.
    pub(crate) cpu: HostCpu,
    pub(crate) pressure: Pressure,
}

impl HostTime {
    /// Reads CPU time and pressure.
    pub(crate) fn now() -> Self {
        Self { pressure: pressure(), ..Self::cpu_now() }
    }

    /// CPU time only, which is one file.
    pub(crate) fn cpu_now() -> Self {
        // When the file is read, the kernel sums up the CPUs first, before interrupts.
        let at = Instant::now();
        let cpu = fs::read_to_string("/proc/stat").ok().and_then(|text| parse_host(&text));
        Self { at, cpu: cpu.unwrap_or_default(), pressure: Pressure::default() }
    }

    /// CPU time from `earlier` to this.
    pub(crate) fn since(&self, earlier: &HostTime) -> HostCpu {
        let (now, then) = (&self.cpu, &earlier.cpu);
        let passed_ns = self.at.saturating_duration_since(earlier.at).as_nanos() as u64;
        HostCpu {
            user_ns: now.user_ns.saturating_sub(then.user_ns),
            system_ns: now.system_ns.saturating_sub(then.system_ns),
            irq_ns: now.irq_ns.saturating_sub(then.irq_ns),
            softirq_ns: now.softirq_ns.saturating_sub(then.softirq_ns),
            iowait_ns: now.iowait_ns.saturating_sub(then.iowait_ns),
            steal_ns: now.steal_ns.saturating_sub(then.steal_ns),
            idle_ns: now.idle_ns.saturating_sub(then.idle_ns),
            cpus: now.cpus,
            capacity_ns: passed_ns.saturating_mul(u64::from(now.cpus)),
            background_ns: None,
        }
    }

    /// Pressure from `earlier` to this.
    pub(crate) fn pressure_since(&self, earlier: &HostTime) -> Pressure {
        self.pressure.zip(earlier.pressure, u64::saturating_sub)
    }
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
        ..HostCpu::default()
    })
}

fn pressure() -> Pressure {
    let of = |what: &str| {
        let text = fs::read_to_string(format!("/proc/pressure/{what}")).ok()?;
        some_ns(&text)
    };
    Pressure { cpu_ns: of("cpu"), io_ns: of("io"), memory_ns: of("memory") }
}

/// `some avg10=… avg60=… avg300=… total=12345`: microseconds since boot.
fn some_ns(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1_000)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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

    /// Half of the busy time fell between ticks.
    #[test]
    fn what_the_ticks_missed_is_seen_by_the_clock() {
        let at = Instant::now();
        let stat = |text: &str, after_s: u64| HostTime {
            at: at + Duration::from_secs(after_s),
            cpu: parse_host(text).unwrap(),
            pressure: Pressure::default(),
        };
        let then = stat("cpu  100 0 100 1000 50 0 0 10\ncpu0 1\ncpu1 1\n", 0);
        let now = stat("cpu  110 0 110 1150 60 0 0 10\ncpu0 1\ncpu1 1\n", 1);
        let used = now.since(&then);
        assert_eq!((used.capacity_ns, used.counted_ns()), (2_000_000_000, 200_000_000));
        assert_eq!(used.busy_ns(), 400_000_000);
    }

    #[test]
    fn pressure_is_the_total_of_some() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=99\n";
        assert_eq!(some_ns(text), Some(12_345_000));
        assert_eq!(some_ns("full total=9\n"), None);
        assert_eq!(some_ns("some total=x\n"), None);
    }
}
