//! No file makes the importers of fio panic: files that fio wrote are changed at random, and read.
//!
//! The changes are the same in every run of the test. `STORMETER_FUZZ_RUNS` sets how many there are.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

mod random;

use stormeter_import::{FioLogKind, ImportError, Imported, read_fio, read_fio_log};

use crate::random::Random;

/// What is put into files: numbers at the edges, and signs of JSON and of tables.
const PIECES: &[&str] = &[
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "0",
    "1e308",
    "1e999",
    "nan",
    "null",
    "{}",
    "[]",
    "\"",
    "}",
    "{",
    ",",
    ";",
    "%",
    "\n",
    "\u{feff}",
    "é",
    "0x",
    "100.000001",
];

fn mutated(text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(text.len());
        match random.below(6) {
            0 => text.truncate(at),
            1 => {
                if let Some(byte) = text.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            2 => {
                let end = (at + random.below(200)).min(text.len());
                let slice = text[at..end].to_vec();
                let to = random.below(text.len());
                text.splice(to..to, slice);
            }
            3 => {
                let end = (at + random.below(200)).min(text.len());
                text.drain(at..end);
            }
            4 => {
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(at..at, piece.bytes());
            }
            _ => {
                // A number becomes another one.
                let is_digit = |byte: &u8| byte.is_ascii_digit();
                let Some(start) = text[at..].iter().position(is_digit).map(|start| at + start)
                else {
                    continue;
                };
                let length = text[start..].iter().take_while(|byte| is_digit(byte)).count();
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(start..start + length, piece.bytes());
            }
        }
    }
    text
}

fn read(text: &str, kind: FioLogKind) -> [Option<Result<Imported, ImportError>>; 2] {
    [read_fio(text), read_fio_log(text, kind)]
}

#[test]
fn no_file_makes_it_panic() {
    let runs: usize = std::env::var("STORMETER_FUZZ_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(2000);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/fio");
    let mut names: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let files: Vec<Vec<u8>> = names.iter().map(|name| std::fs::read(name).unwrap()).collect();
    assert!(files.len() > 10);
    let kinds = [
        FioLogKind::Latency,
        FioLogKind::CompletionLatency,
        FioLogKind::SubmissionLatency,
        FioLogKind::Bandwidth,
        FioLogKind::Iops,
    ];
    let mut random = Random(0x5707_3e7e);
    let (mut read_well, mut refused) = (0, 0);
    for run in 0..runs {
        let file = &files[run % files.len()];
        let text = String::from_utf8_lossy(&mutated(file, &mut random)).into_owned();
        for result in read(&text, kinds[run % kinds.len()]).into_iter().flatten() {
            match result {
                Ok(imported) => {
                    // What is read can be printed, and no count is absurd.
                    assert!(imported.runs.len() <= text.len());
                    read_well += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
            }
        }
    }
    if runs >= 200 {
        assert!(read_well > 0 && refused > 0, "{read_well} read, {refused} refused");
    }
}
