//! Passwords of an iSCSI target: wherever one comes from, it lets in, and it is in nothing that the
//! program prints or leaves.

use std::fs;
use std::path::{Path, PathBuf};

use stormeter_peers::{Chap, Tgt, TgtOptions};

use crate::place::{Outcome, Place, SHORT, SURE};
use crate::schema;

const SECRET: &str = "Twelve-or-more";
const TARGET_SECRET: &str = "Its-own-secret";
const WRONG: &str = "Not-the-secret";

/// A target that wants CHAP, and proves itself.
fn guarded() -> Tgt {
    let chap = |user: &str, secret: &str| Some(Chap { user: user.into(), secret: secret.into() });
    let (chap, chap_outgoing) = (chap("vm", SECRET), chap("san", TARGET_SECRET));
    Tgt::start(&TgtOptions { chap, chap_outgoing, ..TgtOptions::default() }).unwrap()
}

fn url(tgt: &Tgt, login: &str) -> String {
    tgt.url(1).replace("iscsi://", &format!("iscsi://{login}@"))
}

/// Every file below, however deep.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// None of the secrets is in what was printed or left, but for the files made to hold them.
#[track_caller]
fn assert_kept(place: &Place, outcomes: &[&Outcome]) {
    for secret in [SECRET, TARGET_SECRET, WRONG] {
        for outcome in outcomes {
            assert!(!outcome.stdout.contains(secret), "{outcome:?}");
            assert!(!outcome.stderr.contains(secret), "{outcome:?}");
        }
        for file in files(place.root()) {
            let is_meant = file.extension().is_some_and(|end| end == "password");
            let bytes = fs::read(&file).unwrap();
            let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(is_meant || !is_there, "{secret} is in {}", file.display());
        }
    }
}

#[test]
fn from_the_url_a_file_or_the_environment_they_let_in_and_stay_secret() {
    let tgt = guarded();
    let user = url(&tgt, "vm");
    let typed = url(&tgt, &format!("vm%{SECRET}"));
    let environment =
        [("STORMETER_ISCSI_PASSWORD", SECRET), ("STORMETER_ISCSI_TARGET_PASSWORD", TARGET_SECRET)];
    let both = "target-user=san&target-password-file=target.password";
    let cases: [(String, &[(&str, &str)]); 5] = [
        (typed.clone(), &[]),
        (format!("{typed}?{both}"), &[]),
        (format!("{user}?password-file=user.password&{both}"), &[]),
        (user.clone(), &environment[..1]),
        (format!("{user}?target-user=san"), &environment),
    ];
    for (url, environment) in cases {
        let place = Place::new();
        fs::write(place.path("user.password"), format!("{SECRET}\n")).unwrap();
        fs::write(place.path("target.password"), TARGET_SECRET).unwrap();
        let arguments = format!("compare a {url} {SHORT} {SURE} --max-blocks 5 --output r.db");
        let mut command = place.command(&arguments);
        command.envs(environment.iter().copied());
        // Whether short trials settle anything does not matter.
        let compared = place.spawn(command).wait().expect(&[0, 4, 5]);
        let json = place.run("report r.db --json --html p.html").expect(&[0, 4, 5]);
        schema::check(&place, &json.json());
        assert!(json.stdout.contains("iscsi://vm@127.0.0.1"), "{json:?}");
        let measured = "SELECT count(*) FROM trial WHERE datastore = 1 AND outcome = 'measured'";
        assert!(crate::results::one::<i64>(&place.path("r.db"), measured) > 0, "{compared:?}");
        assert!(place.path("p.html").exists());
        assert_kept(&place, &[&compared, &json]);
    }
}

#[test]
fn a_refused_login_names_the_user_and_not_the_password() {
    let tgt = guarded();
    let place = Place::new();
    fs::write(place.path("wrong.password"), WRONG).unwrap();
    fs::write(place.path("user.password"), SECRET).unwrap();
    let user = url(&tgt, "vm");
    let refused = |url: &str, words: &str| {
        let outcome = place.run(&format!("compare a {url} {SHORT} --output r.db")).expect(&[1]);
        let said = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(words), "'{words}' is not in: {said}");
        assert!(!place.path("r.db").exists());
        assert_kept(&place, &[&outcome]);
    };
    refused(&tgt.url(1), "wants CHAP, and no user was given");
    refused(&user, "no password for user vm");
    refused(&user, "STORMETER_ISCSI_PASSWORD");
    refused(&url(&tgt, &format!("vm%{WRONG}")), "does not accept user vm with this password");
    refused(&format!("{user}?password-file=wrong.password"), "does not accept user vm");
    refused(&format!("{user}?password-file=missing"), "missing cannot be read");
    let mutual = "password-file=user.password&target-user=san&target-password-file=wrong.password";
    refused(&format!("{user}?{mutual}"), "mutual CHAP's secret");
    assert!(place.folders("a").is_empty());
}
