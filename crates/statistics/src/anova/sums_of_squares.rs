//! How much of the squares each term of a model is given.

use serde::{Deserialize, Serialize};

/// What each term is adjusted for. In a balanced design all give the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SumsOfSquares {
    /// The terms before it: the order of the terms matters.
    Sequential,
    /// All terms that do not contain it (type II): the most powerful test of a main effect when
    /// there is no interaction.
    TypeII,
    /// All other terms (type III): compares unweighted means of the cells, with any sizes.
    TypeIII,
}
