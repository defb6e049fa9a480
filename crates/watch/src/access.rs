//! Who may look: every user of this machine, and other machines only with a token.

use std::net::SocketAddr;

use subtle::ConstantTimeEq;

/// The least characters of a token: fewer could be guessed.
const LEAST: usize = 16;
const MOST: usize = 1024;

/// Who is answered.
#[derive(Clone)]
pub struct Access {
    token: Option<String>,
}

/// Why nothing may be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The address can be reached from other machines, and no token is required.
    #[error("{0} can be reached from other machines: use a loopback address, or require a token")]
    NoToken(SocketAddr),
    /// The token is none.
    #[error(
        "the token has to be one line of {LEAST} to {MOST} letters, digits and -._~+/=, such as \
         `openssl rand -hex 32` prints"
    )]
    Token,
}

impl Access {
    /// Access at this address: from this machine for all, unless there is a token, which then all need.
    ///
    /// # Errors
    /// The address is no loopback address and there is no token, or the token is too short or not a `b64token` of
    /// RFC 6750, section 2.1.
    pub fn new(address: SocketAddr, token: Option<&str>) -> Result<Self, AccessError> {
        let Some(token) = token else {
            return match address.ip().to_canonical().is_loopback() {
                true => Ok(Self { token: None }),
                false => Err(AccessError::NoToken(address)),
            };
        };
        let token = token.strip_suffix('\n').unwrap_or(token);
        let token = token.strip_suffix('\r').unwrap_or(token);
        let is_good = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        if !(LEAST..=MOST).contains(&token.len()) || !token.chars().all(is_good) {
            return Err(AccessError::Token);
        }
        Ok(Self { token: Some(token.to_owned()) })
    }

    /// Whether a request with this `Authorization` header is answered. The comparison takes the same time wherever
    /// tokens of one length differ.
    pub fn allows(&self, authorization: Option<&[u8]>) -> bool {
        let Some(token) = &self.token else { return true };
        let Some((scheme, given)) = authorization.and_then(|given| given.split_at_checked(7))
        else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"Bearer ")
            && bool::from(given.trim_ascii().ct_eq(token.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    #[test]
    fn other_machines_need_a_token() {
        for near in ["127.0.0.1:9400", "127.9.9.9:1", "[::1]:0", "[::ffff:127.0.0.1]:1"] {
            assert!(Access::new(near.parse().unwrap(), None).unwrap().allows(None), "{near}");
        }
        for far in ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "[::ffff:192.0.2.1]:1"] {
            let address = far.parse().unwrap();
            assert_eq!(Access::new(address, None).err(), Some(AccessError::NoToken(address)));
            assert!(Access::new(address, Some(TOKEN)).is_ok());
        }
    }

    #[test]
    fn a_token_is_needed_by_all_and_compared_as_a_whole() {
        let access =
            Access::new("127.0.0.1:1".parse().unwrap(), Some("0123456789abcdef\r\n")).unwrap();
        for right in ["Bearer 0123456789abcdef", "bearer   0123456789abcdef"] {
            assert!(access.allows(Some(right.as_bytes())), "{right}");
        }
        assert!(!access.allows(None));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdefg",
            "Bearer 0123456789abcdeF",
            "Basic 0123456789abcdef",
            TOKEN,
        ] {
            assert!(!access.allows(Some(wrong.as_bytes())), "{wrong}");
        }
    }

    #[test]
    fn a_token_that_could_be_guessed_is_refused() {
        let address = "127.0.0.1:1".parse().unwrap();
        for token in [
            "",
            "\n",
            "0123456789abcde",
            "0123456789 abcdef",
            "0123456789abcdef\n\n",
            "0123456789äbcdef",
        ] {
            assert_eq!(
                Access::new(address, Some(token)).err(),
                Some(AccessError::Token),
                "{token:?}"
            );
        }
        assert!(Access::new(address, Some(&"x".repeat(1025))).is_err());
    }
}
