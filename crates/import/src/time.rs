//! Moments as texts write them, in seconds since 1970.

/// A date and time with its zone, such as `2026-03-03T14:05:09.123+0100` (ISO 8601); `None` if it is not one, or has no
/// zone.
pub(crate) fn iso(text: &str) -> Option<f64> {
    let (date, rest) = text.trim().split_once(['T', ' '])?;
    let (clock, offset_min) = match rest.rfind(['+', '-', 'Z']) {
        Some(at) => (rest.get(..at)?, zone(rest.get(at..)?)?),
        None => return None,
    };
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut clock = clock.trim().splitn(3, ':').map(|part| part.parse::<f64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let valid = (1970..10_000).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0.0..24.0).contains(&hour)
        && (0.0..60.0).contains(&minute)
        && (0.0..61.0).contains(&second);
    if !valid {
        return None;
    }
    Some(
        days(year, month, day) as f64 * 86_400.0
            + (hour * 60.0 + minute - offset_min) * 60.0
            + second,
    )
}

/// Minutes east of Greenwich.
fn zone(text: &str) -> Option<f64> {
    if text == "Z" {
        return Some(0.0);
    }
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let digits: String = text.chars().skip(1).filter(|digit| *digit != ':').collect();
    if digits.len() != 4 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let value: f64 = digits.parse().ok()?;
    Some(sign * ((value / 100.0).floor() * 60.0 + value % 100.0))
}

/// Days since 1970 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let past = year - 1;
    let leaps = past / 4 - past / 100 + past / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    let month = usize::try_from(month - 1).unwrap_or(0).min(11);
    (year - 1970) * 365 + leaps + BEFORE[month] + i64::from(leap && month > 1) + day - 1
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn zones_and_leap_years() {
        assert_eq!(iso("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(iso("2026-03-03T14:05:09.5+0100"), Some(1_772_543_109.5));
        assert_eq!(iso("2024-02-29T23:00:00-01:30"), Some(1_709_253_000.0));
        for text in [
            "2026-03-03T14:05:09",
            "2026-13-03T14:05:09Z",
            "",
            "T+",
            "2026-03-03T14:05Z",
            "999999999999999999-03-03T14:05:09Z",
        ] {
            assert_eq!(iso(text), None, "{text}");
        }
    }
}
