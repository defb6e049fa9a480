//! The header of a results file, written before the first trial.

use serde::{Deserialize, Serialize};
use stormeter_disk::{DatastoreNote, Promise};
use stormeter_study::{Blocks, StudyPlan, Timing};
use stormeter_trial::Memory;

use crate::environment::Environment;
use crate::plan_check::check_plan;

/// Everything that is known before the first trial; written once. `P` is the plan; only files of early
/// forms have another one than a study's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header<P = StudyPlan> {
    /// When the run began, in milliseconds since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// Identifies this run; also part of the names of its working directories.
    pub run_id: String,
    /// The program that wrote the file, such as `0.1.0`.
    pub stormeter_version: String,
    /// The command and its arguments. The caller has removed passwords.
    pub command_line: Vec<String>,
    /// What is compared and how.
    pub plan: P,
    /// The machine.
    pub environment: Environment,
    /// The datastores, in the plan's order.
    pub datastores: Vec<DatastoreDescription>,
    /// What it was predicted for, if it was not measured.
    #[serde(default)]
    pub prediction: Option<Box<Prediction>>,
}

/// The site of a predicted study. The site file is kept as written, so that the results are
/// self-contained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The site's name.
    pub site: String,
    /// The path of the site file, as the user gave it.
    pub file: String,
    /// Its text.
    pub text: String,
    /// Changes to it for further levels of `datastore`, such as `nic=40GbE`.
    pub what_if: Vec<String>,
    /// The injected faults and their times.
    pub faults: Vec<String>,
    /// The study file's timing and number of blocks, if the prediction is shorter.
    pub shortened_from: Option<(Timing, Blocks)>,
    /// By datastore of the plan: how far off the model is. Empty in results of earlier versions.
    #[serde(default)]
    pub model_errors: Vec<ModelError>,
}

/// The factors within which four of five predictions of a model are, of conditions that it was not fitted to; at
/// least 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ModelError {
    /// Of rates: I/Os or bytes a second.
    pub rate: f64,
    /// Of latencies and durations.
    pub latency: f64,
    /// Of CPU times and loads.
    pub cpu: f64,
}

/// A datastore as it was when the run started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatastoreDescription {
    /// Its URL, as given but without a password.
    pub url: String,
    /// `directory`, `device`, `null`, …
    pub kind: String,
    /// Type of the file system it is on, such as `ext4` or `nfs4`.
    pub file_system: Option<String>,
    /// The mounted device or export, such as `/dev/sda1` or `nas:/export`.
    pub source: Option<String>,
    /// Mount options, as `/proc/mounts` gives them.
    pub mount_options: Option<String>,
    /// The required alignment of direct I/O, in bytes.
    pub logical_block_bytes: Option<u32>,
    /// Whether I/O bypassed the page cache (O_DIRECT).
    pub direct: bool,
    /// The I/O engine: `io_uring`, `positional`, …
    pub engine: String,
    /// Parameters negotiated with a server, as names and values; empty for local storage.
    #[serde(default)]
    pub protocol: Vec<(String, String)>,
    /// What an acknowledged write means there; `None` in files from before it was found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
    /// Caches along the path that may answer in place of the storage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<Memory>,
    /// What a reader should know (a refused O_DIRECT, a fallback).
    pub notes: Vec<DatastoreNote>,
}

impl Header {
    /// Whether a run could have written it. A file from elsewhere may say anything, and its numbers
    /// are used as indices and in formulas.
    pub(crate) fn check(&self) -> Result<(), String> {
        check_plan(&self.plan)?;
        let (found, planned) = (self.datastores.len(), self.plan.datastores.len());
        if found != planned {
            return Err(format!("{found} datastores are described and {planned} are planned"));
        }
        Ok(())
    }
}

impl<P> Header<P> {
    /// The same with another plan.
    pub(crate) fn with_plan<Q>(self, plan: Q) -> Header<Q> {
        Header {
            created_unix_ms: self.created_unix_ms,
            run_id: self.run_id,
            stormeter_version: self.stormeter_version,
            command_line: self.command_line,
            plan,
            environment: self.environment,
            datastores: self.datastores,
            prediction: self.prediction,
        }
    }
}
