//! Rust source as words, signs and strings, without comments and characters in quotes.
//!
//! A full parser would be slower to build than the whole of this program; words and signs are
//! enough to tell a use of a name from a mention of it.

/// A word (identifier, keyword, number), a single sign, or a string with its quotes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// Counted from 1.
    pub(crate) line: usize,
}

/// The tokens of a file.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader { rest: text, line: 1, tokens: Vec::new() };
    while reader.step() {}
    reader.tokens
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    tokens: Vec<Token>,
}

impl Reader<'_> {
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else { return false };
        if self.rest.starts_with("//") {
            self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("/*") {
            self.skip(block_comment_bytes(self.rest));
        } else if let Some(bytes) = string_bytes(self.rest) {
            self.push(bytes);
        } else if let Some(bytes) = char_bytes(self.rest) {
            self.skip(bytes);
        } else if is_word(first) {
            let bytes = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
            self.push(bytes);
        } else if first.is_whitespace() {
            self.skip(first.len_utf8());
        } else {
            self.push(first.len_utf8());
        }
        true
    }

    fn push(&mut self, bytes: usize) {
        self.tokens.push(Token { text: self.rest[..bytes].to_owned(), line: self.line });
        self.skip(bytes);
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.line += skipped.matches('\n').count();
        self.rest = rest;
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Comments nest.
fn block_comment_bytes(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = text[at..].find(['/', '*']) {
        at += found;
        match text.get(at..at + 2) {
            Some("/*") => (depth, at) = (depth + 1, at + 2),
            Some("*/") => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// A string literal of any kind: "…", r#"…"#, b"…", c"…".
fn string_bytes(text: &str) -> Option<usize> {
    let after = text.trim_start_matches(['b', 'c']);
    if text.len() - after.len() > 1 {
        return None;
    }
    let (raw, after) = match after.strip_prefix('r') {
        Some(after) => (true, after),
        None => (false, after),
    };
    let inner = after.trim_start_matches('#');
    let hashes = after.len() - inner.len();
    if hashes > 0 && !raw {
        return None;
    }
    let body = inner.strip_prefix('"')?;
    let start = text.len() - body.len();
    if raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(body.find(&end).map_or(text.len(), |at| start + at + end.len()));
    }
    Some(start + quoted_bytes(body, '"'))
}

/// A character literal; a lifetime is none.
fn char_bytes(text: &str) -> Option<usize> {
    let body = text.strip_prefix('b').unwrap_or(text).strip_prefix('\'')?;
    let start = text.len() - body.len();
    let mut characters = body.chars();
    let is_literal = match characters.next()? {
        '\\' => true,
        _ => characters.next() == Some('\''),
    };
    is_literal.then(|| start + quoted_bytes(body, '\''))
}

/// Up to and with the closing quote that no backslash precedes.
fn quoted_bytes(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if !escaped && c == quote {
            return at + c.len_utf8();
        }
        escaped = !escaped && c == '\\';
    }
    body.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_and_signs_have_their_lines() {
        let found = tokens("fn a() {\n  b::c2;\n}");
        let at = |text: &str| found.iter().find(|token| token.text == text).map(|t| t.line);
        assert_eq!((at("a"), at("c2"), at("}")), (Some(1), Some(2), Some(3)));
        assert_eq!(found.len(), 11);
    }

    #[test]
    fn comments_are_left_out() {
        assert_eq!(words("a // b\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
        assert_eq!(words("//! x\n/// y\na /* unfinished"), ["a"]);
        assert_eq!(tokens("/* 1\n2 */ a")[0].line, 2);
    }

    #[test]
    fn strings_are_one_token_each_and_characters_are_left_out() {
        assert_eq!(words(r#"a "b \" c" d"#), ["a", r#""b \" c""#, "d"]);
        assert_eq!(words("a r#\"b \" c\"# d"), ["a", "r#\"b \" c\"#", "d"]);
        assert_eq!(words(r#"b"x" c"y" br"z" "#), [r#"b"x""#, r#"c"y""#, r#"br"z""#]);
        assert_eq!(words(r"'a' b'c' '\'' '\\' d"), ["d"]);
        assert_eq!(tokens("\"1\n2\" a")[1].line, 2);
    }

    #[test]
    fn lifetimes_and_words_that_begin_like_strings_stay() {
        assert_eq!(words("&'a str"), ["&", "'", "a", "str"]);
        assert_eq!(words("bcd r#type crate"), ["bcd", "r", "#", "type", "crate"]);
        assert_eq!(words("f('a', 'b')"), ["f", "(", ",", ")"]);
    }
}
