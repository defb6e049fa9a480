//! The keys of a site file: one list per mapping, each key with an example of its value.
//!
//! The reader accepts these lists, messages print them, and the JSON Schema is checked against
//! them.

use stormeter_yaml::keys;

keys! {
    /// The whole file.
    SITE "site" "a site" telling "hosts" {
        "site": "Test bed",
        "as-built": "1",
        "write-memory": "steady",
        "hosts": "{esx: {count: 8, cores: 8, clock: 2.5GHz}}",
        "stacks": "{nfs: {protocol: nfs, per-read: 60000 cycles, per-write: 60000 cycles}}",
        "networks": "{lan: {latency: 5us}}",
        "disk-groups": "{raid: {raid: 5, disks: 4, device: {like: sas-10k-600gb}}}",
        "controllers": "{filer: {cores: 4, clock: 2.6GHz, disks: raid}}",
        "clusters": "{vsan: {nodes: server, adapter: vsan}}",
        "datastores": "{nfs: {hosts: esx, stack: nfs, adapter: nic, networks: [lan], controller: filer, port: e0}}",
        "client": "{hosts: pc, adapter: nic, server-adapter: nic, networks: [lan], memory: 2GB/s}",
        "assumed": "[{parameter: controllers.filer.cache.destage-depth, plausible: [2, 32]}]",
        "fit": "[{parameter: stacks.nfs.per-read, from: 1000 cycles, to: 200000 cycles}]",
        "calibration": "[{finding: F1, fits: [stacks.nfs.per-read], metric: iops, of: nfs, value: 1200}]",
    }
    /// Hosts of one kind.
    HOST "host" "a host group" telling "cores" {
        "like": "rackable-s44",
        "count": "8",
        "cores": "8",
        "clock": "2.5GHz",
        "vms-per-host": "20",
        "vm-path": "100000 cycles",
        "page-cache": "{memory: 3GiB}",
        "adapters": "{nic: {rate: 1GbE, count: 2}}",
    }
    /// The page cache of clients.
    PAGE_CACHE "page-cache" "a page cache" telling "memory" {
        "memory": "3GiB",
        "dirty": "20%",
        "request": "1MiB",
        "outstanding": "32",
        "per-read": "2us",
        "per-write": "10us",
        "copy": "5GB/s",
    }
    /// Ports with the same purpose.
    ADAPTER "adapter" "an adapter" telling "rate" {
        "like": "emulex-lpe11000",
        "rate": "1GbE",
        "count": "2",
        "mtu": "1500",
        "credits": "16",
        "aggregation": "active-backup",
        "latency": "25us",
        "coalesce": "64KiB",
        "moderation": "50us",
    }
    /// The cost of a protocol for an initiator.
    STACK "stack" "a stack" telling "protocol" {
        "like": "nfs",
        "protocol": "nfs",
        "clock": "2.5GHz",
        "per-read": "60000 cycles",
        "per-write": "60000 cycles",
        "per-byte": "0.5 cycles",
        "per-packet": "2000 cycles",
        "per-batch": "6000 cycles",
        "path-switch": "800 cycles",
        "initial-r2t": "no",
        "immediate-data": "yes",
        "first-burst": "64KiB",
        "max-burst": "256KiB",
        "segment": "256KiB",
        "header-digest": "no",
        "data-digest": "no",
        "transfer": "64KiB",
        "sync": "file",
    }
    /// The cost of a request for a controller or a node.
    COST "cost" "a cost" telling "per-read" {
        "clock": "2.5GHz",
        "per-read": "40000 cycles",
        "per-write": "60000 cycles",
        "per-byte": "0.3 cycles",
        "per-packet": "1000 cycles",
        "per-batch": "3000 cycles",
    }
    /// A switch or a line.
    NETWORK "network" "a network" telling "latency" {
        "like": "lan",
        "latency": "5us",
        "rate": "100Mb",
        "buffer": "256KiB",
        "labels": "2",
        "failover": "50ms",
    }
    /// Disks of one kind.
    DISK_GROUP "disk-group" "a disk group" telling "raid" {
        "like": "aggregate",
        "raid": "5",
        "disks": "4",
        "groups": "5",
        "spares": "1",
        "stripe": "64KiB",
        "rebuild": "50MB/s",
        "device": "{like: fc-15k-144gb}",
    }
    /// A hard disk.
    HDD "hdd" "a device of kind hdd" telling "kind" {
        "like": "fc-15k-144gb",
        "kind": "hdd",
        "rpm": "15000",
        "seek-track": "0.3ms",
        "seek-average": "3.5ms",
        "seek-full": "8ms",
        "write-settle": "0.4ms",
        "outer": "120MB/s",
        "inner": "75MB/s",
        "capacity": "144GB",
        "interface": "400MB/s",
        "overhead": "100us",
        "queue-depth": "32",
        "buffer": "16MiB",
        "write-cache": "no",
    }
    /// Flash.
    SSD "ssd" "a device of kind ssd" telling "kind" {
        "like": "sata-ssd-480gb",
        "kind": "ssd",
        "channels": "16",
        "page": "8KiB",
        "read": "60us",
        "program": "600us",
        "erase": "3ms",
        "pages-per-block": "256",
        "spare": "7%",
        "filled": "50%",
        "capacity": "480GB",
        "interface": "500MB/s",
        "overhead": "15us",
        "queue-depth": "32",
        "write-buffer": "1MiB",
        "power-loss-protection": "yes",
    }
    /// A device described only by its service times.
    QUEUE "queue" "a device of kind queue" telling "kind" {
        "like": "sata-ssd-480gb",
        "kind": "queue",
        "servers": "8",
        "read": "100us",
        "write": "120us",
        "per-byte": "0.5ns",
        "per-written-byte": "0.6ns",
        "shared-per-byte": "0.2ns",
        "shared-per-written-byte": "0.3ns",
        "shared-per-io": "5us",
        "shared-per-write": "8us",
        "spread": "log-normal 0.4",
        "service": "bulk",
        "write-cache": "no",
        "flush": "5ms",
    }
    /// Storage controllers.
    CONTROLLER "controller" "a controller" telling "cores" {
        "like": "filer",
        "count": "2",
        "cores": "4",
        "clock": "2.6GHz",
        "ports": "{e0: {rate: 1GbE, count: 2}}",
        "costs": "{nfs: {per-read: 40000 cycles, per-write: 60000 cycles}}",
        "cache": "{read: 12GiB, hits: working-set, write: 1GiB}",
        "layout": "in-place",
        "disks": "aggregate",
    }
    /// A controller's memory.
    CACHE "cache" "a cache" telling "read" {
        "read": "12GiB",
        "hits": "working-set",
        "write": "1GiB",
        "battery": "yes",
        "destage-from": "50%",
        "destage-depth": "2",
    }
    /// A datastore spread over hosts.
    CLUSTER "cluster" "a cluster" telling "nodes" {
        "like": "vsan",
        "nodes": "server",
        "adapter": "vsan",
        "groups-per-node": "1",
        "capacity-per-group": "1",
        "cache": "{like: sata-ssd-480gb}",
        "capacity": "{like: sas-10k-600gb}",
        "read-cache": "168GB",
        "hits": "working-set",
        "write-buffer": "72GB",
        "costs": "{per-read: 60000 cycles, per-write: 60000 cycles}",
        "stripe": "1MiB",
        "distribution": "hash",
        "reads": "primary",
        "repair-delay": "60min",
        "resync": "100MB/s",
    }
    /// A datastore that studies can refer to.
    DATASTORE "datastore" "a datastore" telling "hosts" {
        "like": "nfs",
        "hosts": "esx",
        "stack": "nfs",
        "adapter": "nic",
        "policy": "fixed",
        "networks": "[lan]",
        "disks": "raid",
        "controller": "filer",
        "port": "e0",
        "cluster": "vsan",
        "stripes": "1",
        "replicas": "2",
        "placement": "spread",
        "also": "[nas]",
    }
    /// The client of servers in VMs.
    CLIENT "client" "the client" telling "hosts" {
        "hosts": "pc",
        "adapter": "nic",
        "server-adapter": "nic",
        "networks": "[lan]",
        "clock": "2GHz",
        "per-byte": "1 cycles",
        "per-message": "20000 cycles",
        "memory": "2GB/s",
    }
    /// An unknown value.
    ASSUMED "assumed" "an entry of assumed" telling "plausible" {
        "parameter": "controllers.filer.cache.destage-depth",
        "with": "[controllers.other.cache.destage-depth]",
        "plausible": "[2, 32]",
    }
    /// A free parameter.
    FIT "fit" "an entry of fit" telling "parameter" {
        "parameter": "stacks.nfs.per-read",
        "with": "[stacks.nfs.per-write]",
        "from": "1000 cycles",
        "to": "200000 cycles",
    }
    /// A finding that parameters were fitted to.
    CALIBRATION "calibration" "an entry of calibration" telling "finding" {
        "finding": "F1",
        "fits": "[stacks.nfs.per-read]",
        "metric": "iops",
        "of": "nfs",
        "relative-to": "local",
        "workload": "vm-4k",
        "vms": "16",
        "outstanding": "4",
        "value": "-16%",
    }
}

/// Every mapping of a site file, by its name in the JSON Schema, with its keys: for documents and
/// schemas that must be complete.
pub fn key_lists() -> Vec<(&'static str, Vec<&'static str>)> {
    ALL.iter().map(|keys| (keys.schema, keys.names().collect())).collect()
}
