//! What a reader should know of a datastore, as a clause without full stop.

use stormeter_results::{DatastoreFact, DatastoreNote, EngineNote, FoundData};

use super::incident::other_run;

/// A note of a datastore that was opened, with its URL, for the terminal: `/srv/vm: the disks are in memory`.
pub fn opened_sentence(url: &str, note: &DatastoreNote) -> String {
    format!("{url}: {}", datastore_note(note))
}

/// What stays on a datastore after its disks were removed, or may: `esx1: /srv/vm/… stays`.
pub fn left_sentence(left: &DatastoreNote) -> String {
    let host = left.host.as_deref().unwrap_or_default();
    match &left.fact {
        DatastoreFact::Unreached { said } => {
            format!("what host {host} holds may stay there: {said}")
        }
        fact if left.host.is_some() => format!("{host}: {}", datastore_fact(fact)),
        fact => datastore_fact(fact),
    }
}

/// A note with its host: `on host esx1: …`.
pub fn datastore_note(note: &DatastoreNote) -> String {
    match (&note.host, &note.fact) {
        (None, fact) => datastore_fact(fact),
        (Some(host), fact @ DatastoreFact::Unlike { .. }) => {
            format!("on host {host} {}", datastore_fact(fact))
        }
        (Some(host), fact) => format!("on host {host}: {}", datastore_fact(fact)),
    }
}

pub(super) fn datastore_fact(fact: &DatastoreFact) -> String {
    match fact {
        DatastoreFact::Buffered { path } => {
            format!("{path} is used through the page cache, as asked for")
        }
        DatastoreFact::FileSystemRefusesDirect { file_system } => format!(
            "its file system ({file_system}) refuses direct I/O; the page cache takes part, so reads may come \
             from memory"
        ),
        DatastoreFact::DeviceRefusesDirect { path } => format!(
            "{path} refuses direct I/O; the page cache takes part, so reads may come from memory"
        ),
        DatastoreFact::InMemory { file_system } => {
            format!("its file system is {file_system}: files are in memory, not on storage")
        }
        DatastoreFact::ZfsCache => {
            "its file system is zfs: direct I/O may still be served from its cache (the ARC)".into()
        }
        DatastoreFact::Holes { file_system, disks } => format!(
            "{file_system} reports holes in {disks} fully written disks, as file systems do that compress or \
             place blocks late: reads there may touch no storage"
        ),
        DatastoreFact::FewerBlocks { file_system, disks } => format!(
            "{file_system} reports fewer blocks than bytes for {disks} fully written disks: it compresses, \
             deduplicates or counts late, and reads may be cheaper than on plain storage"
        ),
        DatastoreFact::FewerBytesUsed { disks } => format!(
            "the server reports fewer bytes used than written for {disks} disks: its file system compresses, \
             deduplicates, counts late or keeps files in memory, and reads may be cheaper than on plain storage"
        ),
        DatastoreFact::LeftoverRemoved { path, pid, run_id } => {
            format!("{path}, left by process {pid} of run {run_id}, was removed")
        }
        DatastoreFact::AwaitsCheck { path, run_id } => {
            format!("{path} stays: it holds records of run {run_id} that wait to be checked")
        }
        DatastoreFact::RunElsewhere { path, machine } => {
            format!("{path} belongs to a run elsewhere ({machine}): remove it if that has ended")
        }
        DatastoreFact::ForeignFiles { path } => {
            format!("{path} stays: it holds files that stormeter did not make")
        }
        DatastoreFact::NotRemoved { path, said } => {
            format!("{path} could not be removed ({said}): remove it by hand")
        }
        DatastoreFact::HeaderStays { path, said } => {
            format!("the header of stormeter stays on {path}: {said}")
        }
        DatastoreFact::HeldRun { path, run_id } => format!(
            "{path} still held the disks of run {run_id}, which has ended; they are overwritten"
        ),
        DatastoreFact::HeldData { path, found } => {
            format!("{path} held {}; it is destroyed", found_data(found))
        }
        DatastoreFact::WriteCache => {
            "the LUN reports a write cache: completed writes may be in the target's memory".into()
        }
        DatastoreFact::KeepsNothing => "the LUN keeps nothing of what is written to it".into(),
        DatastoreFact::Recreated => {
            "NFSv3 has no way to give blocks back: the disks were removed, made and written again instead"
                .into()
        }
        DatastoreFact::WrittenBefore { path, said } => format!(
            "{path} takes no blocks back ({said}), so a new file is written to blocks that were written before"
        ),
        DatastoreFact::OtherRun { run_id, pid, machine, sharing } => {
            let other = other_run(run_id, *pid, machine.as_deref(), *sharing);
            format!("{other}, from the start on")
        }
        DatastoreFact::Engine { engine } => engine_note(engine),
        DatastoreFact::Unlike { kind, direct, engine } => {
            let direct = if *direct { "direct" } else { "buffered" };
            format!("it is {kind}, {direct}, by {engine}")
        }
        DatastoreFact::Unreached { said }
        | DatastoreFact::RemovalFailed { said }
        | DatastoreFact::Early { said } => said.clone(),
    }
}

fn found_data(found: &FoundData) -> String {
    match found {
        FoundData::Formats(names) => names.join(", "),
        FoundData::Unrecognised { offset_bytes } => {
            format!("unrecognised data at offset {offset_bytes}")
        }
    }
}

pub(super) fn engine_note(note: &EngineNote) -> String {
    match note {
        EngineNote::RingRefused { said } => {
            format!("io_uring is not used, positional reads and writes are: {said}")
        }
        EngineNote::Positional { threads, outstanding } => {
            let queue = match threads < outstanding {
                true => ", and operations beyond the threads queue in this process",
                false => "",
            };
            format!(
                "{threads} threads read and write by position, for {outstanding} outstanding operations: latency \
                 and CPU time include the hand-over{queue}"
            )
        }
        EngineNote::RingRefusedForConnections { said } => {
            format!("io_uring is not used for connections, epoll is: {said}")
        }
        EngineNote::Epoll => {
            "epoll serves the connections: each transfer is a separate system call".into()
        }
        EngineNote::WithoutDeferredTaskWork => {
            "io_uring runs without deferred task work, which costs some CPU: Linux 6.1 has it"
                .into()
        }
        EngineNote::WithoutCooperativeTaskWork => {
            "io_uring runs without cooperative task work, which costs some CPU: Linux 5.19 has it"
                .into()
        }
        EngineNote::FilesNotRegistered { error } => format!(
            "io_uring runs without registered files ({error}): raise the limit of open files (ulimit -n)"
        ),
        EngineNote::BuffersNotRegistered { error, bytes } => format!(
            "io_uring runs without registered buffers ({error}), which costs CPU: let {} KiB be locked (ulimit \
             -l)",
            bytes.div_ceil(1024)
        ),
    }
}

#[cfg(test)]
mod tests {
    use stormeter_results::Sharing;
    use stormeter_trial::DeviceError;

    use super::*;

    fn path() -> String {
        "/srv/vm".into()
    }

    fn said() -> String {
        "as it was said".into()
    }

    fn sentences() -> Vec<(DatastoreFact, &'static str)> {
        use DatastoreFact as F;
        let of_run = || "00000000000000a1".to_owned();
        let file_system = || "btrfs".to_owned();
        let formats = FoundData::Formats(vec!["XFS".into(), "GPT".into()]);
        let other = |machine: Option<&str>| F::OtherRun {
            run_id: of_run(),
            pid: 7,
            machine: machine.map(Into::into),
            sharing: Sharing::Directory,
        };
        vec![
            (F::Buffered { path: path() }, "/srv/vm is used through the page cache, as asked for"),
            (
                F::FileSystemRefusesDirect { file_system: "overlay".into() },
                "its file system (overlay) refuses direct I/O; the page cache takes part, so reads may come from \
                 memory",
            ),
            (
                F::DeviceRefusesDirect { path: "/dev/sdb".into() },
                "/dev/sdb refuses direct I/O; the page cache takes part, so reads may come from memory",
            ),
            (
                F::InMemory { file_system: "tmpfs".into() },
                "its file system is tmpfs: files are in memory, not on storage",
            ),
            (
                F::ZfsCache,
                "its file system is zfs: direct I/O may still be served from its cache (the ARC)",
            ),
            (
                F::Holes { file_system: file_system(), disks: 3 },
                "btrfs reports holes in 3 fully written disks, as file systems do that compress or place blocks \
                 late: reads there may touch no storage",
            ),
            (
                F::FewerBlocks { file_system: file_system(), disks: 2 },
                "btrfs reports fewer blocks than bytes for 2 fully written disks: it compresses, deduplicates or \
                 counts late, and reads may be cheaper than on plain storage",
            ),
            (
                F::FewerBytesUsed { disks: 4 },
                "the server reports fewer bytes used than written for 4 disks: its file system compresses, \
                 deduplicates, counts late or keeps files in memory, and reads may be cheaper than on plain storage",
            ),
            (
                F::LeftoverRemoved { path: path(), pid: 77, run_id: of_run() },
                "/srv/vm, left by process 77 of run 00000000000000a1, was removed",
            ),
            (
                F::AwaitsCheck { path: path(), run_id: of_run() },
                "/srv/vm stays: it holds records of run 00000000000000a1 that wait to be checked",
            ),
            (
                F::RunElsewhere { path: path(), machine: "0123 filer".into() },
                "/srv/vm belongs to a run elsewhere (0123 filer): remove it if that has ended",
            ),
            (
                F::ForeignFiles { path: path() },
                "/srv/vm stays: it holds files that stormeter did not make",
            ),
            (
                F::NotRemoved { path: path(), said: said() },
                "/srv/vm could not be removed (as it was said): remove it by hand",
            ),
            (
                F::HeaderStays { path: "/dev/sdb".into(), said: said() },
                "the header of stormeter stays on /dev/sdb: as it was said",
            ),
            (F::RemovalFailed { said: said() }, "as it was said"),
            (
                F::HeldRun { path: "/dev/sdb".into(), run_id: of_run() },
                "/dev/sdb still held the disks of run 00000000000000a1, which has ended; they are overwritten",
            ),
            (
                F::HeldData { path: "/dev/sdb".into(), found: formats },
                "/dev/sdb held XFS, GPT; it is destroyed",
            ),
            (
                F::HeldData {
                    path: "/dev/sdb".into(),
                    found: FoundData::Unrecognised { offset_bytes: 4096 },
                },
                "/dev/sdb held unrecognised data at offset 4096; it is destroyed",
            ),
            (
                F::WriteCache,
                "the LUN reports a write cache: completed writes may be in the target's memory",
            ),
            (F::KeepsNothing, "the LUN keeps nothing of what is written to it"),
            (
                F::Recreated,
                "NFSv3 has no way to give blocks back: the disks were removed, made and written again instead",
            ),
            (
                F::WrittenBefore { path: path(), said: said() },
                "/srv/vm takes no blocks back (as it was said), so a new file is written to blocks that were \
                 written before",
            ),
            (
                other(None),
                "another run of stormeter (process 7, run 00000000000000a1) used the same directory or export at \
                 the same time, from the start on",
            ),
            (
                other(Some("filer")),
                "another run of stormeter (process 7 on filer, run 00000000000000a1) used the same directory or \
                 export at the same time, from the start on",
            ),
            (
                F::Engine { engine: EngineNote::Epoll },
                "epoll serves the connections: each transfer is a separate system call",
            ),
            (
                F::Unlike { kind: "ext4".into(), direct: true, engine: "io_uring".into() },
                "it is ext4, direct, by io_uring",
            ),
            (
                F::Unlike { kind: "nfs".into(), direct: false, engine: "epoll".into() },
                "it is nfs, buffered, by epoll",
            ),
            (F::Early { said: said() }, "as it was said"),
        ]
    }

    #[test]
    fn every_note_has_its_sentence() {
        for (fact, expected) in sentences() {
            assert_eq!(datastore_fact(&fact), expected);
            let mut note = DatastoreNote::from(fact);
            assert_eq!(opened_sentence("nfs:nas/vm", &note), format!("nfs:nas/vm: {expected}"));
            assert_eq!(left_sentence(&note), expected);
            note.host = Some("esx1".into());
            let colon = if matches!(note.fact, DatastoreFact::Unlike { .. }) { "" } else { ":" };
            assert_eq!(datastore_note(&note), format!("on host esx1{colon} {expected}"));
            assert_eq!(left_sentence(&note), format!("esx1: {expected}"));
        }
        let fact = DatastoreFact::Unreached { said: said() };
        let unreached = DatastoreNote { host: Some("esx1".into()), fact };
        assert_eq!(
            left_sentence(&unreached),
            "what host esx1 holds may stay there: as it was said"
        );
    }

    #[test]
    fn every_note_of_an_engine_has_its_sentence() {
        use EngineNote as E;
        let error = DeviceError(12);
        for (note, expected) in [
            (
                E::RingRefused { said: said() },
                "io_uring is not used, positional reads and writes are: as it was said",
            ),
            (
                E::Positional { threads: 2, outstanding: 2 },
                "2 threads read and write by position, for 2 outstanding operations: latency and CPU time include \
                 the hand-over",
            ),
            (
                E::Positional { threads: 128, outstanding: 200 },
                "128 threads read and write by position, for 200 outstanding operations: latency and CPU time \
                 include the hand-over, and operations beyond the threads queue in this process",
            ),
            (
                E::RingRefusedForConnections { said: said() },
                "io_uring is not used for connections, epoll is: as it was said",
            ),
            (E::Epoll, "epoll serves the connections: each transfer is a separate system call"),
            (
                E::WithoutDeferredTaskWork,
                "io_uring runs without deferred task work, which costs some CPU: Linux 6.1 has it",
            ),
            (
                E::WithoutCooperativeTaskWork,
                "io_uring runs without cooperative task work, which costs some CPU: Linux 5.19 has it",
            ),
            (
                E::FilesNotRegistered { error },
                "io_uring runs without registered files (Cannot allocate memory (os error 12)): raise the limit of \
                 open files (ulimit -n)",
            ),
            (
                E::BuffersNotRegistered { error, bytes: 10_000 },
                "io_uring runs without registered buffers (Cannot allocate memory (os error 12)), which costs CPU: \
                 let 10 KiB be locked (ulimit -l)",
            ),
        ] {
            assert_eq!(engine_note(&note), expected);
        }
    }
}
