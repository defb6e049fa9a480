//! A disk's file and the writes since a snapshot: a layer on top of the file, which is discarded to restore
//! the file's contents in a time that does not depend on the disk's size.
//!
//! A layer is a qcow2 file with subclusters of 4 KiB, so that writing a page copies nothing from below. QEMU
//! inserts it under the disk while the guest runs (QEMU QMP Reference Manual, `blockdev-reopen`); nothing may be
//! written meanwhile, and the caller must deal with what the guest has cached of the disk.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::hardware::{Backend, Disk};
use super::qmp::Qmp;
use crate::error::{LabError, at};

/// How long writing a whole layer into its file may take.
const PATIENCE: Duration = Duration::from_secs(600);
const LOOK: Duration = Duration::from_millis(5);
/// 32 subclusters of 4 KiB.
const CLUSTER_BYTES: u64 = 128 << 10;

/// A disk of a running guest whose contents are in a file.
#[derive(Debug)]
pub(crate) struct Layers<'a> {
    qmp: &'a mut Qmp,
    disk: &'a Disk,
    index: usize,
    file: &'a Path,
}

/// The path of a layer: next to the file.
pub(super) fn layer_file(file: &Path, generation: u32) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{name}.since-{generation}"))
}

/// QEMU's id of a layer.
pub(super) fn layer_node(index: usize, generation: u32) -> String {
    format!("layer{index}-{generation}")
}

/// QEMU's id of the node of a layer's file.
pub(super) fn file_node(index: usize, generation: u32) -> String {
    format!("{}-file", layer_node(index, generation))
}

impl<'a> Layers<'a> {
    /// The disk with this index in its guest; `None` if its contents are not in a file here.
    pub(crate) fn of(qmp: &'a mut Qmp, disk: &'a Disk, index: usize) -> Option<Self> {
        match &disk.backend {
            Backend::File { path, .. } => Some(Self { qmp, disk, index, file: path }),
            _ => None,
        }
    }

    /// Creates an empty layer on top of the file, not in use yet.
    pub(crate) fn make(&mut self, generation: u32) -> Result<(), LabError> {
        // An earlier process may have been killed while it was creating it.
        self.forget(generation)?;
        let path = layer_file(self.file, generation);
        File::create(&path).map_err(at(&path))?;
        let (layer, file) = (layer_node(self.index, generation), file_node(self.index, generation));
        let cache = self.disk.cache_of_nodes();
        let node = json!({
            "driver": "file", "node-name": file, "filename": path.to_string_lossy(), "cache": cache,
        });
        self.qmp.run("blockdev-add", node)?;
        let form = json!({
            "driver": "qcow2",
            "file": file,
            "size": self.disk.size_bytes,
            "cluster-size": CLUSTER_BYTES,
            "extended-l2": true,
        });
        let job = format!("make{}", self.index);
        self.qmp.run("blockdev-create", json!({"job-id": job, "options": form}))?;
        self.wait_for(&job)?;
        let node = json!({
            "driver": "qcow2",
            "node-name": layer,
            "file": file,
            "backing": Disk::base_node(self.index),
            "cache": cache,
        });
        self.qmp.run("blockdev-add", node).map(drop)
    }

    /// Inserts a layer under the disk, in place of the previous one.
    pub(crate) fn put(&mut self, generation: u32) -> Result<(), LabError> {
        self.put_node(&layer_node(self.index, generation))
    }

    /// Writes a layer's contents into the file. The layer stays under the disk, with the same
    /// contents.
    pub(crate) fn merge(&mut self, generation: u32) -> Result<(), LabError> {
        // QEMU commits only a topmost layer, so nothing may be above it.
        let (nothing, layer) =
            (format!("nothing{}", self.index), layer_node(self.index, generation));
        let node = json!({"driver": "null-co", "node-name": nothing, "size": self.disk.size_bytes});
        self.qmp.run("blockdev-add", node)?;
        self.put_node(&nothing)?;
        let job = format!("merge{}", self.index);
        let merged = self
            .qmp
            .run("block-commit", json!({"job-id": job, "device": layer}))
            .and_then(|_| self.wait_for(&job));
        self.put_node(&layer)?;
        self.qmp.run("blockdev-del", json!({"node-name": nothing}))?;
        merged
    }

    /// Removes all layers but one, which is under the disk.
    pub(crate) fn keep_only(&mut self, generation: u32) -> Result<(), LabError> {
        for other in self.generations()? {
            if other != generation {
                self.forget(other)?;
            }
        }
        Ok(())
    }

    fn put_node(&mut self, node: &str) -> Result<(), LabError> {
        let options = self.disk.top_node(self.index, json!(node));
        self.qmp.run("blockdev-reopen", json!({"options": [options]})).map(drop)
    }

    /// Removes a layer that is not under the disk.
    fn forget(&mut self, generation: u32) -> Result<(), LabError> {
        for node in [layer_node(self.index, generation), file_node(self.index, generation)] {
            // It may be missing, or one that QEMU was started with and has already deleted.
            let _ = self.qmp.run("blockdev-del", json!({"node-name": node}));
        }
        let path = layer_file(self.file, generation);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&path)(error)),
            _ => Ok(()),
        }
    }

    /// The numbers of the layers that have a file.
    fn generations(&self) -> Result<Vec<u32>, LabError> {
        let folder = self.file.parent().unwrap_or(self.file);
        let prefix = layer_file(self.file, 0).to_string_lossy().trim_end_matches('0').to_owned();
        let entries = fs::read_dir(folder).map_err(at(folder))?.flatten();
        let paths = entries.map(|entry| entry.path().to_string_lossy().into_owned());
        Ok(paths.filter_map(|path| path.strip_prefix(&prefix)?.parse().ok()).collect())
    }

    /// Waits for the end of a job. A merge job becomes ready first and is then completed.
    fn wait_for(&mut self, job: &str) -> Result<(), LabError> {
        let end = Instant::now() + PATIENCE;
        loop {
            let jobs = self.qmp.run("query-jobs", json!({}))?;
            let of = jobs.as_array().and_then(|jobs| jobs.iter().find(|found| found["id"] == job));
            // A finished merge job disappears from the list.
            let Some(found) = of else { return Ok(()) };
            let said = |said: &Value| LabError::Qmp {
                command: job.into(),
                said: said.as_str().unwrap_or("it does not say why").into(),
            };
            match found["status"].as_str() {
                Some("ready") => drop(self.qmp.run("job-complete", json!({"id": job}))?),
                Some("concluded") => {
                    let error = found.get("error").map(said);
                    self.qmp.run("job-dismiss", json!({"id": job}))?;
                    return error.map_or(Ok(()), Err);
                }
                _ if Instant::now() >= end => return Err(said(&json!("it takes too long"))),
                _ => std::thread::sleep(LOOK),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_next_to_its_file() {
        let path = layer_file(Path::new("/lab/guests/nas/disk0.raw"), 12);
        assert_eq!(path, Path::new("/lab/guests/nas/disk0.raw.since-12"));
    }
}
