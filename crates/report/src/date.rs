//! Points in time as dates for people: in UTC, so that reports from anywhere can be put in order.

/// `2026-09-21 13:46 UTC` from milliseconds since 1970-01-01 UTC (Gregorian calendar).
pub fn utc(unix_ms: u64) -> String {
    let minutes = unix_ms / 60_000;
    let (mut day, minute_of_day) = (minutes / 1440, minutes % 1440);
    let mut year = 1970;
    // A hostile file may contain any number; years end at 9999.
    while year < 9999 && day >= days_of_year(year) {
        day -= days_of_year(year);
        year += 1;
    }
    let mut month = 1;
    for days in days_of_months(year) {
        if day < days || month == 12 {
            break;
        }
        day -= days;
        month += 1;
    }
    format!(
        "{year}-{month:02}-{:02} {:02}:{:02} UTC",
        day + 1,
        minute_of_day / 60,
        minute_of_day % 60
    )
}

/// Milliseconds since 1970-01-01 UTC of a date such as `2026-11-24`, optionally with a time of that day in UTC
/// (`2026-11-24 14:30`, `2026-11-24T14:30:05Z`), and whether there was one. `None` for any other text.
pub fn unix_ms_of(text: &str) -> Option<(u64, bool)> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let [year, month, day] = numbers(date, '-', &[4, 2, 2])?[..] else { return None };
    let is_there = (1970..=9999).contains(&year) && (1..=12).contains(&month);
    let days = *days_of_months(year).get((month as usize).wrapping_sub(1))?;
    if !is_there || !(1..=days).contains(&day) {
        return None;
    }
    let before: u64 = (1970..year).map(days_of_year).sum();
    let of_year: u64 = days_of_months(year)[..month as usize - 1].iter().sum();
    let seconds = match time {
        None => 0,
        Some(time) => {
            let parts = numbers(time, ':', &[2, 2, 2]).or_else(|| numbers(time, ':', &[2, 2]))?;
            let second = parts.get(2).copied().unwrap_or(0);
            if parts[0] > 23 || parts[1] > 59 || second > 59 {
                return None;
            }
            parts[0] * 3600 + parts[1] * 60 + second
        }
    };
    Some((((before + of_year + day - 1) * 86_400 + seconds) * 1000, time.is_some()))
}

/// Numbers, each of the given number of digits.
fn numbers(text: &str, between: char, digits: &[usize]) -> Option<Vec<u64>> {
    let parts: Vec<&str> = text.split(between).collect();
    let is_so = |(part, digits): (&&str, &usize)| {
        part.len() == *digits && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let fits = parts.len() == digits.len() && parts.iter().zip(digits).all(is_so);
    fits.then(|| parts.iter().map(|part| part.parse().ok()).collect())?
}

fn days_of_months(year: u64) -> [u64; 12] {
    let february = if days_of_year(year) == 366 { 29 } else { 28 };
    [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

fn days_of_year(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference values: `date -u -d @SECONDS`.
    #[test]
    fn moments_are_dates() {
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00 UTC");
        assert_eq!(utc(1_709_251_199_000), "2024-02-29 23:59 UTC");
        assert_eq!(utc(1_735_689_540_000), "2024-12-31 23:59 UTC");
        assert_eq!(utc(1_790_000_000_000), "2026-09-21 14:13 UTC");
        assert!(!utc(u64::MAX).is_empty());
    }

    #[test]
    fn dates_are_moments() {
        for ms in [0, 951_782_400_000, 1_709_251_140_000, 1_735_689_540_000, 1_790_000_000_000] {
            let text = utc(ms);
            let text = text.strip_suffix(" UTC").unwrap();
            assert_eq!(unix_ms_of(text), Some((ms / 60_000 * 60_000, true)), "{text}");
        }
        assert_eq!(unix_ms_of("2000-02-29"), Some((951_782_400_000, false)));
        assert_eq!(unix_ms_of("2024-02-29T23:59:59Z"), Some((1_709_251_199_000, true)));
        for wrong in [
            "",
            "2026",
            "2026-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-1-1",
            "2026-01-00",
            "1969-01-01",
            "2026-01-01 24:00",
            "2026-01-01 12",
            "2026-01-01 12:60",
            "2026-01-01 12:00:60",
            "+026-01-01",
            "24.11.2026",
            "2026-01-01T",
        ] {
            assert_eq!(unix_ms_of(wrong), None, "{wrong}");
        }
    }
}
