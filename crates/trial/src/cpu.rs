//! CPU usage of a trial: a plain value next to the sample.
//!
//! The driver does not measure it (that takes system calls); the code that runs the trial reads it
//! when the driver opens and closes the window. It is defined here because it is part of a trial's
//! result.

use serde::{Deserialize, Serialize};

/// CPU time spent in the window of a trial. All times are nanoseconds of CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuUsage {
    /// User time of the I/O threads.
    pub threads_user_ns: u64,
    /// System time of the I/O threads.
    pub threads_system_ns: u64,
    /// User and system time of the whole process, including the kernel's io_uring workers and the
    /// positional engine's threads, and also [`CpuUsage::tool_ns`].
    pub process_ns: u64,
    /// The part of `process_ns` that no I/O caused: every thread except those that drive I/O (the one
    /// that waits and shows progress, the host monitor). It grows with time and not with I/Os, so an I/O
    /// of a slow datastore must not be charged with more of it. `None` if it was not read separately.
    #[serde(default)]
    pub tool_ns: Option<u64>,
    /// Voluntary context switches of the I/O threads.
    pub voluntary_switches: u64,
    /// Involuntary context switches of the I/O threads.
    pub involuntary_switches: u64,
    /// Number of I/O threads; 0 if they were not counted.
    #[serde(default)]
    pub threads: u32,
    /// How long the I/O threads were ready to run without a CPU (the second figure of
    /// `/proc/thread-self/schedstat`). `None` if the kernel does not report it.
    #[serde(default)]
    pub run_delay_ns: Option<u64>,
    /// CPU time of the whole machine.
    pub host: HostCpu,
    /// How long tasks of the whole machine waited for a scarce resource.
    #[serde(default)]
    pub pressure: Pressure,
    /// How long after an end of the window the figures of process, host, target and pressure were
    /// read, the later of the two readings: another thread reads them, so that no I/O waits for it.
    #[serde(default)]
    pub late_ns: u64,
    /// User and system time of the target: the processes on this machine that serve the datastore.
    /// `None` if there are none (a local directory, a remote server) or if it is unknown (a kernel
    /// server, or another user's processes).
    #[serde(default)]
    pub target_ns: Option<u64>,
}

/// For how long of a window at least one task of the machine waited, in nanoseconds: the figure `some` of
/// the kernel's pressure stall information (Documentation/accounting/psi.rst). `None` if the kernel does
/// not provide it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// For a CPU.
    pub cpu_ns: Option<u64>,
    /// For storage. The measured load waits here too.
    pub io_ns: Option<u64>,
    /// For memory that had to be reclaimed or swapped in.
    pub memory_ns: Option<u64>,
}

impl Pressure {
    /// Combines each figure of the two with `join`; a figure unknown in one is unknown in the
    /// result.
    pub fn zip(self, other: Pressure, join: impl Fn(u64, u64) -> u64) -> Pressure {
        let both = |a: Option<u64>, b: Option<u64>| Some(join(a?, b?));
        Pressure {
            cpu_ns: both(self.cpu_ns, other.cpu_ns),
            io_ns: both(self.io_ns, other.io_ns),
            memory_ns: both(self.memory_ns, other.memory_ns),
        }
    }
}

/// The whole machine's CPU time in the window, summed over its CPUs, divided up as in `/proc/stat`.
///
/// Most kernels sample by ticks who has a CPU (CONFIG_TICK_CPU_ACCOUNTING): every few milliseconds the
/// whole tick goes to the task that runs at that moment, so work that sleeps and wakes in step with the
/// tick is missed or counted twice. Their idle time, however, is measured (`get_idle_time` in
/// fs/proc/stat.c of the kernel), and what was not idle was busy. So [`HostCpu::busy_ns`] is the elapsed
/// time minus idle time; the split shows what it was spent on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HostCpu {
    /// Normal and niced user time.
    pub user_ns: u64,
    /// Kernel time.
    pub system_ns: u64,
    /// Hardware interrupts.
    pub irq_ns: u64,
    /// Softirqs: where much of a network datastore's cost is.
    pub softirq_ns: u64,
    /// Idle while an I/O was outstanding. Not busy.
    pub iowait_ns: u64,
    /// Taken by the hypervisor for other guests.
    pub steal_ns: u64,
    /// Idle.
    pub idle_ns: u64,
    /// Number of online CPUs.
    pub cpus: u32,
    /// The time between the two readings, times the online CPUs. 0 if it was not measured: earlier
    /// versions, predictions.
    #[serde(default)]
    pub capacity_ns: u64,
    /// What the machine spends in the same time without load, as read at the start of the run.
    /// Included in [`HostCpu::busy_ns`]. `None` if it was not read.
    #[serde(default)]
    pub background_ns: Option<u64>,
}

impl HostCpu {
    /// Everything that is neither idle, iowait nor stolen: from measured times if available, otherwise
    /// as counted by the kernel.
    pub fn busy_ns(&self) -> u64 {
        if self.capacity_ns == 0 {
            return self.counted_ns();
        }
        self.capacity_ns
            .saturating_sub(self.idle_ns)
            .saturating_sub(self.iowait_ns)
            .saturating_sub(self.steal_ns)
    }

    /// Busy time as counted by the kernel.
    pub fn counted_ns(&self) -> u64 {
        self.user_ns + self.system_ns + self.irq_ns + self.softirq_ns
    }
}

impl CpuUsage {
    /// Cost of the I/Os in this process: the I/O threads, the kernel's workers for them and the
    /// positional engine's threads. Where the kernel receives packets in a task's own time (loopback, and
    /// every kernel without CONFIG_IRQ_TIME_ACCOUNTING) it includes the softirqs of the process's
    /// sockets.
    pub fn initiator_ns(&self) -> u64 {
        self.process_ns.saturating_sub(self.tool_ns.unwrap_or(0))
    }

    /// Cost of the I/Os on the whole machine: its busy time minus what it spends without load and minus
    /// the tool's own constant part.
    pub fn host_ns(&self) -> u64 {
        self.host
            .busy_ns()
            .saturating_sub(self.host.background_ns.unwrap_or(0))
            .saturating_sub(self.tool_ns.unwrap_or(0))
    }

    /// Subtracts time that the I/O threads were awake only to be on time.
    pub fn take_off_spinning(&mut self, spun_ns: u64) {
        let user_ns = spun_ns.min(self.threads_user_ns);
        let system_ns = (spun_ns - user_ns).min(self.threads_system_ns);
        self.threads_user_ns -= user_ns;
        self.threads_system_ns -= system_ns;
        self.process_ns = self.process_ns.saturating_sub(user_ns + system_ns);
        self.host.user_ns = self.host.user_ns.saturating_sub(user_ns);
        self.host.system_ns = self.host.system_ns.saturating_sub(system_ns);
        // The CPU would have been idle.
        self.host.idle_ns += user_ns + system_ns;
    }

    /// Combines the usage of another I/O thread of the same process: thread figures add up; those
    /// of the process, the host and the target are the same for all, and the larger reading is
    /// kept.
    pub fn merge_thread(&mut self, other: &CpuUsage) {
        self.threads_user_ns += other.threads_user_ns;
        self.threads_system_ns += other.threads_system_ns;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.threads += other.threads;
        self.run_delay_ns = self.run_delay_ns.zip(other.run_delay_ns).map(|(a, b)| a + b);
        if other.process_ns > self.process_ns {
            self.process_ns = other.process_ns;
            self.tool_ns = other.tool_ns;
            self.host = other.host;
            self.pressure = other.pressure;
        }
        self.late_ns = self.late_ns.max(other.late_ns);
        self.target_ns = self.target_ns.max(other.target_ns);
    }

    /// Adds the usage of another trial, at another time: everything adds up. A figure unknown in
    /// one of them is unknown in the sum.
    pub fn add_later(&mut self, other: &CpuUsage) {
        self.threads_user_ns += other.threads_user_ns;
        self.threads_system_ns += other.threads_system_ns;
        self.process_ns += other.process_ns;
        self.tool_ns = self.tool_ns.zip(other.tool_ns).map(|(now, more)| now.saturating_add(more));
        self.pressure = self.pressure.zip(other.pressure, u64::saturating_add);
        self.late_ns = self.late_ns.max(other.late_ns);
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.threads = self.threads.max(other.threads);
        self.run_delay_ns =
            self.run_delay_ns.zip(other.run_delay_ns).map(|(now, more)| now.saturating_add(more));
        let (host, later) = (&mut self.host, &other.host);
        host.user_ns += later.user_ns;
        host.system_ns += later.system_ns;
        host.irq_ns += later.irq_ns;
        host.softirq_ns += later.softirq_ns;
        host.iowait_ns += later.iowait_ns;
        host.steal_ns += later.steal_ns;
        host.idle_ns += later.idle_ns;
        host.cpus = host.cpus.max(later.cpus);
        // A measured and a counted value cannot be added.
        host.capacity_ns = match (host.capacity_ns, later.capacity_ns) {
            (0, _) | (_, 0) => 0,
            (now, more) => now.saturating_add(more),
        };
        host.background_ns =
            host.background_ns.zip(later.background_ns).map(|(now, more)| now.saturating_add(more));
        self.target_ns =
            self.target_ns.zip(other.target_ns).map(|(now, more)| now.saturating_add(more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(target_ns: Option<u64>) -> CpuUsage {
        CpuUsage { target_ns, ..CpuUsage::default() }
    }

    #[test]
    fn the_target_is_read_once_for_all_threads_and_added_up_over_trials() {
        let mut threads = target(None);
        threads.merge_thread(&target(Some(7)));
        threads.merge_thread(&target(None));
        assert_eq!(threads.target_ns, Some(7));
        let mut trials = threads;
        trials.add_later(&target(Some(5)));
        assert_eq!(trials.target_ns, Some(12));
        trials.add_later(&target(None));
        assert_eq!(trials.target_ns, None);
    }

    /// What the tool spends grows with time, whatever the storage does: it must not be part of an I/O's cost.
    #[test]
    fn equal_cost_per_io_is_reported_alike_at_any_rate() {
        const S: u64 = 1_000_000_000;
        // 2.6 ms per second for waiting and watching, 20 µs per I/O in this process, 5 µs in the
        // kernel's interrupts; a machine that spends 30 ms per second without load.
        let at = |rate: u64| {
            let (tool_ns, process_ns) = (2_600_000, 20_000 * rate + 2_600_000);
            let busy_ns = process_ns + 5_000 * rate + 30_000_000;
            let host = HostCpu {
                // The kernel's ticks missed most of it.
                user_ns: busy_ns / 10,
                idle_ns: 2 * S - busy_ns,
                cpus: 2,
                capacity_ns: 2 * S,
                background_ns: Some(30_000_000),
                ..HostCpu::default()
            };
            CpuUsage { process_ns, tool_ns: Some(tool_ns), host, ..CpuUsage::default() }
        };
        for rate in [100, 10_000] {
            assert_eq!(at(rate).initiator_ns() / rate, 20_000, "{rate}");
            assert_eq!(at(rate).host_ns() / rate, 25_000, "{rate}");
        }
    }

    #[test]
    fn busy_time_is_what_was_not_idle_where_that_was_clocked() {
        let counted = HostCpu {
            user_ns: 3,
            system_ns: 4,
            iowait_ns: 10,
            steal_ns: 5,
            idle_ns: 50,
            cpus: 2,
            ..HostCpu::default()
        };
        assert_eq!(counted.busy_ns(), 7);
        let clocked = HostCpu { capacity_ns: 100, ..counted };
        assert_eq!((clocked.busy_ns(), clocked.counted_ns()), (35, 7));
        // Time that a thread was awake only to be on time would have been idle.
        let mut usage = CpuUsage {
            threads_user_ns: 3,
            threads_system_ns: 2,
            process_ns: 6,
            host: clocked,
            ..CpuUsage::default()
        };
        usage.take_off_spinning(4);
        assert_eq!((usage.process_ns, usage.host.busy_ns(), usage.host.counted_ns()), (2, 31, 3));
    }

    #[test]
    fn what_is_unknown_of_one_trial_is_unknown_of_several() {
        let known = CpuUsage {
            tool_ns: Some(1),
            host: HostCpu { capacity_ns: 10, background_ns: Some(2), ..HostCpu::default() },
            pressure: Pressure { cpu_ns: Some(3), ..Pressure::default() },
            late_ns: 4,
            ..CpuUsage::default()
        };
        let mut all = known;
        all.add_later(&known);
        assert_eq!(
            (all.tool_ns, all.host.capacity_ns, all.host.background_ns),
            (Some(2), 20, Some(4))
        );
        assert_eq!((all.pressure.cpu_ns, all.pressure.io_ns, all.late_ns), (Some(6), None, 4));
        all.add_later(&CpuUsage::default());
        assert_eq!((all.tool_ns, all.host.capacity_ns, all.host.background_ns), (None, 0, None));
        assert_eq!(all.pressure, Pressure::default());
    }

    #[test]
    fn usage_written_without_a_target_is_read_as_unknown() {
        let mut stored = serde_json::to_value(target(Some(7))).unwrap();
        stored.as_object_mut().unwrap().remove("target_ns");
        assert_eq!(serde_json::from_value::<CpuUsage>(stored).unwrap(), target(None));
    }
}
