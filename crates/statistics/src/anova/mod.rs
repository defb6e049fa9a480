//! Analysis of variance.

mod table;

pub use table::{AnovaRow, AnovaTable};
