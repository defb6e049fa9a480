//! Quantities as people write them: sizes, durations, percentages and counts as text and back, and suggestions
//! for mistyped words.
//!
//! Inside the program everything is bytes, nanoseconds and fractions. This is the only place where text becomes
//! those and back, so that a size reads the same in a study, on the command line and in a lab file.
//!
//! From text to numbers and back:
//!
//! ```
//! use stormeter_units::{format_bytes, format_duration_ns, nearest, parse_bytes, parse_duration_ns};
//!
//! assert_eq!(parse_bytes("64KiB")?, 65_536);
//! assert_eq!(format_bytes(parse_bytes("1.5GiB")?), "1.5GiB");
//! assert_eq!(parse_duration_ns("20s")?, 20_000_000_000);
//! assert_eq!(format_duration_ns(1.5e6), "1.50ms");
//!
//! let error = parse_bytes("64 apples").unwrap_err();
//! assert_eq!(error.to_string(), "\"64 apples\" is not a size; write it like 4KiB, 64KiB or 10GiB");
//! assert_eq!(nearest("latancy", ["iops", "latency"]), Some("latency"));
//! # Ok::<(), stormeter_units::UnitError>(())
//! ```

mod by_text;
mod quantity;
mod spelling;

pub use quantity::*;
pub use spelling::nearest;
