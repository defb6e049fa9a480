//! Studies of servers: sessions with an FTP server of the tests, from the file with its password to the verdict.

use std::fs;
use std::path::PathBuf;

use stormeter_testkit::{FTP_PASSWORD, FtpManner, serve_ftp};

use crate::place::{Outcome, Place};

/// Runs a study of uploads to this port.
fn run(place: &Place, port: u16, password: &str) -> (Outcome, PathBuf) {
    let results = place.path("services.db");
    fs::write(place.path("ftp.txt"), format!("{password}\n")).unwrap();
    let text = format!(
        "datastores: {{files: \"server://127.0.0.1\"}}\n\
         workloads:\n  - name: uploads\n    ftp: {{direction: upload, size: 64KiB, pause: 5ms, port: {port}, \
         password-file: ftp.txt}}\n\
         load: {{vms: [1, 3]}}\nmeasure: {{ramp: 50ms, duration: 300ms, interval: 100ms}}\ndesign: {{blocks: 2}}\n\
         questions: [throughput of files is at least 1B/s]\n"
    );
    fs::write(place.path("services.yaml"), text).unwrap();
    (place.run("run services.yaml --output services.db"), results)
}

#[test]
fn a_study_of_a_server_ends_with_answers_and_leaves_nothing_there() {
    let (port, files) = serve_ftp(FtpManner::Well);
    let place = Place::new();
    let (outcome, results) = run(&place, port, FTP_PASSWORD);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("1. YES throughput of files"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("3 sessions"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("settled"), "{}", outcome.stdout);
    assert!(files.by_name.lock().unwrap().is_empty());
    let bytes = fs::read(results).unwrap();
    let secret = FTP_PASSWORD.as_bytes();
    assert!(!bytes.windows(secret.len()).any(|window| window == secret));
}

#[test]
fn a_wrong_password_is_refused_before_the_first_trial_and_shown_nowhere() {
    let (port, _) = serve_ftp(FtpManner::Well);
    let place = Place::new();
    let (outcome, results) = run(&place, port, "not-the-one");
    assert_ne!(outcome.code, Some(0));
    assert!(outcome.stderr.contains("530 Login incorrect."), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("check the user and the password file"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("not-the-one") && !outcome.stdout.contains("not-the-one"));
    assert!(!results.exists());
}

#[test]
fn a_server_is_no_storage_to_compare() {
    let place = Place::new();
    let outcome = place.run("compare server://127.0.0.1 null:");
    assert!(outcome.stderr.contains("has no disks to compare"), "{}", outcome.stderr);
}
