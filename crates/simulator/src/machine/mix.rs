//! A hash for choices that must be the same on every machine.

/// A hash that is the same everywhere (the finalizer of MurmurHash3, public domain).
pub(super) fn mixed(mut word: u32) -> u32 {
    word ^= word >> 16;
    word = word.wrapping_mul(0x85eb_ca6b);
    word ^= word >> 13;
    word = word.wrapping_mul(0xc2b2_ae35);
    word ^ word >> 16
}
