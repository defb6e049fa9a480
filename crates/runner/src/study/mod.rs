//! A study from its plan to its last block.
//!
//! Block after block every cell has its turn, in the order that the plan says, until the precision is
//! reached, the blocks are done or the time is up. A trial is in the results file before the next one
//! begins: a run that was killed goes on from there. A trial that fails is counted and told, and the
//! study goes on: of two hundred cells, one that cannot be had is no reason to lose the others.

mod book;
mod ceilings;
mod clock;
mod ending;
mod equal_load;
mod null_ways;
mod order;
mod prediction;
mod request;
mod reset;
mod resume;
mod run;
mod schedule;
mod setting;
mod steps;
mod trial;
mod turn;

pub use order::trial_order;
pub use prediction::run_prediction;
pub use request::{Request, Resume};
pub use reset::ResetError;
pub use run::{Collaborators, finished, run, run_with};
pub use setting::cell_label;
