//! Sizes and times on the command line. As in files, a number needs its unit: 64 might be meant as
//! 64 MiB, and 10 as ten minutes.

use stormeter_units::{parse_bytes, parse_duration_ns};

/// A size with its unit, in bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    match is_bare(text) {
        true => {
            Err(format!("{text} has no unit: write {text}B, {text}KiB, {text}MiB or {text}GiB"))
        }
        false => parse_bytes(text).map_err(|error| error.to_string()),
    }
}

/// A time with its unit, in nanoseconds.
pub(crate) fn time(text: &str) -> Result<u64, String> {
    match is_bare(text) {
        true => Err(format!("{text} has no unit: write {text}ms, {text}s or {text}m (minutes)")),
        false => parse_duration_ns(text).map_err(|error| error.to_string()),
    }
}

/// Nothing is nothing in every unit.
fn is_bare(text: &str) -> bool {
    text.trim().parse::<f64>().is_ok_and(|number| number != 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_needs_its_unit() {
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(time("10s"), Ok(10_000_000_000));
        assert_eq!((size("0"), time("0")), (Ok(0), Ok(0)));
        assert!(size("64").unwrap_err().contains("64MiB"), "{:?}", size("64"));
        assert!(time("10").unwrap_err().contains("10m (minutes)"), "{:?}", time("10"));
        assert!(size("many").unwrap_err().contains("is not a size"));
    }
}
