//! Untrusted text (URLs, messages, names from files of others) on a terminal.

/// The text with every control character replaced, so that it cannot control the terminal.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_left() {
        assert_eq!(printable("a\x1b[2Jb\r\nµ"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}µ");
    }
}
