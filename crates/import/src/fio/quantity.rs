//! Sizes and times as fio's options have them, such as `4k`, `1.5g`, `10m`.

/// A size in bytes. Without a base of 1000, `k` is 1024 and `ki` is 1000, which is what fio does.
pub(crate) fn bytes(text: &str, base_is_1000: bool) -> Option<u64> {
    let (number, suffix) = split(text)?;
    let suffix = suffix.strip_suffix('b').unwrap_or(&suffix);
    let (prefix, other) = match suffix.strip_suffix('i') {
        Some(prefix) if !prefix.is_empty() => (prefix, true),
        _ => (suffix, false),
    };
    let power = match prefix {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    let base: f64 = if base_is_1000 == other { 1024.0 } else { 1000.0 };
    let bytes = number * base.powi(power);
    (bytes < 9e18 && bytes.fract() == 0.0).then_some(bytes as u64)
}

/// A time in seconds; seconds are what a number without a unit means.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let (number, suffix) = split(text)?;
    let factor = match suffix.as_str() {
        "" | "s" | "sec" => 1.0,
        "ms" | "msec" => 1e-3,
        "us" | "usec" => 1e-6,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Some(number * factor)
}

/// A whole number.
pub(crate) fn whole(text: &str) -> Option<u64> {
    bytes(text, false)
}

/// The value that a kind of I/O has of one that may list three, for reads, writes and trims: the last one
/// that is given counts for the rest, and an empty one means the default.
pub(crate) fn of_kind(text: &str, kind: usize) -> Option<&str> {
    let parts: Vec<&str> = text.split(',').take(3).map(str::trim).collect();
    parts.get(kind).or(parts.last()).copied().filter(|part| !part.is_empty())
}

fn split(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return Some((u64::from_str_radix(digits, 16).ok()? as f64, String::new()));
    }
    let end = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, suffix) = lower.split_at_checked(end)?;
    let number: f64 = number.parse().ok().filter(|number: &f64| number.is_finite())?;
    Some((number, suffix.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_base_of_fio() {
        for (text, expected) in [
            ("4k", 4096),
            ("4KB", 4096),
            ("1ki", 1000),
            ("1.5g", 1_610_612_736),
            ("512", 512),
            ("0x200", 512),
            ("1b", 1),
        ] {
            assert_eq!(bytes(text, false), Some(expected), "{text}");
        }
        assert_eq!(bytes("4k", true), Some(4000));
        assert_eq!(bytes("4kib", true), Some(4096));
        for text in ["", "20%", "4k-8k", "k", "4x", "i", "-1"] {
            assert_eq!(bytes(text, false), None, "{text}");
        }
    }

    #[test]
    fn times_are_seconds_without_a_unit() {
        for (text, expected) in [("60", 60.0), ("10m", 600.0), ("1h", 3600.0), ("250ms", 0.25)] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        assert_eq!(seconds("soon"), None);
    }

    #[test]
    fn lists_count_for_reads_writes_and_trims() {
        assert_eq!(of_kind("4k", 1), Some("4k"));
        assert_eq!(of_kind("4k,8k", 0), Some("4k"));
        assert_eq!(of_kind("4k,8k", 2), Some("8k"));
        assert_eq!(of_kind(",8k", 0), None);
        assert_eq!(of_kind("8k,32k,", 2), None);
    }
}
