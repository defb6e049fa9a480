//! Why a site cannot carry a load.

/// Why a site cannot carry a load.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MachineError {
    /// More VMs than the hosts have space for.
    #[error(
        "{vms} VMs do not fit on {hosts} hosts with at most {each} each; raise vms-per-host or the \
         count of hosts {name}, or ask for fewer VMs"
    )]
    TooManyVms {
        /// Number of VMs.
        vms: u32,
        /// Number of hosts in the group.
        hosts: u32,
        /// Limit per host.
        each: u32,
        /// Name of the group.
        name: String,
    },
    /// The virtual disks are larger than the storage.
    #[error(
        "{vms} virtual disks of {disk} do not fit on {name}, which has {room}; make them smaller or \
         add disks"
    )]
    NoRoom {
        /// Number of virtual disks.
        vms: u32,
        /// Size of each, as text.
        disk: String,
        /// Name of the storage.
        name: String,
        /// Its size, as text.
        room: String,
    },
    /// Replicas must be on different nodes.
    #[error(
        "{cluster} keeps {replicas} replicas on different nodes, and there are only {nodes} {name}; \
         add nodes or ask for fewer replicas"
    )]
    TooFewNodes {
        /// Number of nodes.
        nodes: u32,
        /// Number of replicas.
        replicas: u32,
        /// Name of the nodes.
        name: String,
        /// Name of the datastore.
        cluster: String,
    },
    /// More pieces than the simulator supports.
    #[error(
        "{vms} virtual disks of {stripes} stripes with {replicas} replicas on {name} are more than {most} \
         pieces, which is what a machine keeps track of; ask for fewer VMs, stripes or replicas"
    )]
    TooManyPieces {
        /// Number of virtual disks.
        vms: u32,
        /// Stripes per disk.
        stripes: u32,
        /// Replicas per stripe.
        replicas: u32,
        /// Name of the datastore.
        name: String,
        /// The limit.
        most: u64,
    },
    /// The site has no client for the servers in VMs.
    #[error(
        "transfers need a client in the site; add `client:` with its hosts, adapter and networks"
    )]
    NoClient,
}
