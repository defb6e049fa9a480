//! What a trial cost in CPU time: a plain value beside the sample.
//!
//! The driver does not measure it (that takes system calls); whoever runs the trial reads it when
//! the driver opens and closes the window. It lives here because it is part of what a trial yields.

use serde::{Deserialize, Serialize};

/// CPU time spent in the window of a trial. All times are nanoseconds of CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuUsage {
    /// User time of the driving threads.
    pub threads_user_ns: u64,
    /// System time of the driving threads.
    pub threads_system_ns: u64,
    /// User and system time of the whole process: the kernel's io_uring workers and the positional
    /// engine's threads are in it.
    pub process_ns: u64,
    /// Context switches of the driving threads that waited.
    pub voluntary_switches: u64,
    /// Context switches of the driving threads that were preempted.
    pub involuntary_switches: u64,
    /// Driving threads whose figures these are; 0 where it was not counted.
    #[serde(default)]
    pub threads: u32,
    /// How long the driving threads were ready to run and had no CPU (the second figure of
    /// `/proc/thread-self/schedstat`). `None` where the kernel does not tell.
    #[serde(default)]
    pub run_delay_ns: Option<u64>,
    /// The whole machine, as `/proc/stat` splits it.
    pub host: HostCpu,
    /// User and system time of the target: the processes on this machine that serve the datastore.
    /// `None` where none does (a local directory, a server elsewhere) or where it is not known (a
    /// server in the kernel, or somebody else's).
    #[serde(default)]
    pub target_ns: Option<u64>,
}

/// The whole machine's CPU time in the window, summed over its CPUs, as `/proc/stat` splits it.
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
    /// Taken by the hypervisor for others.
    pub steal_ns: u64,
    /// Idle.
    pub idle_ns: u64,
    /// CPUs online.
    pub cpus: u32,
}

impl HostCpu {
    /// Everything that is neither idle, iowait nor stolen.
    pub fn busy_ns(&self) -> u64 {
        self.user_ns + self.system_ns + self.irq_ns + self.softirq_ns
    }
}

impl CpuUsage {
    /// Takes off time that the driving threads were awake only to be in time.
    pub fn take_off_spinning(&mut self, spun_ns: u64) {
        let user_ns = spun_ns.min(self.threads_user_ns);
        let system_ns = (spun_ns - user_ns).min(self.threads_system_ns);
        self.threads_user_ns -= user_ns;
        self.threads_system_ns -= system_ns;
        self.process_ns = self.process_ns.saturating_sub(user_ns + system_ns);
        self.host.user_ns = self.host.user_ns.saturating_sub(user_ns);
        self.host.system_ns = self.host.system_ns.saturating_sub(system_ns);
    }

    /// Joins the usage of another driving thread of the same process: thread figures add up, those
    /// of the process, the host and the target are the same for all and the larger reading is kept.
    pub fn merge_thread(&mut self, other: &CpuUsage) {
        self.threads_user_ns += other.threads_user_ns;
        self.threads_system_ns += other.threads_system_ns;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.threads += other.threads;
        self.run_delay_ns = self.run_delay_ns.zip(other.run_delay_ns).map(|(a, b)| a + b);
        if other.process_ns > self.process_ns {
            self.process_ns = other.process_ns;
            self.host = other.host;
        }
        self.target_ns = self.target_ns.max(other.target_ns);
    }

    /// Adds the usage of another trial, at another time: everything adds up. What is unknown of one
    /// of them is unknown of both together.
    pub fn add_later(&mut self, other: &CpuUsage) {
        self.threads_user_ns += other.threads_user_ns;
        self.threads_system_ns += other.threads_system_ns;
        self.process_ns += other.process_ns;
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

    #[test]
    fn usage_written_without_a_target_is_read_as_unknown() {
        let mut stored = serde_json::to_value(target(Some(7))).unwrap();
        stored.as_object_mut().unwrap().remove("target_ns");
        assert_eq!(serde_json::from_value::<CpuUsage>(stored).unwrap(), target(None));
    }
}
