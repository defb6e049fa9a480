//! The machine on which a comparison ran, as plain data: a result without it cannot be repeated.
//!
//! Whoever runs the comparison fills it in; what cannot be found out stays `None` or empty.

use serde::{Deserialize, Serialize};

/// The machine and its settings, read once before the first trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The machine's name, unless the user asked to leave it out.
    pub hostname: Option<String>,
    /// Name, release and version of the kernel, as `uname` gives them.
    pub kernel: String,
    /// The distribution, as `/etc/os-release` names it.
    pub operating_system: Option<String>,
    /// Processor architecture, as `uname -m` gives it.
    pub architecture: String,
    /// The processor's model name.
    pub cpu_model: Option<String>,
    /// CPUs that this process may run on.
    pub cpus: u32,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// What the driver times with: `tsc` (calibrated) or the kernel's clock source.
    pub clock_source: Option<String>,
    /// The CPU frequency governor; several are joined by commas.
    pub governor: Option<String>,
    /// Mitigations of processor flaws that are in force, one line each.
    pub mitigations: Vec<String>,
    /// Load average over 1, 5 and 15 minutes at the start.
    pub load_average: Option<[f64; 3]>,
    /// What the machine runs in, where that shows: a hypervisor's or container's name.
    pub virtualization: Option<String>,
    /// The generator's I/O engine as far as it holds for all datastores.
    pub engine: Option<String>,
    /// What else a reader should know, one sentence each.
    pub notes: Vec<String>,
    /// The hosts that carried out the trials, where that was not this machine alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostDescription>,
}

/// A host that carries out trials, as it was when the run began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostDescription {
    /// Its name in the study.
    pub name: String,
    /// How it is reached, as the study says.
    pub reached_by: String,
    /// The version of the program there.
    pub stormeter_version: String,
    /// Its time of day less that of the machine that leads the study, in nanoseconds.
    pub clock_offset_ns: i64,
    /// The offset is known to plus or minus this: half of the shortest round trip.
    pub clock_error_ns: u64,
    /// The machine.
    pub environment: Environment,
}
