//! Events on the way to storage that are not the error of one I/O, as facts.
//!
//! A connection that was lost and re-established fails no I/O, and yet a reader of the results should know. What
//! sees such an event (a protocol's session, its transport, the run) reports it as an [`Incident`]; it is stored as
//! such, and only the report turns it into a sentence. Messages from elsewhere (a server, another program) are kept
//! verbatim and decide nothing.

use serde::{Deserialize, Serialize};

use crate::operation::{Kind, Operation};

/// Something that happened during a trial, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// The host that saw it, by its name in the study; `None` if the trial ran on one host only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The far end of the connection on which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub event: StorageEvent,
    /// Number of times.
    pub times: u32,
}

impl Incident {
    /// An event that happened once, on no particular path or host.
    pub fn new(event: StorageEvent) -> Self {
        Self { host: None, path: None, event, times: 1 }
    }

    /// Whether both are the same event on the same path of the same host.
    pub fn is_like(&self, other: &Incident) -> bool {
        (&self.host, &self.path, &self.event) == (&other.host, &other.path, &other.event)
    }
}

/// An event on the way to storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum StorageEvent {
    /// A connection was lost.
    ConnectionLost {
        /// Operations outstanding on it.
        outstanding: u32,
        /// The reason.
        reason: Said,
    },
    /// A lost connection works again.
    Reconnected {
        /// Time since it was lost.
        after_ns: u64,
    },
    /// Requests that were unanswered when the connection broke were sent again on the next one.
    Resent {
        /// Their number.
        requests: u64,
    },
    /// Operations of a lost path were sent again on another path.
    Moved {
        /// Their number.
        operations: u64,
    },
    /// A path did not come back in time and is not tried any longer.
    PathGivenUp {
        /// How long it was tried.
        after_ns: u64,
        /// Why it was lost.
        reason: Said,
        /// The operations that were outstanding on it.
        operations: u64,
        /// They were sent again on another path; otherwise they failed.
        moved: bool,
    },
    /// Operations failed because no connection completed them in time.
    TimedOut {
        /// Their number.
        operations: u64,
        /// How long they were tried.
        after_ns: u64,
    },
    /// The server restarted, and what it may have lost is written again.
    ServerRestarted {
        /// Bytes written again.
        rewritten_bytes: u64,
    },
    /// The server accepted writes and never confirmed that they are on stable storage.
    Unconfirmed {
        /// Bytes that may be lost.
        bytes: u64,
    },
    /// The server answered a write as less stable than requested.
    LessStable {
        /// The write.
        io: Io,
        /// The stability requested, in the protocol's words.
        asked: Said,
        /// The stability granted.
        granted: Said,
    },
    /// The unit's volatile write cache was not flushed at the end.
    CacheNotFlushed {
        /// The error; `None` if the connection was gone.
        reason: Option<Said>,
    },
    /// The unit reported a power on or reset while its write cache may have held writes that no flush had covered: they
    /// may be lost, and the flushes that cover them fail.
    CacheMayBeLost,
    /// The unit refused a write with FUA, which it reports to support: durable writes are written and then flushed.
    ForcedAccessRefused,
    /// The server refused an operation.
    Refused {
        /// The operation.
        io: Io,
        /// The server's answer, in the protocol's words.
        said: Said,
    },
    /// Operations were refused, of which not each is listed.
    RefusedInAll {
        /// Their number.
        operations: u64,
    },
    /// The server asked the client to wait and try again (NFS3ERR_JUKEBOX).
    AskedToWait,
    /// The server sent a reply that matches no outstanding request.
    UnknownReply,
    /// The target sent something for a command that had completed before.
    Stale {
        /// What it sent.
        part: StalePart,
    },
    /// The target was busy; the command is sent again after a while.
    TargetBusy,
    /// The target's queue was full; the command is sent again after a while.
    TargetFull,
    /// A command was aborted by another initiator.
    AbortedByOther,
    /// Another host has reserved the unit.
    ReservationConflict,
    /// A command ended with another status.
    CommandStatus {
        /// The status, in the protocol's words.
        said: Said,
    },
    /// A command ended with CHECK CONDITION and this sense data.
    Sense {
        /// The sense key.
        key: u8,
        /// The additional sense code.
        asc: u8,
        /// Its qualifier.
        ascq: u8,
        /// The same in the standard's words.
        said: Said,
    },
    /// A command ended with CHECK CONDITION and without sense data.
    NoSense,
    /// The target itself failed a command, not its unit.
    TargetFailed {
        /// The response code.
        response: u8,
    },
    /// The target sent an asynchronous message.
    TargetMessage {
        /// Its code.
        code: u8,
        /// The same in the standard's words.
        said: Said,
        /// The sense data that came with it.
        sense: Option<Said>,
    },
    /// A Ceph cluster was not whole, or did something besides serving.
    Cluster {
        /// What it was.
        trouble: ClusterTrouble,
    },
    /// Another run of Stormeter used the same storage at the same time.
    OtherRun {
        /// The other run's id, as its results file has it.
        run_id: String,
        /// Its process id, as its machine numbers it.
        pid: u32,
        /// Its machine's name; `None` for the machine that saw it.
        machine: Option<String>,
        /// What both used.
        sharing: Sharing,
    },
    /// Events beyond the number that is listed.
    Unlisted,
    /// An event of an earlier version, which kept its sentence only.
    Other {
        /// The sentence.
        said: Said,
    },
}

/// What keeps a Ceph cluster from serving as it would at rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "trouble")]
pub enum ClusterTrouble {
    /// Storage daemons (OSDs) are down.
    DaemonsDown {
        /// Those that are down.
        down: u32,
        /// All.
        of: u32,
    },
    /// Placement groups are not active and clean: copies are missing or misplaced.
    NotClean {
        /// Those that are not.
        groups: u32,
        /// All.
        of: u32,
    },
    /// Placement groups copy data (recovery, backfill).
    Recovers {
        /// Their number.
        groups: u32,
    },
    /// Placement groups are scrubbed.
    Scrubs {
        /// Their number.
        groups: u32,
    },
    /// A storage daemon or pool is nearly full.
    NearFull,
    /// A storage daemon or pool is full.
    Full,
    /// The cluster lets clients wait, because it was told to (flags `pauserd`, `pausewr`).
    Paused {
        /// Reads wait.
        reads: bool,
        /// Writes wait.
        writes: bool,
    },
    /// The pool was removed.
    NoPool,
    /// The monitors did not say.
    Silent {
        /// The error.
        said: Said,
    },
}

/// What a target sent too late or twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StalePart {
    /// A response.
    Response,
    /// Data.
    Data,
    /// A request for data.
    DataRequest,
}

/// What two runs share, the closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// The datastore's directory, export, device or LUN.
    Directory,
    /// The file system of both directories.
    FileSystem,
    /// The disk that the file systems or devices are on.
    Disk,
    /// The server.
    Server,
    /// The pool of a cluster.
    Pool,
}

/// An I/O by its place, without its buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Io {
    /// Read or write.
    pub kind: Kind,
    /// Number of the disk, as the host numbers it.
    pub disk: u32,
    /// Offset on the disk, in bytes.
    pub offset_bytes: u64,
    /// Length, in bytes.
    pub length_bytes: u32,
}

impl From<&Operation> for Io {
    fn from(operation: &Operation) -> Self {
        let Operation { kind, disk, offset_bytes, length_bytes, .. } = *operation;
        Self { kind, disk, offset_bytes, length_bytes }
    }
}

/// A message from elsewhere, kept verbatim up to a bound: it is for people, and decides nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct Said(String);

impl Said {
    /// Characters kept: a server must not fill a results file.
    pub const MOST_CHARS: usize = 300;

    /// The message.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Said {
    fn from(mut text: String) -> Self {
        if let Some((end, _)) = text.char_indices().nth(Self::MOST_CHARS) {
            text.truncate(end);
        }
        Self(text)
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Incidents, each once with its count, in the order in which they first happened, and bounded in number: a server
/// that fails every request must fill neither the memory nor a results file.
#[derive(Debug)]
pub struct Incidents {
    most: usize,
    listed: Vec<Incident>,
    unlisted: u32,
}

impl Incidents {
    /// Lists at most `most` different incidents; beyond these they are only counted.
    pub fn new(most: usize) -> Self {
        Self { most, listed: Vec::new(), unlisted: 0 }
    }

    /// Adds an event that happened once.
    pub fn note(&mut self, event: StorageEvent) {
        self.add(Incident::new(event));
    }

    /// Adds an incident.
    pub fn add(&mut self, incident: Incident) {
        let times = incident.times;
        if incident.event == StorageEvent::Unlisted {
            self.unlisted = self.unlisted.saturating_add(times);
        } else if let Some(known) = self.listed.iter_mut().find(|known| known.is_like(&incident)) {
            known.times = known.times.saturating_add(times);
        } else if self.listed.len() < self.most {
            self.listed.push(incident);
        } else {
            self.unlisted = self.unlisted.saturating_add(times);
        }
    }

    /// Takes all; those that are only counted come last, as one.
    pub fn take(&mut self) -> Vec<Incident> {
        let mut taken = std::mem::take(&mut self.listed);
        let times = std::mem::take(&mut self.unlisted);
        if times > 0 {
            taken.push(Incident { times, ..Incident::new(StorageEvent::Unlisted) });
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(number: u32) -> StorageEvent {
        let io = Io { kind: Kind::Read, disk: number, offset_bytes: 0, length_bytes: 512 };
        StorageEvent::Refused { io, said: "no".into() }
    }

    #[test]
    fn each_incident_is_listed_once_with_its_count() {
        let mut incidents = Incidents::new(20);
        incidents.note(StorageEvent::TargetBusy);
        incidents.note(StorageEvent::TargetFull);
        incidents.add(Incident { times: 3, ..Incident::new(StorageEvent::TargetBusy) });
        let on_path =
            Incident { path: Some("a".into()), ..Incident::new(StorageEvent::TargetBusy) };
        incidents.add(on_path.clone());
        let busy = Incident { times: 4, ..Incident::new(StorageEvent::TargetBusy) };
        assert_eq!(incidents.take(), [busy, Incident::new(StorageEvent::TargetFull), on_path]);
        assert!(incidents.take().is_empty());
    }

    #[test]
    fn the_list_is_bounded_and_nothing_goes_uncounted() {
        let mut incidents = Incidents::new(20);
        (0..500).for_each(|number| incidents.note(refused(number)));
        incidents.add(Incident { times: 500, ..Incident::new(StorageEvent::Unlisted) });
        let taken = incidents.take();
        assert_eq!(taken.len(), 21);
        assert_eq!(taken[20].event, StorageEvent::Unlisted);
        assert_eq!(taken.iter().map(|incident| incident.times).sum::<u32>(), 1000);
    }

    #[test]
    fn a_message_from_elsewhere_is_bounded() {
        let said = Said::from("ä".repeat(10_000));
        assert_eq!(said.as_str().chars().count(), Said::MOST_CHARS);
        assert_eq!(Said::from("short").as_str(), "short");
    }
}
