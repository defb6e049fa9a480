//! A guest's machine, as QEMU arguments.
//!
//! What a guest can see (devices, their order, sizes) is kept separate from what is behind it (files,
//! servers, limits): a frozen guest can be cloned with anything behind its disks, as long as everything
//! that it sees stays the same.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{cable, layer};
use crate::model::{CacheMode, Controller, DiskFormat};

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
}

/// A guest's machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hardware {
    pub(crate) kind: Kind,
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
    /// Limit in requests per second, reads and writes together.
    pub(crate) iops: Option<u32>,
    pub(crate) backend: Backend,
}

/// What is behind a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Backend {
    /// Nothing: the guest will be frozen.
    Blank,
    /// A file on the host. Writes since its snapshot, if there is one, are in the layer of this number.
    File { path: PathBuf, format: DiskFormat, layer: Option<u32> },
    /// A file on an NFS export; QEMU itself is the client.
    Nfs { host: String, path: String, format: DiskFormat },
    /// Part of a LUN; QEMU itself is the initiator.
    Iscsi { host: String, target: String, lun: u32, offset_bytes: u64 },
}

impl Hardware {
    /// The same machine with nothing behind disks and ports.
    pub(crate) fn blank(&self) -> Hardware {
        let blank = |disk: &Disk| Disk { backend: Backend::Blank, iops: None, ..disk.clone() };
        Hardware {
            disks: self.disks.iter().map(blank).collect(),
            nics: vec![Plug::Blank; self.nics.len()],
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

    /// Arguments for the machine without its kernel, memory and ports to this machine; `name` maps a socket's path
    /// to the one that QEMU uses.
    pub(crate) fn arguments(&self, name: &dyn Fn(&Path) -> PathBuf) -> Vec<String> {
        let mut arguments = vec!["-smp".to_owned(), self.vcpus.to_string()];
        let mut add = |option: &str, value: String| arguments.extend([option.to_owned(), value]);
        let mut ide_disks = 0;
        for (index, disk) in self.disks.iter().enumerate() {
            let node = disk.node(index);
            if let Some(iops) = disk.iops {
                add("-object", format!("throttle-group,id={},x-iops-total={iops}", group(index)));
            }
            add("-blockdev", node.to_string());
            let write_cache = if disk.cache == CacheMode::Writethrough { "off" } else { "on" };
            let drive = format!(
                "drive=disk{index},write-cache={write_cache},logical_block_size=512,\
                 physical_block_size=4096"
            );
            let serial = format!("serial={}", disk.name);
            let bus = |adapter: &str| format!("{adapter},id=bus{index}");
            match disk.controller {
                Controller::VirtioBlk => add("-device", format!("virtio-blk-pci,{drive},{serial}")),
                Controller::Nvme => add("-device", format!("nvme,drive=disk{index},{serial}")),
                Controller::Ide => {
                    // One controller for all: a second one would have the same ports and
                    // interrupts.
                    if ide_disks == 0 {
                        add("-device", "piix3-ide,id=pata".into());
                    }
                    let (channel, unit) = (ide_disks / 2, ide_disks % 2);
                    add(
                        "-device",
                        format!("ide-hd,bus=pata.{channel},unit={unit},{drive},{serial}"),
                    );
                    ide_disks += 1;
                }
                Controller::VirtioScsi | Controller::Lsi | Controller::Pvscsi => {
                    let adapter = match disk.controller {
                        Controller::VirtioScsi => "virtio-scsi-pci",
                        Controller::Lsi => "lsi53c895a",
                        _ => "pvscsi",
                    };
                    add("-device", bus(adapter));
                    add("-device", format!("scsi-hd,bus=bus{index}.0,{drive},{serial}"));
                }
            }
        }
        for (index, plug) in self.nics.iter().enumerate() {
            for end in cable::arguments(index, plug, name) {
                add("-netdev", end);
            }
            // The guest gets another hardware address during set-up: frozen guests are identical. Ports of
            // unknown speed cannot be aggregated with LACP.
            let device = format!(
                "virtio-net-pci,id={},netdev=cable{index},mac=52:54:00:4c:00:{index:02x},\
                 speed=10000,duplex=full,romfile=",
                cable::port(index)
            );
            add("-device", device);
        }
        arguments
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
        let mut node = match self.iops {
            Some(_) => json!({"driver": "throttle", "throttle-group": group(index)}),
            None => json!({"driver": "raw", "cache": self.cache_of_nodes()}),
        };
        node["node-name"] = json!(format!("disk{index}"));
        node["file"] = below;
        node
    }

    /// The nodes of a file on the host, with the layer over it if there is one.
    fn file_node(
        &self,
        index: usize,
        path: &Path,
        format: DiskFormat,
        layer: Option<u32>,
    ) -> Value {
        let cache = self.cache_of_nodes();
        let file = |path: &Path| {
            json!({
                "driver": "file",
                "filename": path.to_string_lossy(),
                "read-only": false,
                "cache": cache,
            })
        };
        // Merging a layer writes to the node below it.
        let base = json!({
            "driver": format.name(),
            "node-name": Self::base_node(index),
            "read-only": false,
            "cache": cache,
            "file": file(path),
        });
        let Some(generation) = layer else { return base };
        let mut upper = file(&layer::layer_file(path, generation));
        upper["node-name"] = json!(layer::file_node(index, generation));
        json!({
            "driver": "qcow2",
            "node-name": layer::layer_node(index, generation),
            "cache": cache,
            "file": upper,
            "backing": base,
        })
    }

    /// The tree of block nodes in the form of `blockdev-add` (QEMU QMP Reference Manual,
    /// `BlockdevOptions`); the topmost is named `disk` and its index.
    fn node(&self, index: usize) -> Value {
        let cache = self.cache_of_nodes();
        let formatted = |format: DiskFormat, file: Value| json!({"driver": format.name(), "cache": cache, "file": file});
        let mut node = match &self.backend {
            Backend::Blank => {
                json!({"driver": "null-co", "size": self.size_bytes, "read-zeroes": true})
            }
            Backend::File { path, format, layer } => {
                return self.top_node(index, self.file_node(index, path, *format, *layer));
            }
            Backend::Nfs { host, path, format } => formatted(
                *format,
                json!({
                    "driver": "nfs",
                    "server": {"type": "inet", "host": host},
                    "path": path,
                    "user": 0,
                    "group": 0,
                    "cache": cache,
                }),
            ),
            Backend::Iscsi { host, target, lun, offset_bytes } => json!({
                "driver": "raw",
                "offset": offset_bytes,
                "size": self.size_bytes,
                "cache": cache,
                "file": {
                    "driver": "iscsi",
                    "transport": "tcp",
                    "portal": host,
                    "target": target,
                    "lun": lun,
                    "cache": cache,
                },
            }),
        };
        if self.iops.is_some() {
            node = json!({"driver": "throttle", "throttle-group": group(index), "file": node});
        }
        node["node-name"] = json!(format!("disk{index}"));
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(controller: Controller, backend: Backend) -> Disk {
        let name = String::from("disk");
        Disk {
            name,
            controller,
            size_bytes: 1 << 30,
            cache: CacheMode::None,
            iops: Some(300),
            backend,
        }
    }

    fn hardware(disks: Vec<Disk>) -> Hardware {
        Hardware {
            kind: Kind::Worker,
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
            disk(Controller::Lsi, Backend::File { path, format: DiskFormat::Raw, layer })
        };
        let plain = file(None).node(0);
        assert_eq!((&plain["node-name"], &plain["driver"]), (&json!("disk0"), &json!("throttle")));
        assert_eq!(plain["file"]["node-name"], "base0");
        let since = hardware(vec![file(None)]).since(Some(7)).disks[0].node(0);
        assert_eq!(since["file"]["node-name"], "layer0-7");
        assert_eq!(since["file"]["file"]["filename"], "/lab/disk0.raw.since-7");
        assert_eq!(since["file"]["backing"], plain["file"]);
        let free = Disk { iops: None, ..file(None) }.node(0);
        assert_eq!((&free["node-name"], &free["driver"]), (&json!("disk0"), &json!("raw")));
        assert_eq!(free["file"], plain["file"]);
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
