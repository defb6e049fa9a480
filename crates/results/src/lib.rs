//! The results file: one SQLite file per comparison or study, one transaction per trial.
//!
//! It is the evidence and the checkpoint: the plan, the machine, every trial with its intervals and
//! histograms, and why it ended. A run that is killed at any moment loses at most the trial in
//! flight. The tables are also meant for people: `sqlite3`, DuckDB, pandas and R read them without
//! this program (see `schema.sql`).
//!
//! Nothing here computes a statistic; the figures stored with a trial (IOPS, percentiles) are those
//! of that trial alone.

mod component;
mod contents;
mod disturbance;
mod environment;
mod error;
mod fact;
mod file;
mod finished;
mod header;
mod host;
mod issue;
mod lock;
mod monitor;
mod read;
mod settled;
mod step;
mod trial;
mod verified;
mod write;

pub use component::Elasticity;
pub use contents::{Contents, Planned};
pub use environment::{Environment, HostDescription};
pub use error::ResultsError;
pub use file::{FORMAT_VERSION, ResultsFile};
pub use finished::{Event, EventKind, FinishReason, Finished};
pub use header::{DatastoreDescription, Header, Prediction};
pub use host::HostShare;
pub use trial::{Attempt, Incident, Phase, TrialOutcome, TrialRecord};
