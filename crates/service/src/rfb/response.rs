//! The answer to the challenge of VNC authentication (RFC 6143, section 7.2.2).

use des::Des;
use des::cipher::{Array, BlockCipherEncrypt, KeyInit};
use stormeter_wire::Secret;

/// The challenge encrypted with DES, whose key is the password: its first eight bytes, with the bits of each in reverse
/// order. The order is not in the RFC's text, but erratum 4951 to it says so, and all programs do.
pub(super) fn response(password: &Secret, challenge: [u8; 16]) -> [u8; 16] {
    let mut key = [0u8; 8];
    for (to, from) in key.iter_mut().zip(password.expose()) {
        *to = from.reverse_bits();
    }
    let cipher = Des::new(&Array(key));
    let mut answer = challenge;
    for half in answer.chunks_exact_mut(8) {
        let mut block = Array([0u8; 8]);
        block.copy_from_slice(half);
        cipher.encrypt_block(&mut block);
        half.copy_from_slice(&block);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vector of FIPS 46 that Rivest's test of implementations begins with has the key 8000000000000000 and the
    /// block zero: its key is the password whose first byte is 1, reversed. Sizes beyond eight bytes do not count.
    #[test]
    fn the_key_is_the_password_with_the_bits_of_each_byte_reversed() {
        let zero = [0u8; 16];
        let expected = [0x95, 0xA8, 0xD7, 0x28, 0x13, 0xDA, 0xA9, 0x4D];
        let answer = response(&Secret::new([1u8, 0, 0, 0, 0, 0, 0, 0]), zero);
        assert_eq!(answer[..8], expected);
        assert_eq!(answer[8..], expected);
        assert_eq!(response(&Secret::new([1u8]), zero), answer);
        assert_eq!(
            response(&Secret::new(*b"12345678"), zero),
            response(&Secret::new(*b"12345678x"), zero)
        );
        assert_ne!(
            response(&Secret::new(*b"1234567"), zero),
            response(&Secret::new(*b"12345678"), zero)
        );
    }
}
