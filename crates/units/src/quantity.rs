//! Bytes, durations and percentages as people write and read them.
//!
//! Inside the engine everything is bytes and nanoseconds; this is the only place where text becomes
//! those and back. IEC units (1 KiB = 1024 bytes) throughout; a bare `K`, `M`, `G`, `T` is read as
//! IEC too, because that is what the size options of every storage tool mean by it. `KB`, `MB`, …
//! are decimal, as in the SI.

/// Text that is not a quantity, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a {what}; write it like {example}")]
pub struct UnitError {
    /// The text that was given.
    pub text: String,
    /// What was expected: `size`, `duration`, `percentage`.
    pub what: &'static str,
    /// An example of how to write it.
    pub example: &'static str,
}

/// Reads a size: `4096`, `4KiB`, `4k`, `1.5GiB`, `100MB` (decimal).
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError { text: text.into(), what: "size", example: "4KiB, 64KiB or 10GiB" };
    let (number, suffix) = split(text);
    let number: f64 = number.parse().map_err(|_| error())?;
    let factor: f64 = match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024f64.powi(2),
        "g" | "gib" => 1024f64.powi(3),
        "t" | "tib" => 1024f64.powi(4),
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return Err(error()),
    };
    let bytes = number * factor;
    // 2^53: beyond it a float cannot count single bytes.
    if !(0.0..9.0e15).contains(&bytes) || bytes.fract() != 0.0 {
        return Err(error());
    }
    Ok(bytes as u64)
}

/// Writes a size in the largest IEC unit that leaves at most two decimals.
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut value = bytes as f64;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{}", UNITS[unit])
}

/// Reads a duration into nanoseconds: `500ms`, `20s`, `1.5m`, `2h`; a bare number is seconds.
pub fn parse_duration_ns(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError { text: text.into(), what: "duration", example: "500ms, 20s or 10m" };
    let (number, suffix) = split(text);
    let number: f64 = number.parse().map_err(|_| error())?;
    let factor: f64 = match suffix {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "" | "s" | "sec" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return Err(error()),
    };
    let ns = number * factor;
    if !(0.0..9.0e18).contains(&ns) {
        return Err(error());
    }
    Ok(ns.round() as u64)
}

/// Writes a duration with three significant digits in the unit that fits: `812ns`, `54.1µs`, `2.30s`.
pub fn format_duration_ns(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        v if v < 1e3 => (ns, "ns"),
        v if v < 1e6 => (ns / 1e3, "µs"),
        v if v < 1e9 => (ns / 1e6, "ms"),
        v if v < 120e9 => (ns / 1e9, "s"),
        v if v < 7200e9 => (ns / 60e9, "min"),
        _ => (ns / 3600e9, "h"),
    };
    let digits = match value.abs() {
        v if v >= 100.0 || v == 0.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$}{unit}")
}

/// Reads a percentage into a fraction: `2%`, `0.5 %`; a bare number is per cent too.
pub fn parse_percent(text: &str) -> Result<f64, UnitError> {
    let error = || UnitError { text: text.into(), what: "percentage", example: "2% or 0.5%" };
    let number = text.trim().trim_end_matches('%').trim_end();
    let value: f64 = number.parse().map_err(|_| error())?;
    if value.is_finite() { Ok(value / 100.0) } else { Err(error()) }
}

/// Writes a count with thin groups of three digits, as tables show IOPS: `128 431`.
pub fn format_count(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if value <= -0.5 {
        grouped.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_iec_and_si() {
        for (text, bytes) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4KiB", 4096),
            ("4 KiB", 4096),
            ("1.5GiB", 1_610_612_736),
            ("100KB", 100_000),
            ("10GiB", 10 << 30),
            ("0", 0),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "KiB", "-4k", "4q", "0.3b", "1e99", "99999999999999999999"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_written_size_reads_back() {
        for bytes in [0, 512, 4096, 8192, 1 << 20, 10 << 30, 1536] {
            assert_eq!(parse_bytes(&format_bytes(bytes)), Ok(bytes));
        }
        assert_eq!(format_bytes(1536), "1.5KiB");
    }

    #[test]
    fn durations_are_read_and_written() {
        assert_eq!(parse_duration_ns("500ms"), Ok(500_000_000));
        assert_eq!(parse_duration_ns("2"), Ok(2_000_000_000));
        assert_eq!(parse_duration_ns("1.5m"), Ok(90_000_000_000));
        assert_eq!(parse_duration_ns("10us"), Ok(10_000));
        for text in ["", "fast", "5 parsecs", "-1s"] {
            assert!(parse_duration_ns(text).is_err(), "{text}");
        }
        assert_eq!(format_duration_ns(812.0), "812ns");
        assert_eq!(format_duration_ns(54_120.0), "54.1µs");
        assert_eq!(format_duration_ns(2.3e9), "2.30s");
    }

    #[test]
    fn percentages_become_fractions() {
        assert_eq!(parse_percent("2%"), Ok(0.02));
        assert_eq!(parse_percent("0.5 %"), Ok(0.005));
        assert!(parse_percent("two").is_err());
        assert!(parse_percent("inf%").is_err());
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(format_count(128_431.4), "128 431");
        assert_eq!(format_count(999.0), "999");
        assert_eq!(format_count(-1234.0), "-1 234");
    }
}
