//! The machine as it was when the run started, with its notes as sentences.

use schemars::JsonSchema;
use serde::Serialize;

use crate::phrases;

/// The machine and its settings, read once before the first trial.
#[derive(Serialize, JsonSchema)]
pub(super) struct Environment<'a> {
    /// The host name, unless the user asked to leave it out.
    hostname: Option<&'a str>,
    /// Name, release and version of the kernel, as reported by `uname`.
    kernel: &'a str,
    /// The distribution, as `/etc/os-release` names it.
    operating_system: Option<&'a str>,
    /// Processor architecture, as reported by `uname -m`.
    architecture: &'a str,
    /// The processor's model name.
    cpu_model: Option<&'a str>,
    /// CPUs that this process may run on.
    cpus: u32,
    /// Total memory in bytes.
    memory_bytes: u64,
    /// The driver's time source: `tsc` (calibrated) or the kernel's clock source.
    clock_source: Option<&'a str>,
    /// The CPU frequency governor; several are joined by commas.
    governor: Option<&'a str>,
    /// Active mitigations of processor vulnerabilities, one line each.
    mitigations: &'a [String],
    /// Load average over 1, 5 and 15 minutes at the start.
    load_average: Option<[f64; 3]>,
    /// The hypervisor or container that the machine runs in, if that can be detected.
    virtualization: Option<&'a str>,
    /// The generator's I/O engine, as far as it is the same for all datastores.
    engine: Option<&'a str>,
    /// Other things that a reader should know, one sentence each.
    notes: Vec<String>,
    /// The hosts that ran the trials, if that was not this machine alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<HostDescription<'a>>,
}

/// A host that runs trials, as it was when the run started.
#[derive(Serialize, JsonSchema)]
struct HostDescription<'a> {
    /// Its name in the study.
    name: &'a str,
    /// How it is reached, as written in the study.
    reached_by: &'a str,
    /// The version of the program there.
    stormeter_version: &'a str,
    /// Its time of day minus that of the machine that controls the study, in nanoseconds.
    clock_offset_ns: i64,
    /// Uncertainty of the offset, plus or minus: half of the shortest round trip, in nanoseconds.
    clock_error_ns: u64,
    /// The machine.
    environment: Environment<'a>,
}

impl<'a> Environment<'a> {
    pub(super) fn of(environment: &'a stormeter_results::Environment) -> Self {
        let hosts = environment.hosts.iter().map(|host| HostDescription {
            name: &host.name,
            reached_by: &host.reached_by,
            stormeter_version: &host.stormeter_version,
            clock_offset_ns: host.clock_offset_ns,
            clock_error_ns: host.clock_error_ns,
            environment: Self::of(&host.environment),
        });
        Self {
            hostname: environment.hostname.as_deref(),
            kernel: &environment.kernel,
            operating_system: environment.operating_system.as_deref(),
            architecture: &environment.architecture,
            cpu_model: environment.cpu_model.as_deref(),
            cpus: environment.cpus,
            memory_bytes: environment.memory_bytes,
            clock_source: environment.clock_source.as_deref(),
            governor: environment.governor.as_deref(),
            mitigations: &environment.mitigations,
            load_average: environment.load_average,
            virtualization: environment.virtualization.as_deref(),
            engine: environment.engine.as_deref(),
            notes: environment.notes.iter().map(phrases::environment_note).collect(),
            hosts: hosts.collect(),
        }
    }
}
