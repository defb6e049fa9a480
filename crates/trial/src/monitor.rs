//! Host activity during a trial, by interval: as plain as a sample, because it may come from an agent
//! on another machine.

use serde::{Deserialize, Serialize};

/// Host activity in one interval of a trial, ramp included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MonitorRow {
    /// Start of the interval, in nanoseconds since the trial started.
    pub at_ns: u64,
    /// Length of the interval, in nanoseconds.
    pub length_ns: u64,
    /// Busy share of all CPUs together, 0 to 1.
    pub cpu_busy: f64,
    /// Busy share of each CPU.
    pub cores_busy: Vec<f64>,
    /// Memory in use at the end of the interval: total minus available, in bytes.
    pub memory_used_bytes: u64,
    /// Bytes per second received from networks, without loopback.
    pub network_receive_bytes_per_s: f64,
    /// Bytes per second sent to networks, without loopback.
    pub network_transmit_bytes_per_s: f64,
    /// Bytes per second over the loopback interface, where sending is also receiving.
    pub loopback_bytes_per_s: f64,
    /// Bytes per second read from block devices, each counted once (without partitions and stacked
    /// devices).
    pub disk_read_bytes_per_s: f64,
    /// Bytes per second written to block devices.
    pub disk_write_bytes_per_s: f64,
}
