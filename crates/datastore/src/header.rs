//! Our own mark on a block device: the first 4 KiB, while a run uses the device.
//!
//! Layout: 16 bytes of magic, the length of the text (u32), its checksum (u64, FNV-1a), both
//! little-endian, then the same JSON that marks a folder. The checksum tells a half-written mark
//! from a complete one; it does not protect against forgery and need not.

use crate::owner::Owner;

/// Size of the header in bytes, written as one.
pub(crate) const HEADER_BYTES: usize = 4096;

const MAGIC: &[u8; 16] = b"STORMETER-DEVICE";
const TEXT_START: usize = 28;

/// The header's bytes.
pub(crate) fn encode(owner: &Owner) -> [u8; HEADER_BYTES] {
    let text = owner.to_json();
    let mut bytes = [0; HEADER_BYTES];
    // Host names are at most 64 bytes and everything else is short; were it longer, the header would
    // merely not be recognised as ours, and the device be refused.
    let length = text.len().min(HEADER_BYTES - TEXT_START);
    bytes[..16].copy_from_slice(MAGIC);
    bytes[16..20].copy_from_slice(&(length as u32).to_le_bytes());
    bytes[20..28].copy_from_slice(&fnv1a(&text[..length]).to_le_bytes());
    bytes[TEXT_START..TEXT_START + length].copy_from_slice(&text[..length]);
    bytes
}

/// Reads a header from the first bytes of a device.
pub(crate) fn decode(bytes: &[u8]) -> Option<Owner> {
    let bytes = bytes.get(..HEADER_BYTES)?;
    if &bytes[..16] != MAGIC {
        return None;
    }
    let length = u32::from_le_bytes(bytes[16..20].try_into().ok()?) as usize;
    let text = bytes.get(TEXT_START..TEXT_START.checked_add(length)?)?;
    let checksum = u64::from_le_bytes(bytes[20..28].try_into().ok()?);
    if fnv1a(text) != checksum {
        return None;
    }
    Owner::parse(text)
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv).
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_and_detects_damage() {
        let owner = Owner::here("0123456789abcdef");
        let bytes = encode(&owner);
        assert_eq!(decode(&bytes), Some(owner));
        for position in [0, 17, 21, 40] {
            let mut damaged = bytes;
            damaged[position] ^= 0x80;
            assert_eq!(decode(&damaged), None, "{position}");
        }
        assert_eq!(decode(&bytes[..100]), None);
        assert_eq!(decode(&[0; HEADER_BYTES]), None);
    }

    #[test]
    fn the_checksum_is_fnv_1a() {
        // Test vectors of draft-eastlake-fnv, appendix C.
        assert_eq!(fnv1a(b""), 0xcbf29ce484222325);
        assert_eq!(fnv1a(b"a"), 0xaf63dc4c8601ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x85944171f73967e8);
    }
}
