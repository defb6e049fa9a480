//! Copies of virtual disks between the places of a lab, by QEMU's own tool and its own clients of storage.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::error::{LabError, tool};
use crate::image::last_words;
use crate::model::DiskFormat;
use crate::qemu::{Backend, Disk};

const PROGRAM: &str = "qemu-img";
/// How often a copy looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(5);

/// A disk as a name for QEMU's tools: its nodes, without the limit that its machine has.
pub(super) fn image(disk: &Disk) -> String {
    let whole = Disk { iops: None, ..disk.clone() };
    format!("json:{}", whole.nodes())
}

/// Copies `from` onto `to`, block by block, with `outstanding` requests at once; neither uses this machine's cache.
pub(super) fn copy(
    from: &str,
    to: &str,
    outstanding: u32,
    leaving: &AtomicBool,
) -> Result<(), LabError> {
    let outstanding = outstanding.clamp(1, 16).to_string();
    run(&["convert", "-n", "-m", &outstanding, from, to], leaving).map(drop)
}

/// Whether both have the same contents.
pub(super) fn is_same(one: &str, other: &str, leaving: &AtomicBool) -> Result<bool, LabError> {
    run(&["compare", "-q", one, other], leaving)
}

/// Creates a file of format qcow2 over another disk.
pub(super) fn link(file: &str, below: &str, leaving: &AtomicBool) -> Result<(), LabError> {
    run(&["create", "-q", "-f", "qcow2", "-F", "raw", "-b", below, file], leaving).map(drop)
}

/// A file as QEMU's tools name what they create; `None` for what is no file.
pub(super) fn file_name(backend: &Backend) -> Option<String> {
    match backend {
        Backend::File { path, .. } => Some(path.to_string_lossy().into_owned()),
        // libnfs acts as this user unless the URL says otherwise.
        Backend::Nfs { host, path, .. } => Some(format!("nfs://{host}{path}?uid=0&gid=0")),
        Backend::Iscsi { .. } | Backend::Blank => None,
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
        Backend::Iscsi { .. } | Backend::Blank => {}
    }
    disk
}

/// Runs the tool until it ends or is no longer wanted. `false` is its exit code 1 where it says nothing else.
fn run(words: &[&str], leaving: &AtomicBool) -> Result<bool, LabError> {
    let mut child = Command::new(PROGRAM)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| tool(PROGRAM, source))?;
    loop {
        if leaving.load(Ordering::Relaxed) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(LabError::Interrupted);
        }
        if child.try_wait().map_err(|source| tool(PROGRAM, source))?.is_some() {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let output = child.wait_with_output().map_err(|source| tool(PROGRAM, source))?;
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) if output.stderr.is_empty() => Ok(false),
        _ => {
            Err(LabError::ToolFailed { program: PROGRAM.into(), said: last_words(&output.stderr) })
        }
    }
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
