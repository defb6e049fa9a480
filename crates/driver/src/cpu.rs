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
    /// The whole machine, as `/proc/stat` splits it.
    pub host: HostCpu,
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
    /// Joins the usage of another driving thread of the same process: thread figures add up, those
    /// of the process and the host are the same for all and the larger reading is kept.
    pub fn merge_thread(&mut self, other: &CpuUsage) {
        self.threads_user_ns += other.threads_user_ns;
        self.threads_system_ns += other.threads_system_ns;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        if other.process_ns > self.process_ns {
            self.process_ns = other.process_ns;
            self.host = other.host;
        }
    }

    /// Adds the usage of another trial, at another time: everything adds up.
    pub fn add_later(&mut self, other: &CpuUsage) {
        self.threads_user_ns += other.threads_user_ns;
        self.threads_system_ns += other.threads_system_ns;
        self.process_ns += other.process_ns;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        let (host, later) = (&mut self.host, &other.host);
        host.user_ns += later.user_ns;
        host.system_ns += later.system_ns;
        host.irq_ns += later.irq_ns;
        host.softirq_ns += later.softirq_ns;
        host.iowait_ns += later.iowait_ns;
        host.steal_ns += later.steal_ns;
        host.idle_ns += later.idle_ns;
        host.cpus = host.cpus.max(later.cpus);
    }
}
