//! The buckets in which fio counts latencies, so that its histograms have true edges.
//!
//! fio keeps a value below 128 as it is; of a larger one, its 7 leading bits. It prints the middle of a bucket, in
//! percentiles as well as in the bins of JSON+. Values are nanoseconds since fio 2.99, microseconds before.

use super::unit::Unit;

/// Values with this many bits or fewer have a bucket of their own.
const EXACT_BITS: u32 = 7;
/// Buckets of each power of two above them.
const PER_POWER: usize = 64;

/// How many buckets fio has: the last takes everything above.
pub(crate) fn number(unit: Unit) -> usize {
    let powers = match unit {
        Unit::Nanoseconds => 29,
        Unit::Microseconds => 19,
    };
    powers * PER_POWER
}

/// The bucket of a value.
pub(crate) fn of(value: u64, unit: Unit) -> usize {
    let bits = u64::BITS - value.leading_zeros();
    let index = match bits.checked_sub(EXACT_BITS) {
        None | Some(0) => value as usize,
        // The leading 7 bits are 64 to 127; each power of two shifts them by 64.
        Some(dropped) => dropped as usize * PER_POWER + (value >> dropped) as usize,
    };
    index.min(number(unit) - 1)
}

/// The lowest value of a bucket, and that of the next one; `None` above the last.
pub(crate) fn edges(index: usize, unit: Unit) -> (u64, Option<u64>) {
    let index = index.min(number(unit) - 1);
    let next = (index + 1 < number(unit)).then(|| low(index + 1));
    (low(index), next)
}

/// The largest change that the bucket made to a value of it; `None` in the last one, which has no end.
pub(crate) fn half_width(value: u64, unit: Unit) -> Option<f64> {
    match edges(of(value, unit), unit) {
        (low, Some(next)) if next - low == 1 => Some(0.0),
        (low, Some(next)) => Some((next - low) as f64 / 2.0),
        (_, None) => None,
    }
}

fn low(index: usize) -> u64 {
    let dropped = (index / PER_POWER).saturating_sub(1);
    ((index - dropped * PER_POWER) as u64) << dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    const NS: Unit = Unit::Nanoseconds;

    #[test]
    fn printed_middles_fall_into_their_buckets() {
        // From a histogram that fio 3.33 printed.
        for (middle, low, next) in [
            (7, 7, 8),
            (127, 127, 128),
            (2008, 2000, 2016),
            (8896, 8832, 8960),
            (48384, 48128, 48640),
        ] {
            assert_eq!(edges(of(middle, NS), NS), (low, Some(next)), "{middle}");
        }
        assert_eq!(half_width(48384, NS), Some(256.0));
        assert_eq!(half_width(100, NS), Some(0.0));
    }

    #[test]
    fn buckets_touch_and_hold_their_edges() {
        for unit in [Unit::Nanoseconds, Unit::Microseconds] {
            let mut expected = 0;
            for index in 0..number(unit) {
                let (low, next) = edges(index, unit);
                assert_eq!(low, expected);
                assert_eq!(of(low, unit), index);
                if let Some(next) = next {
                    assert_eq!(of(next - 1, unit), index);
                    expected = next;
                }
            }
        }
    }

    #[test]
    fn the_last_bucket_has_no_end() {
        assert_eq!(of(u64::MAX, NS), 1855);
        assert_eq!(edges(1855, NS), (17_045_651_456, None));
        assert_eq!(edges(usize::MAX, Unit::Microseconds), (16_646_144, None));
        assert_eq!(half_width(u64::MAX, NS), None);
    }
}
