//! A cluster in which nothing takes part that a test does not ask for.

use stormeter_site::*;

use super::device::device;

/// One disk group with one capacity device in each host of the first group, over its first adapter: requests cost this.
pub fn bare_cluster(cost: Cost) -> Cluster {
    Cluster {
        name: "vsan".into(),
        nodes: 0,
        adapter: 0,
        groups_per_node: 1,
        capacity_per_group: 1,
        cache: device(1, 1000.0, 0.0),
        capacity: device(1, 1000.0, 0.0),
        read_cache_bytes: 0,
        hits: Hits::WorkingSet,
        write_buffer_bytes: 1 << 30,
        cost,
        stripe_bytes: 1 << 20,
        distribution: Distribution::Even,
        reads: ReplicaReads::All,
        repair_delay_ns: 0,
        resync_bytes_per_s: None,
    }
}
