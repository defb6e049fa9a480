//! A disk as its user sees it: a file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::channel;

use stormeter_timed_disk::{
    COUNTERS, Content, Counters, DISK, Raid10, SPEED, Schedule, ServeOptions, Speed, Spindle, serve,
};

const BYTES: u64 = 8 << 20;
const FAST: Speed = Speed { position_ns: 20_000, bytes_per_s: 1_000_000_000 };

/// Serves a disk while `test` uses its directory; its content is in a file below `scratch`.
fn with_disk(scratch: &Path, schedule: impl Schedule, test: impl FnOnce(&Path)) {
    if !nix::unistd::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
        assert!(std::env::var_os("CI").is_none(), "CI has root and FUSE");
        let _ = writeln!(std::io::stderr(), "NOT RUN: only root may mount a FUSE file system");
        return;
    }
    let place = scratch.join("disk");
    fs::create_dir_all(&place).unwrap();
    let store = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(scratch.join("store"))
        .unwrap();
    let content = Content::file(store, BYTES).unwrap();
    let (is_ready, ready) = channel();
    let (end, ended) = channel::<()>();
    std::thread::scope(|scope| {
        let directory = place.as_path();
        let served = scope.spawn(move || {
            let options = ServeOptions::default();
            let ready = || is_ready.send(()).map_err(std::io::Error::other);
            serve(schedule, content, directory, options, ready, |()| {
                let _ = ended.recv();
            })
        });
        ready.recv().unwrap();
        test(directory);
        drop(end);
        served.join().unwrap().unwrap();
    });
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "it is unmounted");
}

fn open(directory: &Path) -> File {
    File::options().read(true).write(true).open(directory.join(DISK)).unwrap()
}

fn counters(directory: &Path) -> Counters {
    let mut text = [0; 4096];
    let length = File::open(directory.join(COUNTERS)).unwrap().read(&mut text).unwrap();
    serde_json::from_slice(&text[..length]).unwrap()
}

#[test]
fn what_is_written_stays_when_the_disk_is_served_again() {
    let scratch = tempfile::tempdir().unwrap();
    let block = |of: u8| [of; 4096];
    with_disk(scratch.path(), Spindle::new(FAST), |directory| {
        let disk = open(directory);
        assert_eq!(disk.metadata().unwrap().len(), BYTES);
        for number in 0..20u8 {
            disk.write_all_at(&block(number), u64::from(number) * 65_536).unwrap();
        }
        disk.sync_data().unwrap();
        assert!(disk.write_all_at(&block(1), BYTES).is_err(), "beyond its end");
        assert!(disk.set_len(4096).is_err(), "a disk keeps its size");
    });
    with_disk(scratch.path(), Raid10::new(FAST, 2), |directory| {
        let disk = open(directory);
        for number in 0..20u8 {
            let mut bytes = block(0xff);
            disk.read_exact_at(&mut bytes, u64::from(number) * 65_536).unwrap();
            assert_eq!(bytes, block(number));
        }
    });
}

/// However late answers are, the time for which the disk is busy is that of its requests.
#[test]
fn it_is_busy_for_as_long_as_its_speed_says() {
    let scratch = tempfile::tempdir().unwrap();
    with_disk(scratch.path(), Spindle::new(FAST), |directory| {
        let disk = open(directory);
        for number in (0..50u64).rev() {
            disk.write_all_at(&[7; 8192], number * 65_536).unwrap();
        }
        let seen = counters(directory);
        assert_eq!((seen.requests, seen.bytes), (50, 50 * 8192));
        assert_eq!(seen.busy_ns, 50 * (FAST.position_ns + 8192));
        assert!(seen.elapsed_ns >= seen.busy_ns);
    });
}

#[test]
fn its_speed_is_read_and_written_as_a_file() {
    let scratch = tempfile::tempdir().unwrap();
    with_disk(scratch.path(), Spindle::new(FAST), |directory| {
        let path = directory.join(SPEED);
        assert_eq!(fs::read_to_string(&path).unwrap(), "20us,1GB/s\n");
        fs::write(&path, "1ms,5MB/s\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1ms,5MB/s\n");
        let refused = fs::write(&path, "fast").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        open(directory).write_all_at(&[7; 5000], 0).unwrap();
        assert_eq!(counters(directory).busy_ns, 2_000_000);
        assert_eq!(File::open(directory.join("other")).unwrap_err().kind(), ErrorKind::NotFound);
    });
}
