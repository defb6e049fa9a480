//! Study files that are wrong: each has the message that a person gets, in a file beside it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p stormeter-study --test bad` writes the messages anew; read them
//! then, as somebody would who wrote such a file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_study::parse_study;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

fn files(ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory()).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == ending));
    files.sort();
    files
}

#[test]
fn every_bad_file_has_its_message() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let files = files("yaml");
    assert!(files.len() >= 45, "{}", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let message = match parse_study(&text) {
            Ok(_) => panic!("{name} is taken for a study"),
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
fn mistakes_are_in_the_order_of_their_places_and_point_into_the_file() {
    for path in files("yaml") {
        let text = fs::read_to_string(&path).unwrap();
        let errors = parse_study(&text).unwrap_err().errors;
        assert!(!errors.is_empty());
        assert!(errors.is_sorted_by_key(|error| (error.line, error.column)), "{}", path.display());
        for error in errors {
            let lines = text.lines().count().max(1);
            assert!((1..=lines + 1).contains(&error.line), "{} {error:?}", path.display());
        }
    }
}

#[test]
fn no_message_repeats_a_password() {
    let text = fs::read_to_string(directory().join("password-in-url.yaml")).unwrap();
    let shown = parse_study(&text).unwrap_err();
    assert!(!format!("{shown} {shown:?}").contains("open@"), "{shown}");
    // On a line that is shown for another reason too.
    let text = "datastores: {a: \"nfs://u:secret@h/x\", b: }\nbaseline: \"nfs://u:secret@h/x\"\n";
    let shown = parse_study(text).unwrap_err();
    assert!(!format!("{shown} {shown:?}").contains("secret"), "{shown}");
}

/// A file with a bit of everything.
const WHOLE: &str = include_str!("good/everything.yaml");

#[test]
fn whatever_is_written_the_answer_is_a_plan_or_mistakes() {
    let pieces = [
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
        "...\n",
        "#",
        "9999999999999999999999",
        "-1",
        "<<: ",
        "\u{0}",
        "ü",
        "@",
        "`",
    ];
    for seed in 0..3000 {
        let mut random = SplitMix64::seed_from_u64(seed);
        let mut text: Vec<char> = WHOLE.chars().collect();
        let mut below = |limit: usize| (random.next_u64() % limit as u64) as usize;
        for _ in 0..=below(4) {
            let at = below(text.len());
            match below(4) {
                0 => {
                    text.remove(at);
                }
                1 => {
                    let end = (at + below(40)).min(text.len());
                    text.drain(at..end);
                }
                2 => {
                    let piece = pieces[below(pieces.len())].chars();
                    text.splice(at..at, piece);
                }
                _ => {
                    let from = below(text.len());
                    let copied = text[from..(from + below(60)).min(text.len())].to_vec();
                    text.splice(at..at, copied);
                }
            }
            if text.is_empty() {
                break;
            }
        }
        let text: String = text.into_iter().collect();
        if let Err(errors) = parse_study(&text) {
            assert!(!errors.errors.is_empty() && !errors.to_string().is_empty(), "seed {seed}");
        }
    }
}

#[test]
fn a_file_that_nests_without_end_is_refused() {
    // As deep as the bounds of a file let it be, by lines that are indented ever more.
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
