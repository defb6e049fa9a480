//! A datastore in a directory, from opening to removal, and everything that makes it refuse.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests too.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use stormeter_datastore::{
    Datastore, DatastoreError, DatastoreUrl, DiskSet, DiskSpec, OpenDisks, OpenOptions,
    Preparation, Prepared, clean_leftovers,
};
use stormeter_disk::{
    Completion, DatastoreFact, Disks, EngineNote, Kind, Operation, Sharing, Wait,
};

const RUN: &str = "00000000000000d1";
const SPEC: DiskSpec = DiskSpec { count: 2, size_bytes: 3 << 20, granularity_bytes: 4096 };
const OPEN: OpenDisks = OpenDisks { buffers: 4, buffer_bytes: 4096, in_flight: 4 };

fn try_open(url: &str, run_id: &str, number: u32) -> Result<Datastore, DatastoreError> {
    let url = DatastoreUrl::parse(url)?;
    Datastore::open(&url, OpenOptions { run_id: run_id.into(), number, ..Default::default() })
}

fn open(directory: &Path, options: &str) -> Datastore {
    try_open(&format!("{}{options}", directory.display()), RUN, 0).unwrap()
}

fn refusal(url: &str) -> String {
    try_open(url, RUN, 0).err().expect("a refusal").to_string()
}

/// The byte that fills a chunk: another one for each.
fn content(disk: u32, offset: u64) -> u8 {
    (u64::from(disk) * 100 + offset / (1 << 20) + 1) as u8
}

fn prepare(store: &mut Datastore, disks: DiskSpec) -> (Result<Prepared, DatastoreError>, u64) {
    let filled = AtomicU64::new(0);
    let prepared = store.prepare(Preparation {
        disks,
        content_id: 7,
        fill: &|disk, offset, bytes| {
            filled.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            bytes.fill(content(disk, offset));
        },
        progress: &mut |done, total| assert!(done <= total),
        cancelled: &|| false,
    });
    (prepared, filled.into_inner())
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Reads the first 4 KiB at an offset of a disk, through the engine.
fn read(disks: &mut DiskSet, disk: u32, offset_bytes: u64) -> Vec<u8> {
    let kind = Kind::Read;
    let one = Operation { offset_bytes, length_bytes: 4096, disk, slot: 5, buffer: 1, kind };
    disks.submit(&[one]).unwrap();
    let mut done = Vec::new();
    for _ in 0..100 {
        disks.reap(Wait::AtMost(100_000_000), &mut done).unwrap();
        if !done.is_empty() {
            break;
        }
    }
    assert_eq!(done, [Completion::moved(5, 4096)]);
    disks.buffer(1).unwrap()[..4096].to_vec()
}

#[test]
fn disks_are_made_whole_read_back_and_removed() {
    for options in ["", "?direct=0", "?engine=positional", "?direct=0&engine=positional"] {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut store = open(directory.path(), options);
        store.check(&SPEC).unwrap();
        let (prepared, filled) = prepare(&mut store, SPEC);
        assert!(!prepared.unwrap().reused);
        assert_eq!(filled, SPEC.total_bytes());

        let folder = directory.path().join(format!(".stormeter-{RUN}-0"));
        for disk in ["disk-00000", "disk-00001"] {
            let metadata = fs::metadata(folder.join(disk)).unwrap();
            assert_eq!(metadata.len(), SPEC.size_bytes);
            assert_eq!(metadata.mode() & 0o077, 0, "others may not look into it");
        }
        // Two threads, each with its own engine and its own disk.
        std::thread::scope(|scope| {
            for disk in 0..2 {
                let store = &store;
                scope.spawn(move || {
                    let mut disks = store.disks(disk..disk + 1, OPEN).unwrap();
                    for offset in [0, 4096, 1 << 20, (3 << 20) - 4096] {
                        let expected = content(disk, offset);
                        let bytes = read(&mut disks, 0, offset);
                        assert!(bytes.iter().all(|&byte| byte == expected), "{disk} {offset}");
                    }
                });
            }
        });
        let description = store.description();
        assert_eq!(description.kind, "directory");
        assert!(description.filesystem.is_some());
        let is_of_page_cache = |note: &DatastoreFact| {
            use DatastoreFact::{Buffered, FileSystemRefusesDirect};
            matches!(note, Buffered { .. } | FileSystemRefusesDirect { .. })
        };
        assert_eq!(description.notes.iter().any(is_of_page_cache), !description.direct);
        if options.contains("direct=0") {
            assert!(!description.direct);
            let path = directory.path().display().to_string();
            assert!(description.notes.contains(&DatastoreFact::Buffered { path }));
        }
        if options.contains("positional") {
            assert_eq!(description.engine, "positional");
            let is_of_threads = |note: &DatastoreFact| {
                matches!(note, DatastoreFact::Engine { engine: EngineNote::Positional { .. } })
            };
            assert!(description.notes.iter().any(is_of_threads));
        }
        let json = serde_json::to_string(&description).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["kind"], "directory");

        assert_eq!(store.remove(), None);
        assert!(entries(directory.path()).is_empty());
    }
}

#[test]
fn dropping_removes_and_keeping_keeps_for_the_same_run() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = open(directory.path(), "");
    prepare(&mut store, SPEC).0.unwrap();
    store.keep();
    drop(store);
    assert_eq!(entries(directory.path()).len(), 1);

    let mut store = open(directory.path(), "");
    let (prepared, filled) = prepare(&mut store, SPEC);
    assert!(prepared.unwrap().reused);
    assert_eq!(filled, 0);
    // Other disks are recreated.
    let (prepared, filled) = prepare(&mut store, DiskSpec { count: 1, ..SPEC });
    assert!(!prepared.unwrap().reused);
    assert_eq!(filled, SPEC.size_bytes);
    assert!(matches!(store.disks(0..2, OPEN), Err(DatastoreError::NotPrepared { .. })));
    // So are disks that were truncated, or that have a hole in place of content.
    let disk = directory.path().join(format!(".stormeter-{RUN}-0/disk-00000"));
    for length in [4096, SPEC.size_bytes] {
        let file = fs::File::options().write(true).open(&disk).unwrap();
        file.set_len(4096).unwrap();
        file.set_len(length).unwrap();
        let (prepared, _) = prepare(&mut store, DiskSpec { count: 1, ..SPEC });
        assert!(!prepared.unwrap().reused, "{length}");
    }
    let (prepared, _) = prepare(&mut store, DiskSpec { count: 1, ..SPEC });
    assert!(prepared.unwrap().reused);
    drop(store);
    assert!(entries(directory.path()).is_empty());
}

#[test]
fn one_directory_serves_two_datastores_of_a_run() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().display();
    let mut one = try_open(&format!("{path}"), RUN, 0).unwrap();
    let mut two = try_open(&format!("{path}?direct=0"), RUN, 1).unwrap();
    prepare(&mut one, SPEC).0.unwrap();
    prepare(&mut two, SPEC).0.unwrap();
    drop(one);
    assert!(two.disks(0..2, OPEN).is_ok());
    drop(two);
    assert!(entries(directory.path()).is_empty());
}

#[test]
fn datastores_on_one_file_system_show_it_and_share_its_space() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().display();
    fs::create_dir(directory.path().join("b")).unwrap();
    let mut one = try_open(&format!("{path}"), RUN, 0).unwrap();
    let two = try_open(&format!("{path}/b?direct=0"), RUN, 1).unwrap();
    let null = try_open("null:", RUN, 2).unwrap();
    let number = |store: &Datastore| store.description().device_number;
    assert!(number(&one).is_some());
    assert_eq!(number(&one), number(&two));
    assert_eq!((number(&null), null.space()), (None, None));

    let empty = one.space().unwrap();
    assert!(empty.free_bytes > 0 && empty.reserve_bytes > 0);
    assert_eq!(empty.held_bytes, 0);
    prepare(&mut one, SPEC).0.unwrap();
    let held = one.space().unwrap().held_bytes;
    assert!(held > 0, "prepared disks are held");
    assert_eq!(two.space().unwrap().held_bytes, 0);
    // Two that fit one by one and not together.
    let mut space = two.space().unwrap();
    space.held_bytes += held;
    let each = (space.free_bytes + held - space.reserve_bytes) / 2 + 1;
    space.check(each, directory.path()).unwrap();
    let error = space.check(2 * each, directory.path()).unwrap_err();
    assert!(matches!(error, DatastoreError::Space { .. }), "{error}");
}

#[test]
fn foreign_files_next_to_it_and_within_survive() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let other = directory.path().join("vm.qcow2");
    fs::write(&other, "guest").unwrap();
    let mut store = open(directory.path(), "");
    prepare(&mut store, SPEC).0.unwrap();
    let within = directory.path().join(format!(".stormeter-{RUN}-0/notes.txt"));
    fs::write(&within, "mine").unwrap();
    let path = within.parent().unwrap().display().to_string();
    assert_eq!(store.remove(), Some(DatastoreFact::ForeignFiles { path }));
    assert_eq!(fs::read_to_string(other).unwrap(), "guest");
    assert_eq!(fs::read_to_string(within).unwrap(), "mine");
}

#[test]
fn cancelling_leaves_no_disk() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = open(directory.path(), "");
    let error = store.prepare(Preparation {
        disks: SPEC,
        content_id: 0,
        fill: &|_, _, _| {},
        progress: &mut |_, _| {},
        cancelled: &|| true,
    });
    assert!(matches!(error, Err(DatastoreError::Cancelled)));
    let folder = directory.path().join(format!(".stormeter-{RUN}-0"));
    assert!(!folder.join("disk-00000").exists());
    assert!(matches!(store.disks(0..1, OPEN), Err(DatastoreError::NotPrepared { .. })));
    drop(store);
    assert!(entries(directory.path()).is_empty());
}

#[test]
fn bad_places_are_refused_with_advice() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().display();
    assert!(refusal(&format!("{path}/absent")).contains("mkdir -p"));
    fs::write(directory.path().join("file"), "").unwrap();
    assert!(refusal(&format!("{path}/file")).contains("is not a directory"));
    for url in ["/proc", "/sys"] {
        let text = refusal(url);
        assert!(text.contains("no permission") || text.contains("read-only"), "{text}");
    }
    if !nix::unistd::geteuid().is_root() {
        // Root may write anywhere; for others the root directory is closed.
        assert!(refusal("/").contains("no permission to create a folder in /"));
    }
    assert!(refusal("gopher://x").contains("known are"));
    assert!(matches!(try_open("null:", "my run", 0), Err(DatastoreError::RunId { .. })));
    assert!(!directory.path().join(format!(".stormeter-{RUN}-0")).exists());
}

#[test]
fn bad_disks_are_refused_before_anything_is_written() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = open(directory.path(), "");
    let message = |spec: DiskSpec| store.check(&spec).unwrap_err().to_string();
    let text = message(DiskSpec { size_bytes: 1 << 50, ..SPEC });
    assert!(text.contains("2048TiB") && text.contains("must stay free"), "{text}");
    let text = message(DiskSpec { size_bytes: 4096, granularity_bytes: 8192, ..SPEC });
    assert!(text.contains("smaller than a block"), "{text}");
    if store.description().direct {
        let text = message(DiskSpec { granularity_bytes: 1000, ..SPEC });
        assert!(text.contains("not a multiple of the logical block"), "{text}");
    }
    let folder = directory.path().join(format!(".stormeter-{RUN}-0"));
    assert_eq!(entries(&folder), [folder.join("owner.json")]);
}

#[test]
fn a_name_taken_by_others_is_refused_and_untouched() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = directory.path().join(format!(".stormeter-{RUN}-0"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("disk-00000"), "not ours").unwrap();
    let text = refusal(&directory.path().display().to_string());
    assert!(text.contains("stays untouched") && text.contains("move it away"), "{text}");
    assert_eq!(fs::read_to_string(folder.join("disk-00000")).unwrap(), "not ours");
}

/// Not a test of its own: the process that [`a_killed_run_is_cleaned_up_by_the_next`] kills.
#[test]
fn victim() {
    if let Ok(directory) = std::env::var("STORMETER_TEST_VICTIM") {
        let mut store = try_open(&directory, "00000000000000d2", 0).unwrap();
        prepare(&mut store, SPEC).0.unwrap();
        std::process::abort();
    }
}

#[test]
fn a_killed_run_is_cleaned_up_by_the_next() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim"])
        .env("STORMETER_TEST_VICTIM", directory.path())
        .output()
        .unwrap()
        .status;
    assert!(!status.success());
    let left = directory.path().join(".stormeter-00000000000000d2-0");
    assert!(left.join("disk-00001").exists(), "the victim did not get far enough");
    // The same run would resume with it …
    assert!(clean_leftovers(directory.path(), "00000000000000d2").unwrap().removed.is_empty());
    // … another one cleans it up.
    let store = open(directory.path(), "");
    assert!(!left.exists());
    let was_removed = |note: &DatastoreFact| matches!(note, DatastoreFact::LeftoverRemoved { .. });
    assert!(store.description().notes.iter().any(was_removed));
}

#[test]
fn null_needs_nothing() {
    let mut store = try_open("null:", RUN, 0).unwrap();
    let (prepared, filled) = prepare(&mut store, SPEC);
    assert!(!prepared.unwrap().reused);
    assert_eq!(filled, 0);
    let mut disks = store.disks(0..2, OPEN).unwrap();
    assert_eq!(read(&mut disks, 1, 0).len(), 4096);
    assert_eq!(store.description().engine, "none");
    assert!(store.check(&DiskSpec { count: 0, ..SPEC }).is_err());
}

/// Says so on the real standard error, past the capture of the test harness.
fn not_run(why: &str) {
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
}

/// A file system in memory, mounted for one test.
struct Mount(tempfile::TempDir);

impl Mount {
    fn new(options: &str) -> Option<Self> {
        let point = tempfile::tempdir().unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(point.path())
            .output()
            .is_ok_and(|output| output.status.success());
        if !done {
            not_run("this test needs to mount a file system (run it as root)");
            assert!(std::env::var_os("CI").is_none(), "CI must run this test");
            return None;
        }
        Some(Self(point))
    }

    fn url(&self) -> String {
        self.0.path().display().to_string()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_read_only_file_system_is_refused() {
    let Some(mount) = Mount::new("ro,size=1m") else { return };
    let text = refusal(&mount.url());
    assert!(text.contains("read-only file system") && text.contains("remount,rw"), "{text}");
}

#[test]
fn a_tenth_of_the_file_system_stays_free() {
    let Some(mount) = Mount::new("size=10m") else { return };
    let store = try_open(&mount.url(), RUN, 0).unwrap();
    let in_memory = DatastoreFact::InMemory { file_system: "tmpfs".into() };
    assert!(store.description().notes.contains(&in_memory));
    let spec = |size_bytes| DiskSpec { count: 1, size_bytes, granularity_bytes: 4096 };
    assert!(store.check(&spec(8 << 20)).is_ok());
    let text = store.check(&spec(9 << 20)).unwrap_err().to_string();
    assert!(text.contains("the disks need 9MiB") && text.contains("1MiB (10 % of it)"), "{text}");
}

#[test]
fn running_full_in_the_middle_is_typed_and_cleaned_up() {
    // Room for the bytes but not for the files: it ends after some disks, whatever was checked.
    let Some(mount) = Mount::new("size=64m,nr_inodes=7") else { return };
    let mut store = try_open(&mount.url(), RUN, 0).unwrap();
    let (prepared, _) = prepare(&mut store, DiskSpec { count: 8, ..SPEC });
    let error = prepared.unwrap_err();
    assert!(matches!(error, DatastoreError::Full { .. }), "{error}");
    let folder = mount.0.path().join(format!(".stormeter-{RUN}-0"));
    assert_eq!(entries(&folder), [folder.join("owner.json")]);
    drop(store);
    assert!(entries(mount.0.path()).is_empty());
}

#[test]
fn two_runs_in_one_directory_and_on_one_file_system_see_each_other() {
    // Runs of no other test: those are on this file system, too.
    const RUN: &str = "00000000000000d8";
    const OTHER: &str = "00000000000000d9";
    let place = tempfile::tempdir().unwrap();
    let make = |name: &str| {
        let directory = place.path().join(name);
        fs::create_dir(&directory).unwrap();
        directory.display().to_string()
    };
    let (near, far) = (make("near"), make("far"));
    // Other tests of this machine work on the same file system.
    let sharing = |store: &Datastore, run: &str| {
        let others = store.other_runs();
        others.into_iter().find(|other| other.run_id == run).map(|other| other.sharing)
    };
    let first = try_open(&near, RUN, 0).unwrap();
    let own = try_open(&near, RUN, 1).unwrap();
    assert_eq!(sharing(&first, RUN), None, "a run's own datastores are no others");
    let same = try_open(&near, OTHER, 0).unwrap();
    assert_eq!(sharing(&first, OTHER), Some(Sharing::Directory));
    assert_eq!(sharing(&same, RUN), Some(Sharing::Directory));
    let notes = same.description().notes;
    let is_of_first = |note: &DatastoreFact| matches!(note, DatastoreFact::OtherRun { run_id, .. } if run_id == RUN);
    assert!(notes.iter().any(is_of_first), "who was there first: {notes:?}");
    drop(same);
    let other = try_open(&far, OTHER, 0).unwrap();
    assert_eq!(sharing(&first, OTHER), Some(Sharing::FileSystem));
    assert_eq!(sharing(&other, RUN), Some(Sharing::FileSystem));
    drop((first, own));
    // A process that another test is starting may hold their sockets for a moment longer.
    assert!((0..10_000).any(|_| sharing(&other, RUN).is_none()));
}
