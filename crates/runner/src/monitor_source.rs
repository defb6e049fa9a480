//! The boundary to what runs the guests of a study's rack and can read, from outside, what they use: a lab.

use stormeter_trial::GuestKind;

/// Why the guests could not be read; its message says what to do next.
pub type MonitorSourceError = Box<dyn std::error::Error + Send + Sync>;

/// Reads the counters of guests. It is called from a thread of its own, about once a second while a trial has load, and
/// never between trials. A call that does not return is given up, with the source.
pub trait MonitorSource: Send {
    /// The guests that run now. One that does not run is left out, which is no error.
    ///
    /// # Errors
    /// No guest could be read.
    fn read(&mut self) -> Result<Vec<GuestReading>, MonitorSourceError>;
}

/// The counters of a guest, each since its process started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestReading {
    /// Its name in the rack.
    pub name: String,
    /// Its part in the rack.
    pub kind: GuestKind,
    /// Differs for each process: the counters of another process say nothing about those of this one.
    pub life: u64,
    /// CPU time of the process, threads that have ended included.
    pub cpu_ns: u64,
    /// Its threads, by their ids.
    pub threads: Vec<(u64, ThreadReading)>,
    /// Resident memory.
    pub memory_bytes: u64,
    /// Bytes read from and written to files and devices; `None` if the kernel does not show them.
    pub disk_bytes: Option<[u64; 2]>,
}

/// How long a thread waited for a CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadReading {
    /// Time that it was ready to run and did not.
    pub waited_ns: u64,
    /// Number of times that it was given a CPU.
    pub slices: u64,
}
