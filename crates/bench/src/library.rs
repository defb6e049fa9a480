//! The other side of the network comparisons: another project's library, driven by a small program
//! of ours that does nothing else, compiled when needed; or by QEMU, as in hypervisors.
//!
//! The first is the library at its best: no latencies are measured, nothing is copied. The second
//! is a whole load generator, like ours.

use std::fs;

use tempfile::TempDir;

use crate::failure::Failure;
use crate::fio::Stop;
use crate::process::{self, Ended};

/// A program's source, and its dependencies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    /// The library's name for the linker and pkg-config.
    library: &'static str,
    text: &'static str,
    /// The Debian package.
    package: &'static str,
}

/// Random reads through libnfs.
pub(crate) const LIBNFS: Source = Source {
    library: "libnfs",
    text: include_str!("../peers/libnfs_read.c"),
    package: "libnfs-dev",
};

/// Random reads or writes through libiscsi.
pub(crate) const LIBISCSI: Source = Source {
    library: "libiscsi",
    text: include_str!("../peers/libiscsi_drive.c"),
    package: "libiscsi-dev",
};

/// A compiled program, removed when this is dropped.
pub(crate) struct Program {
    scratch: TempDir,
    library: &'static str,
}

/// The command to run, except for its duration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReferenceTool {
    /// The library, and what drives it if that is not our program.
    pub(crate) name: String,
    words: Vec<String>,
    /// How many I/Os take about a millisecond, if it accepts counts rather than times.
    counted_per_ms: Option<u64>,
}

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    pub(crate) operations: u64,
    pub(crate) iops: f64,
}

impl Source {
    /// Compiles it.
    pub(crate) fn build(&self) -> Result<Program, Failure> {
        let scratch = TempDir::with_prefix("stormeter-bench").map_err(|e| e.to_string())?;
        let path = |name: &str| scratch.path().join(name).display().to_string();
        let source = path("source.c");
        fs::write(&source, self.text).map_err(|error| format!("{source}: {error}"))?;
        let link = self.library.replacen("lib", "-l", 1);
        let words = ["cc", "-O2", "-o", &path("program"), &source, &link].map(str::to_owned);
        process::run(&words).map_err(|reason| {
            format!(
                "the program that drives {} cannot be compiled; run cargo xtask peers, or apt-get \
                 install gcc libc6-dev {}\n{reason}",
                self.library, self.package
            )
        })?;
        Ok(Program { scratch, library: self.library })
    }

    /// The library with its version, as far as that can be determined.
    pub(crate) fn version(&self) -> String {
        let words = ["pkg-config", "--modversion", self.library].map(str::to_owned);
        match process::run(&words) {
            Ok(ended) => format!("{} {}", self.library, ended.output.trim()),
            Err(_) => format!("{} of unknown version", self.library),
        }
    }

    /// The library in QEMU: 4 KiB sequentially, because it supports no other order, with this queue
    /// depth.
    pub(crate) fn in_qemu(&self, url: &str, is_write: bool, outstanding: u32) -> ReferenceTool {
        let mut words: Vec<String> =
            ["qemu-img", "bench", "-f", "raw", "-t", "none", "-s", "4096", "-S", "4096", "-d"]
                .map(str::to_owned)
                .into();
        words.push(outstanding.to_string());
        if is_write {
            words.push("-w".into());
        }
        words.push(url.into());
        // On loopback one takes about a tenth of a millisecond.
        let counted_per_ms = Some(u64::from(outstanding.min(4) * 8));
        ReferenceTool { name: format!("{} in QEMU", self.library), words, counted_per_ms }
    }
}

impl Program {
    /// The program with arguments.
    pub(crate) fn reference(&self, arguments: &[&str]) -> ReferenceTool {
        let program = self.scratch.path().join("program").display().to_string();
        let arguments = arguments.iter().map(|&word| word.to_owned());
        let words = std::iter::once(program).chain(arguments).collect();
        ReferenceTool { name: self.library.into(), words, counted_per_ms: None }
    }
}

impl ReferenceTool {
    /// Runs it, under another command if there are `before` words.
    pub(crate) fn run(&self, before: &[String], stop: Stop) -> Result<(Report, Ended), Failure> {
        let counted = self.counted_per_ms.map(|per_ms| match stop {
            Stop::Operations(count) => count,
            Stop::Milliseconds(ms) => ms * per_ms,
        });
        let length = match (counted, stop) {
            (Some(count), _) => ["-c".to_owned(), count.to_string()],
            (None, Stop::Operations(count)) => ["ops".to_owned(), count.to_string()],
            (None, Stop::Milliseconds(ms)) => ["ms".to_owned(), ms.to_string()],
        };
        let words = [before, &self.words, &length].concat();
        let ended = process::run(&words).map_err(|reason| {
            format!("{reason}\nif {} is not installed: cargo xtask peers", self.name)
        })?;
        let report = match counted {
            Some(count) => parse_qemu(&ended.output, count),
            None => parse(&ended.output),
        };
        let report =
            report.ok_or_else(|| format!("{} printed \"{}\"", words.join(" "), ended.output))?;
        Ok((report, ended))
    }
}

/// Parses the output of our programs.
fn parse(output: &str) -> Option<Report> {
    let (operations, seconds) = output.trim().split_once(' ')?;
    report(operations.parse().ok()?, seconds.parse().ok()?)
}

/// Parses QEMU's last line: `Run completed in 1.234 seconds.`
fn parse_qemu(output: &str, operations: u64) -> Option<Report> {
    let line = output.lines().last()?.strip_prefix("Run completed in ")?;
    report(operations, line.strip_suffix(" seconds.")?.parse().ok()?)
}

fn report(operations: u64, seconds: f64) -> Option<Report> {
    (seconds > 0.0).then(|| Report { operations, iops: operations as f64 / seconds })
}

#[cfg(test)]
mod tests {
    use stormeter_server::{NullIscsi, NullNfs};

    use super::*;

    const OPERATIONS: u64 = 500;

    fn operations(reference: &ReferenceTool) -> u64 {
        reference.run(&[], Stop::Operations(OPERATIONS)).unwrap().0.operations
    }

    #[test]
    fn a_report_is_operations_and_seconds() {
        let expected = Some(Report { operations: 500, iops: 2000.0 });
        assert_eq!(parse("500 0.25\n"), expected);
        for text in ["", "500", "500 0.0", "many 1.0", "1 2 3"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse_qemu("Sending 500…\nRun completed in 0.250 seconds.\n", 500), expected);
        assert_eq!(parse_qemu("Run completed in no time.\n", 500), None);
    }

    #[test]
    fn a_library_that_is_missing_is_named_with_its_package() {
        let source = Source { text: "#include <no/such.h>\n", ..LIBNFS };
        let failure = source.build().err().unwrap();
        for part in ["cargo xtask peers", "libnfs-dev", "no/such.h"] {
            assert!(failure.contains(part), "{part}: {failure}");
        }
    }

    #[test]
    fn libnfs_reads_as_often_as_asked() {
        let server = NullNfs::bind(0).unwrap().spawn().unwrap();
        let port = server.port();
        let url = format!("nfs://127.0.0.1/null?nfsport={port}&mountport={port}");
        let libnfs = LIBNFS.build().unwrap();
        assert_eq!(operations(&libnfs.reference(&[&url, "/disk", "1048576", "7"])), OPERATIONS);
        let failure = libnfs.reference(&[&url, "/disk", "0", "7"]).run(&[], Stop::Operations(1));
        assert!(failure.unwrap_err().contains("nothing to read"));
    }

    #[test]
    fn libiscsi_reads_and_writes_as_often_as_asked() {
        let target = NullIscsi::bind(0).unwrap();
        let url = format!("iscsi://127.0.0.1:{}/{}/0", target.port(), target.target());
        let _running = target.spawn().unwrap();
        let libiscsi = LIBISCSI.build().unwrap();
        for what in ["read", "write"] {
            let reference = libiscsi.reference(&[what, &url, "4096", "1048576", "7"]);
            assert_eq!(operations(&reference), OPERATIONS);
            assert_eq!(operations(&LIBISCSI.in_qemu(&url, what == "write", 7)), OPERATIONS);
        }
    }
}
