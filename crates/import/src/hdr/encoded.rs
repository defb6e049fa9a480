//! An encoded histogram: version 2 of HdrHistogram's encoding, in zlib and base64.
//!
//! The `hdrhistogram` crate makes room for all values that the head allows, and for as many bytes as the head says;
//! files from elsewhere would choose how much memory is used. So the counts are read here as they come, and the crate
//! is what the tests compare with.

use std::io::{ErrorKind, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::bufread::ZlibDecoder;

use crate::room::FULL;

/// Cookies of the encoding and of its compressed form, without the bits that tell the size of a word.
const COOKIE: u32 = 0x1c84_9303;
const COMPRESSED: u32 = 0x1c84_9304;
const WORD_BITS: u32 = 0xf0;

/// A number of values from `low` on, in steps of the resolution at this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) low: u64,
    pub(super) width: u64,
    pub(super) count: u64,
}

/// Numbers that may still be decoded, so that a file whose histograms are compressed a thousandfold does not take long.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    /// For a file of this many bytes: true histograms take a byte or two per count, and are decoded twice.
    pub(super) fn of(bytes: usize) -> Self {
        Self(bytes.saturating_mul(16).max(131_072))
    }
}

/// Decodes the slots that have counts, in ascending order, one after another: a list of them could be a thousand times as
/// long as the text.
pub(super) fn decode(
    text: &str,
    budget: &mut Budget,
    mut each: impl FnMut(Slot) -> Result<(), String>,
) -> Result<(), String> {
    let bytes = STANDARD.decode(text).map_err(|error| format!("not base64: {error}"))?;
    let mut outer = &bytes[..];
    if u32_of(&mut outer)? & !WORD_BITS != COMPRESSED {
        return Err("an encoding that is not read: only version 2, compressed, is".to_string());
    }
    let length = u32_of(&mut outer)? as usize;
    let compressed = outer.get(..length).ok_or("the encoded histogram is cut")?;
    let mut inner = ZlibDecoder::new(compressed);
    if u32_of(&mut inner)? & !WORD_BITS != COOKIE {
        return Err("an encoding that is not read: only version 2 is".to_string());
    }
    let payload = u64::from(u32_of(&mut inner)?);
    let offset = u32_of(&mut inner)?;
    let digits = u32_of(&mut inner)?;
    let lowest = u64_of(&mut inner)?;
    u64_of(&mut inner)?;
    let ratio = f64::from_bits(u64_of(&mut inner)?);
    if offset != 0 || ratio != 1.0 || digits > 5 || lowest == 0 {
        return Err("a histogram with settings that are not read".to_string());
    }
    let layout = Layout::of(digits, lowest);
    let mut counts = std::io::BufReader::new(inner.take(payload));
    let mut index = 0u64;
    while let Some(number) = number(&mut counts)? {
        budget.0 = budget.0.checked_sub(1).ok_or(FULL)?;
        if number < 0 {
            index = index.checked_add(number.unsigned_abs()).ok_or("too many values")?;
            continue;
        }
        if number > 0 {
            let (low, width) = layout.at(index).ok_or("a value that is too large")?;
            each(Slot { low, width, count: number.unsigned_abs() })?;
        }
        index = index.checked_add(1).ok_or("too many values")?;
    }
    Ok(())
}

/// Which values an index stands for.
struct Layout {
    unit: u32,
    half: u32,
}

impl Layout {
    fn of(digits: u32, lowest: u64) -> Self {
        // The largest value that differs from the next one.
        let single = 2 * 10u64.pow(digits);
        let magnitude = single.next_power_of_two().trailing_zeros();
        Self { unit: lowest.ilog2(), half: magnitude.max(1) - 1 }
    }

    /// The lowest value of the index, and how many there are.
    fn at(&self, index: u64) -> Option<(u64, u64)> {
        let within = (1u64 << self.half) - 1;
        let (bucket, sub) = match (index >> self.half).checked_sub(1) {
            Some(bucket) => (bucket, (index & within) + within + 1),
            None => (0, index),
        };
        let shift = u32::try_from(bucket).ok()?.checked_add(self.unit)?;
        let width = 1u64.checked_shl(shift)?;
        Some((sub.checked_mul(width)?, width))
    }
}

/// The next number, of up to nine bytes; `None` at the end.
fn number(counts: &mut impl Read) -> Result<Option<i64>, String> {
    let mut value = 0u64;
    for at in 0..9 {
        let mut byte = [0];
        match counts.read(&mut byte) {
            Ok(0) if at == 0 => return Ok(None),
            Ok(0) => return Err("the encoded histogram is cut".to_string()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("the encoded histogram is damaged: {error}")),
        }
        let byte = u64::from(byte[0]);
        // The ninth byte has eight bits.
        if at == 8 {
            value |= byte << 56;
        } else {
            value |= (byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    Ok(Some((value >> 1) as i64 ^ -((value & 1) as i64)))
}

fn u32_of(from: &mut impl Read) -> Result<u32, String> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes).map_err(|_| "the encoded histogram is cut")?;
    Ok(u32::from_be_bytes(bytes))
}

fn u64_of(from: &mut impl Read) -> Result<u64, String> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes).map_err(|_| "the encoded histogram is cut")?;
    Ok(u64::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For every resolution and for values of all sizes: a line has an encoded histogram and its slots as the crate
    /// `hdrhistogram` 7.6 lists them, lowest value, width and count. The crate itself would change the features of what
    /// this workspace shares with it.
    #[test]
    fn the_slots_are_those_of_the_crate() {
        let lines = include_str!("../../tests/hdr/slots.txt").lines();
        for line in lines.clone() {
            let mut words = line.split(' ');
            let mut slots = Vec::new();
            let text = words.next().unwrap();
            let keep = |slot| {
                slots.push(slot);
                Ok(())
            };
            decode(text, &mut Budget::of(0), keep).unwrap();
            let found =
                slots.iter().map(|slot| format!("{}+{}:{}", slot.low, slot.width, slot.count));
            assert!(found.eq(words.map(str::to_owned)), "{line}");
        }
        assert_eq!(lines.count(), 18);
    }
}
