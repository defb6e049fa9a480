//! The keys of a lab file: one list per mapping, each key with an example of its value.
//!
//! The reader accepts these lists, messages print them, and the JSON Schema is checked against
//! them.

use stormeter_yaml::keys;

keys! {
    /// The whole file.
    LAB "lab" "a lab" telling "vms" {
        "lab": "First rack",
        "networks": "{lan: {rate: 1Gb}}",
        "routers": "{pe1: {role: provider-edge, networks: [core]}}",
        "storage": "{nas: {disks: {slow: {size: 1GiB}}, luns: {vm: slow}}}",
        "hosts": "{esx1: {mounts: {vm: {datastore: nas.vm}}}}",
        "vms": "{vm: {count: 2, disk: {datastore: nas.vm, size: 256MiB}}}",
        "desktops": "{nfs: {count: 12, disk: {datastore: nas.vm, size: 64MiB}}}",
    }
    /// A network between guests.
    NETWORK "network" "a network" telling "rate" {
        "rate": "1Gb",
        "delay": "200us",
        "loss": "0.1%",
        "mtu": "9000",
        "aggregation": "{ports: 2, mode: 802.3ad}",
        "vpn": "blue",
        "cost": "100",
    }
    /// A router.
    ROUTER "router" "a router" telling "role" {
        "role": "provider-edge",
        "vpn": "blue",
        "networks": "[core, access]",
        "memory": "160MiB",
        "vcpus": "1",
    }
    /// Ports of a network that act as one.
    AGGREGATION "aggregation" "an aggregation" telling "ports" {
        "ports": "2",
        "mode": "802.3ad",
    }
    /// A storage guest.
    STORAGE "storage" "a storage guest" telling "disks" {
        "memory": "256MiB",
        "vcpus": "1",
        "network": "lan",
        "networks": "[site]",
        "disks": "{slow: {size: 1GiB, iops: 300}}",
        "exports": "{vm: slow}",
        "luns": "{vm: slow}",
    }
    /// A group of disks of a storage guest.
    DISKS "disks" "disks" telling "size" {
        "size": "1GiB",
        "count": "4",
        "raid": "10",
        "missing": "1",
        "rebuild-rate": "1MiB",
        "iops": "300",
        "throughput": "20MB",
        "latency": "5ms",
        "ssd-cache": "{size: 64MiB}",
        "lvm": "true",
    }
    /// A fast disk that caches others.
    SSD_CACHE "ssd-cache" "an SSD cache" telling "size" {
        "size": "64MiB",
        "iops": "5000",
        "throughput": "200MB",
    }
    /// A group of disks served as files.
    EXPORT "export" "an export" telling "disks" {
        "disks": "slow",
        "writes": "async",
    }
    /// A group of disks served as a block device.
    LUN "lun" "a LUN" telling "disks" {
        "disks": "slow",
        "protocol": "fc",
        "chap": "{user: esx1, password-file: chap.txt}",
        "write-cache": "on",
    }
    /// The CHAP credentials of an initiator.
    CHAP "chap" "CHAP" telling "user" {
        "user": "esx1",
        "password-file": "chap.txt",
    }
    /// A host, or several alike.
    HOST "host" "a host" telling "mounts" {
        "count": "2",
        "memory": "256MiB",
        "vcpus": "1",
        "system": "trixie",
        "networks": "[site]",
        "mounts": "{vm: {datastore: nas.vm}}",
        "services": "{ftp: {password-file: ftp.txt}}",
    }
    /// What a host serves to other guests.
    SERVICES "services" "services" telling "ftp" {
        "ftp": "{password-file: ftp.txt}",
        "vnc": "{password-file: vnc.txt, seed: 7}",
    }
    /// An FTP server.
    FTP "ftp" "an FTP server" telling "password-file" {
        "password-file": "ftp.txt",
    }
    /// A VNC server with its desktop.
    VNC "vnc" "a VNC server" telling "password-file" {
        "password-file": "vnc.txt",
        "seed": "7",
    }
    /// An export or a LUN mounted on a host.
    MOUNT "mount" "a mount" telling "datastore" {
        "datastore": "nas.vm",
        "version": "4.2",
        "paths": "2",
        "policy": "round-robin",
        "chap": "{user: esx1, password-file: chap.txt}",
        "mtu": "9000",
        "network": "site",
    }
    /// A virtual machine, or several alike.
    VM "vm" "a VM" telling "disk" {
        "count": "3",
        "memory": "128MiB",
        "vcpus": "1",
        "network": "user",
        "disk": "{datastore: nas.vm, size: 256MiB}",
        "disks": "{fast: {datastore: nas.vm, size: 256MiB}}",
    }
    /// Desktops, made on demand.
    DESKTOPS "desktops" "desktops" telling "disk" {
        "count": "12",
        "memory": "96MiB",
        "vcpus": "1",
        "disk": "{datastore: nas.vm, size: 64MiB}",
    }
    /// A virtual disk.
    VM_DISK "vm-disk" "a virtual disk" telling "datastore" {
        "datastore": "nas.vm",
        "size": "256MiB",
        "controller": "virtio-scsi",
        "format": "raw",
        "cache": "none",
        "iops": "500",
        "throughput": "20MB",
    }
}

/// Words of site files that labs do not support yet, by the mapping in which they would appear.
pub(super) const NOT_YET: [(&str, &[&str]); 7] = [
    ("lab", &["initiators", "faults", "clients"]),
    ("network", &["vlan", "mpls"]),
    ("storage", &["cache"]),
    ("disks", &["cache", "spares"]),
    ("vm", &["host", "networks"]),
    ("vm-disk", &["snapshot", "protocol", "path-policy"]),
    ("host", &["network", "vms", "disks"]),
];

/// Each list of keys: its name in the schema, and the keys.
pub fn key_lists() -> Vec<(&'static str, Vec<&'static str>)> {
    ALL.iter().map(|keys| (keys.schema, keys.names().collect())).collect()
}
