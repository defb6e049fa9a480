//! What happened on the way to storage, as a clause without full stop.

use stormeter_results::{ClusterTrouble, Incident, Io, Sharing, StalePart, StorageEvent};
use stormeter_units::{format_bytes, format_duration_ns};

use crate::wording::plural;

/// An incident with its host and path: `esx1: 10.0.0.5:2049: connection lost with 8 I/Os outstanding (…)`.
pub fn incident_sentence(incident: &Incident) -> String {
    let place = [&incident.host, &incident.path].into_iter().flatten();
    let place: String = place.map(|place| format!("{place}: ")).collect();
    format!("{place}{}", event(&incident.event))
}

/// Another run on the same storage; without a machine, it is on this one.
pub(super) fn other_run(run_id: &str, pid: u32, machine: Option<&str>, sharing: Sharing) -> String {
    let machine = machine.map_or_else(String::new, |name| format!(" on {name}"));
    let shared = match sharing {
        Sharing::Directory => "directory or export",
        Sharing::FileSystem => "file system",
        Sharing::Disk => "disk",
        Sharing::Server => "server",
        Sharing::Pool => "pool",
    };
    format!(
        "another run of stormeter (process {pid}{machine}, run {run_id}) used the same {shared} at the same time"
    )
}

fn event(event: &StorageEvent) -> String {
    match event {
        StorageEvent::ConnectionLost { outstanding, reason } => {
            format!("connection lost with {} outstanding ({reason})", ios(*outstanding))
        }
        StorageEvent::Reconnected { after_ns } => format!("reconnected after {}", time(*after_ns)),
        StorageEvent::Resent { requests } => {
            format!("{} sent again on a new connection", plural(*requests, "request"))
        }
        StorageEvent::Moved { operations } => {
            format!("{} sent again on another path", ios(*operations))
        }
        StorageEvent::PathGivenUp { after_ns, reason, operations, moved } => {
            let outcome = if *moved { "sent again on another path" } else { "failed" };
            let (after, ios) = (time(*after_ns), ios(*operations));
            format!("given up after {after} ({reason}); {ios} {outcome}")
        }
        StorageEvent::TimedOut { operations, after_ns } => {
            format!(
                "{} failed after {} over several connections",
                ios(*operations),
                time(*after_ns)
            )
        }
        StorageEvent::ServerRestarted { rewritten_bytes } => format!(
            "the server restarted; {} that it may have lost were written again",
            format_bytes(*rewritten_bytes)
        ),
        StorageEvent::Unconfirmed { bytes } => format!(
            "the server never confirmed that {} of writes are on stable storage; they may be lost",
            format_bytes(*bytes)
        ),
        StorageEvent::LessStable { io, asked, granted } => format!(
            "the server answered {} as {granted} instead of {asked}: it does not keep its promise, \
             and data may be lost",
            place(io)
        ),
        StorageEvent::CacheNotFlushed { reason: Some(reason) } => {
            format!("the write cache was not flushed: {reason}")
        }
        StorageEvent::CacheNotFlushed { reason: None } => {
            "the connection was lost before the write cache could be flushed".into()
        }
        StorageEvent::CacheMayBeLost => {
            "the unit was switched on or reset while its write cache may have held writes that no flush had \
             covered: they may be lost, and the next flush of each disk fails"
                .into()
        }
        StorageEvent::ForcedAccessRefused => {
            "the unit refused a write with FUA, which it says to support: durable writes are written and then \
             flushed"
                .into()
        }
        StorageEvent::Refused { io, said } => format!("{} failed: {said}", place(io)),
        StorageEvent::RefusedInAll { operations } => {
            format!("{} failed in all, of which the first are listed", ios(*operations))
        }
        StorageEvent::AskedToWait => {
            "the server asked the client to wait and try again (NFS3ERR_JUKEBOX)".into()
        }
        StorageEvent::UnknownReply => "the server sent a reply to no outstanding request".into(),
        StorageEvent::OtherRun { run_id, pid, machine, sharing } => {
            other_run(run_id, *pid, machine.as_deref(), *sharing)
        }
        StorageEvent::Cluster { trouble } => cluster(trouble),
        StorageEvent::Unlisted => "another event, which is not listed".into(),
        StorageEvent::Other { said } => said.to_string(),
        StorageEvent::Stale { part } => {
            let part = match part {
                StalePart::Response => "a second response to",
                StalePart::Data => "data for",
                StalePart::DataRequest => "a request for the data of",
            };
            format!("the target sent {part} a command that was complete")
        }
        StorageEvent::TargetBusy => "target busy: a command was sent again after a while".into(),
        StorageEvent::TargetFull => {
            "the target's queue was full: a command was sent again after a while".into()
        }
        StorageEvent::AbortedByOther => "a command was aborted by another initiator".into(),
        StorageEvent::ReservationConflict => {
            "reservation conflict: another host has reserved the unit".into()
        }
        StorageEvent::CommandStatus { said } => format!("a command ended with {said}"),
        StorageEvent::Sense { said, .. } => said.to_string(),
        StorageEvent::NoSense => "check condition without sense data".into(),
        StorageEvent::TargetFailed { response } => {
            format!("the target failed a command (response {response:#04x})")
        }
        StorageEvent::TargetMessage { said, sense: Some(sense), .. } => format!("{said}: {sense}"),
        StorageEvent::TargetMessage { code: code @ 4.., said, sense: None } => {
            format!("{said} ({code:#04x})")
        }
        StorageEvent::TargetMessage { said, sense: None, .. } => said.to_string(),
    }
}

fn cluster(trouble: &ClusterTrouble) -> String {
    match trouble {
        ClusterTrouble::DaemonsDown { down, of } => {
            format!("{down} of {} of the cluster down", plural(u64::from(*of), "OSD"))
        }
        ClusterTrouble::NotClean { groups, of } => {
            format!(
                "{groups} of {} not active and clean",
                plural(u64::from(*of), "placement group")
            )
        }
        ClusterTrouble::Recovers { groups } => {
            format!(
                "the cluster was recovering ({})",
                plural(u64::from(*groups), "placement group")
            )
        }
        ClusterTrouble::Scrubs { groups } => {
            format!("the cluster was scrubbing ({})", plural(u64::from(*groups), "placement group"))
        }
        ClusterTrouble::NearFull => {
            "the cluster is nearly full: an OSD or pool is near its limit".into()
        }
        ClusterTrouble::Full => "the cluster is full: an OSD or pool has reached its limit".into(),
        ClusterTrouble::Paused { reads, writes } => {
            let what = match (reads, writes) {
                (true, true) => "reads and writes",
                (true, false) => "reads",
                _ => "writes",
            };
            format!("the cluster was told to let {what} wait (`ceph osd unpause` ends that)")
        }
        ClusterTrouble::NoPool => "the pool was removed from the cluster".into(),
        ClusterTrouble::Silent { said } => format!("the cluster's state is unknown: {said}"),
    }
}

fn ios(count: impl Into<u64>) -> String {
    plural(count.into(), "I/O")
}

fn place(io: &Io) -> String {
    let Io { kind, disk, offset_bytes, length_bytes } = io;
    format!("the {kind} of {length_bytes} bytes at {offset_bytes} of disk {disk}")
}

fn time(ns: u64) -> String {
    format_duration_ns(ns as f64)
}

#[cfg(test)]
mod tests {
    use stormeter_trial::Kind;

    use super::*;

    fn all() -> Vec<StorageEvent> {
        use StorageEvent as E;
        let io = || Io { kind: Kind::Write, disk: 1, offset_bytes: 8192, length_bytes: 4096 };
        let shared = |machine: Option<&str>, sharing| E::OtherRun {
            run_id: "5f2c".into(),
            pid: 77,
            machine: machine.map(Into::into),
            sharing,
        };
        let message = |code, sense: Option<&str>| E::TargetMessage {
            code,
            said: "vendor's event".into(),
            sense: sense.map(Into::into),
        };
        let given_up = |moved| E::PathGivenUp {
            after_ns: 2_000_000_000,
            reason: "connection refused".into(),
            operations: 8,
            moved,
        };
        vec![
            E::ConnectionLost { outstanding: 8, reason: "connection reset".into() },
            E::Reconnected { after_ns: 1_234_567_890 },
            E::Resent { requests: 1 },
            E::Moved { operations: 8 },
            given_up(true),
            given_up(false),
            E::TimedOut { operations: 3, after_ns: 20_000_000_000 },
            E::ServerRestarted { rewritten_bytes: 1 << 20 },
            E::Unconfirmed { bytes: 4096 },
            E::LessStable { io: io(), asked: "FileSync".into(), granted: "Unstable".into() },
            E::CacheNotFlushed { reason: Some("busy".into()) },
            E::CacheNotFlushed { reason: None },
            E::CacheMayBeLost,
            E::ForcedAccessRefused,
            E::Refused { io: io(), said: "no space is left (NFS3ERR_NOSPC)".into() },
            E::RefusedInAll { operations: 1000 },
            E::AskedToWait,
            E::UnknownReply,
            E::Stale { part: StalePart::Response },
            E::Stale { part: StalePart::Data },
            E::Stale { part: StalePart::DataRequest },
            E::TargetBusy,
            E::TargetFull,
            E::AbortedByOther,
            E::ReservationConflict,
            E::CommandStatus { said: "ACA active".into() },
            E::Sense { key: 3, asc: 0x11, ascq: 0, said: "unrecovered read error".into() },
            E::NoSense,
            E::TargetFailed { response: 1 },
            message(0, Some("unit attention")),
            message(1, None),
            message(250, None),
            shared(None, Sharing::Directory),
            shared(Some("esx2"), Sharing::FileSystem),
            shared(None, Sharing::Disk),
            shared(None, Sharing::Server),
            shared(None, Sharing::Pool),
            E::Cluster { trouble: ClusterTrouble::DaemonsDown { down: 1, of: 3 } },
            E::Cluster { trouble: ClusterTrouble::NotClean { groups: 4, of: 33 } },
            E::Cluster { trouble: ClusterTrouble::Recovers { groups: 1 } },
            E::Cluster { trouble: ClusterTrouble::Scrubs { groups: 2 } },
            E::Cluster { trouble: ClusterTrouble::NearFull },
            E::Cluster { trouble: ClusterTrouble::Full },
            E::Cluster { trouble: ClusterTrouble::Paused { reads: true, writes: true } },
            E::Cluster { trouble: ClusterTrouble::Paused { reads: false, writes: true } },
            E::Cluster { trouble: ClusterTrouble::NoPool },
            E::Cluster { trouble: ClusterTrouble::Silent { said: "no answer".into() } },
            E::Unlisted,
            E::Other { said: "as an earlier version said".into() },
        ]
    }

    /// The sentences are in `tests/golden/incidents.txt`, to be read as a whole; `UPDATE_GOLDEN=1` writes them again.
    #[test]
    fn every_incident_has_its_sentence() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/incidents.txt");
        let text: String = all().iter().map(|it| event(it) + "\n").collect();
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(path).unwrap());
    }

    #[test]
    fn host_and_path_come_first() {
        let busy = Incident::new(StorageEvent::NoSense);
        assert_eq!(incident_sentence(&busy), "check condition without sense data");
        let path = Some("10.0.0.5:3260".into());
        let placed = Incident { host: Some("esx1".into()), path, ..busy };
        assert_eq!(
            incident_sentence(&placed),
            "esx1: 10.0.0.5:3260: check condition without sense data"
        );
    }
}
