//! Quantities as people write them: sizes, durations, percentages and counts as text and back, and suggestions
//! for mistyped words.
//!
//! Inside the program everything is bytes, nanoseconds and fractions. This is the only place where text becomes
//! those and back, so that a size reads the same in a study, on the command line and in a lab file.

mod quantity;
mod spelling;

pub use quantity::*;
pub use spelling::nearest;
