//! Runs a study from its plan to its last block.
//!
//! In each block every cell has its turn, in the plan's order, until the precision is reached, the blocks are done or the
//! time is up. A trial is in the results file before the next one starts: a killed run is resumed from there. A trial that
//! fails is counted and reported, and the study continues: one cell of two hundred that fails is no reason to lose the
//! others.

mod book;
mod ceilings;
mod clock;
mod ending;
mod equal_load;
mod guest_networks;
mod null_ways;
mod order;
mod prediction;
mod replacement;
mod request;
mod reset;
mod resume;
mod run;
mod schedule;
mod setting;
mod start_reporter;
mod steps;
mod trial;
mod turn;

pub use order::trial_order;
pub use prediction::run_prediction;
pub use request::{Request, Resume};
pub use reset::ResetError;
pub use run::{Collaborators, finished, run, run_with};
pub use setting::cell_label;
