//! The token in the address of a live page: who does not know it sees nothing. It is a part of the path, because a browser
//! sends no header for an address that is clicked on.

use std::io::Read;

use subtle::ConstantTimeEq;

/// Random bytes of a token.
const BYTES: usize = 16;
/// The least characters of a token that was chosen: fewer could be guessed.
const LEAST: usize = 16;
const MOST: usize = 256;

/// See above.
#[derive(Clone)]
pub struct Token(String);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It is none that could be part of an address.
    #[error(
        "the token has to be one line of {LEAST} to {MOST} letters, digits and -._~, such as \
         `openssl rand -hex 32` prints"
    )]
    Text,
    /// The system has no random numbers.
    #[error("/dev/urandom cannot be read: {0}")]
    Random(#[from] std::io::Error),
}

impl Token {
    /// A token that nobody can guess.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn random() -> Result<Self, TokenError> {
        let mut bytes = [0; BYTES];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The token in a file.
    ///
    /// # Errors
    /// It is too short, too long, or has other characters than an address may have (unreserved, RFC 3986, section 2.3).
    pub fn of_text(text: &str) -> Result<Self, TokenError> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let is_good = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        match (LEAST..=MOST).contains(&text.len()) && text.chars().all(is_good) {
            true => Ok(Self(text.to_owned())),
            false => Err(TokenError::Text),
        }
    }

    /// What follows the token in this path; `None` for a path with another token.
    pub(crate) fn rest<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (token, rest) = path.strip_prefix('/')?.split_once('/')?;
        // Takes as long wherever tokens of one length differ.
        bool::from(token.as_bytes().ct_eq(self.0.as_bytes())).then_some(rest)
    }

    /// It, for the address that is printed.
    pub fn text(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_token_is_another_each_time() {
        let [one, other] = [(); 2].map(|()| Token::random().unwrap());
        assert_ne!(one.text(), other.text());
        assert_eq!(one.text().len(), 2 * BYTES);
        assert!(Token::of_text(one.text()).is_ok());
    }

    #[test]
    fn only_the_whole_token_opens() {
        let token = Token::of_text("0123456789abcdef\r\n").unwrap();
        assert_eq!(token.rest("/0123456789abcdef/"), Some(""));
        assert_eq!(token.rest("/0123456789abcdef/events"), Some("events"));
        for path in [
            "/",
            "/0123456789abcdef",
            "/0123456789abcdeX/",
            "/0123456789abcdef0/",
            "//",
            "0123456789abcdef/",
        ] {
            assert_eq!(token.rest(path), None, "{path}");
        }
    }

    #[test]
    fn what_could_be_guessed_or_is_no_part_of_an_address_is_refused() {
        for text in [
            "",
            "0123456789abcde",
            "0123456789 abcdef",
            "0123456789/abcdef",
            "0123456789abcdef\n\n",
        ] {
            assert!(Token::of_text(text).is_err(), "{text:?}");
        }
        assert!(Token::of_text(&"x".repeat(257)).is_err());
    }
}
