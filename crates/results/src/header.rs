//! What a results file says before the first trial.

use serde::{Deserialize, Serialize};
use stormeter_study::{Blocks, ComparisonPlan, Timing};
use stormeter_trial::Memory;

use crate::contents::Planned;
use crate::environment::Environment;

/// Everything that is known before the first trial; written once, never changed. `P` is the plan of
/// a comparison or of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header<P = ComparisonPlan> {
    /// When the run began, in milliseconds since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// Names this run among others; also in the names of its working directories.
    pub run_id: String,
    /// The program that wrote the file, such as `0.1.0`.
    pub stormeter_version: String,
    /// The command and its arguments. Passwords have been taken out by the caller.
    pub command_line: Vec<String>,
    /// What is compared and how.
    pub plan: P,
    /// On which machine.
    pub environment: Environment,
    /// The datastores, in the plan's order.
    pub datastores: Vec<DatastoreDescription>,
    /// For what, where it was predicted and not measured.
    #[serde(default)]
    pub prediction: Option<Box<Prediction>>,
}

/// What a study was predicted for. The site is kept as it was written, so that the file says by itself
/// what its figures are of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The site's name.
    pub site: String,
    /// The site file, as it was named.
    pub file: String,
    /// Its text.
    pub text: String,
    /// What was changed in it for further levels of `datastore`, such as `nic=40GbE`.
    pub what_if: Vec<String>,
    /// What was to go wrong, and when.
    pub faults: Vec<String>,
    /// How the study file has trials pass in time and how often, where the prediction is shorter.
    pub shortened_from: Option<(Timing, Blocks)>,
}

/// A datastore as it was found when the run began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatastoreDescription {
    /// Its URL, as given but without a password.
    pub url: String,
    /// `directory`, `device`, `null`, …
    pub kind: String,
    /// Type of the file system it is on, such as `ext4` or `nfs4`.
    pub file_system: Option<String>,
    /// What is mounted there, such as `/dev/sda1` or `nas:/export`.
    pub source: Option<String>,
    /// Mount options, as `/proc/mounts` gives them.
    pub mount_options: Option<String>,
    /// What direct I/O must be a multiple of.
    pub logical_block_bytes: Option<u32>,
    /// Whether the I/O went past the page cache (O_DIRECT).
    pub direct: bool,
    /// What moved the bytes: `io_uring`, `positional`, …
    pub engine: String,
    /// What was agreed with a server, as names and values; empty for storage of the host.
    #[serde(default)]
    pub protocol: Vec<(String, String)>,
    /// Memories on the way that may answer in place of the storage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<Memory>,
    /// What a reader should know, one sentence each (a refused O_DIRECT, a fallback).
    pub notes: Vec<String>,
}

impl<P: Planned> Header<P> {
    /// Whether a run could have written it. A file from elsewhere may say anything, and its numbers
    /// are used as indices and in formulas.
    pub(crate) fn check(&self) -> Result<(), String> {
        let plan = &self.plan;
        plan.check_stored()?;
        if self.datastores.len() != plan.datastore_count() {
            let (found, planned) = (self.datastores.len(), plan.datastore_count());
            return Err(format!("{found} datastores are described and {planned} are planned"));
        }
        // Below a half, an interval on both sides of an estimate is no longer one.
        let level = plan.confidence_level();
        if !(level > 0.5 && level < 1.0) {
            return Err(format!("a confidence level of {level}"));
        }
        Ok(())
    }
}
