//! Transfers to and from a disk: what exists meanwhile, and that nothing remains afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use stormeter_probe::{Limits, ProbeError, RefusalReason};

use crate::far::{Far, PATIENCE};
use crate::peer::{Peer, code_and_value, request};

/// The files in the folder that a transfer creates, with their lengths.
fn files(directory: &Path) -> Vec<(PathBuf, u64)> {
    let folders = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let ours = folders
        .filter(|entry| entry.file_name().into_string().unwrap().starts_with(".stormeter-net-"));
    let files = ours.flat_map(|folder| fs::read_dir(folder.path()).unwrap());
    files.map(|file| file.unwrap()).map(|f| (f.path(), f.metadata().unwrap().len())).collect()
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

/// Waits until the only file has this length.
fn wait_for_length(directory: &Path, length: u64) {
    let start = Instant::now();
    while files(directory).iter().map(|file| file.1).ne([length]) {
        assert!(start.elapsed() < PATIENCE, "{:?} instead of {length}", files(directory));
        std::thread::yield_now();
    }
}

#[test]
fn what_is_sent_is_written_counted_and_removed() {
    let directory = tempfile::tempdir().unwrap();
    let far = Far::start(Limits::default(), Some(directory.path()));
    let mut peer = Peer::introduced(far.address);
    // Two chunks and one byte: the chunks are in the file before the byte is sent.
    let length = 2 * 262_144 + 1;
    assert_eq!(peer.ask(&request(2, 1, 1, 2, length)), (0, 0));
    for _ in 0..2 {
        assert_eq!(peer.read(1), [1]);
        assert_eq!(files(directory.path()), [], "the file before is gone");
        peer.write(&vec![0x5a; length as usize - 1]);
        wait_for_length(directory.path(), length - 1);
        peer.write(&[0x5a]);
        assert_eq!(code_and_value(&peer.read(16)), (0, length));
    }
    // The next request is answered when the previous one is finished and its folder is gone.
    assert_eq!(peer.ask(&request(1, 0, 0, 0, 1)), (0, 0));
    assert!(is_empty(directory.path()));
}

#[test]
fn a_disconnection_in_mid_transfer_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let far = Far::start(Limits::default(), Some(directory.path()));
    let mut peer = Peer::introduced(far.address);
    peer.ask(&request(2, 1, 1, 1, 1_000_000));
    peer.read(1);
    peer.write(&[0; 300_000]);
    wait_for_length(directory.path(), 262_144);
    drop(peer);
    let ended = far.ended().unwrap_err();
    assert!(matches!(ended, ProbeError::Closed { .. }), "{ended}");
    assert!(is_empty(directory.path()));
}

#[test]
fn stopping_the_listener_in_mid_transfer_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut far = Far::start(Limits::default(), Some(directory.path()));
    let mut peer = Peer::introduced(far.address);
    peer.ask(&request(2, 1, 1, 1, 1_000_000));
    peer.read(1);
    peer.write(&[0; 300_000]);
    wait_for_length(directory.path(), 262_144);
    far.stop();
    assert!(is_empty(directory.path()));
}

#[test]
fn what_is_fetched_is_the_prepared_file() {
    let directory = tempfile::tempdir().unwrap();
    let far = Far::start(Limits::default(), Some(directory.path()));
    let mut peer = Peer::introduced(far.address);
    assert_eq!(peer.ask(&request(3, 1, 1, 2, 300_000)), (0, 0));
    for _ in 0..2 {
        assert_eq!(peer.read(1), [1]);
        let files = files(directory.path());
        assert_eq!(files.len(), 1);
        let prepared = fs::read(&files[0].0).unwrap();
        peer.write(&[1]);
        assert!(peer.read(300_000) == prepared, "the bytes of the file");
        assert_eq!(prepared.len(), 300_000);
    }
    assert_eq!(peer.ask(&request(1, 0, 0, 0, 1)), (0, 0));
    assert!(is_empty(directory.path()));
}

#[test]
fn without_a_directory_there_is_no_disk() {
    let far = Far::start(Limits::default(), None);
    for operation in [2, 3] {
        let mut peer = Peer::introduced(far.address);
        assert_eq!(peer.ask(&request(operation, 1, 0, 1, 10)), (3, 0));
        let ended = far.ended().unwrap_err();
        assert!(matches!(ended, ProbeError::Refused(RefusalReason::NoDisk)), "{ended}");
    }
}

#[test]
fn a_tenth_of_the_file_system_stays_free() {
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits { transfer_bytes: u64::MAX, ..Limits::default() };
    let far = Far::start(limits, Some(directory.path()));
    for operation in [2, 3] {
        let mut peer = Peer::introduced(far.address);
        assert_eq!(peer.ask(&request(operation, 1, 0, 1, u64::MAX / 2)).0, 4);
        let ended = far.ended().unwrap_err();
        let is_space = matches!(ended, ProbeError::Refused(RefusalReason::NoSpace { .. }));
        assert!(is_space, "{ended}");
        assert!(is_empty(directory.path()));
    }
}

#[test]
fn a_disk_that_fails_is_reported_after_the_payload() {
    let directory = tempfile::tempdir().unwrap();
    let far = Far::start(Limits::default(), Some(directory.path()));
    let mut peer = Peer::introduced(far.address);
    peer.ask(&request(2, 1, 1, 1, 300_000));
    peer.read(1);
    let folder = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    // Without its folder no file can be created.
    fs::remove_dir(folder).unwrap();
    peer.write(&[0; 300_000]);
    assert_eq!(code_and_value(&peer.read(16)), (5, 0));
    let ended = far.ended().unwrap_err();
    assert!(matches!(ended, ProbeError::Disk { .. }), "{ended}");
}

#[test]
fn a_directory_that_cannot_be_used_is_refused_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let options = stormeter_probe::ListenerOptions {
        address: crate::far::LOOPBACK,
        key: crate::far::key(),
        directory: Some(missing),
        limits: Limits::default(),
    };
    let error = stormeter_probe::Listener::bind(options).err().unwrap();
    assert!(error.to_string().contains("choose another directory"), "{error}");
}
