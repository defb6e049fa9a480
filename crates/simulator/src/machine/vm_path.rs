//! The serial path of a VM's requests to its host: the virtual adapter and the one thread that serves
//! it.
//!
//! It is a station in front of a VM's programs and not a step of them: a program belongs to a host,
//! and all its VMs share it. Requests restart at the host after a failure, so they do not pass it
//! again.

use super::Machine;

/// The path of all VMs of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VmPath {
    pub(super) component: u32,
    /// The first VM's station; the others' follow.
    pub(super) first: u32,
    pub(super) vms: u32,
    pub(super) takes_ns: u64,
}

impl Machine {
    /// A new request passes its VM's path, if there is one; returns when the host has it.
    #[inline]
    pub(super) fn leave_vm(&mut self, number: u32) -> u64 {
        let Some(path) = self.vm_path else { return self.now_ns };
        let vm = self.jobs[number].disk;
        // The lanes of clients come after the VMs' disks.
        if vm >= path.vms {
            return self.now_ns;
        }
        let station = &mut self.stations[(path.first + vm) as usize];
        let (start_ns, taken_ns) = station.visit(self.now_ns, path.takes_ns);
        let end_ns = start_ns + taken_ns;
        self.jobs[number].tail_ns = end_ns;
        self.spent(number, path.component, end_ns);
        end_ns
    }
}
