//! The actions of faults.

use crate::storage::DiskFault;

/// A change at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::machine) enum Action {
    /// A disk of a storage.
    Disk(u32, DiskFault),
    /// A capacity device of a node, or all of them, no longer answers.
    Silent { node: u32, device: Option<u32> },
    /// Its data is known to be lost, or is back.
    Data { node: u32, device: Option<u32>, lost: bool },
    /// It is no longer waited for: its data is copied from the other replicas.
    GiveUp { node: u32, device: Option<u32> },
    /// A node may accept the next bytes of a copy.
    Take { node: u32 },
    /// Ports of a set (its number in the map) are down, until then at the latest.
    PortDown { set: u32, port: u32, until_ns: u64 },
    /// They are up again.
    PortUp { set: u32, port: u32 },
    /// Users of ports that are down switch to others.
    FailOver,
    /// Nothing starts to pass a line until then.
    LinkDown { line: u32, until_ns: u64 },
}

/// Longer than any trial (19 hours), and short enough that sums of waits until then do not overflow.
pub(in crate::machine) const NEVER_NS: u64 = 1 << 46;
