//! The corpus and seeded mutations of it through the entry points for fuzzers.
//!
//! `STORMETER_FUZZ_RUNS` sets the number of mutations of each kind. An input that fails is printed
//! in hexadecimal with its seed; add it to the corpus.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

mod common;

use std::path::{Path, PathBuf};

use common::Dice;

fn runs() -> u64 {
    std::env::var("STORMETER_FUZZ_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

fn corpus(kind: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(kind);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "the corpus {kind} is empty");
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Boundary values for lengths and counts.
const ODD: [u8; 8] = [0, 1, 3, 0x40, 0x7f, 0x80, 0xfe, 0xff];

fn mutate(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    for _ in 0..dice.between(1, 6) {
        let last = bytes.len().saturating_sub(1) as u32;
        let at = dice.between(0, last) as usize;
        match dice.between(0, 6) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << dice.between(0, 7),
            1 if !bytes.is_empty() => bytes[at] = ODD[dice.between(0, 7) as usize],
            2 if !bytes.is_empty() => bytes[at] = dice.word() as u8,
            3 => bytes.truncate(at),
            4 => bytes.insert(at, dice.word() as u8),
            5 if !bytes.is_empty() => {
                bytes.remove(at);
            }
            _ if !other.is_empty() => {
                let from = dice.between(0, other.len() as u32 - 1) as usize;
                let piece = &other[from..];
                bytes.splice(at.., piece.iter().copied());
            }
            _ => {}
        }
    }
    bytes.truncate(8192);
}

fn run(kind: &str, target: fn(&[u8])) {
    let corpus = corpus(kind);
    for (number, input) in corpus.iter().enumerate() {
        guarded(input, target, &format!("corpus {kind}, file {number}"));
    }
    for seed in 0..runs() {
        let mut dice = Dice::new(seed);
        let pick = |dice: &mut Dice| dice.between(0, corpus.len() as u32 - 1) as usize;
        let (one, other) = (pick(&mut dice), pick(&mut dice));
        let mut input = corpus[one].clone();
        mutate(&mut input, &corpus[other], &mut dice);
        guarded(&input, target, &format!("{kind}, seed {seed}"));
    }
}

fn guarded(input: &[u8], target: fn(&[u8]), which: &str) {
    let outcome = std::panic::catch_unwind(|| target(input));
    if outcome.is_err() {
        let digits: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
        panic!("{which} fails on {digits}");
    }
}

#[test]
fn parsers_stand_any_bytes() {
    run("text", stormeter_iscsi::fuzz::parsers);
}

#[test]
fn a_session_stands_any_target() {
    // A corpus without effect would show nothing.
    let corpus = corpus("session");
    let completed: usize = corpus.iter().map(|input| stormeter_iscsi::fuzz::session(input)).sum();
    assert!(completed >= 6, "{completed} operations completed");
    run("session", |bytes| {
        stormeter_iscsi::fuzz::session(bytes);
    });
}
