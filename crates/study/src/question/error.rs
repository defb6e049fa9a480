//! A question that is not understood, with what may have been meant.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What can be asked, one line each, as shown by every error.
pub const CAN_BE_ASKED: [&str; 10] = [
    "A is [at least 10%] faster|slower than B [in METRIC]",
    "A is at most 10% slower than B [in METRIC]",
    "A is within 10% of B [in METRIC]",
    "A is equal to B [in METRIC]",
    "A differs from B [in METRIC]",
    "A costs less|more METRIC than B",
    "A has lower|higher METRIC than B",
    "METRIC [does not] depend[s] on FACTOR, FACTOR [and their interaction]",
    "METRIC of A grows|falls with vms|outstanding",
    "METRIC of A is at most|at least 5ms",
];

/// A question that cannot be asked of a study.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub struct QuestionError {
    /// The question as it was written.
    pub text: String,
    /// The column of the error: characters from the left, starting with 1; one more than the length
    /// for the end.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
    /// What could be there; empty if the text was understood but is not possible.
    pub expected: Vec<String>,
    /// The nearest of the possible words.
    pub nearest: Option<String>,
}

impl QuestionError {
    /// The error in one line, where the text itself is shown separately.
    pub fn message(&self) -> String {
        let mut message = self.what.clone();
        if let Some((last, others)) = self.expected.split_last() {
            let list = if others.is_empty() {
                last.clone()
            } else {
                format!("{} or {last}", others.join(", "))
            };
            message.push_str(&format!("; expected {list}"));
        }
        if let Some(nearest) = &self.nearest {
            message.push_str(&format!("; did you mean `{nearest}`?"));
        }
        message
    }
}

impl fmt::Display for QuestionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "column {}: {}", self.column, self.message())?;
        // A tab or a line break in the text must not move the mark.
        let line: String =
            self.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        writeln!(out, "  {line}")?;
        writeln!(out, "  {}^", " ".repeat(self.column.saturating_sub(1)))?;
        writeln!(out, "what can be asked:")?;
        for line in CAN_BE_ASKED {
            writeln!(out, "  {line}")?;
        }
        write!(
            out,
            "with `must` (A must be ..., METRIC must not depend on ...) a no ends the run with 3; \
             `on WORKLOAD`, `at 4 vms`, `with 8 outstanding` and `everywhere` say at which load; \
             `durably` counts only loads whose writes are durable or flushed"
        )
    }
}
