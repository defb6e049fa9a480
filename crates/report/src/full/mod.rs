//! The full layout: many cells, questions with answers, and the activity of the host.
//!
//! There is no single verdict, so the questions come first; there are too many cells for a table each, so a matrix
//! relative to the baseline shows all of them and the details are folded away.

pub(crate) mod assumed;
pub(crate) mod desktops;
pub(crate) mod grid;
pub(crate) mod guests;
pub(crate) mod hosts;
mod matrix;
pub(crate) mod page;
mod remarks;
pub(crate) mod steps;
pub(crate) mod terminal;
pub(crate) mod why;
pub(crate) mod words;

pub(crate) use assumed::{assumed_answers, effects};
pub(crate) use desktops::{desktop_traces, desktops};
pub(crate) use grid::cell_name;
pub(crate) use guests::{guest_traces, guests};
pub(crate) use hosts::hosts;
pub(crate) use steps::disturbed;
pub(crate) use words::tally;

pub use why::shortened as shortened_words;
