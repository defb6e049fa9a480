//! Whole runs compared: whether storage got slower since earlier runs, a decision for scripts and for continuous
//! integration; sides, and a time line, for people.
//!
//! A run is one results file, of this program or of another. [`gate`] compares new runs with earlier ones, cell by
//! cell, where both were made alike; `stormeter_statistics::gate` judges. The path: files → [`GateRun`] → [`Gate`] →
//! text, JSON, JUnit, annotations or Markdown; or [`GateRun`] → [`sides()`] or
//! [`timeline()`] → what the crate `report` shows. Pure: the caller reads the files.

mod decide;
mod likeness;
mod matching;
mod of_import;
mod of_results;
mod outputs;
mod printed;
mod run;
mod sides;
mod timeline;
mod words;

pub use decide::{CellJudgement, Gate, GateError, GateOptions, GateOutcome, gate};
pub use likeness::Difference;
pub use matching::NamedRuns;
pub use of_import::of_import;
pub use of_results::of_results;
pub use outputs::{annotations, junit, markdown};
pub use printed::{PrintedCell, PrintedGate, SCHEMA, SCHEMA_VERSION, derived_schema};
pub use run::{Aspect, GateCell, GateRun};
pub use sides::{SidesError, SidesOptions, by_datastore, compared_metrics, sides};
pub use timeline::{NamedRun, TimelineError, timeline};
pub use words::terminal;
