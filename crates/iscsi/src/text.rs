//! Text keys (RFC 7143 §6.1): `key=value` pairs, each ended by a zero byte, in Login and Text PDUs.

/// Text that is not a valid list of keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// A pair without `=`.
    #[error(
        "\"{found}\" is not a key=value pair: the target's answer is damaged or it is not an iSCSI"
    )]
    NoValue {
        /// The text found, shortened.
        found: String,
    },
    /// A key that violates RFC 7143 §6.1.
    #[error(
        "\"{found}\" is not a valid key name: the target's answer is damaged or it is not an iSCSI"
    )]
    BadKey {
        /// The text found, shortened.
        found: String,
    },
    /// A value that is not UTF-8 text.
    #[error("the value of {key} is not text: the target's answer is damaged")]
    NotText {
        /// The key.
        key: String,
    },
    /// A value that is not valid for its key.
    #[error("{key}={value}: {expected} belongs there; the target's answer cannot be used")]
    BadValue {
        /// The key.
        key: String,
        /// The value, shortened.
        value: String,
        /// What was expected.
        expected: &'static str,
    },
    /// More text than any target sends.
    #[error("more than {limit_bytes} bytes of text keys: the target does not come to an end")]
    TooLong {
        /// The most that is accepted, in bytes.
        limit_bytes: usize,
    },
}

/// Appends a pair.
pub fn put(text: &mut Vec<u8>, key: &str, value: &str) {
    text.extend_from_slice(key.as_bytes());
    text.push(b'=');
    text.extend_from_slice(value.as_bytes());
    text.push(0);
}

/// The pairs of a text, in order. Empty ones (from padding) are skipped; the last may lack its zero
/// byte.
pub fn pairs(text: &[u8]) -> impl Iterator<Item = Result<(&str, &str), TextError>> {
    text.split(|&byte| byte == 0).filter(|pair| !pair.is_empty()).map(pair)
}

fn pair(bytes: &[u8]) -> Result<(&str, &str), TextError> {
    let mut halves = bytes.splitn(2, |&byte| byte == b'=');
    let (Some(key), Some(value)) = (halves.next(), halves.next()) else {
        return Err(TextError::NoValue { found: excerpt(bytes) });
    };
    let key = std::str::from_utf8(key)
        .ok()
        .filter(|key| is_key(key))
        .ok_or_else(|| TextError::BadKey { found: excerpt(key) })?;
    let value =
        std::str::from_utf8(value).map_err(|_| TextError::NotText { key: key.to_owned() })?;
    Ok((key, value))
}

/// Letters, digits and a few symbols; at most 63 characters, starting with a letter or, for vendor
/// extensions, with `X`.
fn is_key(key: &str) -> bool {
    key.len() <= 63
        && key.starts_with(|one: char| one.is_ascii_uppercase() || one.is_ascii_lowercase())
        && key.bytes().all(|one| one.is_ascii_alphanumeric() || b".-+@_/".contains(&one))
}

/// A number, decimal or `0x` (RFC 7143 §6.1), within `range`.
///
/// # Errors
/// Anything else.
pub fn number(
    key: &str,
    value: &str,
    range: std::ops::RangeInclusive<u32>,
) -> Result<u32, TextError> {
    let parsed = match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
        Some(digits) => digits_only(digits, 16),
        None => digits_only(value, 10),
    };
    parsed.filter(|number| range.contains(number)).ok_or_else(|| bad(key, value, "a number"))
}

/// `from_str_radix` would also accept a sign.
fn digits_only(digits: &str, radix: u32) -> Option<u32> {
    digits.chars().all(|one| one.is_digit(radix)).then_some(())?;
    u32::from_str_radix(digits, radix).ok()
}

/// `Yes` or `No`.
///
/// # Errors
/// Anything else.
pub fn yes(key: &str, value: &str) -> Result<bool, TextError> {
    match value {
        "Yes" => Ok(true),
        "No" => Ok(false),
        _ => Err(bad(key, value, "Yes or No")),
    }
}

pub(crate) fn bad(key: &str, value: &str, expected: &'static str) -> TextError {
    TextError::BadValue { key: excerpt(key.as_bytes()), value: excerpt(value.as_bytes()), expected }
}

/// A received name, without anything that a terminal would interpret. Names have at most 223 bytes
/// (RFC 7143 §4.2.7.1).
pub(crate) fn excerpt_name(value: &str) -> String {
    value.chars().filter(|one| !one.is_control()).take(223).collect()
}

/// The start of received bytes, fit for a message.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let shown = bytes.get(..64).unwrap_or(bytes);
    shown.iter().flat_map(|&byte| std::ascii::escape_default(byte)).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_in_order() {
        let mut text = Vec::new();
        put(&mut text, "TargetAlias", "a=b");
        put(&mut text, "X-org.example.key", "");
        text.extend_from_slice(b"\0\0Last=1");
        let read: Result<Vec<_>, _> = pairs(&text).collect();
        assert_eq!(
            read.unwrap(),
            [("TargetAlias", "a=b"), ("X-org.example.key", ""), ("Last", "1")]
        );
    }

    #[test]
    fn what_is_no_pair_is_refused() {
        let bad = |text: &[u8]| pairs(text).next().unwrap().unwrap_err();
        assert!(matches!(bad(b"lonely\0"), TextError::NoValue { .. }));
        assert!(matches!(bad(b"=value\0"), TextError::BadKey { .. }));
        assert!(matches!(bad(b"a b=value\0"), TextError::BadKey { .. }));
        assert!(matches!(bad(b"\xff=value\0"), TextError::BadKey { .. }));
        assert!(matches!(bad(b"Key=\xff\0"), TextError::NotText { .. }));
        assert!(matches!(bad(&[b'k'; 64]), TextError::NoValue { .. }));
        assert!(bad(b"\x1b[31m\0").to_string().contains("\\x1b"));
    }

    #[test]
    fn numbers_and_truth() {
        assert_eq!(number("K", "262144", 512..=16_777_215), Ok(262_144));
        assert_eq!(number("K", "0x200", 512..=16_777_215), Ok(512));
        for value in ["", "511", "-1", "+600", "0x", "0x+200", "16777216", "99999999999", "1 "] {
            assert!(number("K", value, 512..=16_777_215).is_err(), "{value}");
        }
        assert_eq!(yes("K", "Yes"), Ok(true));
        assert!(yes("K", "yes").is_err());
    }
}
