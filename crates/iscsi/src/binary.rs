//! Large binary values in text keys (RFC 7143 §6.1): `0x` and hexadecimal, or `0b` and base64.

/// Writes bytes in hexadecimal.
pub(crate) fn encode(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold("0x".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Reads bytes, at most `max_bytes`; `None` for anything else.
pub(crate) fn decode(text: &str, max_bytes: usize) -> Option<Vec<u8>> {
    let (prefix, digits) = text.as_bytes().split_at_checked(2)?;
    let bytes = match prefix {
        b"0x" | b"0X" => hexadecimal(digits, max_bytes)?,
        b"0b" | b"0B" => base64(digits, max_bytes)?,
        _ => return None,
    };
    (bytes.len() <= max_bytes).then_some(bytes)
}

fn hexadecimal(digits: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    if digits.is_empty() || digits.len().div_ceil(2) > max_bytes {
        return None;
    }
    let values: Option<Vec<u8>> =
        digits.iter().map(|&one| char::from(one).to_digit(16).map(|value| value as u8)).collect();
    let values = values?;
    // An odd number of digits is a number without its leading zero.
    let (head, rest) = values.split_at(values.len() % 2);
    let mut bytes = head.to_vec();
    bytes.extend(rest.chunks_exact(2).map(|two| two.iter().fold(0, |all, one| all << 4 | one)));
    Some(bytes)
}

fn base64(digits: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    if digits.is_empty() || !digits.len().is_multiple_of(4) || digits.len() / 4 * 3 > max_bytes + 2
    {
        return None;
    }
    let filling = digits.iter().rev().take_while(|&&one| one == b'=').count();
    if filling > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for &one in digits.get(..digits.len() - filling)? {
        let value = match one {
            b'A'..=b'Z' => one - b'A',
            b'a'..=b'z' => one - b'a' + 26,
            b'0'..=b'9' => one - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    // The bits of the last digit beyond whole bytes must be zero, or two texts would mean the same.
    (bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_give_the_same_bytes() {
        // RFC 4648 §10.
        for (text, plain) in [
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(decode(&format!("0b{text}"), 64).unwrap(), plain.as_bytes());
            assert_eq!(decode(&encode(plain.as_bytes()), 64).unwrap(), plain.as_bytes());
        }
        assert_eq!(decode("0XaBc", 64).unwrap(), [0x0a, 0xbc]);
    }

    #[test]
    fn what_is_neither_is_refused() {
        for text in
            ["", "0", "0x", "0b", "12", "0xg0", "0bZg=", "0bZg", "0bZh==", "0bZ===", "0b=Zg=", "é"]
        {
            assert_eq!(decode(text, 64), None, "{text}");
        }
        assert_eq!(decode("0x0102", 1), None);
        assert_eq!(decode("0bZm9v", 2), None);
        assert_eq!(decode("0bZm8=", 2).unwrap(), b"fo");
    }
}
