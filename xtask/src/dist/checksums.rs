//! SHA-256 sums, in the form that `sha256sum --check` reads.

use sha2::{Digest, Sha256};

/// The sum of the bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The lines of files, sorted by name.
pub(crate) fn list<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut files: Vec<_> = files.collect();
    files.sort_unstable();
    files.iter().map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_standard() {
        // FIPS 180-4, of the text "abc".
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let list = list([("b", &b"abc"[..]), ("a", b"abc")].into_iter());
        assert_eq!(list, format!("{abc}  a\n{abc}  b\n"));
    }
}
