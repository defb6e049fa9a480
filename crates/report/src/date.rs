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
    let february = if days_of_year(year) == 366 { 29 } else { 28 };
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < days {
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
}
