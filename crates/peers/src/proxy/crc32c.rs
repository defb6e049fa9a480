//! CRC32C for iSCSI's digests (RFC 7143 section 13.1), bit by bit.
//!
//! Slow and short: a header has a few dozen bytes, and the clients under test use another
//! implementation.

/// The digest of some bytes, as it is sent: least significant byte first.
pub(crate) fn digest(bytes: &[u8]) -> [u8; 4] {
    // Castagnoli's polynomial, bit-reversed.
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 }
        })
    });
    (!crc).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_rfc_come_out() {
        // RFC 7143 appendix A.4.
        assert_eq!(digest(&[0; 32]), [0xaa, 0x36, 0x91, 0x8a]);
        assert_eq!(digest(&[0xff; 32]), [0x43, 0xab, 0xa8, 0x62]);
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!(digest(&rising), [0x4e, 0x79, 0xdd, 0x46]);
    }
}
