//! Study files with mistakes: each has the expected message in a file next to it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p stormeter-study --test bad` rewrites the messages; read them then
//! as the author of such a file would.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use stormeter_study::parse_study;
use stormeter_testkit::BadFiles;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

fn bad_files() -> BadFiles {
    BadFiles { directory: directory(), mistakes: |text| parse_study(text).err() }
}

#[test]
fn every_bad_file_has_its_message() {
    bad_files().have_their_messages(45);
}

#[test]
fn mistakes_are_in_the_order_of_their_places_and_point_into_the_file() {
    bad_files().have_mistakes_in_order_and_in_the_file();
}

#[test]
fn no_message_repeats_a_password() {
    let text = fs::read_to_string(directory().join("password-in-url.yaml")).unwrap();
    let shown = parse_study(&text).unwrap_err();
    assert!(!format!("{shown} {shown:?}").contains("open@"), "{shown}");
    // On a line that is also shown for another reason.
    let text = "datastores: {a: \"nfs://u:secret@h/x\", b: }\nbaseline: \"nfs://u:secret@h/x\"\n";
    let shown = parse_study(text).unwrap_err();
    assert!(!format!("{shown} {shown:?}").contains("secret"), "{shown}");
}

#[test]
fn whatever_is_written_the_answer_is_a_plan_or_mistakes() {
    let whole = include_str!("good/everything.yaml");
    let own = ["vm-4k", " is faster than ", "ms", "0", "sim:site.yaml#nas", "null:"];
    bad_files().whatever_is_written_is_answered(whole, &own, 3000);
}

#[test]
fn a_file_that_nests_without_end_is_refused() {
    // As deep as the size limit of a file allows, with increasing indentation.
    let mut deep = String::from("datastores:\n");
    for level in 1.. {
        let line = format!("{}{}\n", " ".repeat(level * 16), "- ".repeat(8));
        if deep.len() + line.len() > 128 << 10 {
            break;
        }
        deep.push_str(&line);
    }
    assert!(parse_study(&deep).is_err());
    for piece in ["- ", "[", "{a: ", "? ", ": ", "- ? ", "&a - "] {
        let text = format!("datastores: {}", piece.repeat(100_000));
        assert!(parse_study(&text).is_err(), "{piece:?}");
        let text = format!("datastores:\n {}x", piece.repeat(100_000));
        assert!(parse_study(&text).is_err(), "{piece:?}");
    }
}
