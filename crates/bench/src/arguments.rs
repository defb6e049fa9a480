//! The command line.

use std::path::PathBuf;

use crate::drive::Drive;
use crate::failure::Failure;
use crate::null_server::Protocol;
use crate::number::number;
use crate::simulate::Simulate;
use crate::timed_disk::schedule::{Service, Spread};

const USAGE: &str = "\
usage: stormeter-bench [--short] [--write] [--dir DIR] [--size MIB] [--pairs N] [--only SECTION]
  --short         only the instruction gates, under three minutes
  --write         put the table into docs/performance.md (run from the repository's root)
  --dir DIR       where the test files go; removed at the end [stormeter-bench-tmp]
  --size MIB      size of the test file [1024]
  --pairs N       interleaved pairs of runs [7; of the agreement, flushes, agents and the live page more]
  --only SECTION  null, agent, live, file, agreement, flush, scale, rbd, nfs, iscsi or simulator";

/// What to do.
pub(crate) enum Command {
    /// Measure and compare.
    Bench(Arguments),
    /// Print the names of the sections that a short run has.
    Gates,
    /// Drive once and print the result: one of our measured runs.
    Drive(Drive),
    /// Be an agent on standard input and output.
    Agent,
    /// Simulate once and print the result.
    Simulate(Simulate),
    /// Serve a protocol on a port (0: a free one), without storage, until standard input ends.
    Serve(Protocol, u16),
    /// Serve a disk with programmed service times in a directory, until standard input ends.
    ServeDisk { service: Service, bytes: u64, directory: PathBuf },
}

/// What to measure, and how thoroughly.
pub(crate) struct Arguments {
    pub(crate) short: bool,
    pub(crate) write: Option<PathBuf>,
    pub(crate) directory: PathBuf,
    pub(crate) file_mib: u64,
    pairs: Option<usize>,
    pub(crate) only: Option<String>,
}

/// The default number of interleaved pairs.
const PAIRS: usize = 7;

impl Arguments {
    /// Number of interleaved pairs of runs.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs_or(PAIRS)
    }

    /// Number of interleaved pairs of runs, where a section has its own default.
    pub(crate) fn pairs_or(&self, usual: usize) -> usize {
        self.pairs.unwrap_or(usual)
    }

    /// The command that repeats this, without paths of this machine.
    pub(crate) fn spelled(&self) -> String {
        let mut text = "cargo xtask bench".to_owned();
        if self.short {
            text.push_str(" --short");
        }
        if let Some(only) = &self.only {
            text.push_str(&format!(" --only {only}"));
        }
        if let Some(pairs) = self.pairs {
            text.push_str(&format!(" --pairs {pairs}"));
        }
        text
    }
}

/// Parses the arguments, without the program name.
pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Command, Failure> {
    let mut bench = Arguments {
        short: false,
        write: None,
        directory: "stormeter-bench-tmp".into(),
        file_mib: 1024,
        pairs: None,
        only: None,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value\n{USAGE}"));
        match word.as_str() {
            "drive" => return Drive::parse(words).map(Command::Drive),
            "gates" => return Ok(Command::Gates),
            "agent" => return Ok(Command::Agent),
            "simulate" => return Simulate::parse(words).map(Command::Simulate),
            "serve-null-nfs" => return Ok(Command::Serve(Protocol::Nfs, port(&value()?)?)),
            "serve-null-iscsi" => return Ok(Command::Serve(Protocol::Iscsi, port(&value()?)?)),
            "serve-timed-disk" => {
                let service = Service {
                    servers: number(&value()?)? as u32,
                    mean_ns: number(&value()?)?,
                    spread: Spread::from_name(&value()?).ok_or("no such spread")?,
                    flush_ns: number(&value()?)?,
                };
                let (bytes, directory) = (number(&value()?)?, value()?.into());
                return Ok(Command::ServeDisk { service, bytes, directory });
            }
            "--short" => bench.short = true,
            "--write" => bench.write = Some("docs/performance.md".into()),
            "--dir" => bench.directory = value()?.into(),
            "--size" => bench.file_mib = number(&value()?)?.max(64),
            "--pairs" => bench.pairs = Some(number(&value()?)?.max(1) as usize),
            "--only" => bench.only = Some(value()?),
            _ => return Err(format!("unknown argument {word}\n{USAGE}")),
        }
    }
    Ok(Command::Bench(bench))
}

fn port(text: &str) -> Result<u16, Failure> {
    text.parse().map_err(|_| format!("{text} is not a port"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Command, Failure> {
        parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read() {
        let Ok(Command::Bench(bench)) = words("--short --dir /x --size 256 --write") else {
            panic!("a bench was asked for")
        };
        assert!(bench.short && bench.write.is_some());
        assert_eq!((bench.directory, bench.file_mib), ("/x".into(), 256));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["--shirt", "--size", "--size many", "drive --rate"] {
            assert!(words(text).is_err(), "{text}");
        }
    }
}
