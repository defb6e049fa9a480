//! The load of a machine, and when its components are read.

/// The load that will be driven, as far as the machine has to know it in advance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Number of virtual disks; one per VM.
    pub vms: u32,
    /// Size of each on the storage.
    pub disk_bytes: u64,
    /// Bytes of each that the workload touches.
    pub working_set_bytes: u64,
    /// Share of requests that go to random places, 0 to 1.
    pub random: f64,
    /// The exponent of a Zipf distribution of the random ones; `None`: uniform.
    pub zipf: Option<f64>,
    /// Whether it flushes, so that earlier writes of the same kind have left nothing in a volatile cache.
    pub flushes: bool,
}

/// The times at which components are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its start: the length of the ramp.
    pub from_ns: u64,
    /// Length of an interval.
    pub interval_ns: u64,
}
