//! How the VMs of a trial are dealt to hosts: in turn, so that host 0 of 3 has VMs 0, 3, 6, …

/// How many of `vms` VMs a host drives, as one of `hosts`.
pub fn vms_of_host(vms: u32, host: u32, hosts: u32) -> u32 {
    vms.saturating_sub(host).div_ceil(hosts.max(1))
}
