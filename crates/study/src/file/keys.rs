//! The keys of a study file: one list per mapping, each key with an example of its value.
//!
//! The reader accepts these lists, messages print them, and the JSON Schema is checked against
//! them.

use stormeter_yaml::{RenamedKey, keys};

keys! {
    /// The whole file.
    STUDY "study" "a study" telling "datastores" empty ["questions" "datastores"] {
        "study": "Which datastore for the build farm?",
        "datastores": "{local: /srv/vm, nas: \"nfs://nas1/export/vm\"}",
        "hosts": "{esx1: \"ssh:root@esx1\", here: local}",
        "baseline": "local",
        "workloads": "[vm-4k, {profile: vm-8k, read: 60%}]",
        "load": "{vms: [1, 4, 16], outstanding: 4}",
        "disk": "{size: 10GiB, prepare: random}",
        "measure": "{ramp: 5s, duration: 20s, interval: 1s}",
        "design": "{blocks: auto, precision: 2%}",
        "steps": "[{at: 10s, do: link-down nas}]",
        "site": "{nics: [1, 2, 3]}",
        "faults": "[disk-fail aggregate 3 at 10s]",
        "seed": "1",
        "questions": "[nas is within 10% of local in iops]",
    }
    /// A datastore with more than a URL.
    DATASTORE "datastore" "a datastore" {
        "url": "\"nfs://nas1/export/vm\"",
        "ceiling": "\"nfs://nas1/export/in-memory\"",
        "hosts": "[esx1]",
    }
    /// A host with more than its transport.
    HOST "host" "a host" {
        "command": "kubectl exec -i pod -- stormeter agent",
        "ssh": "root@esx1",
        "address": "10.0.0.5",
    }
    /// Load on virtual disks.
    IO "io" "a workload" {
        "name": "mail",
        "profile": "vm-4k",
        "request-size": "4KiB",
        "read": "75%",
        "random": "100%",
        "zipf": "1.1",
        "align": "4KiB",
        "outstanding": "4",
        "rate": "500",
        "arrivals": "poisson",
        "burst": "{length: 8, delay: 10ms}",
        "durable": "true",
        "flush": "every 8 writes",
        "compressible": "50%",
        "dedupable": "30%",
        "size": "10GiB",
    }
    /// Requests in groups.
    BURST "burst" "a burst" {
        "length": "8",
        "delay": "10ms",
    }
    /// One pass over a file.
    FILE "file-test" "a file test" {
        "name": "iozone",
        "profile": "iozone",
        "file-test": "[write, rewrite, read, reread]",
        "record": "4KiB",
        "outstanding": "1",
        "client-cache": "false",
        "flush-at-end": "false",
        "size": "100MiB",
    }
    /// A workload of messages over TCP.
    TRANSFER_WORKLOAD "transfer-workload" "a workload with transfer" {
        "name": "write-100kb",
        "profile": "write-100kb",
        "transfer": "{size: 100KB, direction: write, sink: disk}",
        "size": "1GiB",
    }
    /// The messages of a transfer.
    TRANSFER "transfer" "transfer" {
        "size": "100KB",
        "direction": "write",
        "sink": "disk",
        "messages": "100",
    }
    /// A workload of VMs from a template.
    DEPLOY_WORKLOAD "deploy-workload" "a workload with deploy" {
        "name": "deploy",
        "profile": "deploy",
        "deploy": "{copy: 1MiB, customise: 1000, boot: 2000}",
        "size": "10GiB",
    }
    /// The steps of a deployment.
    DEPLOY "deploy" "deploy" {
        "copy": "1MiB",
        "clone": "true",
        "customise": "1000",
        "boot": "2000",
        "outstanding": "4",
    }
    /// Sessions with an FTP server.
    FTP_WORKLOAD "ftp-workload" "a workload with ftp" {
        "name": "uploads",
        "ftp": "{direction: upload, size: 512KiB, password-file: ftp.txt}",
    }
    /// What a session with an FTP server does.
    FTP "ftp" "ftp" telling "direction" {
        "direction": "upload",
        "size": "512KiB",
        "files": "1",
        "pause": "1s",
        "user": "stormeter",
        "password-file": "ftp.txt",
        "port": "21",
    }
    /// Viewers of a desktop.
    VNC_WORKLOAD "vnc-workload" "a workload with vnc" {
        "name": "desktop",
        "vnc": "{pause: 300ms, password-file: vnc.txt}",
    }
    /// What a viewer of a desktop does.
    VNC "vnc" "vnc" {
        "pause": "300ms",
        "pointer": "10",
        "keys-at": "640x240+0+240",
        "fields": "8x4",
        "password-file": "vnc.txt",
        "port": "5900",
    }
    /// A workload of desktops on demand.
    DESKTOPS_WORKLOAD "desktops-workload" "a workload with desktops" {
        "name": "portal",
        "desktops": "{arrivals: {per-hour: 30}, pool: [0, 4]}",
        "size": "10GiB",
    }
    /// Desktops on demand.
    DESKTOPS "desktops" "desktops" {
        "arrivals": "{per-hour: 30, users: 180}",
        "class": "{users: 12, at: 30s}",
        "pool": "[0, 4, 8]",
        "at-once": "4",
        "capacity": "{cpus: 64, memory: 128GiB, storage: 2TiB}",
        "desktop": "{cpus: 1, memory: 2GiB, storage: 10GiB}",
        "waiting": "20",
        "patience": "5min",
        "give-up": "10min",
        "idle": "30min",
        "deploy": "{copy: 1MiB, setting: 2s, boot: 2000, configure: 200}",
        "session": "{length: 10min, idle: 20%, requests: 500}",
    }
    /// Users who come one by one.
    DESKTOP_ARRIVALS "arrivals" "arrivals" telling "per-hour" {
        "per-hour": "30",
        "users": "180",
    }
    /// Users who come at once.
    CLASS "class" "class" {
        "users": "12",
        "at": "30s",
    }
    /// What the hosts have for desktops.
    CAPACITY "capacity" "capacity" {
        "cpus": "64",
        "memory": "128GiB",
        "storage": "2TiB",
    }
    /// What a desktop reserves.
    DESKTOP "desktop" "desktop" {
        "cpus": "1",
        "memory": "2GiB",
        "storage": "10GiB",
    }
    /// How a desktop is made.
    DESKTOP_DEPLOY "desktop-deploy" "deploy" {
        "by": "full",
        "copy": "1MiB",
        "setting": "2s",
        "boot": "2000",
        "configure": "200",
        "outstanding": "4",
    }
    /// What a user does.
    DESKTOP_SESSION "session" "session" {
        "length": "10min",
        "idle": "20%",
        "requests": "500",
        "log-on": "{read: 90%, outstanding: 4}",
        "work": "{read: 30%, rate: 5}",
    }
    /// The I/O of a log-on or of work.
    DESKTOP_IO "desktop-io" "I/O of a desktop" {
        "request-size": "4KiB",
        "read": "75%",
        "random": "100%",
        "zipf": "1.1",
        "align": "4KiB",
        "outstanding": "4",
        "rate": "5",
        "arrivals": "poisson",
    }
    /// The number of VMs and the queue depth.
    LOAD "load" "load" {
        "vms": "[1, 4, 16]",
        "outstanding": "4",
        "equal": "auto",
    }
    /// The virtual disks.
    DISK "disk" "disk" {
        "size": "10GiB",
        "prepare": "random",
        "stripes": "10",
        "stripe-unit": "1MiB",
        "object-size": "4MiB",
    }
    /// The timing of trials.
    MEASURE "measure" "measure" {
        "ramp": "5s",
        "duration": "20s",
        "interval": "1s",
        "unit": "trial",
        "verify": "false",
        "threads": "4",
    }
    /// The design: repetition, order, confidence.
    DESIGN "design" "design" {
        "blocks": "auto",
        "precision": "2%",
        "margin": "5%",
        "level": "95%",
        "metric": "iops",
        "order": "randomized",
        "reset": "recreate",
        "time-limit": "2h",
    }
    /// A step during every trial.
    STEP "step" "a step" {
        "at": "10s",
        "do": "link-down nas",
    }
    /// A step by a command.
    DO "do" "do" {
        "command": "\"ssh nas ip link set eth1 down\"",
        "undo": "\"ssh nas ip link set eth1 up\"",
    }
    /// The fewest and the most blocks.
    BLOCKS "blocks" "blocks" {
        "min": "5",
        "max": "100",
    }
    /// A reset by a command.
    RESET "reset" "reset" {
        "command": "\"zfs rollback tank/vm@clean\"",
    }
}

/// Keys of a workload that earlier versions spelled differently.
pub(super) const RENAMED_OF_WORKLOADS: [RenamedKey; 1] =
    [RenamedKey { old: "sizes", new: "request-size" }];

/// Keys of `design` that earlier versions spelled differently.
pub(super) const RENAMED_OF_DESIGN: [RenamedKey; 1] =
    [RenamedKey { old: "time_limit", new: "time-limit" }];

/// Every mapping of a study file, by its name in the JSON Schema, with its keys: for documents and
/// schemas that must be complete.
pub fn key_lists() -> Vec<(&'static str, Vec<&'static str>)> {
    ALL.iter().map(|keys| (keys.schema, keys.names().collect())).collect()
}
