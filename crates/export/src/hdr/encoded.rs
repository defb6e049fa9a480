//! A histogram in HdrHistogram's encoding: version 2, in zlib and base64.
//!
//! Three significant digits are the fewest that keep our buckets apart: its slots are half as wide. A bucket counts in
//! the slot of its middle. The crate `hdrhistogram` would do it, but it changes the features of what this workspace
//! shares with it.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use stormeter_trial::Histogram;

/// Cookies of the encoding and of its compressed form. The bits 0x10 say that counts have up to nine bytes.
const COOKIE: u32 = 0x1c84_9313;
const COMPRESSED: u32 = 0x1c84_9314;
const DIGITS: u32 = 3;
/// Bits of a value, after its leading one, that select the slot: the first 2048 slots have one value each.
const SUB_BITS: u32 = 10;
const LOWEST_NS: u64 = 1;
/// Our histograms end here (9.7 h).
const HIGHEST_NS: u64 = (1 << 45) - 1;

/// A slot that has counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    index: u64,
    count: u64,
}

impl Slot {
    /// The highest value in it.
    pub(super) fn highest_ns(self) -> u64 {
        let shift = (self.index >> SUB_BITS).saturating_sub(1);
        let sub = self.index - (shift << SUB_BITS);
        ((sub + 1) << shift) - 1
    }
}

/// The slots in ascending order.
pub(super) fn slots(histogram: &Histogram) -> Vec<Slot> {
    let buckets = histogram.buckets();
    buckets
        .map(|bucket| {
            let middle_ns = bucket.low_ns.midpoint(bucket.high_ns - 1);
            Slot { index: index_of(middle_ns), count: bucket.count }
        })
        .collect()
}

fn index_of(value_ns: u64) -> u64 {
    let leading = u64::BITS - 1 - (value_ns | 1).leading_zeros();
    let shift = leading.saturating_sub(SUB_BITS);
    (u64::from(shift) << SUB_BITS) + (value_ns >> shift)
}

/// The text that a log has.
///
/// # Errors
/// It cannot be compressed.
pub(super) fn encoded(slots: &[Slot]) -> std::io::Result<String> {
    let counts = counts(slots);
    let mut plain = Vec::with_capacity(40 + counts.len());
    plain.extend(COOKIE.to_be_bytes());
    plain.extend((counts.len() as u32).to_be_bytes());
    // No offset of the slots.
    plain.extend(0u32.to_be_bytes());
    plain.extend(DIGITS.to_be_bytes());
    plain.extend(LOWEST_NS.to_be_bytes());
    plain.extend(HIGHEST_NS.to_be_bytes());
    // Values are whole numbers as they are.
    plain.extend(1f64.to_be_bytes());
    plain.extend(counts);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(&plain)?;
    let compressed = zlib.finish()?;
    let mut bytes = COMPRESSED.to_be_bytes().to_vec();
    bytes.extend((compressed.len() as u32).to_be_bytes());
    bytes.extend(compressed);
    Ok(STANDARD.encode(bytes))
}

/// A count for each slot, and for slots without any their number, negative.
fn counts(slots: &[Slot]) -> Vec<u8> {
    let (mut bytes, mut next) = (Vec::new(), 0);
    for slot in slots {
        match slot.index - next {
            0 => {}
            1 => number(&mut bytes, 0),
            empty => number(&mut bytes, -(empty as i64)),
        }
        number(&mut bytes, slot.count as i64);
        next = slot.index + 1;
    }
    bytes
}

/// A number by ZigZag and LEB128: seven bits a byte, the lowest first; the ninth byte has eight.
fn number(bytes: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    for _ in 0..8 {
        if rest < 0x80 {
            bytes.push(rest as u8);
            return;
        }
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        let of = |value| {
            let mut bytes = Vec::new();
            number(&mut bytes, value);
            bytes
        };
        assert_eq!([of(0), of(-1), of(63), of(-64)], [[0], [1], [126], [127]]);
        assert_eq!(of(64), [0x80, 1]);
        assert_eq!(of(i64::MAX), [0xfe, 255, 255, 255, 255, 255, 255, 255, 255]);
    }

    #[test]
    fn slots_have_the_values_that_they_say() {
        for value in [0, 1, 511, 512, 2047, 2048, 2049, 4097, 1_000_000, HIGHEST_NS] {
            let slot = Slot { index: index_of(value), count: 1 };
            let below = slot.index.checked_sub(1).map(|index| Slot { index, count: 1 });
            assert!(slot.highest_ns() >= value, "{value}");
            assert!(below.is_none_or(|below| below.highest_ns() < value), "{value}");
        }
    }

    #[test]
    fn counts_of_zero_are_counted() {
        let slots =
            [Slot { index: 1, count: 2 }, Slot { index: 2, count: 1 }, Slot { index: 7, count: 3 }];
        // One empty slot, two counts, four empty slots, a count.
        assert_eq!(counts(&slots), [0, 4, 2, 7, 6]);
    }
}
