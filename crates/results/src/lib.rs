//! The results file: one SQLite file a comparison or study, one transaction a trial.
//!
//! It is the evidence and the checkpoint: what was planned, where it ran, every trial with its
//! intervals and histograms, and why it ended. A run that was killed at any moment loses at most
//! the trial in flight. The tables are laid out for people too: `sqlite3`, DuckDB, pandas and R
//! read them without this program (see `schema.sql`).
//!
//! Nothing here computes a statistic; the figures beside a trial (IOPS, percentiles) are its own.

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
