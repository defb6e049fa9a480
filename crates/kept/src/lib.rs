//! The results files that a directory keeps: what each is of, how far it got, what it says, and which of them may go.
//!
//! The path: directory → [`candidates`] → [`read_all`] → [`Kept`] → [`terminal`], [`PrintedList`], or [`choose`] and
//! [`delete`]. What a result says is concluded and worded elsewhere: the caller passes in how ([`Summary`]).

mod cache;
mod choice;
mod delete;
mod file;
mod index;
mod list;
mod printed;
mod read;

pub use cache::Cache;
pub use choice::{Choice, Criteria, Stay, choose};
pub use delete::{DeleteError, delete};
pub use file::{Content, Kept, State, Summary};
pub use index::index_row;
pub use list::terminal;
pub use printed::{
    PrintedContent, PrintedList, PrintedResults, SCHEMA, SCHEMA_VERSION, derived_schema,
};
pub use read::{candidates, read_all};
