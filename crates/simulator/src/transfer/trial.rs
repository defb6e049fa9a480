//! Transfers as a plain value, and why they cannot be driven.

use stormeter_trial::{FixedWorkError, Limits, Start, Transfer};

/// Transfers of all VMs, at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferTrial {
    /// What each pair of client and server does.
    pub transfer: Transfer,
    /// Number of pairs, one per VM.
    pub vms: u32,
    /// Size of each VM's disk.
    pub disk_bytes: u64,
    /// Where on their disks the servers start.
    pub start: Start,
    /// Length of an interval row.
    pub interval_ns: u64,
    /// When to give up; a transfer ends with its first fault.
    pub limits: Limits,
}

/// Transfers that cannot be driven.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// They are meaningless.
    #[error(transparent)]
    FixedWork(#[from] FixedWorkError),
    /// The machine has no clients.
    #[error("a machine without clients was given to transfers: build it with Machine::with_client")]
    NoClient,
    /// More pairs than the machine has VMs.
    #[error("{vms} pairs on a machine of {room} VMs: build it for as many")]
    TooManyVms {
        /// Number of pairs.
        vms: u32,
        /// Number of VMs.
        room: u32,
    },
}
