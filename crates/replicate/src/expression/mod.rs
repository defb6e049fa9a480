//! The small language in which a published study states how a figure follows from its tables.
//!
//! Expressions are data of a study rather than code, so that more findings are more rows. The
//! language has numbers, lists and truth values, paths into the tables, arithmetic, comparisons and
//! a fixed set of functions ([`FUNCTIONS`]); it has no variables, no loops and no side effects.
//! `docs/replicate.md` documents it.

mod evaluate;
mod functions;
mod groups;
mod inference;
mod parse;
mod text;
mod value;

pub use evaluate::Scope;
pub use functions::{FUNCTIONS, Function};
pub use text::{Template, TemplatePart};
pub use value::Value;

use thiserror::Error;

/// Why an expression cannot be read or evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what} (at character {column} of the expression)")]
pub struct ExpressionError {
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there and what to do.
    pub what: String,
}

impl ExpressionError {
    fn new(column: usize, what: impl Into<String>) -> Self {
        Self { column, what: what.into() }
    }
}

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// As written.
    pub text: String,
    root: Node,
}

/// A part of an expression with the position where it starts, in characters from 1.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    column: usize,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Number(f64),
    /// `table.column` or `table.key.column`.
    Path(Vec<String>),
    Negative(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    Call(&'static Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Differs,
}
