//! Published studies, replicated: every finding in one table, as published, as recomputed from the
//! study's own tables, and as answered by measurements.
//!
//! A study is a file of facts (`studies/*/published.yaml`): its tables with the digits as printed, its
//! findings, and for each finding the expression by which it follows from the tables. More tables and
//! findings are more rows and need no code. Pure: text in, tables out.
//!
//! The path: text → [`Published::read`] → [`replicate`] → [`ReplicateTable`] → [`terminal`] or JSON.

mod agreement;
mod answers;
mod embedded;
mod expression;
mod printed;
mod published;
mod read;
mod read_findings;
mod read_sheet;
mod read_tables;
mod replicate;
mod role;
mod sheet;
mod source;
mod table;
mod terminal;

pub use agreement::{ABOUT, Agreement, How, Outcome, expression_range, recompute};
pub use answers::{AnswerSource, AskedAnswer, Observed, ObservedOutcome, SourceAnswer};
pub use embedded::{STUDIES, embedded};
pub use expression::{
    Expression, ExpressionError, FUNCTIONS, Function, Scope, Template, TemplatePart, Value,
};
pub use printed::{Digits, Printed};
pub use published::{Basis, Check, Claim, Computation, Finding, Published, Sound, Survives};
pub use replicate::{
    Recomputed, ReplicateError, ReplicateTable, Row, SCHEMA, SCHEMA_VERSION, SoundResult,
    Soundness, StudyHead, Tally, derived_schema, replicate,
};
pub use role::Role;
pub use sheet::{Base, Better, Limit, PairClaim, Relation, SameClaim, Sheet};
pub use source::ReadError;
pub use stormeter_yaml::FileNote;
pub use table::{Cell, CellPlace, Column, Found, Held, Table, TableCount, Tables};
pub use terminal::{overview, terminal};
