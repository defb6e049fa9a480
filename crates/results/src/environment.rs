//! The machine on which a comparison ran, as plain data: a result cannot be reproduced without it.
//!
//! The program that runs the comparison fills it in; what cannot be determined stays `None` or
//! empty.

use serde::{Deserialize, Serialize};

/// The machine and its settings, read once before the first trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The host name, unless the user asked to leave it out.
    pub hostname: Option<String>,
    /// Name, release and version of the kernel, as reported by `uname`.
    pub kernel: String,
    /// The distribution, as `/etc/os-release` names it.
    pub operating_system: Option<String>,
    /// Processor architecture, as reported by `uname -m`.
    pub architecture: String,
    /// The processor's model name.
    pub cpu_model: Option<String>,
    /// CPUs that this process may run on.
    pub cpus: u32,
    /// Total memory in bytes.
    pub memory_bytes: u64,
    /// The driver's time source: `tsc` (calibrated) or the kernel's clock source.
    pub clock_source: Option<String>,
    /// The CPU frequency governor; several are joined by commas.
    pub governor: Option<String>,
    /// Active mitigations of processor vulnerabilities, one line each.
    pub mitigations: Vec<String>,
    /// Load average over 1, 5 and 15 minutes at the start.
    pub load_average: Option<[f64; 3]>,
    /// The hypervisor or container that the machine runs in, if that can be detected.
    pub virtualization: Option<String>,
    /// The generator's I/O engine, as far as it is the same for all datastores.
    pub engine: Option<String>,
    /// Other things that a reader should know.
    pub notes: Vec<EnvironmentNote>,
    /// The hosts that ran the trials, if that was not this machine alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostDescription>,
}

/// A note about a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "note")]
pub enum EnvironmentNote {
    /// It is a guest of the lab.
    LabGuest {
        /// What executes its instructions, as QEMU names it: `kvm`, `tcg`.
        accelerator: String,
    },
    /// Stored by a version that kept only the sentence.
    Early {
        /// The sentence.
        said: String,
    },
}

/// A host that runs trials, as it was when the run started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostDescription {
    /// Its name in the study.
    pub name: String,
    /// How it is reached, as written in the study.
    pub reached_by: String,
    /// The version of the program there.
    pub stormeter_version: String,
    /// Its time of day minus that of the machine that controls the study, in nanoseconds.
    pub clock_offset_ns: i64,
    /// Uncertainty of the offset, plus or minus: half of the shortest round trip, in nanoseconds.
    pub clock_error_ns: u64,
    /// The machine.
    pub environment: Environment,
}
