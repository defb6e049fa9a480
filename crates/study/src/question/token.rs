//! A question split into words.

/// A word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// The word, without its quotes.
    pub(super) text: String,
    /// Its column: characters from the left, starting with 1.
    pub(super) column: usize,
    /// It was quoted: then it is a name and not a keyword.
    pub(super) quoted: bool,
}

impl Token {
    /// Whether it is this keyword, in any case.
    pub(super) fn is(&self, keyword: &str) -> bool {
        !self.quoted && self.text.eq_ignore_ascii_case(keyword)
    }
}

/// The words of a text. A comma is a separate word; quotes (`"` or `'`) keep a name together, and a
/// doubled quote inside them is one. A question mark at the end is ignored.
///
/// # Errors
/// The column of an unclosed quote.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, usize> {
    let letters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        let start = at;
        if letter.is_whitespace() {
            at += 1;
        } else if letter == ',' {
            tokens.push(Token { text: ",".into(), column: start + 1, quoted: false });
            at += 1;
        } else if letter == '"' || letter == '\'' {
            let mut name = String::new();
            at += 1;
            loop {
                match (letters.get(at), letters.get(at + 1)) {
                    (None, _) => return Err(start + 1),
                    (Some(&a), Some(&b)) if a == letter && b == letter => {
                        name.push(letter);
                        at += 2;
                    }
                    (Some(&a), _) if a == letter => {
                        at += 1;
                        break;
                    }
                    (Some(&a), _) => {
                        name.push(a);
                        at += 1;
                    }
                }
            }
            tokens.push(Token { text: name, column: start + 1, quoted: true });
        } else {
            while at < letters.len() && !letters[at].is_whitespace() && letters[at] != ',' {
                at += 1;
            }
            let text = letters[start..at].iter().collect();
            tokens.push(Token { text, column: start + 1, quoted: false });
        }
    }
    if let Some(last) = tokens.last_mut()
        && !last.quoted
        && last.text.ends_with('?')
    {
        last.text.pop();
        if last.text.is_empty() {
            tokens.pop();
        }
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_commas_and_names_in_quotes_come_apart() {
        let found = tokens("a, \"my nas\"  is 'it''s' x?").unwrap();
        let found: Vec<_> =
            found.iter().map(|token| (token.text.as_str(), token.column, token.quoted)).collect();
        let expected = [
            ("a", 1, false),
            (",", 2, false),
            ("my nas", 4, true),
            ("is", 14, false),
            ("it's", 17, true),
            ("x", 25, false),
        ];
        assert_eq!(found, expected);
        assert_eq!(tokens("a 'b"), Err(3));
    }
}
