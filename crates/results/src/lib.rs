//! The results file: one SQLite file a run, one transaction a trial.
//!
//! It is the evidence and the checkpoint: the plan, the machine, every trial with its intervals and
//! histograms, and why it ended. A run that is killed at any moment loses at most the trial in
//! flight. The tables are also meant for people: `sqlite3`, DuckDB, pandas and R read them without
//! this program (see `schema.sql`).
//!
//! Nothing here computes a statistic; the figures stored with a trial (IOPS, percentiles) are those
//! of that trial alone.
//!
//! A file with a trial that failed, written and read:
//!
//! ```
//! use stormeter_results::{
//!     Attempt, DatastoreDescription, Environment, Header, Phase, ResultsFile, TrialOutcome,
//!     TrialRecord,
//! };
//! use stormeter_study::parse_study;
//! use stormeter_trial::TrialFailure;
//!
//! let plan = parse_study("{study: Which?, datastores: {a: /srv/vm, b: /mnt/nas}, baseline: a}")?;
//! let datastore = |url: &String| DatastoreDescription { url: url.clone(), ..Default::default() };
//! let header = Header {
//!     created_unix_ms: 1_790_000_000_000,
//!     run_id: "5f2c".into(),
//!     stormeter_version: "0.1.0".into(),
//!     command_line: vec!["stormeter".into(), "run".into(), "which.yaml".into()],
//!     datastores: plan.datastores.iter().map(|named| datastore(&named.url)).collect(),
//!     plan,
//!     environment: Environment::default(),
//!     prediction: None,
//! };
//! let trial = TrialRecord {
//!     id: 0,
//!     block: 0,
//!     position: 0,
//!     datastore: Some(1),
//!     cell: Some(1),
//!     phase: Phase::Main,
//!     started_unix_ms: 1_790_000_001_000,
//!     elapsed_ns: 2_000_000_000,
//!     seed: 1,
//!     outcome: TrialOutcome::Failed {
//!         failure: TrialFailure::Datastore { said: "/mnt/nas is read-only".into() },
//!         sample: None,
//!     },
//!     incidents: vec![],
//!     monitor: vec![],
//!     guests: vec![],
//!     components: vec![],
//!     attempt: Attempt::default(),
//! };
//!
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("which.db");
//! let mut file = ResultsFile::create(&path, &header)?;
//! // From here on the trial is on disk, whatever happens to this process.
//! file.append_trial(&trial, &[])?;
//! drop(file);
//!
//! let file = ResultsFile::open(&path)?;
//! assert_eq!(file.header()?, header);
//! assert_eq!(file.trials()?, [trial]);
//! assert_eq!(file.finished()?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assumed;
mod column;
mod comparison;
mod component;
mod desktop;
mod disturbance;
mod early;
mod environment;
mod error;
mod fact;
mod file;
mod finished;
mod format;
mod guest;
mod header;
mod host;
mod imported;
mod incident;
mod issue;
mod lock;
mod monitor;
mod note;
mod plan_check;
mod read;
mod settled;
mod step;
mod trial;
mod verified;
mod write;

pub use assumed::{AssumedEffect, OtherValue};
pub use component::Elasticity;
pub use environment::{Environment, EnvironmentNote, HostDescription};
pub use error::ResultsError;
pub use file::ResultsFile;
pub use finished::{Event, EventKind, FinishReason, Finished, IdleReading, SharedFileSystem};
pub use format::FORMAT_VERSION;
pub use header::{DatastoreDescription, Header, ModelError, Prediction};
pub use host::HostShare;
pub use imported::{
    FORMAT_VERSION as IMPORTED_FORMAT_VERSION, ImportedSource, read_imported, write_imported,
};
pub use stormeter_disk::{
    Acknowledged, ClusterTrouble, DatastoreFact, DatastoreNote, EngineNote, FoundData, Incident,
    Io, Promise, PromiseEvidence, Said, Sharing, StalePart, StorageEvent,
};
pub use trial::{Attempt, Phase, TrialOutcome, TrialRecord};
