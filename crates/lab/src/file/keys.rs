//! The keys of a lab file: one list a mapping, each key with an example of its value.
//!
//! These lists are what the reader accepts, what messages tell, and what the JSON Schema is held
//! against.

use stormeter_yaml::keys;

keys! {
    /// The file itself.
    LAB "lab" "a lab" telling "vms" {
        "lab": "First rack",
        "networks": "{lan: {rate: 1Gb}}",
        "storage": "{nas: {disks: {slow: {size: 1GiB}}, luns: {vm: slow}}}",
        "hosts": "{esx1: {mounts: {vm: {datastore: nas.vm}}}}",
        "vms": "{vm: {count: 2, disk: {datastore: nas.vm, size: 256MiB}}}",
    }
    /// A network between a storage guest and its clients.
    NETWORK "network" "a network" telling "rate" {
        "rate": "1Gb",
        "delay": "200us",
        "loss": "0.1%",
        "mtu": "9000",
        "aggregation": "{ports: 2, mode: 802.3ad}",
    }
    /// Ports of a network that are one.
    AGGREGATION "aggregation" "an aggregation" telling "ports" {
        "ports": "2",
        "mode": "802.3ad",
    }
    /// A storage guest.
    STORAGE "storage" "a storage guest" telling "disks" {
        "memory": "256MiB",
        "vcpus": "1",
        "network": "lan",
        "disks": "{slow: {size: 1GiB, iops: 300}}",
        "exports": "{vm: slow}",
        "luns": "{vm: slow}",
    }
    /// Disks of a storage guest.
    DISKS "disks" "disks" telling "size" {
        "size": "1GiB",
        "count": "4",
        "raid": "10",
        "missing": "1",
        "rebuild-rate": "1MiB",
        "iops": "300",
        "latency": "5ms",
        "ssd-cache": "{size: 64MiB}",
    }
    /// A fast disk before others.
    SSD_CACHE "ssd-cache" "an SSD cache" telling "size" {
        "size": "64MiB",
        "iops": "5000",
    }
    /// What is served block by block.
    LUN "lun" "a LUN" telling "disks" {
        "disks": "slow",
        "protocol": "fc",
        "chap": "{user: esx1, password-file: chap.txt}",
    }
    /// What an initiator says of itself.
    CHAP "chap" "CHAP" telling "user" {
        "user": "esx1",
        "password-file": "chap.txt",
    }
    /// Hosts.
    HOST "host" "a host" telling "mounts" {
        "count": "2",
        "memory": "256MiB",
        "vcpus": "1",
        "mounts": "{vm: {datastore: nas.vm}}",
    }
    /// An export or a LUN in a host.
    MOUNT "mount" "a mount" telling "datastore" {
        "datastore": "nas.vm",
        "version": "4.2",
        "paths": "2",
        "policy": "round-robin",
        "chap": "{user: esx1, password-file: chap.txt}",
        "mtu": "9000",
    }
    /// Virtual machines.
    VM "vm" "a VM" telling "disk" {
        "count": "3",
        "memory": "128MiB",
        "vcpus": "1",
        "network": "user",
        "disk": "{datastore: nas.vm, size: 256MiB}",
        "disks": "{fast: {datastore: nas.vm, size: 256MiB}}",
    }
    /// A virtual disk.
    VM_DISK "vm-disk" "a virtual disk" telling "datastore" {
        "datastore": "nas.vm",
        "size": "256MiB",
        "controller": "virtio-scsi",
        "format": "raw",
        "cache": "none",
        "iops": "500",
    }
}

/// Words that belong to a rack and that labs do not have yet, by the mapping that they would stand in.
pub(super) const NOT_YET: [(&str, &[&str]); 7] = [
    ("lab", &["initiators", "faults", "clients"]),
    ("network", &["vlan", "mpls"]),
    ("storage", &["cache", "lvm", "networks"]),
    ("disks", &["cache", "spares"]),
    ("vm", &["host", "networks"]),
    ("vm-disk", &["snapshot", "protocol", "path-policy"]),
    ("host", &["network", "networks", "vms", "disks"]),
];

/// Each list of keys: what the schema calls it, and its keys.
pub fn key_lists() -> Vec<(&'static str, Vec<&'static str>)> {
    ALL.iter().map(|keys| (keys.schema, keys.names().collect())).collect()
}
