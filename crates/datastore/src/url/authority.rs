//! The part of a URL that names a host: `host`, `host:port`, `[IPv6]:port` (RFC 3986 section 3.2).

use std::fmt;

use super::error::UrlError;

/// A host and, if given, a TCP port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Name or address, IPv6 without its brackets.
    pub name: String,
    /// TCP port.
    pub port: Option<u16>,
}

impl Host {
    /// Reads `host[:port]`.
    pub(super) fn parse(text: &str, scheme: &'static str) -> Result<Self, UrlError> {
        let error = || UrlError::Host { scheme, text: text.into() };
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (name, after) = rest.split_once(']').ok_or_else(error)?;
                let port = match after {
                    "" => None,
                    _ => Some(after.strip_prefix(':').ok_or_else(error)?),
                };
                (name, port)
            }
            None => match text.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (text, None),
            },
        };
        let sound = |c: char| c.is_ascii_alphanumeric() || "-._:%".contains(c);
        if name.is_empty() || !name.chars().all(sound) {
            return Err(error());
        }
        let port = match port {
            None => None,
            Some(port) => match port.parse() {
                Ok(0) | Err(_) => return Err(error()),
                Ok(port) => Some(port),
            },
        };
        Ok(Self { name: name.into(), port })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(out, "[{}]", self.name)?;
        } else {
            out.write_str(&self.name)?;
        }
        match self.port {
            Some(port) => write!(out, ":{port}"),
            None => Ok(()),
        }
    }
}

/// Undoes percent-encoding; `None` for a broken sequence or text that is not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit(left.next())?, digit(left.next())?);
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).ok()
}

/// Percent-encodes what would be read as something else in a URL's path or user part.
pub(super) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || " %?#&@".contains(c) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                encoded.push_str(&format!("%{byte:02X}"));
            }
        } else {
            encoded.push(c);
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_and_written() {
        for text in ["nas1", "nas1:2049", "10.0.0.7:3260", "[fe80::1]", "[::1]:2049"] {
            assert_eq!(Host::parse(text, "nfs").unwrap().to_string(), text);
        }
        let host = Host::parse("[::1]:2049", "nfs").unwrap();
        assert_eq!((host.name.as_str(), host.port), ("::1", Some(2049)));
        for text in ["", ":2049", "nas1:", "nas1:0", "nas1:70000", "[::1", "[::1]x", "na s", "a/b"]
        {
            assert!(Host::parse(text, "nfs").is_err(), "{text}");
        }
    }

    #[test]
    fn percent_encoding_goes_both_ways() {
        for text in ["/srv/my vm", "100%", "a?b#c", "grüße"] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        }
        assert_eq!(decode("%zz"), None);
        assert_eq!(decode("%4"), None);
        assert_eq!(decode("%ff"), None);
    }
}
