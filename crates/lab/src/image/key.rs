//! Cache keys: a hash of everything that an artefact was made from.

use sha2::{Digest, Sha256};

/// The first 16 hexadecimal digits of a SHA-256 over parts, each preceded by its length, so that no
/// two lists of parts give the same bytes.
pub(crate) fn key(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn every_part_and_every_border_counts() {
        let one = key(&[b"ab", b"c"]);
        assert_eq!(one, key(&[b"ab", b"c"]));
        assert_eq!(one.len(), 16);
        for other in [&[&b"a"[..], b"bc"][..], &[b"abc"], &[b"ab", b"c", b""]] {
            assert_ne!(key(other), one);
        }
    }
}
