//! Site files that are wrong: each has the message that a person gets, in a file beside it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p stormeter-site --test bad` writes the messages anew; read them
//! then, as somebody would who wrote such a file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_site::{Override, library_text, parse_site, parse_site_with};

fn files(ending: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let entries = fs::read_dir(directory).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == ending));
    files.sort();
    files
}

#[test]
fn every_bad_file_has_its_message() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let files = files("yaml");
    assert!(files.len() >= 90, "{}", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let message = match parse_site(&text) {
            Ok(_) => panic!("{name} is taken for a site"),
            Err(errors) => format!("{}\n", errors.in_file(name)),
        };
        let golden = path.with_extension("txt");
        if update {
            fs::write(&golden, &message).unwrap();
        }
        if fs::read_to_string(&golden).ok().as_deref() != Some(&message) {
            wrong.push(message);
        }
    }
    assert!(wrong.is_empty(), "messages that differ from their files:\n\n{}", wrong.join("\n"));
}

#[test]
fn every_message_has_a_bad_file() {
    for golden in files("txt") {
        assert!(golden.with_extension("yaml").exists(), "{}", golden.display());
    }
}

#[test]
fn mistakes_point_into_the_file_and_not_into_the_library() {
    for path in files("yaml") {
        let text = fs::read_to_string(&path).unwrap();
        let errors = parse_site(&text).unwrap_err().errors;
        assert!(!errors.is_empty());
        assert!(errors.is_sorted_by_key(|error| (error.line, error.column)), "{}", path.display());
        for error in errors {
            assert_eq!(error.source, None, "{} {error:?}", path.display());
            let lines = text.lines().count().max(1);
            assert!((1..=lines + 1).contains(&error.line), "{} {error:?}", path.display());
        }
    }
}

/// A file with a bit of everything.
const WHOLE: &str = include_str!("good/everything.yaml");

/// What mutations put in.
const PIECES: [&str; 34] = [
    "\t",
    ": ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\n",
    "&a ",
    "*a",
    "!!int ",
    "? ",
    "|\n",
    "%",
    "\u{feff}",
    "null",
    "~",
    "---\n",
    "#",
    "9999999999999999999999",
    "-1",
    "<<: ",
    "\u{0}",
    "ü",
    "like: ",
    "like: esx",
    "GFC",
    ".",
    "1e308",
    "0",
    "{like: filer}",
    "cycles",
];

fn below(random: &mut SplitMix64, limit: usize) -> usize {
    (random.next_u64() % limit.max(1) as u64) as usize
}

fn mutated(text: &str, random: &mut SplitMix64) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..=below(random, 4) {
        let at = below(random, text.len());
        match below(random, 5) {
            0 if at < text.len() => {
                text.remove(at);
            }
            1 => {
                let end = (at + below(random, 40)).min(text.len());
                text.drain(at..end);
            }
            2 => {
                let piece = PIECES[below(random, PIECES.len())].chars();
                text.splice(at..at, piece);
            }
            3 => {
                let from = below(random, text.len());
                let copied = text[from..(from + below(random, 60)).min(text.len())].to_vec();
                text.splice(at..at, copied);
            }
            _ if below(random, 20) == 0 => text.truncate(at),
            _ => {}
        }
    }
    text.into_iter().collect()
}

#[test]
fn whatever_is_written_the_answer_is_a_site_or_mistakes() {
    let mut read = 0;
    for seed in 0..1500 {
        let mut random = SplitMix64::seed_from_u64(seed);
        let text = mutated(WHOLE, &mut random);
        match parse_site(&text) {
            Ok(_) => read += 1,
            Err(errors) => {
                assert!(!errors.errors.is_empty() && !errors.to_string().is_empty(), "seed {seed}");
            }
        }
    }
    // Some mutations change a comment or a number: the others are what this is about.
    assert!(read < 1200, "{read}");
}

#[test]
fn whatever_is_changed_the_answer_is_a_site_or_mistakes() {
    let paths = ["hosts.esx", "nic", "controllers.filer.cache.read", "datastores.nfs.networks.1"];
    for seed in 0..600 {
        let mut random = SplitMix64::seed_from_u64(seed);
        let path = mutated(paths[below(&mut random, paths.len())], &mut random);
        let value = mutated("{like: gbe, rate: 1GbE}", &mut random);
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
