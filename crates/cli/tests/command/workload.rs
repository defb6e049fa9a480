//! Each option of the load reaches the storage, as the results file and the disks show.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::place::{Place, SHORT, SURE};
use crate::results::{one, rows};

/// Runs a comparison of two blocks and gives its place and results file; whatever it found.
fn drive(arguments: &str) -> (Place, PathBuf) {
    let place = Place::new();
    let brief = SHORT.replace("60s", "600ms");
    let arguments = format!("compare a b {brief} {arguments} --output r.db --seed 3");
    place.run(&arguments).expect(&[0, 4, 5]);
    let path = place.path("r.db");
    (place, path)
}

/// Five standard deviations of a share of this number of operations, at most.
fn luck(operations: i64) -> f64 {
    assert!(operations >= 20, "only {operations} operations");
    2.5 / (operations as f64).sqrt()
}

/// Few I/Os, whatever the storage.
fn drive_surely(arguments: &str) -> (Place, PathBuf) {
    drive(&format!("{SURE} {arguments}"))
}

/// Operations and bytes of a kind over the compared trials.
fn total(path: &std::path::Path, kind: &str) -> (i64, i64) {
    let query = format!(
        "SELECT sum(total.operations), sum(total.bytes) FROM total \
         JOIN trial ON trial.id = trial_id WHERE phase = 'main' AND kind = '{kind}'"
    );
    rows(path, &query, |row| Ok((row.get(0)?, row.get(1)?)))[0]
}

/// The workload as the file says that it was driven.
fn planned(path: &std::path::Path) -> Value {
    let header: String = one(path, "SELECT value FROM meta WHERE key = 'header'");
    serde_json::from_str::<Value>(&header).unwrap()["plan"]["workloads"][0]["kind"].take()
}

#[test]
fn request_sizes_are_mixed_as_asked_for() {
    let (_place, path) = drive_surely("--request-size 4KiB:70,64KiB:30 --read 100%");
    let (operations, bytes) = total(&path, "read");
    let large = (bytes - 4096 * operations) / (65_536 - 4096);
    assert_eq!(bytes, 4096 * (operations - large) + 65_536 * large);
    let share = large as f64 / operations as f64;
    assert!((share - 0.3).abs() < luck(operations), "{share} are large");
}

#[test]
fn fio_s_words_say_the_same() {
    let short = "--time-limit 2s --seed 3 --output r.db --size 1MiB";
    let plan = |load: &str| {
        let place = Place::new();
        place.run(&format!("compare a b {short} {load}")).expect(&[0, 4, 5]);
        let header: String =
            one(&place.path("r.db"), "SELECT value FROM meta WHERE key = 'header'");
        let plan = serde_json::from_str::<Value>(&header).unwrap()["plan"].take();
        ["workloads", "vms", "timing"].map(|part| plan[part].clone())
    };
    let ours =
        "--request-size 8KiB --outstanding 3 --read 60% --duration 100ms --ramp 20ms --vms 2";
    let fio = "--bs 8k --iodepth 3 --rwmixread 60 --runtime 100ms --warm-up 20ms --numjobs 2";
    let (ours, fio) = (plan(ours), plan(fio));
    assert_eq!(ours, fio);
    assert!(ours.iter().all(|part| !part.is_null()), "{ours:?}");
}

#[test]
fn reads_and_writes_have_their_shares() {
    for (option, wanted) in [("--read 100%", 1.0), ("--read 0%", 0.0), ("--read 75%", 0.75)] {
        let (_place, path) = drive_surely(option);
        let (reads, writes) = (total(&path, "read").0, total(&path, "write").0);
        let share = reads as f64 / (reads + writes) as f64;
        let off = if wanted % 1.0 == 0.0 { 0.0 } else { luck(reads + writes) };
        assert!((share - wanted).abs() <= off, "{option}: {reads} reads, {writes} writes");
    }
}

#[test]
fn a_rate_is_what_falls_due() {
    let (_place, path) = drive("--vms 3 --rate 500 --arrivals constant");
    let due = rows(
        &path,
        "SELECT due_operations, offered_rate_per_s, outstanding_configured FROM sample \
         JOIN trial ON trial.id = trial_id WHERE phase = 'main'",
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?, row.get::<_, Option<i64>>(2)?)),
    );
    for (due, rate, outstanding) in due {
        // 500 a second and VM over 100 ms; the first and the last may fall on the edge.
        assert!((147..=153).contains(&due), "{due}");
        assert_eq!((rate, outstanding), (1500.0, None));
    }
}

#[test]
fn outstanding_counts_for_each_vm() {
    let (_place, path) = drive("--vms 3 --outstanding 2");
    let outstanding: i64 = one(
        &path,
        "SELECT outstanding_configured FROM sample JOIN trial ON trial.id = trial_id \
         WHERE phase = 'main'",
    );
    assert_eq!(outstanding, 6);
}

#[test]
fn bursts_leave_pauses() {
    let (_place, path) = drive("--outstanding 2 --burst 8 --burst-delay 50ms");
    let operations = rows(&path, "SELECT operations FROM trial WHERE phase = 'main'", |row| {
        row.get::<_, i64>(0)
    });
    assert!(operations.len() >= 4, "{operations:?}");
    // With 50 ms after each burst, no window of 100 ms can see more than parts of three.
    assert!(operations.iter().all(|&count| count <= 24), "{operations:?}");
    assert!(operations.iter().any(|&count| count > 0), "{operations:?}");
}

#[test]
fn places_and_skew_are_written_down_as_given() {
    let (_place, path) = drive_surely("--random 40% --zipf 1.2 --align 8KiB");
    let workload = planned(&path);
    assert_eq!(workload["random_percent"], 40.0);
    assert_eq!(workload["distribution"]["exponent"], 1.2);
    assert_eq!(workload["alignment_bytes"], 8192);
    let (_place, path) = drive_surely("--workload seq-write-32k");
    assert_eq!(total(&path, "read"), (0, 0));
    let (operations, bytes) = total(&path, "write");
    assert_eq!(bytes, 32_768 * operations);
}

#[test]
fn flushes_and_durable_writes_are_in_the_results() {
    let (_place, path) = drive_surely("--read 50% --flush every-4-writes");
    assert_eq!(planned(&path)["flush"]["writes"], 4);
    let ((writes, _), (flushes, bytes)) = (total(&path, "write"), total(&path, "flush"));
    assert!(flushes > 0 && bytes == 0, "{flushes} flushes of {bytes} bytes");
    // One at the edge of each window.
    let trials: i64 = one(&path, "SELECT count(*) FROM trial WHERE phase = 'main'");
    assert!((flushes - writes / 4).abs() <= 2 * trials, "{flushes} flushes, {writes} writes");
    let (_place, path) = drive_surely("--read 50% --durable");
    assert_eq!(planned(&path)["durable"], true);
    let ((writes, _), (durable, _)) = (total(&path, "write"), total(&path, "durable write"));
    assert_eq!(writes, 0);
    assert!(durable > 0);
    let flushes: i64 = one(&path, "SELECT count(*) FROM total WHERE kind = 'flush'");
    assert_eq!(flushes, 0);
}

/// The content of a disk that is prepared and then only read.
fn content(options: &str) -> Vec<u8> {
    let place = Place::new();
    let arguments = format!("compare a b {SHORT} --rate 100 --read 100% {options} --seed 3");
    let mut running = place.start(&arguments);
    let disk = place.wait_for_disk(&mut running, "a");
    let bytes = fs::read(disk).unwrap();
    running.kill();
    assert_eq!(bytes.len(), 8 << 20);
    bytes
}

#[test]
fn disks_hold_the_content_asked_for_and_the_same_for_the_same_seed() {
    let zeros =
        |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == 0).count() as f64 / bytes.len() as f64;
    let repeated = |bytes: &[u8]| {
        let mut seen = std::collections::HashSet::new();
        let blocks = bytes.chunks(4096);
        let count = blocks.len() as f64;
        blocks.filter(|block| !seen.insert(block.to_vec())).count() as f64 / count
    };
    let random = content("");
    assert!(zeros(&random) < 0.01 && repeated(&random) == 0.0, "{}", zeros(&random));
    assert!(content("") == random);
    let compressible = content("--compressible 50%");
    assert!((zeros(&compressible) - 0.5).abs() < 0.05, "{}", zeros(&compressible));
    let duplicate = content("--dedupable 30%");
    assert!((repeated(&duplicate) - 0.3).abs() < 0.06, "{}", repeated(&duplicate));
}
