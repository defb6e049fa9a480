//! Values of a job file: sizes, times, numbers and lists by direction (HOWTO, "Parameter types").

/// Bytes: `4k`, `1m`, `0x1000`, `512b`. With `kb_base` 1024, fio's default, `4k` and `4kb` are 4096 and `4kib` is
/// 4000; with 1000 it is the other way round, as in the standard.
pub(super) fn size(text: &str, kb_base: u64) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..end].parse().ok()?;
    let unit = &text[end..];
    let power = match unit.chars().next() {
        None | Some('b') => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some(_) => return None,
    };
    let base = match unit.get(1..).unwrap_or_default() {
        "" => kb_base,
        "b" if power > 0 => kb_base,
        "i" | "ib" if power > 0 => {
            if kb_base == 1024 {
                1000
            } else {
                1024
            }
        }
        _ => return None,
    };
    number.checked_mul(u64::checked_pow(base, power)?)
}

/// A share of what exists: `20%`.
pub(super) fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    (0.0..=100.0).contains(&number).then_some(number)
}

/// Nanoseconds: `30s`, `2m`, `1h`; a bare number is in `bare_ns`.
pub(super) fn time_ns(text: &str, bare_ns: u64) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..end].parse().ok()?;
    let unit_ns = match &text[end..] {
        "" => bare_ns,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit_ns)
}

/// A switch: without a value it is on.
pub(super) fn flag(value: Option<&str>) -> Option<bool> {
    match value.map(str::trim) {
        None | Some("1") => Some(true),
        Some("0") => Some(false),
        Some(_) => None,
    }
}

/// Values for reads and for writes, separated by commas; without a comma it is the value of both. `None`: fio's
/// default, as for the writes of `8k,`.
pub(super) fn by_direction(text: &str) -> (Option<&str>, Option<&str>) {
    if !text.contains(',') {
        return (Some(text.trim()), Some(text.trim()));
    }
    let mut parts = text.split(',').map(|part| Some(part.trim()).filter(|part| !part.is_empty()));
    (parts.next().flatten(), parts.next().flatten())
}

/// Parts between colons; `\:` is a colon of the part.
pub(super) fn names(text: &str) -> Vec<String> {
    let escaped = text.replace("\\:", "\0");
    escaped.split(':').map(|part| part.replace('\0', ":")).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_count_as_fio_counts() {
        for (text, bytes) in [
            ("512", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("1m", 1 << 20),
            ("10G", 10 << 30),
            ("4096b", 4096),
            ("0x1000", 4096),
            ("4KiB", 4000),
            ("1mi", 1_000_000),
        ] {
            assert_eq!(size(text, 1024), Some(bytes), "{text}");
        }
        assert_eq!(size("4KiB", 1000), Some(4096));
        assert_eq!(size("4kB", 1000), Some(4000));
        for text in ["", "k", "4x", "4kk", "10z", "-1", "99999999p", "4bb", "20%"] {
            assert_eq!(size(text, 1024), None, "{text}");
        }
        assert_eq!(percent("20%"), Some(20.0));
        assert_eq!(percent("20"), None);
    }

    #[test]
    fn times_are_in_seconds_unless_they_say() {
        const SECOND: u64 = 1_000_000_000;
        for (text, ns) in [
            ("60", 60 * SECOND),
            ("30s", 30 * SECOND),
            ("2m", 120 * SECOND),
            ("1h", 3600 * SECOND),
            ("10ms", SECOND / 100),
            ("5us", 5000),
        ] {
            assert_eq!(time_ns(text, SECOND), Some(ns), "{text}");
        }
        assert_eq!(time_ns("2000", 1000), Some(2_000_000));
        assert_eq!(time_ns("1 s", SECOND), None);
    }

    #[test]
    fn lists_are_split_as_fio_splits() {
        assert_eq!(by_direction("4k,8k,16k"), (Some("4k"), Some("8k")));
        assert_eq!(by_direction("4k"), (Some("4k"), Some("4k")));
        assert_eq!(by_direction(",8k"), (None, Some("8k")));
        assert_eq!(by_direction("8k,"), (Some("8k"), None));
        assert_eq!(names("/dev/sda:/dev/sdb"), ["/dev/sda", "/dev/sdb"]);
        assert_eq!(names("iscsi\\://a/b\\:c/0"), ["iscsi://a/b:c/0"]);
        assert_eq!(flag(None), Some(true));
        assert_eq!(flag(Some("0")), Some(false));
        assert_eq!(flag(Some("yes")), None);
    }
}
