//! Reads big-endian numbers from untrusted bytes: what is missing is `None`.

/// The byte at `at`.
pub(crate) fn byte(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

/// Two bytes from `at`.
pub(crate) fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    take(bytes, at).map(u16::from_be_bytes)
}

/// Four bytes from `at`.
pub(crate) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    take(bytes, at).map(u32::from_be_bytes)
}

/// Eight bytes from `at`.
pub(crate) fn be64(bytes: &[u8], at: usize) -> Option<u64> {
    take(bytes, at).map(u64::from_be_bytes)
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// Text of a fixed-length field: the printable characters, without surrounding blanks.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let text: String = bytes
        .iter()
        .map(|&one| if (0x20..0x7f).contains(&one) { char::from(one) } else { ' ' })
        .collect();
    text.trim().to_owned()
}
