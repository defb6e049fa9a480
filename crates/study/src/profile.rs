//! The built-in workloads, each with its source.

use stormeter_driver::{Arrivals, Content, Distribution, SizeShare, Workload};

/// A named workload and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The workload; its name is the profile's.
    pub workload: Workload,
    /// What it stands for, in a line.
    pub summary: &'static str,
    /// Where its figures come from.
    pub source: &'static str,
}

/// A name that is no profile's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no workload {name:?}; the built-in ones are {known}")]
pub struct UnknownProfile {
    name: String,
    known: String,
}

/// One row of the table below: name, request bytes, read %, random %, outstanding, summary, source.
type Row = (&'static str, u32, f64, f64, u32, &'static str, &'static str);

const TR3808: &str = "NetApp TR-3808 (2010): 75 % read, 100 % random, 4 outstanding I/Os a VM";
const VIRTUAL_PHYSICAL: &str =
    "the virtual/physical disk study (2011): sequential writes, one at a time";
const COMMON: &str = "common practice; a corner of the read/write, random/sequential square";

const TABLE: [Row; 8] = [
    ("vm-4k", 4096, 75.0, 100.0, 4, "the mixed load of a general-purpose VM, 4 KiB", TR3808),
    ("vm-8k", 8192, 75.0, 100.0, 4, "the mixed load of a database-like VM, 8 KiB", TR3808),
    ("rand-read-4k", 4096, 100.0, 100.0, 16, "random 4 KiB reads, deep queue", COMMON),
    ("rand-write-4k", 4096, 0.0, 100.0, 16, "random 4 KiB writes, deep queue", COMMON),
    ("seq-read-1m", 1 << 20, 100.0, 0.0, 4, "sequential reads, 1 MiB", COMMON),
    ("seq-write-1m", 1 << 20, 0.0, 0.0, 4, "sequential writes, 1 MiB", COMMON),
    ("seq-write-4k", 4096, 0.0, 0.0, 1, "sequential 4 KiB writes", VIRTUAL_PHYSICAL),
    ("seq-write-32k", 32768, 0.0, 0.0, 1, "sequential 32 KiB writes", VIRTUAL_PHYSICAL),
];

/// All built-in profiles.
pub fn profiles() -> Vec<Profile> {
    TABLE.iter().map(from_row).collect()
}

/// The built-in profile of that name.
pub fn profile(name: &str) -> Result<Profile, UnknownProfile> {
    TABLE.iter().find(|row| row.0 == name).map(from_row).ok_or_else(|| UnknownProfile {
        name: name.into(),
        known: TABLE.map(|row| row.0).join(", "),
    })
}

fn from_row(
    &(name, bytes, read_percent, random_percent, outstanding, summary, source): &Row,
) -> Profile {
    let workload = Workload {
        name: name.into(),
        sizes: vec![SizeShare { bytes, share: 1.0 }],
        read_percent,
        random_percent,
        distribution: Distribution::Uniform,
        alignment_bytes: None,
        arrivals: Arrivals::Closed { outstanding },
        burst: None,
        content: Content::default(),
    };
    Profile { workload, summary, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_can_be_driven_and_found() {
        for Profile { workload, summary, source } in profiles() {
            assert_eq!(workload.check(1 << 30), Ok(()), "{}", workload.name);
            assert_eq!(profile(&workload.name).unwrap().workload, workload);
            assert!(!summary.is_empty() && !source.is_empty());
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = profile("vm-5k").unwrap_err().to_string();
        assert!(message.contains("vm-5k") && message.contains("vm-4k, vm-8k"), "{message}");
    }
}
