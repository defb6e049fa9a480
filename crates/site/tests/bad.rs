//! Site files with mistakes: each has the expected message in a file next to it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p stormeter-site --test bad` rewrites the messages; read them then
//! as the author of such a file would.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use stormeter_site::{Override, library_text, parse_site, parse_site_with};
use stormeter_testkit::{BadFiles, below, mutated};

fn bad_files() -> BadFiles {
    BadFiles {
        directory: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad"),
        mistakes: |text| parse_site(text).err(),
    }
}

#[test]
fn every_bad_file_has_its_message() {
    bad_files().have_their_messages(90);
}

#[test]
fn mistakes_point_into_the_file_and_not_into_the_library() {
    bad_files().have_mistakes_in_order_and_in_the_file();
}

/// A file that uses everything.
const WHOLE: &str = include_str!("good/everything.yaml");

/// Pieces for mutations that mean something in a site.
const PIECES: [&str; 8] =
    ["like: ", "like: esx", "GFC", ".", "1e308", "0", "{like: filer}", "cycles"];

#[test]
fn whatever_is_written_the_answer_is_a_site_or_mistakes() {
    bad_files().whatever_is_written_is_answered(WHOLE, &PIECES, 1500);
}

#[test]
fn whatever_is_changed_the_answer_is_a_site_or_mistakes() {
    let paths = ["hosts.esx", "nic", "controllers.filer.cache.read", "datastores.nfs.networks.1"];
    for seed in 0..600 {
        let mut random = SplitMix64::seed_from_u64(seed);
        let path = mutated(paths[below(&mut random, paths.len())], &PIECES, &mut random);
        let value = mutated("{like: gbe, rate: 1GbE}", &PIECES, &mut random);
        if let Ok(change) = Override::new(&path, &value)
            && let Err(errors) = parse_site_with(WHOLE, &[change])
        {
            assert!(!errors.errors.is_empty() && !errors.to_string().is_empty(), "seed {seed}");
        }
    }
}

#[test]
fn a_file_cut_short_anywhere_is_answered() {
    for (at, _) in WHOLE.char_indices().step_by(37) {
        if let Err(errors) = parse_site(&WHOLE[..at]) {
            assert!(!errors.to_string().is_empty(), "{at}");
        }
    }
    assert!(parse_site(library_text()).is_err(), "the library is no site");
}

#[test]
fn entries_that_are_like_one_another_without_end_are_refused() {
    let mut text = String::from("hosts:\n  h0: {cores: 1, clock: 1GHz}\n");
    for index in 1..3000 {
        text += &format!("  h{index}: {{like: h{}}}\n", index - 1);
    }
    let message = parse_site(&text).unwrap_err().to_string();
    assert!(message.contains("more than 16 entries"), "{message}");
}
