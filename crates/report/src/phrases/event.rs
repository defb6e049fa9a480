//! What happened to a run, as a clause without full stop.

use stormeter_results::{EventKind, IdleReading, SharedFileSystem};
use stormeter_units::format_duration_ns;

use super::datastore::datastore_note;

/// An event as a sentence: `/srv/vm: the disks are in memory`.
pub fn event_sentence(kind: &EventKind) -> String {
    match kind {
        EventKind::Resumed => "resumed".into(),
        EventKind::ResumedAfterVerdict => "resumed after its verdict could be read".into(),
        EventKind::Redone { cells } => format!(
            "resumed to measure invalid cells again, with the cells that they are compared with: {}",
            cells.join("; ")
        ),
        EventKind::Idle(reading) => idle(reading),
        EventKind::SnapshotTaken => {
            "a snapshot of the storage was taken; every trial starts from it".into()
        }
        EventKind::EqualLoad { load, rate_per_s } => {
            let load = load.as_ref().map_or_else(String::new, |load| format!("{load}: "));
            format!("{load}equal load: {rate_per_s:.0} I/Os a second on each datastore")
        }
        EventKind::CeilingUnknown { said } => {
            format!("the ceiling of a path to storage is unknown: {said}")
        }
        EventKind::Prepared { url, disks } => format!("{url}: {}", datastore_note(disks)),
        EventKind::Shared(shared) => shared_file_system(shared),
        EventKind::Note { said } => said.clone(),
    }
}

fn shared_file_system(shared: &SharedFileSystem) -> String {
    let SharedFileSystem { host, urls: [first, second], file_system, source } = shared;
    let host = host.as_ref().map_or_else(String::new, |host| format!("on host {host}: "));
    format!(
        "{host}{first} and {second} are on the same file system ({file_system} on {source}); if one of them should \
         be a mount, it is missing"
    )
}

fn idle(IdleReading { busy_share, length_ns, others_io_share }: &IdleReading) -> String {
    let others = others_io_share.map_or_else(String::new, |share| {
        format!(
            "; meanwhile other programs waited for storage for {:.0} % of the time, so its figures are \
             partly theirs",
            share * 100.0
        )
    });
    format!(
        "this machine's CPUs were {:.1} % busy in {} of idling; that share is subtracted from host CPU per \
         operation{others}",
        busy_share * 100.0,
        format_duration_ns(*length_ns as f64)
    )
}

#[cfg(test)]
mod tests {
    use stormeter_results::{DatastoreFact, DatastoreNote};

    use super::*;

    #[test]
    fn every_event_has_its_sentence() {
        let said = || "as it was said".to_owned();
        let idle = |others_io_share| {
            EventKind::Idle(IdleReading {
                busy_share: 0.02,
                length_ns: 1_000_000_000,
                others_io_share,
            })
        };
        let prepared = |host| {
            let disks = DatastoreNote { host, fact: DatastoreFact::Recreated };
            EventKind::Prepared { url: "/srv/vm".into(), disks }
        };
        let shared = |host| {
            EventKind::Shared(SharedFileSystem {
                host,
                urls: ["/srv/vm".into(), "/mnt/nas".into()],
                file_system: "ext4".into(),
                source: "/dev/sda1".into(),
            })
        };
        let equal = |load| EventKind::EqualLoad { load, rate_per_s: 1234.5 };
        for (kind, expected) in [
            (EventKind::Resumed, "resumed"),
            (EventKind::ResumedAfterVerdict, "resumed after its verdict could be read"),
            (
                EventKind::Redone { cells: vec!["a, x".into(), "b, x".into()] },
                "resumed to measure invalid cells again, with the cells that they are compared with: a, x; b, x",
            ),
            (
                idle(None),
                "this machine's CPUs were 2.0 % busy in 1.00s of idling; that share is subtracted from host CPU per \
                 operation",
            ),
            (
                idle(Some(0.3)),
                "this machine's CPUs were 2.0 % busy in 1.00s of idling; that share is subtracted from host CPU per \
                 operation; meanwhile other programs waited for storage for 30 % of the time, so its figures are partly \
                 theirs",
            ),
            (
                EventKind::SnapshotTaken,
                "a snapshot of the storage was taken; every trial starts from it",
            ),
            (equal(None), "equal load: 1234 I/Os a second on each datastore"),
            (
                equal(Some("vm-4k, 2 VMs".into())),
                "vm-4k, 2 VMs: equal load: 1234 I/Os a second on each datastore",
            ),
            (
                EventKind::CeilingUnknown { said: said() },
                "the ceiling of a path to storage is unknown: as it was said",
            ),
            (
                prepared(None),
                "/srv/vm: NFSv3 has no way to give blocks back: the disks were removed, made and written again \
                 instead",
            ),
            (
                prepared(Some("esx1".into())),
                "/srv/vm: on host esx1: NFSv3 has no way to give blocks back: the disks were removed, made and \
                 written again instead",
            ),
            (
                shared(None),
                "/srv/vm and /mnt/nas are on the same file system (ext4 on /dev/sda1); if one of them should be a \
                 mount, it is missing",
            ),
            (
                shared(Some("esx1".into())),
                "on host esx1: /srv/vm and /mnt/nas are on the same file system (ext4 on /dev/sda1); if one of them \
                 should be a mount, it is missing",
            ),
            (EventKind::Note { said: said() }, "as it was said"),
        ] {
            assert_eq!(event_sentence(&kind), expected);
        }
    }
}
