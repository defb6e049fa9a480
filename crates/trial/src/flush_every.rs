//! When a disk is flushed, in words: `every 8 writes`, `every write`, `every 10ms`, `never`.
//!
//! Study files, options and reports use the same words. What is printed reads back unchanged.

use stormeter_units::{nearest, parse_duration_ns};

use crate::workload::{FLUSH_INTERVAL_MIN_NS, FlushEvery};

/// Words that do not say when to flush, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlushEveryError {
    /// A number alone.
    #[error("every {0} of what? Write every {0} writes or every {0}ms")]
    NoUnit(String),
    /// A misspelled word.
    #[error("\"{text}\" does not say when to flush; did you mean {meant}?")]
    Mistyped {
        /// The text that was given.
        text: String,
        /// What is similar.
        meant: String,
    },
    /// Anything else.
    #[error(
        "\"{0}\" does not say when to flush; write every 8 writes, every write, every 10ms or never"
    )]
    Unknown(String),
    /// A flush after no write.
    #[error("a flush every 0 writes would flush without end; write every write or every 8 writes")]
    NoWrites,
    /// Flushes too close to each other.
    #[error("a flush every {0} is too often, at least 1ms must pass between two; write every 10ms")]
    TooOften(String),
}

impl FlushEvery {
    /// When it says: `every 8 writes`, `every write`, `every 10ms`; `None` for `never`. Without `every`, in capitals
    /// and with hyphens for spaces it means the same.
    ///
    /// # Errors
    /// It says something else, or would flush without end.
    pub fn parse(text: &str) -> Result<Option<Self>, FlushEveryError> {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().flat_map(parts).collect();
        let words = words.strip_prefix(&["every"]).unwrap_or(&words);
        let unknown = || FlushEveryError::Unknown(text.into());
        match words {
            ["never"] => Ok(None),
            ["write"] => of_writes(1).map(Some),
            [number, word] if is_number(number) => match (number.parse(), *word) {
                (Ok(writes), "writes" | "write") => of_writes(writes).map(Some),
                (Ok(writes), word) => match of_time(&format!("{number}{word}")) {
                    Some(interval) => interval.map(Some),
                    None => Err(match nearest(word, ["writes"]) {
                        Some(_) => mistyped(text, Self::Writes { writes }),
                        None => unknown(),
                    }),
                },
                (Err(_), _) => Err(unknown()),
            },
            [number] if is_number(number) => Err(FlushEveryError::NoUnit((*number).into())),
            [time] => match of_time(time) {
                Some(interval) => interval.map(Some),
                None => Err(match nearest(time, ["write", "never"]) {
                    Some("never") => {
                        FlushEveryError::Mistyped { text: text.into(), meant: "never".into() }
                    }
                    Some(_) => mistyped(text, Self::Writes { writes: 1 }),
                    None => unknown(),
                }),
            },
            _ => Err(unknown()),
        }
    }
}

/// A word and the words that hyphens join it to; a minus stays.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let is_joined = word.starts_with(|first: char| first.is_alphanumeric());
    let joint = move |c: char| is_joined && c == '-';
    word.split(joint)
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok_and(f64::is_finite)
}

fn of_writes(writes: u32) -> Result<FlushEvery, FlushEveryError> {
    match writes {
        0 => Err(FlushEveryError::NoWrites),
        writes => Ok(FlushEvery::Writes { writes }),
    }
}

/// An interval; `None` if it is no duration.
fn of_time(text: &str) -> Option<Result<FlushEvery, FlushEveryError>> {
    let ns = parse_duration_ns(text).ok()?;
    Some(match ns < FLUSH_INTERVAL_MIN_NS {
        true => Err(FlushEveryError::TooOften(text.into())),
        false => Ok(FlushEvery::Interval { ns }),
    })
}

fn mistyped(text: &str, meant: FlushEvery) -> FlushEveryError {
    FlushEveryError::Mistyped { text: text.into(), meant: meant.to_string() }
}

impl std::fmt::Display for FlushEvery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            FlushEvery::Writes { writes: 1 } => write!(f, "every write"),
            FlushEvery::Writes { writes } => write!(f, "every {writes} writes"),
            FlushEvery::Interval { ns } => {
                let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1)];
                let fits = units.into_iter().find(|(_, unit)| ns.is_multiple_of(*unit));
                let (name, unit) = fits.unwrap_or(("ns", 1));
                write!(f, "every {}{name}", ns / unit)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back() {
        let all = [
            (FlushEvery::Writes { writes: 1 }, "every write"),
            (FlushEvery::Writes { writes: 8 }, "every 8 writes"),
            (FlushEvery::Interval { ns: 10_000_000 }, "every 10ms"),
            (FlushEvery::Interval { ns: 5_000_000_000 }, "every 5s"),
            (FlushEvery::Interval { ns: 1_000_000_001 }, "every 1000000001ns"),
        ];
        for (every, words) in all {
            assert_eq!(every.to_string(), words);
            assert_eq!(FlushEvery::parse(words), Ok(Some(every)), "{words}");
        }
    }

    #[test]
    fn shorter_and_joined_words_mean_the_same() {
        let eight = Ok(Some(FlushEvery::Writes { writes: 8 }));
        for words in ["8 writes", "Every 8 Writes", "every-8-writes", " every  8  write "] {
            assert_eq!(FlushEvery::parse(words), eight, "{words}");
        }
        for words in ["write", "every-write", "every 1 writes"] {
            assert_eq!(FlushEvery::parse(words), Ok(Some(FlushEvery::Writes { writes: 1 })));
        }
        for words in ["10ms", "every 10 ms", "0.01s"] {
            assert_eq!(FlushEvery::parse(words), Ok(Some(FlushEvery::Interval { ns: 10_000_000 })));
        }
        assert_eq!(FlushEvery::parse("never"), Ok(None));
    }

    #[test]
    fn each_mistake_is_named_with_what_to_write() {
        let cases = [
            ("8", "every 8 of what?"),
            ("every 8", "every 8 writes or every 8ms"),
            ("every 8 wirtes", "did you mean every 8 writes?"),
            ("every wite", "did you mean every write?"),
            ("nevr", "did you mean never?"),
            ("every 0 writes", "without end"),
            ("every 10us", "1ms"),
            ("0", "every 0 of what?"),
            ("every -8 writes", "does not say when to flush"),
            ("every 1.5 writes", "does not say when to flush"),
            ("every 5000000000 writes", "does not say when to flush"),
            ("every 8 flushes", "does not say when to flush"),
            ("after each commit", "does not say when to flush"),
            ("every", "does not say when to flush"),
            ("", "does not say when to flush"),
            ("every inf writes", "does not say when to flush"),
        ];
        for (text, words) in cases {
            let message = FlushEvery::parse(text).expect_err(text).to_string();
            assert!(message.contains(words), "{text:?}: {message}");
        }
    }
}
