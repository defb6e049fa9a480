//! The arguments of QEMU for a guest's machine.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stormeter_datastore::RbdPool;

use super::hardware::{Backend, Disk, Hardware, group};
use super::{cable, layer, throttle};
use crate::model::{CacheMode, Controller, DiskFormat};

impl Hardware {
    /// Arguments for the machine without its kernel, memory and ports to this machine; `name` maps a socket's path
    /// to the one that QEMU uses.
    pub(crate) fn arguments(&self, name: &dyn Fn(&Path) -> PathBuf) -> Vec<String> {
        let mut arguments = vec!["-smp".to_owned(), self.vcpus.to_string()];
        let mut add = |option: &str, value: String| arguments.extend([option.to_owned(), value]);
        let mut ide_disks = 0;
        for (index, disk) in self.disks.iter().enumerate() {
            let node = disk.node(index);
            if disk.limit.is_some() {
                let limits =
                    throttle::named(disk.limit).map(|(name, most)| format!(",x-{name}={most}"));
                let limits: String = limits.collect();
                add("-object", format!("throttle-group,id={}{limits}", group(index)));
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

impl Disk {
    /// The nodes of a file on the host, with the layer over it if there is one.
    fn file_node(
        &self,
        index: usize,
        path: &Path,
        format: DiskFormat,
        layer: Option<u32>,
        log: Option<&Path>,
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
        let stored = match log {
            None => file(path),
            Some(log) => json!({
                "driver": "blklogwrites",
                "cache": cache,
                "file": file(path),
                "log": {"driver": "file", "filename": log.to_string_lossy()},
            }),
        };
        // Merging a layer writes to the node below it.
        let base = json!({
            "driver": format.name(),
            "node-name": Self::base_node(index),
            "read-only": false,
            "cache": cache,
            "file": stored,
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
    pub(crate) fn node(&self, index: usize) -> Value {
        let cache = self.cache_of_nodes();
        let formatted = |format: DiskFormat, file: Value| json!({"driver": format.name(), "cache": cache, "file": file});
        let mut node = match &self.backend {
            Backend::Blank => {
                json!({"driver": "null-co", "size": self.size_bytes, "read-zeroes": true})
            }
            Backend::File { path, format, layer, log } => {
                let log = log.as_deref();
                return self.top_node(index, self.file_node(index, path, *format, *layer, log));
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
            Backend::Rbd { pool, image } => formatted(DiskFormat::Raw, rbd(pool, image, &cache)),
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
        if self.limit.is_some() {
            node = json!({"driver": "throttle", "throttle-group": group(index), "file": node});
        }
        node["node-name"] = json!(format!("disk{index}"));
        node
    }
}

/// An image as QEMU names it (QEMU QMP Reference Manual, `BlockdevOptionsRbd`).
fn rbd(pool: &RbdPool, image: &str, cache: &Value) -> Value {
    let mut node = json!({
        "driver": "rbd",
        "pool": pool.pool,
        "image": image,
        "user": pool.id,
        "cache": cache,
    });
    if let Some(namespace) = &pool.namespace {
        node["namespace"] = json!(namespace);
    }
    if let Some(conf) = &pool.conf {
        node["conf"] = json!(conf.to_string_lossy());
    }
    node
}
