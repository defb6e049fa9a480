//! What a ceiling is measured of: findings and the analysis name it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a ceiling is measured of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CeilingKind {
    /// The load generator alone, on nothing.
    Generator,
    /// The generator and the client of a protocol, with a server on this machine that answers without storage.
    NullServer,
    /// The path to a datastore, measured as the study says.
    NamedWay,
}
