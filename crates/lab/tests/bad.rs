//! Lab files with mistakes: each has the expected message in a file next to it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p stormeter-lab --test bad` rewrites the messages; read them then as the
//! author of such a file would.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use stormeter_lab::parse_lab;
use stormeter_testkit::BadFiles;

fn bad_files() -> BadFiles {
    BadFiles {
        directory: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad"),
        mistakes: |text| parse_lab(text).err(),
    }
}

#[test]
fn every_bad_file_has_its_message() {
    bad_files().have_their_messages(40);
}

#[test]
fn mistakes_point_into_the_file_in_order() {
    bad_files().have_mistakes_in_order_and_in_the_file();
}

/// A file that uses everything.
const WHOLE: &str = include_str!("good/everything.yaml");

/// Pieces for mutations that mean something in a lab.
const PIECES: [&str; 8] =
    ["count: ", "nas.files", "99999999999GiB", "raid: 10", "0", "{size: 1MiB}", "local", "1us"];

#[test]
fn whatever_is_written_the_answer_is_a_lab_or_mistakes() {
    bad_files().whatever_is_written_is_answered(WHOLE, &PIECES, 1500);
}
