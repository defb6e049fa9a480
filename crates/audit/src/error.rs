//! Why a table cannot be audited.

use thiserror::Error;

/// A mistake of the file that shows only when it is computed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {what}")]
pub struct SheetError {
    /// The claim.
    pub place: String,
    /// What is wrong with it.
    pub what: String,
}
