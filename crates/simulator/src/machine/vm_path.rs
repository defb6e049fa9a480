//! The serial path of a VM's requests to its host: the virtual adapter and the one thread that serves
//! it.
//!
//! It is a station in front of a VM's programs and not a step of them: a program belongs to a host,
//! and all its VMs share it. Requests restart at the host after a failure, so they do not pass it
//! again.

/// The path of all VMs of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VmPath {
    pub(super) component: u32,
    /// The first VM's station; the others' follow.
    pub(super) first: u32,
    pub(super) vms: u32,
    pub(super) takes_ns: u64,
}
