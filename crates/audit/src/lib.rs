//! The laws that any result must obey, applied to results that others made: published tables with their claims, and
//! imported runs of other tools.
//!
//! A law is checked on what is printed: each number is an interval of half a digit either way, so a result is called
//! broken only if no number behind the digits obeys the law, in any meaning of its unit. Findings are plain values;
//! `words` makes sentences of them. Pure: no files, no clocks, no randomness.

mod change;
mod claims;
mod copies;
mod counts;
mod error;
mod finding;
mod fit;
mod identities;
mod law;
mod length;
mod limits;
mod printed;
mod row;
mod runs;
mod sheet;
mod span;
mod statements;
mod summary;
mod tests_of;
mod traffic;
mod twice;
mod unit;
mod words;

pub use error::SheetError;
pub use finding::{Amount, Detail, Explanation, Finding, Level};
pub use law::Law;
pub use printed::{PrintedAudit, PrintedFinding, SCHEMA, SCHEMA_VERSION, derived_schema};
pub use runs::{audit_runs, audit_trials};
pub use sheet::audit_sheet;
pub use span::Span;
pub use words::sentence;
