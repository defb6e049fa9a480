//! What the guests of a rack did during a trial, interval by interval: as the machine that runs them saw it from
//! outside, so that routers and servers that drive nothing are seen as well as clients, and a guest spends nothing on
//! being watched.

use serde::{Deserialize, Serialize};

/// The part that a guest has in its rack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestKind {
    /// It passes packets on.
    Router,
    /// It serves storage.
    Storage,
    /// A host whose kernel uses storage.
    Host,
    /// A VM.
    Vm,
}

impl GuestKind {
    /// All kinds, in the order of a path from storage to VMs, with the routers first.
    pub const ALL: [GuestKind; 4] =
        [GuestKind::Router, GuestKind::Storage, GuestKind::Host, GuestKind::Vm];

    /// The name in JSON and in the results file.
    pub fn name(self) -> &'static str {
        match self {
            GuestKind::Router => "router",
            GuestKind::Storage => "storage",
            GuestKind::Host => "host",
            GuestKind::Vm => "vm",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<GuestKind> {
        GuestKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a guest did during a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuestActivity {
    /// Its name in the rack.
    pub name: String,
    /// Its part in the rack.
    pub kind: GuestKind,
    /// Its intervals, in order. There are none while it does not run.
    pub rows: Vec<GuestRow>,
}

/// What a guest did in one interval of a trial, ramp included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GuestRow {
    /// Start of the interval, in nanoseconds since the load started.
    pub at_ns: u64,
    /// Length of the interval, in nanoseconds.
    pub length_ns: u64,
    /// CPU time of the process that runs the guest, in CPUs of this machine: 1.5 is one and a half of them.
    pub cpus_busy: f64,
    /// Share of the interval, 0 to 1, in which the thread of that process that waited longest was ready to run and had
    /// no CPU. Not the sum over the threads: these may wait at the same time.
    pub waited: f64,
    /// Resident memory of the process at the end of the interval, in bytes.
    pub memory_bytes: u64,
    /// Bytes per second that the process read from files and devices; `None` where the kernel does not show it.
    pub disk_read_bytes_per_s: Option<f64>,
    /// Bytes per second that it wrote to them.
    pub disk_write_bytes_per_s: Option<f64>,
    /// Bytes per second that the guest received from networks; `None` unless it has an agent, which counts them.
    pub network_receive_bytes_per_s: Option<f64>,
    /// Bytes per second that it sent.
    pub network_transmit_bytes_per_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_name_everywhere() {
        for kind in GuestKind::ALL {
            assert_eq!(GuestKind::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
