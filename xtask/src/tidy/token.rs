//! Rust source as words, symbols and strings, without comments and character literals.
//!
//! The compiler's own lexer separates them. A full parser would take longer to build than the whole of this
//! program; tokens are enough to distinguish a use of a name from a mention of it.

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, tokenize};

/// A word (identifier, keyword, number), a single symbol, or a string with its quotes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// Line number, from 1.
    pub(crate) line: usize,
}

/// The tokens of a file.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let (mut rest, mut line, mut tokens) = (text, 1, Vec::new());
    for token in tokenize(text, FrontmatterAllowed::No) {
        let (text, after) = rest.split_at(token.len as usize);
        rest = after;
        match token.kind {
            TokenKind::Whitespace | TokenKind::LineComment { .. } => {}
            TokenKind::BlockComment { .. } => {}
            TokenKind::Literal {
                kind: LiteralKind::Char { .. } | LiteralKind::Byte { .. },
                ..
            } => {}
            // The rules look for names, and lifetimes and character literals are not names.
            _ => tokens.push(Token { text: text.to_owned(), line }),
        }
        line += text.matches('\n').count();
    }
    tokens
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
        assert_eq!(words("&'a str"), ["&", "'a", "str"]);
        assert_eq!(words("bcd r#type crate"), ["bcd", "r#type", "crate"]);
        assert_eq!(words("f('a', 'b')"), ["f", "(", ",", ")"]);
    }
}
