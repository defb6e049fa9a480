//! The results of MODE SENSE (SPC-4 §7.5, SBC-3 §6.5.5): write protection, the write cache and FUA.

use super::cdb::mode_page::CACHING;
use crate::bytes::{be16, byte};

/// The mode data that is used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModeSense {
    /// WP: the unit is write-protected.
    pub write_protected: bool,
    /// DPOFUA: the unit supports FUA (SBC-4 §6.5.1).
    pub forced_unit_access: bool,
    /// WCE: writes are acknowledged from a cache; `None` if the page is missing.
    pub write_cache: Option<bool>,
}

/// Parses the result of MODE SENSE (6).
pub fn mode_sense_6(data: &[u8]) -> Option<ModeSense> {
    let specific = byte(data, 2)?;
    let descriptors = usize::from(byte(data, 3)?);
    let mut rest = data.get(4 + descriptors..).unwrap_or_default();
    let mut write_cache = None;
    while let [code, length, body @ ..] = rest {
        // With SPF set the length field is longer; the caching page never sets it.
        let plain = code & 0x40 == 0;
        if plain && code & 0x3f == CACHING {
            write_cache = byte(body, 0).map(|bits| bits & 0x04 != 0);
            break;
        }
        let skipped = if plain {
            usize::from(*length)
        } else {
            usize::from(be16(body, 0).unwrap_or(u16::MAX)) + 2
        };
        rest = body.get(skipped..).unwrap_or_default();
    }
    Some(ModeSense {
        write_protected: specific & 0x80 != 0,
        forced_unit_access: specific & 0x10 != 0,
        write_cache,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(write_protected: bool, forced_unit_access: bool, cache: Option<bool>) -> ModeSense {
        ModeSense { write_protected, forced_unit_access, write_cache: cache }
    }

    #[test]
    fn cache_and_protection_are_found() {
        let read = mode_sense_6(&[23, 0, 0x90, 0, 8, 0x12, 0x04, 0]).unwrap();
        assert_eq!(read, of(true, true, Some(true)));
        let read =
            mode_sense_6(&[23, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 2, 1, 0, 0x88, 2, 0]).unwrap();
        assert_eq!(read, of(false, false, Some(false)));
        let read = mode_sense_6(&[11, 0, 0x80, 0, 0x4a, 1, 0, 1, 9, 8, 1, 4]).unwrap();
        assert_eq!(read, of(true, false, Some(true)));
    }

    #[test]
    fn what_is_cut_short_is_not_guessed() {
        assert_eq!(mode_sense_6(&[3, 0, 0]), None);
        let bare = of(false, false, None);
        assert_eq!(mode_sense_6(&[3, 0, 0, 0]), Some(bare));
        assert_eq!(mode_sense_6(&[3, 0, 0, 200]), Some(bare));
        assert_eq!(mode_sense_6(&[3, 0, 0, 0, 8]), Some(bare));
        assert_eq!(mode_sense_6(&[3, 0, 0, 0, 8, 0x12]), Some(bare));
    }
}
