//! Logins that are refused: nothing is written, and the message says what to do.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use stormeter_datastore::RealClock;
use stormeter_peers::{Chap, Tgt, TgtOptions};
use stormeter_runner::{Silent, run};

use crate::fixture::{Load, compare, request};

const SECRET: &str = "twelve-or-more";
const OTHER_SECRET: &str = "its-own-secret";
const WRONG: &str = "not-the-secret";

/// Why a comparison is refused before anything is written.
#[track_caller]
pub(super) fn refused(datastores: Vec<String>, destroy_data: &[PathBuf]) -> String {
    let results = tempfile::tempdir().unwrap();
    let mut request = request(datastores, Load::default(), results.path().join("r.db"));
    request.plan.verify = false;
    request.destroy_data = destroy_data.to_vec();
    let cancel = AtomicBool::new(false);
    let error = run(&request, &RealClock::new(), &cancel, &mut Silent).unwrap_err();
    assert_eq!(results.path().read_dir().unwrap().count(), 0, "a results file was created");
    error.to_string()
}

fn chap(user: &str, secret: &str) -> Option<Chap> {
    Some(Chap { user: user.into(), secret: secret.into() })
}

fn guarded(outgoing: Option<Chap>) -> Tgt {
    let chap = chap("vm", SECRET);
    Tgt::start(&TgtOptions { chap, chap_outgoing: outgoing, ..TgtOptions::default() }).unwrap()
}

fn url(tgt: &Tgt, login: &str, options: &str) -> String {
    tgt.url(1).replace("iscsi://", &format!("iscsi://{login}")) + options
}

fn file(directory: &Path, name: &str, secret: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, format!("{secret}\n")).unwrap();
    path.display().to_string()
}

#[test]
fn without_the_right_password_a_login_is_refused() {
    let tgt = guarded(None);
    let files = tempfile::tempdir().unwrap();
    let wrong = format!("?password-file={}", file(files.path(), "wrong", WRONG));
    let right = format!("?password-file={}", file(files.path(), "right", SECRET));
    let refused = |login: &str, options: &str| {
        let message = refused(vec!["null:".into(), url(&tgt, login, options)], &[]);
        for secret in [SECRET, WRONG] {
            assert!(!message.contains(secret), "{message}");
        }
        assert_eq!(message.matches("iscsi://").count(), 1, "named once: {message}");
        message
    };
    let message = refused("", "");
    assert!(message.contains("wants CHAP") && message.contains("give a user"), "{message}");
    let message = refused("vm@", &wrong);
    assert!(message.contains("user vm") && message.contains("password"), "{message}");
    let message = refused("other@", &right);
    assert!(message.contains("user other") && message.contains("password"), "{message}");
    let message = refused(&format!("vm%{WRONG}@"), "");
    assert!(message.contains("user vm"), "{message}");
    let message = refused("vm@", "");
    assert!(message.contains("no password for user vm"), "{message}");
}

#[test]
fn the_right_password_lets_in_one_way_and_both_ways() {
    let files = tempfile::tempdir().unwrap();
    let right = file(files.path(), "right", SECRET);
    let target = file(files.path(), "target", OTHER_SECRET);
    let load = Load { blocks: 1, ..Load::default() };
    let tgt = guarded(None);
    let one_way = compare(&url(&tgt, "vm@", &format!("?password-file={right}")), load, |_| {});
    one_way.assert_valid();
    // Who has to prove itself and does not is not spoken to.
    let both = format!("?password-file={right}&target-user=san&target-password-file={target}");
    let message = refused(vec!["null:".into(), url(&tgt, "vm@", &both)], &[]);
    assert!(message.contains("prove"), "{message}");
    let tgt = guarded(chap("san", OTHER_SECRET));
    compare(&url(&tgt, "vm@", &both), load, |_| {}).assert_valid();
    let wrong = file(files.path(), "wrong", WRONG);
    let both = format!("?password-file={right}&target-user=san&target-password-file={wrong}");
    let message = refused(vec!["null:".into(), url(&tgt, "vm@", &both)], &[]);
    assert!(message.contains("prove") && !message.contains(WRONG), "{message}");
}
