//! Resets, fresh files and the client's cache, on each kind of datastore.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests too.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use stormeter_datastore::{
    Caching, Datastore, DatastoreError, DatastoreUrl, DiskReset, DiskSet, DiskSpec, OpenDisks,
    OpenOptions, Preparation, Prepared,
};
use stormeter_disk::{Completion, DatastoreFact, Disks, Kind, Operation, Wait};
use stormeter_peers::{Tgt, TgtOptions};
use stormeter_server::DirectoryServer;

const RUN: &str = "00000000000000f1";
const MIB: u64 = 1 << 20;
const SPEC: DiskSpec = DiskSpec { count: 3, size_bytes: 2 * MIB, granularity_bytes: 4096 };
const OPEN: OpenDisks = OpenDisks { buffers: 2, buffer_bytes: 4096, in_flight: 2 };

fn open(url: &str) -> Datastore {
    let url = DatastoreUrl::parse(url).unwrap();
    Datastore::open(&url, OpenOptions { run_id: RUN.into(), ..Default::default() }).unwrap()
}

/// What a prepared disk holds at a block.
fn content(disk: u32, offset: u64) -> u8 {
    (u64::from(disk) * 80 + offset / 4096 % 83 + 1) as u8
}

fn with_preparation<T>(act: impl FnOnce(Preparation<'_>) -> T) -> (T, u64) {
    let filled = Mutex::new(0);
    let done = act(Preparation {
        disks: SPEC,
        content_id: 7,
        fill: &|disk, offset, bytes| {
            *filled.lock().unwrap() += bytes.len() as u64;
            for (index, block) in bytes.chunks_mut(4096).enumerate() {
                block.fill(content(disk, offset + index as u64 * 4096));
            }
        },
        progress: &mut |_, _| {},
        cancelled: &|| false,
    });
    (done, filled.into_inner().unwrap())
}

#[track_caller]
fn prepare(store: &mut Datastore) {
    let (prepared, filled) = with_preparation(|preparation| store.prepare(preparation));
    assert!(!prepared.unwrap().reused);
    assert_eq!(filled, SPEC.total_bytes());
}

fn reset(store: &mut Datastore, reset: DiskReset) -> (Result<Prepared, DatastoreError>, u64) {
    with_preparation(|preparation| store.reset(reset, preparation))
}

fn one(disks: &mut DiskSet, kind: Kind, disk: u32, offset_bytes: u64) -> Completion {
    let operation = Operation { offset_bytes, length_bytes: 4096, disk, slot: 5, buffer: 1, kind };
    disks.submit(&[operation]).unwrap();
    let mut done = Vec::new();
    for _ in 0..300 {
        disks.reap(Wait::AtMost(100_000_000), &mut done).unwrap();
        if let Some(completion) = done.pop() {
            return completion;
        }
    }
    panic!("it does not complete");
}

fn read(disks: &mut DiskSet, disk: u32, offset: u64) -> Vec<u8> {
    assert_eq!(one(disks, Kind::Read, disk, offset), Completion::moved(5, 4096));
    disks.buffer(1).unwrap()[..4096].to_vec()
}

fn write(disks: &mut DiskSet, disk: u32, offset: u64) {
    disks.buffer(1).unwrap().fill(0xee);
    assert_eq!(one(disks, Kind::Write, disk, offset), Completion::moved(5, 4096));
}

/// Every block is as it was prepared.
#[track_caller]
fn assert_pristine(store: &Datastore) {
    let mut disks = store.disks(0..SPEC.count, OPEN).unwrap();
    for disk in 0..SPEC.count {
        for offset in (0..SPEC.size_bytes).step_by(4096) {
            let bytes = read(&mut disks, disk, offset);
            let expected = content(disk, offset);
            assert!(bytes.iter().all(|&byte| byte == expected), "disk {disk} at {offset}");
        }
    }
    assert_eq!(disks.finish(&|| false).lost, None);
}

/// Writes here and there, so that there is something to be undone.
fn spoil(store: &Datastore) {
    let mut disks = store.disks(0..SPEC.count, OPEN).unwrap();
    for disk in 0..SPEC.count {
        for offset in [0, MIB, SPEC.size_bytes - 4096] {
            write(&mut disks, disk, offset);
        }
    }
    assert_eq!(disks.finish(&|| false).lost, None);
}

/// Both resets bring back what was prepared; gives their notes.
fn resets_restore(store: &mut Datastore) -> Vec<Vec<DatastoreFact>> {
    prepare(store);
    let resets = [DiskReset::Recreate, DiskReset::Discard];
    resets
        .map(|how| {
            spoil(store);
            let (prepared, filled) = reset(store, how);
            let prepared = prepared.unwrap_or_else(|error| panic!("{how:?}: {error}"));
            assert!(!prepared.reused);
            assert_eq!(filled, SPEC.total_bytes(), "{how:?} writes every byte");
            assert_pristine(store);
            prepared.notes
        })
        .into()
}

fn disk_files(directory: &Path) -> Vec<PathBuf> {
    let folder = directory.join(format!(".stormeter-{RUN}-0"));
    (0..SPEC.count).map(|disk| folder.join(format!("disk-{disk:05}"))).collect()
}

fn inodes(directory: &Path) -> Vec<u64> {
    disk_files(directory).iter().map(|file| fs::metadata(file).unwrap().ino()).collect()
}

fn test_directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

#[test]
fn a_directory_is_reset() {
    for options in ["", "?direct=0"] {
        let directory = test_directory();
        let mut store = open(&format!("{}{options}", directory.path().display()));
        resets_restore(&mut store);
        // Recreating makes new files; discarding keeps them.
        let before = inodes(directory.path());
        reset(&mut store, DiskReset::Discard).0.unwrap();
        assert_eq!(inodes(directory.path()), before);
        // Files that hold their blocks: the old ones are held open, so that no number is used again.
        let held: Vec<_> =
            disk_files(directory.path()).iter().map(|f| fs::File::open(f).unwrap()).collect();
        reset(&mut store, DiskReset::Recreate).0.unwrap();
        assert!(inodes(directory.path()).iter().all(|inode| !before.contains(inode)));
        drop(held);
        assert_eq!(store.remove(), None);
    }
}

#[test]
fn disks_that_are_not_there_are_made() {
    for how in [DiskReset::Recreate, DiskReset::Discard] {
        let directory = test_directory();
        let mut store = open(directory.path().to_str().unwrap());
        assert_eq!(reset(&mut store, how).1, SPEC.total_bytes());
        assert_pristine(&store);
    }
}

/// The hole is seen while the disks are being written again.
#[test]
fn discarding_gives_the_blocks_back_before_it_writes() {
    let directory = test_directory();
    let mut store = open(directory.path().to_str().unwrap());
    prepare(&mut store);
    let last = disk_files(directory.path()).pop().unwrap();
    let blocks = || fs::metadata(&last).unwrap().blocks();
    let before = blocks();
    assert!(before * 512 >= SPEC.size_bytes);
    let seen = Mutex::new(None);
    let reset = store.reset(
        DiskReset::Discard,
        Preparation {
            disks: SPEC,
            content_id: 7,
            fill: &|_, _, _| {
                seen.lock().unwrap().get_or_insert_with(blocks);
            },
            progress: &mut |_, _| {},
            cancelled: &|| false,
        },
    );
    reset.unwrap();
    assert_eq!(seen.into_inner().unwrap(), Some(0), "{before} blocks were kept");
    assert!(blocks() * 512 >= SPEC.size_bytes);
}

#[test]
fn a_reset_that_is_stopped_leaves_no_disks_that_pass_for_written() {
    for how in [DiskReset::Recreate, DiskReset::Discard] {
        let directory = test_directory();
        let mut store = open(directory.path().to_str().unwrap());
        prepare(&mut store);
        let stopped = store.reset(
            how,
            Preparation {
                disks: SPEC,
                content_id: 7,
                fill: &|_, _, _| {},
                progress: &mut |_, _| {},
                cancelled: &|| true,
            },
        );
        assert!(matches!(stopped, Err(DatastoreError::Cancelled)));
        assert!(matches!(store.disks(0..1, OPEN), Err(DatastoreError::NotPrepared { .. })));
        store.keep();
        drop(store);
        let mut store = open(directory.path().to_str().unwrap());
        prepare(&mut store);
        assert_pristine(&store);
    }
}

fn server(directory: &Path) -> (stormeter_server::Running, String) {
    let server = DirectoryServer::bind(directory, 0).unwrap();
    let url = format!("nfs://127.0.0.1:{0}/export?mountport={0}", server.port());
    (server.spawn().unwrap(), url)
}

#[test]
fn an_export_is_reset_and_says_that_it_cannot_discard() {
    let directory = test_directory();
    let (_server, url) = server(directory.path());
    let mut store = open(&url);
    let notes = resets_restore(&mut store);
    assert!(!notes[0].contains(&DatastoreFact::Recreated), "{notes:?}");
    assert!(notes[1].contains(&DatastoreFact::Recreated), "{notes:?}");
    assert_eq!(store.remove(), None);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// Files that were never written, and become whole by being written.
fn fresh_files(store: &mut Datastore, directory: &Path) {
    prepare(store);
    let held: Vec<_> = disk_files(directory).iter().map(|f| fs::File::open(f).unwrap()).collect();
    let before = inodes(directory);
    assert_eq!(store.make_fresh(1..3).unwrap(), []);
    let after = inodes(directory);
    assert_eq!(before[0], after[0], "only those that were asked for");
    assert!(after[1..].iter().all(|inode| !before.contains(inode)));
    let files = disk_files(directory);
    let sizes = || files.iter().map(|file| fs::metadata(file).unwrap().len()).collect::<Vec<_>>();
    assert_eq!(sizes(), [SPEC.size_bytes, 0, 0]);

    let mut disks = store.disks_of(&[2, 1], OPEN, Caching::AsOpened).unwrap();
    for offset in (0..SPEC.size_bytes).step_by(4096) {
        write(&mut disks, 0, offset);
    }
    assert_eq!(disks.finish(&|| false).lost, None);
    drop(disks);
    assert_eq!(sizes(), [SPEC.size_bytes, 0, SPEC.size_bytes]);
    assert!(fs::read(&files[2]).unwrap().iter().all(|&byte| byte == 0xee));
    // A process that resumes does not take the empty file for a written disk.
    let (prepared, _) = with_preparation(|preparation| store.prepare(preparation));
    assert!(!prepared.unwrap().reused);
    assert_pristine(store);
    drop(held);
    assert!(matches!(store.make_fresh(1..4), Err(DatastoreError::NotPrepared { .. })));
}

#[test]
fn fresh_files_in_a_directory_and_on_an_export() {
    let directory = test_directory();
    fresh_files(&mut open(directory.path().to_str().unwrap()), directory.path());
    let directory = test_directory();
    let (_server, url) = server(directory.path());
    fresh_files(&mut open(&url), directory.path());
}

/// Whether pages of a file are in memory, as the kernel reports it.
fn is_cached(file: &Path) -> bool {
    // fincore(1) of util-linux asks the kernel with mincore(2).
    let output = Command::new("fincore")
        .args(["--bytes", "--noheadings", "--output", "PAGES"])
        .arg(file)
        .output();
    let output = output.expect("fincore of util-linux");
    let pages: u64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    pages > 0
}

#[test]
fn the_client_cache_takes_part_on_request_and_only_then() {
    let directory = test_directory();
    let mut store = open(directory.path().to_str().unwrap());
    prepare(&mut store);
    if !store.description().direct {
        // Without direct I/O there is nothing to tell apart.
        return;
    }
    let file = &disk_files(directory.path())[1];
    for (caching, expected) in [(Caching::AsOpened, false), (Caching::Client, true)] {
        let mut disks = store.disks_of(&[1], OPEN, caching).unwrap();
        write(&mut disks, 0, 0);
        assert_eq!(is_cached(file), expected, "{caching:?}");
        assert_eq!(read(&mut disks, 0, 0), [0xee; 4096]);
    }
    // What is in the cache is seen by who goes past it.
    assert_eq!(read(&mut store.disks(1..2, OPEN).unwrap(), 0, 0), [0xee; 4096]);
}

#[test]
fn a_server_spoken_to_directly_has_no_client_cache() {
    let directory = test_directory();
    let (_server, url) = server(directory.path());
    let mut store = open(&url);
    prepare(&mut store);
    let error = store.disks_of(&[0], OPEN, Caching::Client).err().unwrap().to_string();
    assert!(error.starts_with("nfs://") && error.contains("mount point"), "{error}");
}

#[test]
fn disks_are_opened_in_the_order_of_their_numbers() {
    let directory = test_directory();
    let mut store = open(directory.path().to_str().unwrap());
    prepare(&mut store);
    let mut disks = store.disks_of(&[2, 0], OPEN, Caching::AsOpened).unwrap();
    assert_eq!(read(&mut disks, 0, 4096)[0], content(2, 4096));
    assert_eq!(read(&mut disks, 1, 4096)[0], content(0, 4096));
    drop(disks);
    for none in [&[][..], &[0, 3]] {
        let refused = store.disks_of(none, OPEN, Caching::AsOpened);
        assert!(matches!(refused, Err(DatastoreError::NotPrepared { .. })));
    }
}

/// Says so on the real standard error, past the capture of the test harness.
fn not_run(why: &str) {
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
}

/// A loop device over a file, detached when dropped.
struct Loop {
    device: String,
    backing: tempfile::NamedTempFile,
}

impl Loop {
    fn new() -> Option<Self> {
        let backing = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        backing.as_file().set_len(16 * MIB).unwrap();
        let output =
            Command::new("losetup").args(["--find", "--show"]).arg(backing.path()).output();
        match output {
            Ok(output) if output.status.success() => {
                let device = String::from_utf8(output.stdout).unwrap().trim().into();
                Some(Self { device, backing })
            }
            _ => {
                not_run("this test needs a loop device (run it as root, with losetup)");
                assert!(std::env::var_os("CI").is_none(), "CI must run this test");
                None
            }
        }
    }

    fn bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.backing.as_file().read_exact_at(&mut bytes, offset).unwrap();
        bytes
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

#[test]
fn a_device_is_reset_and_its_fresh_extents_are_empty_and_the_others_whole() {
    let Some(device) = Loop::new() else { return };
    let mut store = open(&device.device);
    resets_restore(&mut store);
    assert_eq!(store.make_fresh(1..2).unwrap(), []);
    let extent = |disk: u64| device.bytes((1 + 2 * disk) * MIB, 2 << 20);
    assert!(extent(1).iter().all(|&byte| byte == 0));
    assert!(extent(0).iter().all(|&byte| byte != 0) && extent(2).iter().all(|&byte| byte != 0));
    // Disks that are empty in part do not pass for written with a later process.
    store.keep();
    drop(store);
    let mut store = open(&device.device);
    prepare(&mut store);
    // The cache takes part through another opening of the held device.
    let mut disks = store.disks_of(&[1], OPEN, Caching::Client).unwrap();
    assert_eq!(read(&mut disks, 0, 4096)[0], content(1, 4096));
    write(&mut disks, 0, 4096);
    assert_eq!(read(&mut store.disks(1..2, OPEN).unwrap(), 0, 4096)[0], 0xee);
    drop(disks);
    assert_eq!(store.remove(), None);
}

/// A parameter of a logical unit of tgt, by its own program: its socket is next to its log.
fn make_thin(tgt: &Tgt) {
    let unit = ["--lld", "iscsi", "--mode", "logicalunit", "--op", "update", "--tid", "1"];
    let update = ["--lun", "1", "--params", "thin_provisioning=1"];
    let socket = tgt.log().with_file_name("control");
    let done =
        Command::new("tgtadm").args(unit).args(update).env("TGT_IPC_SOCKET", socket).output();
    let done = done.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_thin_lun_takes_its_blocks_back() {
    let tgt = Tgt::start(&TgtOptions::default()).unwrap();
    make_thin(&tgt);
    let mut store = open(&tgt.url(1));
    resets_restore(&mut store);
    assert_eq!(store.make_fresh(0..1).unwrap(), []);
    let file = fs::read(tgt.unit_file(1)).unwrap();
    let extent = |disk: usize| &file[(1 + 2 * disk) << 20..(3 + 2 * disk) << 20];
    assert!(extent(0).iter().all(|&byte| byte == 0));
    assert!(extent(1).iter().all(|&byte| byte != 0));
    // Disks that are empty in part do not pass for written with a later process.
    store.keep();
    drop(store);
    let mut store = open(&tgt.url(1));
    prepare(&mut store);
    assert_eq!(store.remove(), None);
}

#[test]
fn a_thick_lun_says_what_to_do_instead() {
    let tgt = Tgt::start(&TgtOptions::default()).unwrap();
    let mut store = open(&tgt.url(1));
    prepare(&mut store);
    spoil(&store);
    let (refused, filled) = reset(&mut store, DiskReset::Discard);
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("UNMAP") && error.contains("recreate"), "{error}");
    assert_eq!(filled, 0);
    // Nothing was changed: the disks can still be used.
    assert_eq!(read(&mut store.disks(1..2, OPEN).unwrap(), 0, MIB), [0xee; 4096]);
    let notes = store.make_fresh(0..1).unwrap();
    assert!(matches!(notes[0], DatastoreFact::WrittenBefore { .. }), "{notes:?}");
    reset(&mut store, DiskReset::Recreate).0.unwrap();
    assert_pristine(&store);
    assert_eq!(store.remove(), None);
}
