//! The secret that both ends share, and how an end proves that it knows it.

use std::fs::File;
use std::io::Read;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::ProbeError;
use crate::key_length::MIN_KEY_BYTES;

/// The length of an HMAC-SHA256.
pub(crate) const PROOF_BYTES: usize = 32;

/// The secret that both ends share. Its bytes are never shown, except by [`Key::reveal`].
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Vec<u8>);

impl Key {
    /// A key from the text of a file or an environment variable; surrounding white space is
    /// removed.
    ///
    /// # Errors
    /// [`ProbeError::ShortKey`] for fewer than 16 bytes.
    pub fn from_text(text: &str) -> Result<Self, ProbeError> {
        let bytes = text.trim().as_bytes();
        if bytes.len() < MIN_KEY_BYTES {
            return Err(ProbeError::ShortKey { found_bytes: bytes.len() });
        }
        Ok(Self(bytes.to_vec()))
    }

    /// A new key: 256 random bits as 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`ProbeError::Random`].
    pub fn random() -> Result<Self, ProbeError> {
        Ok(Self(hex(&random_bytes::<32>()?).into_bytes()))
    }

    /// The key as text, to be written to a file.
    pub fn reveal(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// HMAC-SHA256 (RFC 2104) over the parts in turn.
    pub(crate) fn proof(&self, parts: &[&[u8]]) -> [u8; PROOF_BYTES] {
        // HMAC accepts keys of any length; its constructor never fails.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            unreachable!("HMAC refused a key for its length");
        };
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// Checks a proof in constant time, so that the time does not reveal how much of it is right.
    pub(crate) fn accepts(&self, parts: &[&[u8]], proof: &[u8; PROOF_BYTES]) -> bool {
        self.proof(parts).ct_eq(proof).into()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(hidden)")
    }
}

/// Random bytes from the kernel.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], ProbeError> {
    let mut bytes = [0; N];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(ProbeError::Random)?;
    Ok(bytes)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_key_is_refused_and_white_space_does_not_count() {
        assert!(Key::from_text("0123456789abcdef\n").is_ok());
        let error = Key::from_text("0123456789abcde  \n").unwrap_err();
        assert!(matches!(error, ProbeError::ShortKey { found_bytes: 15 }), "{error}");
        assert!(error.to_string().contains("new one"), "{error}");
    }

    #[test]
    fn debug_output_hides_the_key() {
        let key = Key::from_text("correct horse battery").unwrap();
        let text = format!("{key:?} {:?}", Some(&key));
        assert!(!text.contains("horse") && !text.contains("99, 111"), "{text}");
    }

    #[test]
    fn new_keys_differ_and_read_back() {
        let key = Key::random().unwrap();
        assert_ne!(key, Key::random().unwrap());
        assert_eq!(Key::from_text(&format!("{}\n", key.reveal())).unwrap(), key);
        assert_eq!(key.reveal().len(), 64);
    }

    /// RFC 4231, test case 3 has a key of 20 bytes 0xaa; text cannot hold it, so the key is built
    /// here from its bytes.
    #[test]
    fn the_proof_is_hmac_sha256() {
        let key = Key(vec![0xaa; 20]);
        let expected = "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe";
        assert_eq!(hex(&key.proof(&[&[0xdd; 20], &[0xdd; 30]])), expected);
    }

    #[test]
    fn a_proof_with_one_wrong_bit_is_refused() {
        let key = Key::random().unwrap();
        let proof = key.proof(&[b"a", b"b"]);
        assert!(key.accepts(&[b"a", b"b"], &proof));
        for byte in 0..PROOF_BYTES {
            let mut wrong = proof;
            wrong[byte] ^= 0x80;
            assert!(!key.accepts(&[b"a", b"b"], &wrong), "byte {byte}");
        }
    }
}
