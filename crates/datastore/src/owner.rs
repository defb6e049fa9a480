//! The mark that says which run created something, and whether that run is still alive.
//!
//! A process id alone is not enough: ids are reused, machines reboot, containers number their own
//! processes, and hosts may share a directory. So the mark also holds the process's
//! start time, the boot, the host and the PID namespace; where these do not settle it, the answer
//! is "elsewhere", and what it marks is left alone.
//!
//! A mark may also be a forgery: its numbers are bounded, and its text is checked to be printable
//! ASCII, before anything else looks at it.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::spec::MAX_DISKS;
use crate::{DatastoreError, DiskSpec};

const MAGIC: &str = "stormeter";
const VERSION: u32 = 1;

/// The longest mark that is read.
pub(crate) const MAX_MARK_BYTES: usize = 65_536;
/// The longest text in a mark, since it ends up in messages.
const MAX_TEXT_CHARS: usize = 256;

/// Who created a working folder or wrote a device's header, and what is in it.
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
    /// The disks that were, or are being, created.
    pub(crate) disks: Option<DiskRecord>,
    /// Whether all of them are fully written.
    pub(crate) prepared: bool,
    /// How often the mark was renewed, for runs on other machines that cannot see whether this process is alive.
    #[serde(default)]
    pub(crate) renewed: u64,
    /// The disks outlive their run, which was to be cut off: they wait to be checked.
    #[serde(default)]
    pub(crate) awaits_check: bool,
}

/// Which disks exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DiskRecord {
    pub(crate) spec: DiskSpec,
    /// The caller's name for what was written.
    pub(crate) content_id: u64,
}

impl DiskRecord {
    /// Whether disks created as `self` can be used for `other`: the granularity does not change a disk.
    pub(crate) fn serves(&self, other: &DiskRecord) -> bool {
        self.spec.count == other.spec.count
            && self.spec.size_bytes == other.spec.size_bytes
            && self.content_id == other.content_id
    }
}

/// The state of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// This very process.
    Own,
    /// Another process, still running.
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
            host: printable(&format!(
                "{} {}",
                line("/etc/machine-id"),
                line("/proc/sys/kernel/hostname")
            )),
            pid_namespace: fs::read_link("/proc/self/ns/pid")
                .map(|link| printable(&link.to_string_lossy()))
                .unwrap_or_default(),
            disks: None,
            prepared: false,
            renewed: 0,
            awaits_check: false,
        }
    }

    /// The disks that exist and are ready.
    pub(crate) fn ready(&self) -> Option<DiskSpec> {
        self.disks.filter(|_| self.prepared).map(|record| record.spec)
    }

    /// Whether disks that can be used for `record` are fully written.
    pub(crate) fn has_written(&self, record: &DiskRecord) -> bool {
        self.prepared && self.disks.is_some_and(|there| there.serves(record))
    }

    /// The same mark, renewed for the `times`th time.
    pub(crate) fn renewed(&self, times: u64) -> Self {
        Self { renewed: times, ..self.clone() }
    }

    /// Reads a mark; `None` if it is not one, or is of a version that we do not know.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let owner: Self = serde_json::from_slice(bytes).ok()?;
        let is_ours = owner.magic == MAGIC && owner.version == VERSION;
        let texts = [&owner.boot_id, &owner.host, &owner.pid_namespace];
        let is_sound = is_run_id(&owner.run_id)
            && texts.into_iter().all(|text| *text == printable(text))
            && owner.disks.is_none_or(|disks| disks.spec.count <= MAX_DISKS);
        (is_ours && is_sound).then_some(owner)
    }

    /// The mark as text.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("strings and numbers always serialise")
    }

    /// Whether the owner is still running, as seen from this process. `is_shared` says whether other
    /// hosts can reach the place where the mark is.
    pub(crate) fn life(&self, is_shared: bool) -> Life {
        self.life_as_seen_by(&Self::here(&self.run_id), is_shared)
    }

    /// Continues with the disks of an earlier process of the run.
    pub(crate) fn continue_with(&mut self, left: &Owner) {
        self.disks = left.disks;
        self.prepared = left.prepared;
        self.awaits_check = left.awaits_check;
    }

    /// Refuses a folder of this run in which another process is working, or may be. `remedy` is for the
    /// case that this cannot be determined.
    pub(crate) fn refuse_if_used(
        &self,
        path: &Path,
        is_shared: bool,
        remedy: String,
    ) -> Result<(), DatastoreError> {
        match self.life(is_shared) {
            Life::Own | Life::Gone => Ok(()),
            // The caller has the run's journal. Its machine may have been another one.
            Life::Elsewhere if self.awaits_check => Ok(()),
            Life::Alive => Err(DatastoreError::InUse { path: path.into(), pid: self.pid }),
            Life::Elsewhere => Err(DatastoreError::Elsewhere {
                path: path.into(),
                place: self.host.clone(),
                remedy,
            }),
        }
    }

    fn life_as_seen_by(&self, here: &Self, is_shared: bool) -> Life {
        if self.host != here.host || here.boot_id.is_empty() {
            return Life::Elsewhere;
        }
        if self.boot_id != here.boot_id {
            // This machine before it rebooted, or another with the same name: containers come without
            // a machine id, and clones share one.
            let is_certain = here.knows_machine() && !is_shared;
            return if is_certain { Life::Gone } else { Life::Elsewhere };
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

    /// Whether the host's name begins with a machine id: 32 hexadecimal digits (machine-id(5)).
    /// Images that were never booted have none, or the word "uninitialized".
    fn knows_machine(&self) -> bool {
        let id = self.host.split(' ').next().unwrap_or_default();
        id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

/// Text in the form that a mark holds: printable ASCII of bounded length.
fn printable(text: &str) -> String {
    let shown = |c: char| if c == ' ' || c.is_ascii_graphic() { c } else { '?' };
    text.chars().take(MAX_TEXT_CHARS).map(shown).collect()
}

/// Whether this can be a run id: 16 hexadecimal digits, lower case.
pub(crate) fn is_run_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn line(path: &str) -> String {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// When a process started; `None` if no process has this id, or only its zombie.
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
    // Field 22; the first after the bracket, the state, is field 3.
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "0123456789abcdef";

    #[test]
    fn this_process_is_its_own() {
        assert_eq!(Owner::here(RUN).life(false), Life::Own);
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
    fn a_mark_that_no_run_writes_is_none() {
        let parse = |change: &dyn Fn(&mut serde_json::Value)| {
            let spec = DiskSpec { count: 1, size_bytes: 4096, granularity_bytes: 4096 };
            let disks = Some(DiskRecord { spec, content_id: 1 });
            let mut json = serde_json::to_value(Owner { disks, ..Owner::here(RUN) }).unwrap();
            change(&mut json);
            Owner::parse(json.to_string().as_bytes())
        };
        assert!(parse(&|_| {}).is_some());
        assert!(parse(&|mark| mark["disks"]["spec"]["count"] = MAX_DISKS.into()).is_some());
        for count in [MAX_DISKS + 1, u32::MAX] {
            assert_eq!(parse(&|mark| mark["disks"]["spec"]["count"] = count.into()), None);
        }
        for text in ["host", "boot_id", "pid_namespace"] {
            assert!(parse(&|mark| mark[text] = "x".repeat(256).into()).is_some(), "{text}");
            for bad in ["x".repeat(257), "\u{1b}[2J".into(), "a\nb".into(), "\u{202e}".into()] {
                assert_eq!(parse(&|mark| mark[text] = bad.clone().into()), None, "{text} {bad:?}");
            }
        }
    }

    #[test]
    fn a_name_of_any_host_makes_a_mark_that_is_valid() {
        let name = format!("büro\u{1b}{}", "x".repeat(300));
        let owner = Owner { host: printable(&name), ..Owner::here(RUN) };
        assert!(owner.host.starts_with("b?ro?x"));
        assert_eq!(Owner::parse(&owner.to_json()), Some(owner));
    }

    /// This process, on a machine that has an id.
    fn here() -> Owner {
        Owner { host: "0123456789abcdef0123456789abcdef vm1".into(), ..Owner::here(RUN) }
    }

    #[test]
    fn an_owner_is_gone_only_when_that_is_certain() {
        let here = here();
        let life = |owner: &Owner| owner.life_as_seen_by(&here, false);
        let gone = Owner { process_start_ticks: here.process_start_ticks + 1, ..here.clone() };
        assert_eq!(life(&gone), Life::Gone, "the id was reused");
        let no_process = Owner { pid: u32::MAX, ..here.clone() };
        assert_eq!(life(&no_process), Life::Gone);
        assert_eq!(no_process.life_as_seen_by(&here, true), Life::Gone, "the same boot is ours");
        let rebooted = Owner { boot_id: "another".into(), ..here.clone() };
        assert_eq!(life(&rebooted), Life::Gone);
        let container = Owner { pid_namespace: "pid:[1]".into(), ..gone.clone() };
        assert_eq!(life(&container), Life::Elsewhere);
        let other_host = Owner { host: "other".into(), boot_id: "another".into(), ..gone };
        assert_eq!(life(&other_host), Life::Elsewhere);
        // Process 1 always runs, and is not us.
        if let Some(ticks) = start_ticks(1)
            && here.pid != 1
        {
            let alive = Owner { pid: 1, process_start_ticks: ticks, ..here.clone() };
            assert_eq!(life(&alive), Life::Alive);
        }
    }

    #[test]
    fn another_boot_is_another_host_where_hosts_cannot_be_told_apart() {
        let rebooted = |here: &Owner| Owner { boot_id: "another".into(), ..here.clone() };
        let known = here();
        assert_eq!(rebooted(&known).life_as_seen_by(&known, true), Life::Elsewhere, "shared");
        for host in [" vm1", "uninitialized vm1", ""] {
            let nameless = Owner { host: host.into(), ..here() };
            let life = rebooted(&nameless).life_as_seen_by(&nameless, false);
            assert_eq!(life, Life::Elsewhere, "{host:?}");
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
