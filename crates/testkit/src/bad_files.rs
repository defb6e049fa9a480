//! Files with mistakes, each with the expected message in a `.txt` file next to it; and good files with
//! random mutations. For the tests of the crates that read YAML files.
//!
//! With `UPDATE_GOLDEN=1` the messages are rewritten; read them then as the author of such a file would.

use std::fs;
use std::path::{Path, PathBuf};

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_yaml::FileErrors;

/// A crate's bad files and how it reads them.
pub struct BadFiles {
    /// The directory of the files.
    pub directory: PathBuf,
    /// The mistakes in a text; `None` if it is accepted.
    pub mistakes: fn(&str) -> Option<FileErrors>,
}

impl BadFiles {
    /// Checks that each file has its message, and each message its file; there must be at least
    /// `least`.
    pub fn have_their_messages(&self, least: usize) {
        let update = std::env::var_os("UPDATE_GOLDEN").is_some();
        let files = self.files("yaml");
        assert!(files.len() >= least, "{}", files.len());
        let mut wrong = Vec::new();
        for (path, text) in &files {
            let name = path.file_name().unwrap().to_str().unwrap();
            let message = format!("{}\n", self.mistakes_of(path, text).in_file(name));
            let golden = path.with_extension("txt");
            if update {
                fs::write(&golden, &message).unwrap();
            }
            if fs::read_to_string(&golden).ok().as_deref() != Some(&message) {
                wrong.push(message);
            }
        }
        assert!(wrong.is_empty(), "messages that differ from their files:\n\n{}", wrong.join("\n"));
        for (golden, _) in self.files("txt") {
            assert!(golden.with_extension("yaml").exists(), "{}", golden.display());
        }
    }

    /// Mistakes are reported in the order of their positions, which are in the file itself.
    pub fn have_mistakes_in_order_and_in_the_file(&self) {
        for (path, text) in self.files("yaml") {
            let errors = self.mistakes_of(&path, &text).errors;
            let path = path.display();
            assert!(!errors.is_empty(), "{path}");
            assert!(errors.is_sorted_by_key(|error| (error.line, error.column)), "{path}");
            for error in errors {
                assert_eq!(error.source, None, "{path} {error:?}");
                let lines = text.lines().count().max(1);
                assert!((1..=lines + 1).contains(&error.line), "{path} {error:?}");
            }
        }
    }

    /// Whatever is done to a good file, it is accepted or its mistakes are reported: nothing panics, and
    /// nothing is refused without a message. `own` are pieces that mean something in such files. Most of
    /// the texts must be wrong, or the test shows nothing.
    pub fn whatever_is_written_is_answered(&self, good: &str, own: &[&str], texts: u64) {
        let mut taken = 0;
        for seed in 0..texts {
            let text = mutated(good, own, &mut SplitMix64::seed_from_u64(seed));
            match (self.mistakes)(&text) {
                None => taken += 1,
                Some(mistakes) => {
                    assert!(
                        !mistakes.errors.is_empty() && !mistakes.to_string().is_empty(),
                        "seed {seed}"
                    );
                }
            }
        }
        assert!(taken < texts / 5 * 4, "{taken} of {texts}");
    }

    fn mistakes_of(&self, path: &Path, text: &str) -> FileErrors {
        (self.mistakes)(text).unwrap_or_else(|| panic!("{} is taken", path.display()))
    }

    /// The files with an extension, sorted by name, with their texts.
    fn files(&self, ending: &str) -> Vec<(PathBuf, String)> {
        let entries = fs::read_dir(&self.directory).unwrap();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|found| found == ending));
        files.sort();
        files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
    }
}

/// Pieces that have a meaning in YAML, and malformed numbers.
const PIECES: [&str; 29] = [
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

/// A number below the limit; 0 if the limit is 0.
pub fn below(random: &mut SplitMix64, limit: usize) -> usize {
    (random.next_u64() % limit.max(1) as u64) as usize
}

/// The text with up to four changes: a character or a run of them removed, a piece inserted, a part
/// repeated, and now and then the end cut off.
pub fn mutated(text: &str, own: &[&str], random: &mut SplitMix64) -> String {
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
                let piece = below(random, PIECES.len() + own.len());
                let piece = PIECES.iter().chain(own).nth(piece).unwrap();
                text.splice(at..at, piece.chars());
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
