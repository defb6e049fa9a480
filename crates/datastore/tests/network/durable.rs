//! Flushes and durable writes on an NFS server that others wrote, and what survives it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stormeter_datastore::{DiskSet, OpenDisks};
use stormeter_disk::{
    Acknowledged, Completion, DeviceError, Disks, Incident, Kind, Operation, Promise,
    PromiseEvidence, StorageEvent, Wait,
};
use stormeter_peers::{Fault, Framing, Ganesha, GaneshaOptions, Proxy, Storage, nfs_procedure};
use stormeter_server::DirectoryServer;

use crate::fixture::*;

const MEMORY: OpenDisks = OpenDisks { buffers: 16, buffer_bytes: 64 << 10, in_flight: 16 };
const LENGTH: u32 = 16 << 10;

fn write(set: &mut DiskSet, kind: Kind, disk: u32, slot: u32, byte: u8) -> Operation {
    set.buffer(slot).unwrap()[..LENGTH as usize].fill(byte);
    operation(kind, disk, slot, u64::from(slot) * MIB, LENGTH)
}

fn flush(disk: u32, slot: u32) -> Operation {
    operation(Kind::Flush, disk, slot, 0, 0)
}

/// Writes to both disks, flushes both, and reads back by another client.
fn write_and_flush(url: &str) {
    let datastore = prepared(url, 2, 8 * MIB);
    let mut set = disks(&datastore, 2, MEMORY);
    for round in 0..8 {
        let kind = if round % 2 == 0 { Kind::Write } else { Kind::DurableWrite };
        let writes: Vec<_> = (0..8)
            .map(|slot| write(&mut set, kind, slot % 2, slot, 16 * round + slot as u8))
            .collect();
        let mut done = drive(&mut set, &writes);
        done.sort_by_key(|completion| completion.slot);
        let all: Vec<_> = (0..8).map(|slot| Completion::moved(slot, LENGTH)).collect();
        assert_eq!(done, all, "{url}");
        // A flush of each disk, with a write of what comes next already under way.
        let next = write(&mut set, kind, 0, 2, 16 * round + 2);
        let mut done = drive(&mut set, &[flush(0, 8), next, flush(1, 9)]);
        done.sort_by_key(|completion| completion.slot);
        let (first, second) = (Completion::moved(8, 0), Completion::moved(9, 0));
        assert_eq!(done, [Completion::moved(2, LENGTH), first, second], "{url}");
    }
    let mut other = disks(&datastore, 2, MEMORY);
    for slot in 0..8 {
        let read = operation(Kind::Read, slot % 2, slot, u64::from(slot) * MIB, LENGTH);
        assert_eq!(drive(&mut other, &[read]), [Completion::moved(slot, LENGTH)]);
        let found = &other.buffer(slot).unwrap()[..LENGTH as usize];
        assert!(found.iter().all(|byte| *byte == 16 * 7 + slot as u8), "{url}");
    }
    for set in [set, other] {
        let incidents = finish(set);
        assert!(incidents.is_empty(), "{incidents:?}");
    }
    assert_eq!(datastore.remove(), None);
}

#[test]
fn flushes_and_durable_writes_on_ganesha() {
    let ganesha = Ganesha::start(&GaneshaOptions::default()).unwrap();
    write_and_flush(&ganesha.url());
    write_and_flush(&format!("{}&sync=unstable", ganesha.url()));
    write_and_flush(&format!("{}&connections=3&engine=positional", ganesha.url()));
    write_and_flush(&format!("{}&connections=3&sync=unstable", ganesha.url()));
}

#[test]
fn flushes_and_durable_writes_on_our_own_server() {
    let directory = tempfile::tempdir().unwrap();
    let server = DirectoryServer::bind(directory.path(), 0).unwrap();
    let url = format!("nfs://127.0.0.1:{0}/export?mountport={0}", server.port());
    let _running = server.spawn().unwrap();
    write_and_flush(&url);
    write_and_flush(&format!("{url}&sync=unstable"));
}

#[test]
fn what_a_server_promises_is_known_once_it_was_written_to() {
    let promised = |url: &str| {
        let datastore = prepared(url, 1, MIB);
        let promise = datastore.description().promise.unwrap();
        assert_eq!(datastore.remove(), None);
        promise
    };
    let asked = |stable: &str| PromiseEvidence::NfsWrites { stable: stable.into() };
    let memory = Promise::new(Acknowledged::Memory, asked("UNSTABLE"));
    let ganesha = Ganesha::start(&GaneshaOptions::default()).unwrap();
    let unstable = format!("{}&sync=unstable", ganesha.url());
    assert_eq!(promised(&ganesha.url()), Promise::new(Acknowledged::Stable, asked("FILE_SYNC")));
    assert_eq!(promised(&unstable), memory);
}

/// Ganesha behind a proxy that can refuse, on a port that stays.
struct Export {
    ganesha: Ganesha,
    proxy: Proxy,
    url: String,
}

fn export(options: &str) -> Export {
    let ganesha = Ganesha::start(&GaneshaOptions::default()).unwrap();
    let proxy = Proxy::start(ganesha.nfs_address(), Framing::Rpc, 1).unwrap();
    let (address, path) = (proxy.address(), ganesha.export_path().display());
    let url = format!("nfs://{address}{path}?mountport={}&{options}", ganesha.mount_port());
    Export { ganesha, proxy, url }
}

fn incidents(set: &mut DiskSet) -> Vec<Incident> {
    let DiskSet::Nfs(disks) = set else { panic!("an NFS datastore has NFS disks") };
    disks.take_incidents()
}

#[test]
fn a_commit_that_is_refused_fails_its_flush() {
    let Export { ganesha: _ganesha, proxy, url } = export("sync=unstable");
    let datastore = prepared(&url, 2, 8 * MIB);
    let mut set = disks(&datastore, 2, MEMORY);
    let writes = [write(&mut set, Kind::Write, 0, 0, 1), write(&mut set, Kind::Write, 1, 1, 2)];
    assert_eq!(drive(&mut set, &writes).len(), 2);
    let procedure = nfs_procedure::COMMIT;
    proxy.plan(Fault::NfsStatus { procedure, status: 28 }).unwrap();
    assert_eq!(drive(&mut set, &[flush(0, 2)]), [Completion::failed(2, DeviceError::NO_SPACE)]);
    let seen = incidents(&mut set);
    let refused = |one: &Incident| matches!(&one.event, StorageEvent::Refused { io, .. } if io.kind == Kind::Flush);
    assert!(seen.iter().all(refused) && seen.len() == 1, "{seen:?}");
    // The other disk's data is no worse for it, and the next flush makes up for it.
    assert_eq!(drive(&mut set, &[flush(1, 3)]), [Completion::moved(3, 0)]);
    assert_eq!(drive(&mut set, &[flush(0, 2)]), [Completion::moved(2, 0)]);
    assert_eq!(finish(set), []);
}

/// The file of the first disk.
fn disk_file(export: &Path) -> PathBuf {
    let folder = export.read_dir().unwrap().next().unwrap().unwrap().path();
    folder.join("disk-00000")
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The server loses all that it was not asked to commit, as it would with the power.
#[test]
fn what_a_server_lost_before_a_flush_is_there_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let storage = Storage::Directory(directory.path().to_owned());
    let options = GaneshaOptions { storage, ..GaneshaOptions::default() };
    let mut ganesha = Ganesha::start(&options).unwrap();
    let started_s = unix_s();
    let datastore = prepared(&format!("{}&sync=unstable", ganesha.url()), 1, 8 * MIB);
    let mut set = disks(&datastore, 1, MEMORY);
    let file = disk_file(ganesha.export_path());
    let before = std::fs::read(&file).unwrap();
    let writes = [write(&mut set, Kind::Write, 0, 0, 1), write(&mut set, Kind::Write, 0, 1, 2)];
    assert_eq!(drive(&mut set, &writes).len(), 2);
    ganesha.kill();
    std::fs::write(&file, &before).unwrap();
    // Its write verifier is the second of its start.
    while unix_s() <= started_s {
        std::thread::park_timeout(Duration::from_millis(5));
    }
    set.submit(&[flush(0, 2)]).unwrap();
    ganesha.restart().unwrap();
    assert_eq!(wait(&mut set, 1), [Completion::moved(2, 0)]);
    let after = std::fs::read(&file).unwrap();
    assert!(after[..LENGTH as usize].iter().all(|byte| *byte == 1));
    assert!(after[1 << 20..][..LENGTH as usize].iter().all(|byte| *byte == 2));
    let seen = incidents(&mut set);
    let restarted = |one: &Incident| matches!(one.event, StorageEvent::ServerRestarted { .. });
    assert!(seen.iter().any(restarted), "{seen:?}");
    finish(set);
    assert_eq!(datastore.remove(), None);
}

/// Reaps until there is such an incident; nothing completes.
fn reap_until(set: &mut DiskSet, is_it: impl Fn(&StorageEvent) -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    let (mut done, mut seen) = (Vec::new(), Vec::new());
    loop {
        seen.extend(incidents(set));
        if seen.iter().any(|one| is_it(&one.event)) {
            break;
        }
        assert!(Instant::now() < until, "only these are noticed: {seen:?}");
        set.reap(Wait::AtMost(10_000_000), &mut done).unwrap();
    }
    assert_eq!(done, []);
}

#[test]
fn a_connection_works_again_though_its_only_flush_made_no_call() {
    let Export { ganesha: _ganesha, mut proxy, url } = export("timeout=60s");
    let datastore = prepared(&url, 1, MIB);
    let mut set = disks(&datastore, 1, MEMORY);
    // By then there is a connection to lose.
    set.submit(&[operation(Kind::Read, 0, 0, 0, 4096)]).unwrap();
    assert_eq!(wait(&mut set, 1), [Completion::moved(0, 4096)]);
    proxy.close();
    proxy.reset_all();
    reap_until(&mut set, |event| matches!(event, StorageEvent::ConnectionLost { .. }));
    set.submit(&[flush(0, 2)]).unwrap();
    proxy.open().unwrap();
    assert_eq!(wait(&mut set, 1), [Completion::moved(2, 0)]);
    reap_until(&mut set, |event| matches!(event, StorageEvent::Reconnected { .. }));
    finish(set);
}
