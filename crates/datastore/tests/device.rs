//! A datastore on a block device, on loop devices made for the purpose.
//!
//! Without the permission to create them (losetup needs root) these tests say that they were not run; in CI
//! that is a failure.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests too.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stormeter_datastore::{
    Datastore, DatastoreError, DatastoreUrl, DiskSpec, Finding, OpenDisks, OpenOptions,
    Preparation, Prepared, inspect,
};
use stormeter_disk::{Completion, DatastoreFact, Disks, FoundData, Kind, Operation, Wait};

const RUN: &str = "00000000000000e1";
const SIZE: u64 = 32 << 20;
/// Odd on purpose: extents are rounded up to whole MiB.
const SPEC: DiskSpec = DiskSpec { count: 3, size_bytes: (2 << 20) + 4096, granularity_bytes: 4096 };

/// Says so on the real standard error, past the capture of the test harness.
fn not_run(why: &str) {
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
}

/// A loop device over a file, detached when dropped.
struct Loop {
    device: PathBuf,
    backing: tempfile::NamedTempFile,
}

impl Loop {
    fn new(options: &[&str]) -> Option<Self> {
        Self::over(SIZE, options)
    }

    fn over(size: u64, options: &[&str]) -> Option<Self> {
        let backing = tempfile::NamedTempFile::new().unwrap();
        backing.as_file().set_len(size).unwrap();
        let output = Command::new("losetup")
            .args(["--find", "--show"])
            .args(options)
            .arg(backing.path())
            .output();
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

    fn write(&self, offset: u64, bytes: &[u8]) {
        let device = File::options().write(true).open(&self.device).unwrap();
        device.write_all_at(bytes, offset).unwrap();
        device.sync_all().unwrap();
    }

    fn bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.backing.as_file().sync_all().unwrap();
        self.backing.as_file().read_exact_at(&mut bytes, offset).unwrap();
        bytes
    }

    fn open_as(&self, run_id: &str, destroy: &[&Path]) -> Result<Datastore, DatastoreError> {
        let url = DatastoreUrl::parse(self.device.to_str().unwrap())?;
        let destroy_data = destroy.iter().map(|path| path.to_path_buf()).collect();
        Datastore::open(
            &url,
            OpenOptions { run_id: run_id.into(), destroy_data, ..OpenOptions::default() },
        )
    }

    fn open(&self) -> Result<Datastore, DatastoreError> {
        self.open_as(RUN, &[])
    }

    fn refusal(&self) -> String {
        self.open().err().expect("a refusal").to_string()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let done = Command::new(program).args(arguments).arg(&self.device).output().unwrap();
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

fn prepare(store: &mut Datastore, disks: DiskSpec) -> Result<Prepared, DatastoreError> {
    store.prepare(Preparation {
        disks,
        content_id: 1,
        fill: &|disk, _, bytes| bytes.fill(disk as u8 + 1),
        progress: &mut |_, _| {},
        cancelled: &|| false,
    })
}

#[test]
fn a_loop_device_says_that_its_file_is_in_the_page_cache_unless_it_uses_direct_io() {
    let Some(device) = Loop::new(&["--direct-io=off"]) else { return };
    let found = device.open().unwrap().description().loop_cache.expect("a cache below");
    assert_eq!(format!("/dev/{}", found.device), device.device.display().to_string());
    assert_eq!(PathBuf::from(found.backing_file), device.backing.path());
    device.run("losetup", &["--direct-io=on"]);
    let name = device.device.file_name().unwrap().to_str().unwrap();
    let dio = fs::read_to_string(format!("/sys/block/{name}/loop/dio")).unwrap();
    // Some file systems refuse it, and then the cache is still there.
    let expected = dio.trim() == "0";
    assert_eq!(device.open().unwrap().description().loop_cache.is_some(), expected);
}

#[test]
fn disks_are_extents_and_the_ends_stay_apart() {
    let Some(device) = Loop::new(&[]) else { return };
    let mut store = device.open().unwrap();
    store.check(&SPEC).unwrap();
    assert!(!prepare(&mut store, SPEC).unwrap().reused);
    let extent = 3 << 20;
    for disk in 0..3_u8 {
        let base = (1 << 20) + u64::from(disk) * extent;
        let bytes = device.bytes(base, SPEC.size_bytes as usize);
        assert!(bytes.iter().all(|&byte| byte == disk + 1), "disk {disk}");
        let gap = device.bytes(base + SPEC.size_bytes, (extent - SPEC.size_bytes) as usize);
        assert!(gap.iter().all(|&byte| byte == 0), "gap behind disk {disk}");
    }
    let behind = device.bytes((1 << 20) + 3 * extent, (SIZE - (1 << 20) - 3 * extent) as usize);
    assert!(behind.iter().all(|&byte| byte == 0));
    assert!(matches!(inspect(device.backing.as_file(), SIZE).unwrap(), Finding::Ours(_)));

    // A write to the last block of disk 1 arrives there; one behind it is refused.
    let open = OpenDisks { buffers: 1, buffer_bytes: 4096, in_flight: 2 };
    let mut disks = store.disks(1..3, open).unwrap();
    disks.buffer(0).unwrap().fill(0xee);
    let write = |slot, offset_bytes| Operation {
        offset_bytes,
        length_bytes: 4096,
        disk: 0,
        slot,
        buffer: 0,
        kind: Kind::Write,
    };
    disks.submit(&[write(1, SPEC.size_bytes - 4096), write(2, SPEC.size_bytes)]).unwrap();
    let mut done = Vec::new();
    for _ in 0..100 {
        disks.reap(Wait::AtMost(100_000_000), &mut done).unwrap();
        if done.len() == 2 {
            break;
        }
    }
    done.sort_by_key(|completion| completion.slot);
    assert_eq!(done[0], Completion::moved(1, 4096));
    assert!(done[1].outcome().is_err());
    let end = (1 << 20) + extent + SPEC.size_bytes;
    assert!(device.bytes(end - 4096, 4096).iter().all(|&byte| byte == 0xee));
    assert!(device.bytes(end, 4096).iter().all(|&byte| byte == 0));
    drop(disks);

    let description = store.description();
    assert_eq!(description.kind, "device");
    assert_eq!(description.device.unwrap().size_bytes, SIZE);
    assert_eq!(store.remove(), None);
    assert!(device.bytes(0, 1 << 20).iter().all(|&byte| byte == 0), "the header stays");
    assert!(device.open().is_ok());
}

#[test]
fn a_leftover_of_ours_is_recognised_reused_and_cleaned() {
    let Some(device) = Loop::new(&[]) else { return };
    let mut store = device.open().unwrap();
    prepare(&mut store, SPEC).unwrap();
    store.keep();
    drop(store);
    // The same run resumes with it.
    let mut store = device.open().unwrap();
    assert!(prepare(&mut store, SPEC).unwrap().reused);
    store.keep();
    drop(store);
    // Another run takes the device over, without --destroy-data.
    let mut store = device.open_as("00000000000000e2", &[]).unwrap();
    let path = device.device.display().to_string();
    let held = DatastoreFact::HeldRun { path, run_id: RUN.into() };
    assert!(store.description().notes.contains(&held));
    assert!(!prepare(&mut store, SPEC).unwrap().reused);
    drop(store);
    assert_eq!(inspect(device.backing.as_file(), SIZE).unwrap(), Finding::Blank);
}

#[test]
fn a_file_system_is_named_and_only_the_exact_flag_destroys_it() {
    let Some(device) = Loop::new(&[]) else { return };
    if Command::new("mkfs.ext4").arg("-V").output().is_ok() {
        device.run("mkfs.ext4", &["-q", "-F"]);
    } else {
        device.write(1024 + 0x38, b"\x53\xef");
        device.write(1024 + 0x60, b"\x42");
    }
    let before = device.bytes(0, 1 << 20);
    let text = device.refusal();
    assert!(text.contains("holds data (ext4)") && text.contains("be destroyed"), "{text}");
    for other in ["/dev/loop", "/dev/sda", "/"] {
        let text = device.open_as(RUN, &[Path::new(other)]).err().unwrap().to_string();
        assert!(text.contains("be destroyed") && text.contains("names another"), "{text}");
    }
    assert!(device.bytes(0, 1 << 20) == before, "a refusal wrote something");

    let mut store = device.open_as(RUN, &[&device.device]).unwrap();
    assert!(device.bytes(0, 1 << 20) == before, "opening wrote something");
    prepare(&mut store, SPEC).unwrap();
    let path = device.device.display().to_string();
    let found = FoundData::Formats(vec!["ext4".into()]);
    assert!(store.description().notes.contains(&DatastoreFact::HeldData { path, found }));
    drop(store);
    assert_eq!(inspect(device.backing.as_file(), SIZE).unwrap(), Finding::Blank);
}

#[test]
fn unrecognised_data_at_either_end_is_refused() {
    for offset in [12_345, SIZE - 1] {
        let Some(device) = Loop::new(&[]) else { return };
        device.write(offset, b"\x01");
        let text = device.refusal();
        assert!(text.contains(&format!("unrecognised data at offset {offset}")), "{text}");
        assert_eq!(device.bytes(offset, 1), [1]);
    }
}

#[test]
fn a_mounted_device_is_refused_whatever_the_flags() {
    let Some(device) = Loop::new(&[]) else { return };
    if Command::new("mkfs.ext4").arg("-V").output().is_err() {
        not_run("mkfs.ext4 is missing");
        assert!(std::env::var_os("CI").is_none(), "CI must run this test");
        return;
    }
    device.run("mkfs.ext4", &["-q", "-F"]);
    let point = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").arg(&device.device).arg(point.path()).status().unwrap();
    assert!(mounted.success());
    let refused = device.open_as(RUN, &[&device.device]).err().map(|error| error.to_string());
    // Unmounted before anything can fail, so that nothing stays mounted.
    let unmounted = Command::new("umount").arg(point.path()).status().unwrap();
    assert!(unmounted.success());
    let text = refused.expect("a refusal");
    assert!(text.contains(&format!("mounted at {}", point.path().display())), "{text}");
    assert!(text.contains("unmount it"), "{text}");
}

#[test]
fn a_disk_with_a_mounted_partition_is_refused() {
    let Some(device) = Loop::new(&[]) else { return };
    // One partition, as the MBR describes it: type 0x83, from sector 2048, 30 MiB long.
    let mut table = [0; 512];
    table[446 + 4] = 0x83;
    table[446 + 8..446 + 12].copy_from_slice(&2048_u32.to_le_bytes());
    table[446 + 12..446 + 16].copy_from_slice(&(30 * 2048_u32).to_le_bytes());
    table[510..].copy_from_slice(b"\x55\xaa");
    device.write(0, &table);
    assert!(device.refusal().contains("MBR partition table"));
    device.run("losetup", &["--set-capacity"]);
    let scanned = Command::new("partx").arg("--add").arg(&device.device).output();
    let partition = PathBuf::from(format!("{}p1", device.device.display()));
    if !scanned.is_ok_and(|output| output.status.success()) || !partition.exists() {
        not_run("this kernel or system makes no partitions on loop devices");
        return;
    }
    let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&partition).output().unwrap();
    assert!(made.status.success());
    let point = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").arg(&partition).arg(point.path()).status().unwrap();
    let refused = device.open_as(RUN, &[&device.device]).err().map(|error| error.to_string());
    let _ = Command::new("umount").arg(point.path()).status();
    let _ = Command::new("partx").arg("--delete").arg(&device.device).status();
    assert!(mounted.success());
    let text = refused.expect("a refusal");
    assert!(text.contains("its partition") && text.contains("is mounted at"), "{text}");
}

/// Not a test of its own: the process that holds a device for the next one, until its standard input
/// ends.
#[test]
fn holder() {
    let Some(device) = std::env::var_os("STORMETER_TEST_HOLDER") else { return };
    let url = DatastoreUrl::parse(device.to_str().unwrap()).unwrap();
    let options = OpenOptions { run_id: RUN.into(), ..Default::default() };
    let _store = Datastore::open(&url, options).unwrap();
    println!("\nheld");
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn a_device_in_use_is_refused() {
    let Some(device) = Loop::new(&[]) else { return };
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holder", "--nocapture"])
        .env("STORMETER_TEST_HOLDER", &device.device)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "held"));
    let text = device.refusal();
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    assert!(text.contains("is in use") && text.contains("lsblk"), "{text}");
    assert!(device.open().is_ok());
}

#[test]
fn a_device_named_in_two_ways_is_refused() {
    let Some(device) = Loop::new(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("by-id");
    std::os::unix::fs::symlink(&device.device, &link).unwrap();
    let first = device.open().unwrap();
    let number = first.description().device_number;
    assert_eq!(number, Some(fs::metadata(&device.device).unwrap().rdev()));
    assert_eq!(first.space(), None);
    for name in [format!("{}?direct=0", device.device.display()), link.display().to_string()] {
        let url = DatastoreUrl::parse(&name).unwrap();
        let options = OpenOptions { run_id: RUN.into(), number: 1, ..Default::default() };
        let error = Datastore::open(&url, options).err().expect("a refusal");
        assert!(matches!(error, DatastoreError::NamedTwice { .. }), "{name}: {error}");
        assert!(error.to_string().contains("named twice"), "{error}");
    }
    drop(first);
    assert!(device.open().is_ok());
}

#[test]
fn a_swap_area_in_use_is_refused() {
    let Some(device) = Loop::new(&[]) else { return };
    device.run("mkswap", &["-q"]);
    assert!(device.refusal().contains("holds data (swap)"));
    if !Command::new("swapon").arg(&device.device).status().is_ok_and(|status| status.success()) {
        not_run("swapon is refused here");
        return;
    }
    let refused = device.open_as(RUN, &[&device.device]).err().map(|error| error.to_string());
    device.run("swapoff", &[]);
    let text = refused.expect("a refusal");
    assert!(text.contains("used as swap") && text.contains("swapoff"), "{text}");
}

#[test]
fn a_read_only_device_is_refused() {
    let Some(device) = Loop::new(&["--read-only"]) else { return };
    assert!(device.refusal().contains("read-only device"));
}

#[test]
fn a_device_too_small_is_refused_before_anything_is_written() {
    let Some(device) = Loop::over(8 << 20, &[]) else { return };
    let store = device.open().unwrap();
    let text = store.check(&SPEC).unwrap_err().to_string();
    assert!(text.contains("need 11MiB") && text.contains("has 8MiB"), "{text}");
    // 6 MiB between the ends is exactly two extents of 3 MiB.
    assert!(store.check(&DiskSpec { count: 2, ..SPEC }).is_ok());
    drop(store);
    assert_eq!(inspect(device.backing.as_file(), 8 << 20).unwrap(), Finding::Blank);
}

#[test]
fn the_logical_block_of_the_device_counts() {
    let Some(device) = Loop::new(&["--sector-size", "4096"]) else { return };
    let store = device.open().unwrap();
    let text = store.check(&DiskSpec { granularity_bytes: 512, ..SPEC }).unwrap_err().to_string();
    assert!(text.contains("512B) is not a multiple of the logical block 4096"), "{text}");
}

#[test]
fn what_is_no_block_device_is_refused() {
    let open = |path: &str| {
        let url = DatastoreUrl::parse(path).unwrap();
        let options = OpenOptions { run_id: RUN.into(), ..Default::default() };
        Datastore::open(&url, options).err().unwrap().to_string()
    };
    assert!(open("/dev/no-such-device").contains("lsblk"));
    assert!(open("/dev/null").contains("not a block device"));
    assert!(fs::metadata("/dev/null").is_ok());
}
