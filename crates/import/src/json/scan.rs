//! Places in JSON that is known to be valid: where a value ends, and what is within it. Nothing is copied.

use std::borrow::Cow;

/// The length of the value that the text starts with.
pub(super) fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at += string_length(&bytes[at..]),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            _ if depth > 0 => {
                at += 1;
                continue;
            }
            _ => {
                let ends =
                    |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                return bytes.iter().position(ends).unwrap_or(bytes.len());
            }
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// What a string in quotes says.
pub(super) fn unquoted(text: &str) -> Cow<'_, str> {
    let inner = text.trim_matches('"');
    if !text.contains('\\') {
        return Cow::Borrowed(inner);
    }
    // Halves of surrogates are no text.
    serde_json::from_str(text).map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// The values in an array, each as it is written.
#[derive(Debug, Clone)]
pub(super) struct Elements<'a>(&'a str);

impl<'a> Elements<'a> {
    /// Of an array with its brackets.
    pub(super) fn of(array: &'a str) -> Self {
        Self(array.get(1..).unwrap_or_default())
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        next_value(&mut self.0)
    }
}

/// Keys in their quotes, and values, each as it is written.
#[derive(Debug, Clone)]
pub(super) struct Members<'a>(&'a str);

impl<'a> Members<'a> {
    /// Of an object with its braces.
    pub(super) fn of(object: &'a str) -> Self {
        Self(object.get(1..).unwrap_or_default())
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        Some((next_value(&mut self.0)?, next_value(&mut self.0)?))
    }
}

fn next_value<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let between = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | ':');
    let text = rest.trim_start_matches(between);
    if text.is_empty() || text.starts_with(['}', ']']) {
        return None;
    }
    let (value, after) = text.split_at_checked(length(text))?;
    *rest = after;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_as_they_are_written() {
        let array = r#"[1, -2.5e3 ,"a\"],b", [ ], {"x": [1,{}]} , null,true]"#;
        let values: Vec<_> = Elements::of(array).collect();
        let expected = ["1", "-2.5e3", r#""a\"],b""#, "[ ]", r#"{"x": [1,{}]}"#, "null", "true"];
        assert_eq!(values, expected);
        let object = "{ \"a\" : 1 ,\n\"b\\\\\":{\"c\":\"}\"},\"\":[]}";
        let members: Vec<_> = Members::of(object).collect();
        assert_eq!(members, [("\"a\"", "1"), ("\"b\\\\\"", "{\"c\":\"}\"}"), ("\"\"", "[]")]);
        assert_eq!(Elements::of("[]").count() + Members::of("{ }").count(), 0);
    }

    #[test]
    fn strings_are_unquoted() {
        for (text, expected) in [
            (r#""""#, ""),
            (r#""a b""#, "a b"),
            (r#""\u00e9\n""#, "é\n"),
            (r#""\ud800""#, r"\ud800"),
        ] {
            assert_eq!(unquoted(text), expected);
        }
    }
}
