//! What the host did while a trial ran, interval by interval: as plain as a sample, because it may come
//! from an agent on another machine.

use serde::{Deserialize, Serialize};

/// One interval of the host's life during a trial, ramp included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MonitorRow {
    /// Begin of the interval, in nanoseconds since the trial began.
    pub at_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// Busy share of all CPUs together, 0 to 1.
    pub cpu_busy: f64,
    /// Busy share of each CPU.
    pub cores_busy: Vec<f64>,
    /// Memory in use at the interval's end: total less available, in bytes.
    pub memory_used_bytes: u64,
    /// Bytes a second that came in from networks, loopback left out.
    pub network_receive_bytes_per_s: f64,
    /// Bytes a second that went out to networks, loopback left out.
    pub network_transmit_bytes_per_s: f64,
    /// Bytes a second over the loopback interface, which are sent and received at once.
    pub loopback_bytes_per_s: f64,
    /// Bytes a second read from block devices, each counted once (partitions and stacked devices left
    /// out).
    pub disk_read_bytes_per_s: f64,
    /// Bytes a second written to block devices.
    pub disk_write_bytes_per_s: f64,
}
