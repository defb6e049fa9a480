//! What people write and what the program counts in: sizes, durations, percentages and counts as text and back,
//! and the word that a mistyped one was meant to be.
//!
//! Inside the program everything is bytes, nanoseconds and fractions. This is the only place where text becomes
//! those and back, so that a size is read alike in a study, on the command line and in a lab's file.

mod quantity;
mod spelling;

pub use quantity::*;
pub use spelling::nearest;
