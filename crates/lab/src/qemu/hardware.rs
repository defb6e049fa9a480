//! A guest's machine, as QEMU arguments.
//!
//! What a guest can see (devices, their order, sizes) is kept separate from what is behind it (files,
//! servers, limits): a frozen guest can be cloned with anything behind its disks, as long as everything
//! that it sees stays the same.

use std::path::PathBuf;

use serde_json::{Value, json};
use stormeter_datastore::RbdPool;

use crate::model::{CacheMode, Controller, DiskFormat, DiskLimit};

/// The name of a network's modules in a worker guest.
pub(crate) const NETWORK: &str = "network";

/// The image that a guest runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// stormeter as init.
    Worker,
    /// NFS and iSCSI servers.
    Storage,
    /// Clients for storage guests, and an agent.
    Host,
    /// Routing daemons.
    Router,
}

/// A guest's machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hardware {
    pub(crate) kind: Kind,
    /// The suite whose kernel a host runs; `None`: this machine's.
    pub(crate) suite: Option<String>,
    /// Whether a host has the programs of services.
    pub(crate) services: bool,
    pub(crate) memory_bytes: u64,
    pub(crate) vcpus: u32,
    pub(crate) disks: Vec<Disk>,
    /// Whether a port leads to this machine: QEMU's user-mode network, in which the guest has the first
    /// address of the DHCP range.
    pub(crate) uplink: bool,
    /// Ports to other guests, after the one that leads to this machine if there is one.
    pub(crate) nics: Vec<Plug>,
}

/// What is behind a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plug {
    /// Nothing: the guest will be frozen.
    Blank,
    /// This end of a cable is started first, and listens again when the other end disconnects.
    Listens(PathBuf),
    /// This end connects to the other.
    Connects(PathBuf),
}

/// A virtual disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Disk {
    /// Its serial number, by which the guest knows it.
    pub(crate) name: String,
    pub(crate) controller: Controller,
    pub(crate) size_bytes: u64,
    pub(crate) cache: CacheMode,
    pub(crate) limit: DiskLimit,
    pub(crate) backend: Backend,
}

/// What is behind a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Backend {
    /// Nothing: the guest will be frozen.
    Blank,
    /// A file on the host. Writes since its snapshot, if there is one, are in the layer of this number.
    /// Writes and flushes are logged in the file `log`, if there is one.
    File { path: PathBuf, format: DiskFormat, layer: Option<u32>, log: Option<PathBuf> },
    /// A file on an NFS export; QEMU itself is the client.
    Nfs { host: String, path: String, format: DiskFormat },
    /// An image in a pool of a Ceph cluster; QEMU itself is the client.
    Rbd { pool: Box<RbdPool>, image: String },
    /// Part of a LUN; QEMU itself is the initiator.
    Iscsi { host: String, target: String, lun: u32, offset_bytes: u64 },
}

impl Hardware {
    /// The same machine with nothing behind disks and ports.
    pub(crate) fn blank(&self) -> Hardware {
        let blank = |disk: &Disk| Disk {
            backend: Backend::Blank,
            limit: DiskLimit::default(),
            ..disk.clone()
        };
        Hardware {
            disks: self.disks.iter().map(blank).collect(),
            nics: vec![Plug::Blank; self.nics.len()],
            suite: self.suite.clone(),
            ..*self
        }
    }

    /// The same machine with the writes since the snapshot of this number, if there is one.
    pub(crate) fn since(mut self, generation: Option<u32>) -> Hardware {
        for disk in &mut self.disks {
            if let Backend::File { layer, .. } = &mut disk.backend {
                *layer = generation;
            }
        }
        self
    }

    /// Whether QEMU can freeze such a machine: the state of its NVMe controller cannot be saved.
    pub(crate) fn can_freeze(&self) -> bool {
        self.disks.iter().all(|disk| disk.controller != Controller::Nvme)
    }

    /// The module lists that a worker guest's init gets on the kernel's command line.
    pub(crate) fn modules(&self) -> String {
        let mut names: Vec<&str> = self.disks.iter().map(|disk| disk.controller.name()).collect();
        if self.uplink {
            names.push(NETWORK);
        }
        names.sort_unstable();
        names.dedup();
        names.join(",")
    }

    /// The names of its disks, for a worker guest's init.
    pub(crate) fn disk_names(&self) -> String {
        let names: Vec<&str> = self.disks.iter().map(|disk| disk.name.as_str()).collect();
        names.join(",")
    }
}

/// The throttle group of a disk; each disk has its own.
pub(crate) fn group(index: usize) -> String {
    format!("limit{index}")
}

impl Disk {
    /// Cache settings of QEMU's block nodes.
    pub(super) fn cache_of_nodes(&self) -> Value {
        let direct = matches!(self.cache, CacheMode::None);
        json!({"direct": direct, "no-flush": self.cache == CacheMode::Unsafe})
    }

    /// QEMU's id of a disk's file node, below layers and limits.
    pub(super) fn base_node(index: usize) -> String {
        format!("base{index}")
    }

    /// The topmost node of a disk, over `below`: its limit, or a pass-through node that keeps the id.
    pub(super) fn top_node(&self, index: usize, below: Value) -> Value {
        let mut node = match self.limit.is_some() {
            true => json!({"driver": "throttle", "throttle-group": group(index)}),
            false => json!({"driver": "raw", "cache": self.cache_of_nodes()}),
        };
        node["node-name"] = json!(format!("disk{index}"));
        node["file"] = below;
        node
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn disk(controller: Controller, backend: Backend) -> Disk {
        let name = String::from("disk");
        Disk {
            name,
            controller,
            size_bytes: 1 << 30,
            cache: CacheMode::None,
            limit: DiskLimit { iops: Some(300), bytes_per_s: None },
            backend,
        }
    }

    fn hardware(disks: Vec<Disk>) -> Hardware {
        Hardware {
            kind: Kind::Worker,
            suite: None,
            services: false,
            memory_bytes: 128 << 20,
            vcpus: 1,
            disks,
            uplink: false,
            nics: Vec::new(),
        }
    }

    /// The part that the guest sees: devices, not block nodes and limits.
    fn devices(arguments: &[String]) -> Vec<&String> {
        let pairs = arguments.chunks(2);
        pairs.filter(|pair| pair[0] == "-device").map(|pair| &pair[1]).collect()
    }

    #[test]
    fn a_frozen_guest_sees_what_its_clones_see() {
        let target = String::from("iqn.2026-01.example:nas");
        let backend = Backend::Iscsi { host: "127.0.0.2".into(), target, lun: 1, offset_bytes: 0 };
        for controller in Controller::ALL {
            let whole = hardware(vec![disk(controller, backend.clone())]);
            let blank = whole.blank();
            assert_eq!(
                devices(&whole.arguments(&Path::to_owned)),
                devices(&blank.arguments(&Path::to_owned))
            );
            assert!(!blank.arguments(&Path::to_owned).iter().any(|word| word.contains("iscsi")));
        }
    }

    #[test]
    fn ports_have_the_same_names_whatever_is_plugged_in() {
        let mut whole = hardware(Vec::new());
        whole.nics = vec![
            Plug::Listens("/lab/guests/a,b/cable0".into()),
            Plug::Connects("/lab/guests/esx/cable3".into()),
        ];
        let arguments = whole.arguments(&Path::to_owned);
        assert_eq!(devices(&arguments), devices(&whole.blank().arguments(&Path::to_owned)));
        let text = arguments.join(" ");
        assert!(text.contains("id=nic1,netdev=cable1"), "{text}");
        assert!(!whole.blank().arguments(&Path::to_owned).join(" ").contains("unix"));
    }

    #[test]
    fn disks_of_ide_share_one_controller() {
        let disks = vec![disk(Controller::Ide, Backend::Blank); 3];
        let arguments = hardware(disks).arguments(&Path::to_owned);
        let devices = devices(&arguments);
        assert_eq!(devices.iter().filter(|it| it.starts_with("piix3-ide")).count(), 1);
        for place in ["pata.0,unit=0", "pata.0,unit=1", "pata.1,unit=0"] {
            assert!(devices.iter().any(|it| it.contains(place)), "{place}");
        }
    }

    #[test]
    fn a_limit_and_a_slice_of_a_lun_are_nodes_below_the_disk() {
        let target = String::from("iqn.2026-01.example:nas");
        let backend =
            Backend::Iscsi { host: "127.0.0.2".into(), target, lun: 1, offset_bytes: 4096 };
        let node = disk(Controller::Lsi, backend).node(2);
        assert_eq!(node["node-name"], "disk2");
        assert_eq!(node["throttle-group"], "limit2");
        assert_eq!(node["file"]["offset"], 4096);
        assert_eq!(node["file"]["size"], 1u64 << 30);
        assert_eq!(node["file"]["file"]["lun"], 1);
        assert_eq!(node["file"]["file"]["cache"]["direct"], true);
    }

    #[test]
    fn a_snapshot_is_below_the_layer_of_what_was_written_since() {
        let file = |layer| {
            let path = PathBuf::from("/lab/disk0.raw");
            disk(Controller::Lsi, Backend::File { path, format: DiskFormat::Raw, layer, log: None })
        };
        let plain = file(None).node(0);
        assert_eq!((&plain["node-name"], &plain["driver"]), (&json!("disk0"), &json!("throttle")));
        assert_eq!(plain["file"]["node-name"], "base0");
        let since = hardware(vec![file(None)]).since(Some(7)).disks[0].node(0);
        assert_eq!(since["file"]["node-name"], "layer0-7");
        assert_eq!(since["file"]["file"]["filename"], "/lab/disk0.raw.since-7");
        assert_eq!(since["file"]["backing"], plain["file"]);
        let free = Disk { limit: DiskLimit::default(), ..file(None) }.node(0);
        assert_eq!((&free["node-name"], &free["driver"]), (&json!("disk0"), &json!("raw")));
        assert_eq!(free["file"], plain["file"]);
    }

    #[test]
    fn a_disk_has_the_limits_that_it_was_given() {
        let limited = |iops, bytes_per_s| Disk {
            limit: DiskLimit { iops, bytes_per_s },
            ..disk(Controller::Lsi, Backend::Blank)
        };
        for (iops, bytes_per_s, words) in [
            (Some(300), None, ",x-iops-total=300"),
            (None, Some(20_000_000), ",x-bps-total=20000000"),
            (Some(30), Some(1000), ",x-iops-total=30,x-bps-total=1000"),
        ] {
            let one = limited(iops, bytes_per_s);
            assert_eq!(one.node(0)["driver"], "throttle");
            let arguments = hardware(vec![one]).arguments(&|path| path.to_owned());
            assert!(arguments.iter().any(|it| it.ends_with(words)), "{arguments:?}");
        }
        let arguments = hardware(vec![limited(None, None)]).arguments(&|path| path.to_owned());
        assert!(!arguments.iter().any(|it| it.contains("throttle")), "{arguments:?}");
    }

    #[test]
    fn modules_are_named_once() {
        let blank = |controller| disk(controller, Backend::Blank);
        let disks = vec![blank(Controller::Lsi), blank(Controller::Ide), blank(Controller::Lsi)];
        assert_eq!(hardware(disks).modules(), "ide,lsi");
        assert_eq!(Hardware { uplink: true, ..hardware(Vec::new()) }.modules(), "network");
        assert!(!hardware(vec![blank(Controller::Nvme)]).can_freeze());
    }
}
