//! Sample files with random damage: whatever comes out, it is no panic. A run is repeated by its seed, which is its
//! number; `STORMETER_FUZZ_RUNS` says how many there are per file.

use crate::error::ImportError;
use crate::run::Imported;
use crate::{diskspd, elbencho, hcibench, hdr, iometer, iozone, iperf3, kbench, kubestr, vdbench};

#[path = "../tests/damage/mod.rs"]
mod damage;

use damage::damaged;

type Format = (&'static str, fn(&str) -> bool, fn(&str) -> Result<Imported, ImportError>);

const FORMATS: [Format; 10] = [
    (diskspd::NAME, diskspd::is, diskspd::read),
    (elbencho::NAME, elbencho::is, elbencho::read),
    (hcibench::NAME, hcibench::is, hcibench::read),
    (hdr::NAME, hdr::is, hdr::read),
    (iometer::NAME, iometer::is, iometer::read),
    (iozone::NAME, iozone::is, iozone::read),
    (iperf3::NAME, iperf3::is, iperf3::read),
    (kbench::NAME, kbench::is, kbench::read),
    (kubestr::NAME, kubestr::is, kubestr::read),
    (vdbench::NAME, vdbench::is, vdbench::read),
];

macro_rules! samples {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../tests/files/", $path)))),*]
    };
}

/// Every sample, with its path.
const SAMPLES: &[(&str, &str)] = &samples![
    "diskspd/two-targets.xml",
    "elbencho/results.csv",
    "elbencho/results.json",
    "hcibench/fio-res.txt",
    "hcibench/vdbench-res.txt",
    "hdrhistogram/intervals.hlog",
    "hdrhistogram/percentiles.csv",
    "hdrhistogram/percentiles.txt",
    "iometer/results-1.1.csv",
    "iometer/results-2006.csv",
    "iozone/operations.txt",
    "iozone/report.txt",
    "iozone/table.txt",
    "iozone/throughput.txt",
    "iperf3/bidir.json",
    "iperf3/error.json",
    "iperf3/reverse.json",
    "iperf3/tcp.json",
    "iperf3/udp.json",
    "kbench/one.summary",
    "kbench/two.summary",
    "kubestr/fio.json",
    "vdbench/flatfile.html",
    "vdbench/histogram.html",
];

#[test]
fn every_sample_is_of_one_format() {
    for (path, text) in SAMPLES {
        let of: Vec<_> =
            FORMATS.iter().filter(|(_, is, _)| is(text)).map(|format| format.0).collect();
        assert_eq!(of.len(), 1, "{path}: {of:?}");
    }
}

#[test]
fn damage_never_panics() {
    let runs: u64 =
        std::env::var("STORMETER_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(500);
    for (path, text) in SAMPLES {
        let (_, _, read) = FORMATS.iter().find(|(_, is, _)| is(text)).unwrap();
        for seed in 1..=runs {
            let damaged = damaged(text, seed);
            let outcome = std::panic::catch_unwind(|| {
                // A damaged file may also look like one of another format.
                for (_, is, other) in &FORMATS {
                    if is(&damaged) {
                        let _ = other(&damaged);
                    }
                }
                let _ = read(&damaged);
            });
            assert!(outcome.is_ok(), "{path}, run {seed}");
        }
    }
}

/// Every prefix that is cut at a line is refused, or is what a shorter run would have written.
#[test]
fn prefixes_give_less_or_nothing() {
    for (path, text) in SAMPLES {
        let (_, _, read) = FORMATS.iter().find(|(_, is, _)| is(text)).unwrap();
        let whole = read(text).map_or(0, |imported| imported.runs.len());
        for (at, _) in text.match_indices('\n') {
            let runs = read(&text[..=at]).map_or(0, |imported| imported.runs.len());
            assert!(runs <= whole, "{path}, {at}");
        }
    }
}

/// Time grows with the text and not with its square: these would take minutes.
#[test]
fn long_files_are_read_in_one_pass() {
    for (_, text) in SAMPLES {
        let (_, _, read) = FORMATS.iter().find(|(_, is, _)| is(text)).unwrap();
        let long = text.repeat((2 << 20) / text.len());
        let _ = read(&long);
        let _ = read(&format!("{text}{}", "<a>".repeat(1 << 19)));
        let _ = read(&format!("{text}{}", "\"1\" ".repeat(1 << 19)));
    }
}
