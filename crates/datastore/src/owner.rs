//! The mark that says which run made something, and whether that run still goes on.
//!
//! A process id alone is not enough: ids are reused, boots happen, containers number their own
//! processes, and a directory may be shared between hosts. So the mark also holds the process's
//! start time, the boot, the host and the id namespace; where these do not let us know, the answer
//! is "elsewhere", and what it marks is left alone.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::DiskSpec;

const MAGIC: &str = "stormeter";
const VERSION: u32 = 1;

/// The longest mark that is read.
pub(crate) const MAX_MARK_BYTES: usize = 65_536;

/// Who made a working folder or wrote a device's header, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    magic: String,
    version: u32,
    /// The run, as its results file names it.
    pub(crate) run_id: String,
    /// The process.
    pub(crate) pid: u32,
    /// When it started, in clock ticks after boot (proc(5): `stat`, field 22).
    process_start_ticks: u64,
    /// proc(5): `/proc/sys/kernel/random/boot_id`.
    boot_id: String,
    /// Machine id and host name.
    pub(crate) host: String,
    /// The namespace that the process id belongs to.
    pid_namespace: String,
    /// The disks that were, or are being, made.
    pub(crate) disks: Option<DiskRecord>,
    /// Whether all of them are fully written.
    pub(crate) prepared: bool,
}

/// Which disks there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DiskRecord {
    pub(crate) spec: DiskSpec,
    /// The caller's name for what was written.
    pub(crate) content_id: u64,
}

impl DiskRecord {
    /// Whether disks made as `self` serve for `other`: the granularity does not change a disk.
    pub(crate) fn serves(&self, other: &DiskRecord) -> bool {
        self.spec.count == other.spec.count
            && self.spec.size_bytes == other.spec.size_bytes
            && self.content_id == other.content_id
    }
}

/// What has become of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// It is this very process.
    Own,
    /// It runs.
    Alive,
    /// It has ended.
    Gone,
    /// It is, or was, where we cannot look.
    Elsewhere,
}

impl Owner {
    /// The mark of this process for a run.
    pub(crate) fn here(run_id: &str) -> Self {
        let pid = std::process::id();
        Self {
            magic: MAGIC.into(),
            version: VERSION,
            run_id: run_id.into(),
            pid,
            process_start_ticks: start_ticks(pid).unwrap_or(0),
            boot_id: line("/proc/sys/kernel/random/boot_id"),
            host: format!("{} {}", line("/etc/machine-id"), line("/proc/sys/kernel/hostname")),
            pid_namespace: fs::read_link("/proc/self/ns/pid")
                .map(|link| link.to_string_lossy().into_owned())
                .unwrap_or_default(),
            disks: None,
            prepared: false,
        }
    }

    /// Reads a mark; `None` if it is none, or one of a version that we do not know.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let owner: Self = serde_json::from_slice(bytes).ok()?;
        (owner.magic == MAGIC && owner.version == VERSION && is_run_id(&owner.run_id))
            .then_some(owner)
    }

    /// The mark as text.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("strings and numbers always serialise")
    }

    /// Whether the owner still runs, as seen from this process.
    pub(crate) fn life(&self) -> Life {
        self.life_as_seen_by(&Self::here(&self.run_id))
    }

    fn life_as_seen_by(&self, here: &Self) -> Life {
        if self.host != here.host || here.boot_id.is_empty() {
            return Life::Elsewhere;
        }
        if self.boot_id != here.boot_id {
            return Life::Gone;
        }
        if self.pid_namespace != here.pid_namespace {
            return Life::Elsewhere;
        }
        if start_ticks(self.pid) != Some(self.process_start_ticks) {
            Life::Gone
        } else if self.pid == here.pid {
            Life::Own
        } else {
            Life::Alive
        }
    }
}

/// Whether this can name a run: 16 hexadecimal digits, lower case.
pub(crate) fn is_run_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn line(path: &str) -> String {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// When a process started; `None` if there is none of this id, or only its zombie.
fn start_ticks(pid: u32) -> Option<u64> {
    parse_start_ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The command's name, field 2, may contain anything, so fields are counted from its last bracket.
fn parse_start_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    // Field 22, where the state is field 3.
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "0123456789abcdef";

    #[test]
    fn this_process_is_its_own() {
        assert_eq!(Owner::here(RUN).life(), Life::Own);
    }

    #[test]
    fn a_mark_survives_writing_and_foreign_text_is_none() {
        let owner = Owner::here(RUN);
        assert_eq!(Owner::parse(&owner.to_json()), Some(owner.clone()));
        assert_eq!(Owner::parse(b"{}"), None);
        assert_eq!(Owner::parse(b"\xff\x00"), None);
        let other = Owner { magic: "thunder".into(), ..owner.clone() };
        assert_eq!(Owner::parse(&other.to_json()), None);
        let newer = Owner { version: 2, ..owner };
        assert_eq!(Owner::parse(&newer.to_json()), None);
    }

    #[test]
    fn an_owner_is_gone_only_when_that_is_certain() {
        let here = Owner::here(RUN);
        let gone = Owner { process_start_ticks: here.process_start_ticks + 1, ..here.clone() };
        assert_eq!(gone.life(), Life::Gone, "the id was reused");
        let no_process = Owner { pid: u32::MAX, ..here.clone() };
        assert_eq!(no_process.life(), Life::Gone);
        let rebooted = Owner { boot_id: "another".into(), ..here.clone() };
        assert_eq!(rebooted.life(), Life::Gone);
        let container = Owner { pid_namespace: "pid:[1]".into(), ..gone.clone() };
        assert_eq!(container.life(), Life::Elsewhere);
        let other_host = Owner { host: "other".into(), boot_id: "another".into(), ..gone };
        assert_eq!(other_host.life(), Life::Elsewhere);
        // Process 1 always runs, and is not us.
        if let Some(ticks) = start_ticks(1)
            && here.pid != 1
        {
            let alive = Owner { pid: 1, process_start_ticks: ticks, ..here };
            assert_eq!(alive.life(), Life::Alive);
        }
    }

    #[test]
    fn the_start_time_is_field_22_whatever_the_name() {
        // Layout of proc(5): pid (comm) state, then fields 4 to 21, then the start time.
        let stat = |state: &str| {
            format!("42 (a ) b (c) {state} 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23")
        };
        assert_eq!(parse_start_ticks(&stat("S")), Some(22));
        assert_eq!(parse_start_ticks(&stat("Z")), None);
        assert_eq!(parse_start_ticks("42 (x"), None);
    }

    #[test]
    fn run_ids_are_16_hexadecimal_digits() {
        assert!(is_run_id(RUN));
        for text in ["", "0123456789abcde", "0123456789ABCDEF", "../../../../../et"] {
            assert!(!is_run_id(text), "{text}");
        }
    }
}
