//! Copies of virtual disks between the places of a lab, by QEMU's own tool and its own clients of storage.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use crate::error::LabError;
use crate::model::{DiskFormat, DiskLimit};
use crate::qemu::image_tool::run;
use crate::qemu::{Backend, Disk};

/// The most requests that the tool has outstanding.
const MOST_OUTSTANDING: u32 = 16;
/// The size of each.
const REQUEST_BYTES: u64 = 2 << 20;
/// A storage guest's kernel has memory for every request that is outstanding. Twelve copies of four requests each, read and
/// written, took all of 256 MiB, and it panicked; this share of its memory is for copies.
const SHARE_FOR_COPIES: u64 = 8;

/// How many requests of a copy are outstanding where `copies` are made at once: as many as were asked for, unless a storage
/// guest with this much memory has no room for them.
pub(super) fn outstanding_of(asked: u32, copies: u32, memory_bytes: Option<u64>) -> u32 {
    let room = memory_bytes.map_or(u64::MAX, |bytes| {
        bytes / SHARE_FOR_COPIES / (REQUEST_BYTES * u64::from(copies.max(1)))
    });
    asked.min(u32::try_from(room).unwrap_or(u32::MAX)).clamp(1, MOST_OUTSTANDING)
}

/// A disk as a name for QEMU's tools: its nodes, without the limit that its machine has.
pub(super) fn image(disk: &Disk) -> String {
    let whole = Disk { limit: DiskLimit::default(), ..disk.clone() };
    format!("json:{}", whole.nodes())
}

/// Where images are made: the folder in which the tool runs, until `leaving` is set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Workshop<'a> {
    pub(super) folder: &'a Path,
    pub(super) leaving: &'a AtomicBool,
}

impl Workshop<'_> {
    /// Copies `from` onto `to`, block by block, with `outstanding` requests at once; neither uses this machine's cache.
    pub(super) fn copy(self, from: &str, to: &str, outstanding: u32) -> Result<(), LabError> {
        self.run(&["convert", "-n", "-m", &outstanding.to_string(), from, to]).map(drop)
    }

    /// Whether both have the same contents.
    pub(super) fn is_same(self, one: &str, other: &str) -> Result<bool, LabError> {
        self.run(&["compare", "-q", one, other])
    }

    /// Creates a file of format qcow2 over another disk.
    pub(super) fn link(self, file: &str, below: &str) -> Result<(), LabError> {
        self.run(&["create", "-q", "-f", "qcow2", "-F", "raw", "-b", below, file]).map(drop)
    }

    fn run(self, words: &[&str]) -> Result<bool, LabError> {
        run(words, self.folder, self.leaving)
    }
}

/// A file as QEMU's tools name what they create; `None` for what is no file.
pub(super) fn file_name(backend: &Backend) -> Option<String> {
    match backend {
        Backend::File { path, .. } => Some(path.to_string_lossy().into_owned()),
        // libnfs acts as this user unless the URL says otherwise.
        Backend::Nfs { host, path, .. } => Some(format!("nfs://{host}{path}?uid=0&gid=0")),
        Backend::Rbd { .. } | Backend::Iscsi { .. } | Backend::Blank => None,
    }
}

/// The same disk in a file of format qcow2 over `below`.
pub(super) fn linked(disk: &Disk) -> Disk {
    let mut disk = disk.clone();
    match &mut disk.backend {
        Backend::File { path, format, .. } => {
            *format = DiskFormat::Qcow2;
            path.set_extension("qcow2");
        }
        Backend::Nfs { path, format, .. } => {
            *format = DiskFormat::Qcow2;
            *path = path.trim_end_matches("raw").to_owned() + "qcow2";
        }
        Backend::Rbd { .. } | Backend::Iscsi { .. } | Backend::Blank => {}
    }
    disk
}

impl Disk {
    /// Its nodes, without names.
    fn nodes(&self) -> Value {
        let mut nodes = self.node(0);
        strip(&mut nodes);
        nodes
    }
}

/// Names of nodes are of one machine.
fn strip(node: &mut Value) {
    if let Some(fields) = node.as_object_mut() {
        fields.retain(|key, _| key != "node-name");
        fields.values_mut().for_each(strip);
    }
    if node == &json!(null) {
        *node = json!({});
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_leave_a_storage_guest_its_memory() {
        assert_eq!(outstanding_of(99, 1, None), 16);
        assert_eq!(outstanding_of(0, 1, None), 1);
        for (copies, expected) in [(1, 4), (4, 4), (8, 2), (12, 1), (64, 1)] {
            assert_eq!(outstanding_of(4, copies, Some(256 << 20)), expected, "{copies}");
        }
    }
}
