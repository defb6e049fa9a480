//! Replies of an FTP server: a code of three digits and text, on one line or several (RFC 959, section 4.2).

use crate::error::Trouble;

/// The longest line in bytes, and the most lines of a reply: a server must not fill the memory.
const MOST_LINE_BYTES: usize = 8 << 10;
/// The longest text of a reply that is kept, in characters.
const MOST_CHARS: usize = 300;
const MOST_LINES: u32 = 1000;

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
    /// How many of the received bytes were read.
    read: usize,
    /// The code, the text and the number of lines of a reply whose last line has not arrived.
    incomplete: Option<(u16, String, u32)>,
}

impl Replies {
    /// Adds received bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.received.drain(..std::mem::take(&mut self.read));
        self.received.extend_from_slice(bytes);
    }

    /// The next whole reply; `None` if more bytes are needed.
    pub(super) fn next(&mut self) -> Result<Option<Reply>, Trouble> {
        while let Some(end) = self.received[self.read..].iter().position(|&byte| byte == b'\n') {
            let line = String::from_utf8_lossy(&self.received[self.read..self.read + end]);
            let line = line.trim_end_matches('\r').to_owned();
            self.read += end + 1;
            if let Some(reply) = self.line(&line)? {
                return Ok(Some(reply));
            }
        }
        if self.received.len() - self.read > MOST_LINE_BYTES {
            return Err(wrong("a line without end"));
        }
        Ok(None)
    }

    /// A line; the reply that it completes.
    fn line(&mut self, line: &str) -> Result<Option<Reply>, Trouble> {
        let start = code_of(line);
        let Some((code, mut text, lines)) = self.incomplete.take() else {
            let Some((code, is_last, text)) = start else {
                // Not the line itself: it may repeat a password.
                return Err(wrong("a line without a code"));
            };
            if is_last {
                return Ok(Some(Reply { code, text: shortened(text) }));
            }
            self.incomplete = Some((code, text.into(), 1));
            return Ok(None);
        };
        // Only the last line begins with the code and a space; others may begin with anything.
        let (is_end, rest) = match start {
            Some((of, true, rest)) if of == code => (true, rest),
            _ => (false, line),
        };
        if lines > MOST_LINES {
            return Err(wrong("a reply without end"));
        }
        if !text.is_empty() && !rest.is_empty() {
            text.push(' ');
        }
        text.push_str(rest.trim_start());
        let text = shortened(&text);
        if is_end {
            return Ok(Some(Reply { code, text }));
        }
        self.incomplete = Some((code, text, lines + 1));
        Ok(None)
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MOST_CHARS).collect()
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
        (0..2000).for_each(|_| endless.extend_from_slice(b"\r\n"));
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
