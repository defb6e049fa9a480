//! Replies of an FTP server: a code of three digits and text, on one line or several (RFC 959, section 4.2).

use crate::error::Trouble;

/// The longest line, and the longest text of a reply, in bytes: a server must not fill the memory.
const MOST_LINE_BYTES: usize = 8 << 10;
const MOST_TEXT_BYTES: usize = 64 << 10;

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) code: u16,
    /// Its text without codes, lines joined by spaces.
    pub(super) text: String,
}

/// Received bytes, and the part of a reply that they contain.
#[derive(Debug, Default)]
pub(super) struct Replies {
    received: Vec<u8>,
    /// The code and the text of a reply whose last line has not arrived.
    begun: Option<(u16, String)>,
}

impl Replies {
    /// Adds received bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// The next whole reply; `None` if more bytes are needed.
    pub(super) fn next(&mut self) -> Result<Option<Reply>, Trouble> {
        while let Some(end) = self.received.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.received.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\r', '\n']);
            if let Some(reply) = self.line(line)? {
                return Ok(Some(reply));
            }
        }
        if self.received.len() > MOST_LINE_BYTES {
            return Err(wrong("a line without end"));
        }
        Ok(None)
    }

    /// A line; the reply that it completes.
    fn line(&mut self, line: &str) -> Result<Option<Reply>, Trouble> {
        let start = code_of(line);
        let Some((code, mut text)) = self.begun.take() else {
            let Some((code, is_last, text)) = start else {
                return Err(wrong(&format!("{:?}", line.chars().take(60).collect::<String>())));
            };
            if is_last {
                return Ok(Some(Reply { code, text: text.into() }));
            }
            self.begun = Some((code, text.into()));
            return Ok(None);
        };
        // Only the last line begins with the code and a space; others may begin with anything.
        let (is_end, rest) = match start {
            Some((of, true, rest)) if of == code => (true, rest),
            _ => (false, line),
        };
        if text.len() + rest.len() > MOST_TEXT_BYTES {
            return Err(wrong("a reply without end"));
        }
        if !text.is_empty() && !rest.is_empty() {
            text.push(' ');
        }
        text.push_str(rest.trim_start());
        if is_end {
            return Ok(Some(Reply { code, text }));
        }
        self.begun = Some((code, text));
        Ok(None)
    }
}

/// The code of a line, whether the line is the only or last one of its reply, and the rest.
fn code_of(line: &str) -> Option<(u16, bool, &str)> {
    let code = line.get(..3).filter(|code| code.bytes().all(|byte| byte.is_ascii_digit()))?;
    let code = code.parse().ok().filter(|code| (100..600).contains(code))?;
    match line.as_bytes().get(3) {
        None => Some((code, true, "")),
        Some(b' ') => Some((code, true, line.get(4..)?)),
        Some(b'-') => Some((code, false, line.get(4..)?)),
        Some(_) => None,
    }
}

fn wrong(what: &str) -> Trouble {
    Trouble::Protocol { protocol: "FTP", what: format!("it sent {what}") }
}

/// The port in the reply to EPSV: `229 Entering Extended Passive Mode (|||6446|)` (RFC 2428, section 3). The character
/// between the fields is the server's choice.
pub(super) fn port_of(text: &str) -> Option<u16> {
    let inside = text.split_once('(')?.1.split_once(')')?.0;
    let mark = inside.chars().next()?;
    let fields: Vec<&str> = inside.split(mark).collect();
    match fields.as_slice() {
        ["", "", "", port, ""] => port.parse().ok().filter(|port| *port > 0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(parts: &[&[u8]]) -> Result<Vec<Reply>, Trouble> {
        let mut replies = Replies::default();
        let mut found = Vec::new();
        for part in parts {
            replies.add(part);
            while let Some(reply) = replies.next()? {
                found.push(reply);
            }
        }
        Ok(found)
    }

    fn reply(code: u16, text: &str) -> Reply {
        Reply { code, text: text.into() }
    }

    #[test]
    fn replies_of_one_line_and_of_several_come_whole_however_they_are_cut() {
        let text = b"220-Welcome\r\n 331 is no code here\r\n221 nor is this\r\n220 ready\r\n331 Password?\r\n230\r\n";
        let expected = [
            reply(220, "Welcome 331 is no code here 221 nor is this ready"),
            reply(331, "Password?"),
            reply(230, ""),
        ];
        assert_eq!(all(&[text]).unwrap(), expected);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(all(&bytes).unwrap(), expected);
    }

    #[test]
    fn what_is_no_reply_is_refused_and_nothing_grows_without_end() {
        for wrong in [&b"SSH-2.0-OpenSSH\r\n"[..], b"22 x\r\n", b"999 x\r\n", b"\r\n", b"220x\r\n"]
        {
            assert!(all(&[wrong]).is_err(), "{wrong:?}");
        }
        let long = vec![b'2'; 9 << 10];
        assert!(all(&[&long]).is_err());
        let mut endless = b"220-a\r\n".to_vec();
        (0..2000).for_each(|_| endless.extend_from_slice(&[b'x'; 60]));
        let lines: Vec<u8> = b"220-a\r\n"
            .iter()
            .copied()
            .chain(
                std::iter::repeat_n(b"0123456789012345678901234567890\r\n", 4000)
                    .flatten()
                    .copied(),
            )
            .collect();
        assert!(all(&[&lines]).is_err());
        assert!(all(&[&endless]).is_err());
    }

    #[test]
    fn the_port_of_a_passive_connection_is_read() {
        assert_eq!(port_of("Entering Extended Passive Mode (|||6446|)."), Some(6446));
        assert_eq!(port_of("ok (!!!21!)"), Some(21));
        for wrong in ["", "(|||0|)", "(|||70000|)", "(||6446|)", "(|||-1|)", "()", "(10,0,0,1,4,2)"]
        {
            assert_eq!(port_of(wrong), None, "{wrong}");
        }
    }
}
