//! The start of a session: versions, security, the screen (RFC 6143, section 7.1 to 7.3).

use stormeter_wire::Secret;

use super::inbox::Inbox;
use super::response::response;
use crate::error::Trouble;

/// Security types (RFC 6143, section 7.2).
const NONE: u8 = 1;
const VNC_AUTH: u8 = 2;
/// The longest text of a server that is read, in bytes.
const MOST_TEXT_BYTES: u32 = 4096;

/// The screen of a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Width in pixels.
    pub(crate) width: u16,
    /// Height in pixels.
    pub(crate) height: u16,
    /// Bytes of a pixel: 1, 2 or 4.
    pub(crate) pixel_bytes: u8,
}

/// How far a handshake is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More bytes are needed.
    Waits,
    /// These bytes are to be sent.
    Say(Vec<u8>),
    /// It is over, and this is the screen.
    Done(Screen),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Version,
    /// The server's choice (3.3) or list (3.7, 3.8) of security types.
    Security,
    Challenge,
    Result,
    /// A reason follows.
    Reason {
        /// It is why the password was refused, and not the session.
        of_login: bool,
    },
    Screen,
}

/// The handshake of a viewer.
#[derive(Debug)]
pub(crate) struct Handshake {
    password: Secret,
    state: State,
    /// The minor version of the protocol: 3, 7 or 8.
    minor: u8,
}

impl Handshake {
    pub(crate) fn new(password: Secret) -> Self {
        Self { password, state: State::Version, minor: 8 }
    }

    /// Continues as far as the received bytes allow.
    pub(crate) fn go_on(&mut self, inbox: &mut Inbox) -> Result<Progress, Trouble> {
        let progress = match self.state {
            State::Version => self.version(inbox)?,
            State::Security if self.minor == 3 => self.choice(inbox)?,
            State::Security => self.list(inbox)?,
            State::Challenge => inbox.take::<16>().map(|challenge| {
                self.state = State::Result;
                Progress::Say(response(&self.password, challenge).to_vec())
            }),
            State::Result => return self.result(inbox),
            State::Reason { of_login } => match text(inbox)? {
                None => None,
                Some(said) if of_login => return Err(Trouble::Login { said: Some(said) }),
                Some(said) => return Err(Trouble::Refused { said }),
            },
            State::Screen => screen(inbox)?.map(Progress::Done),
        };
        Ok(progress.unwrap_or(Progress::Waits))
    }

    fn version(&mut self, inbox: &mut Inbox) -> Result<Option<Progress>, Trouble> {
        let Some(offered) = inbox.take::<12>() else { return Ok(None) };
        let text = String::from_utf8_lossy(&offered);
        let version = text.strip_prefix("RFB ").and_then(|rest| rest.strip_suffix('\n'));
        let version = version.and_then(|version| version.split_once('.'));
        let number = |text: &str| text.parse::<u16>().ok();
        let Some((Some(major), Some(minor))) = version.map(|(a, b)| (number(a), number(b))) else {
            return Err(protocol(format!("it begins with {:?}", text.trim_end())));
        };
        // Other numbers are those of 3.3 (RFC 6143, section 7.1.1); some programs number theirs above 3.8.
        self.minor = match (major, minor) {
            (0..3, _) => return Err(protocol(format!("its version is {major}.{minor}"))),
            (3, 7) => 7,
            (3, 0..7) => 3,
            _ => 8,
        };
        self.state = State::Security;
        Ok(Some(Progress::Say(format!("RFB 003.00{}\n", self.minor).into_bytes())))
    }

    /// Version 3.3: the server says which security type it is.
    fn choice(&mut self, inbox: &mut Inbox) -> Result<Option<Progress>, Trouble> {
        let Some(chosen) = inbox.take::<4>() else { return Ok(None) };
        match u32::from_be_bytes(chosen) {
            0 => {
                self.state = State::Reason { of_login: false };
                self.go_on(inbox).map(Some)
            }
            1 => {
                self.state = State::Screen;
                Ok(Some(shared()))
            }
            2 => {
                self.state = State::Challenge;
                self.go_on(inbox).map(Some)
            }
            other => Err(Trouble::Security { offered: vec![other.min(255) as u8] }),
        }
    }

    /// From version 3.7 on: the viewer chooses from the server's list.
    fn list(&mut self, inbox: &mut Inbox) -> Result<Option<Progress>, Trouble> {
        let Some([count]) = inbox.peek::<1>() else { return Ok(None) };
        let Some(mut offered) = inbox.take_all(1 + usize::from(count)) else { return Ok(None) };
        offered.remove(0);
        if offered.is_empty() {
            self.state = State::Reason { of_login: false };
            return self.go_on(inbox).map(Some);
        }
        // A password is proved wherever that is possible.
        let chosen = [VNC_AUTH, NONE].into_iter().find(|kind| offered.contains(kind));
        let Some(chosen) = chosen else { return Err(Trouble::Security { offered }) };
        let mut say = vec![chosen];
        self.state = match chosen {
            VNC_AUTH => State::Challenge,
            // Before version 3.8 there is no result without authentication.
            _ if self.minor < 8 => {
                say.push(1);
                State::Screen
            }
            _ => State::Result,
        };
        Ok(Some(Progress::Say(say)))
    }

    fn result(&mut self, inbox: &mut Inbox) -> Result<Progress, Trouble> {
        let Some(result) = inbox.take::<4>() else { return Ok(Progress::Waits) };
        match u32::from_be_bytes(result) {
            0 => {
                self.state = State::Screen;
                Ok(shared())
            }
            // Before version 3.8 no reason follows.
            1 | 2 if self.minor < 8 => Err(Trouble::Login { said: None }),
            1 | 2 => {
                self.state = State::Reason { of_login: true };
                self.go_on(inbox)
            }
            other => Err(protocol(format!("the result of its security is {other}"))),
        }
    }
}

/// The viewer's only message before the screen: other viewers stay connected.
fn shared() -> Progress {
    Progress::Say(vec![1])
}

/// A text after its length; `None` if it has not arrived.
fn text(inbox: &mut Inbox) -> Result<Option<String>, Trouble> {
    let Some(length) = inbox.peek::<4>().map(u32::from_be_bytes) else { return Ok(None) };
    if length > MOST_TEXT_BYTES {
        return Err(protocol(format!("its reason has {length} bytes")));
    }
    let Some(bytes) = inbox.take_all(4 + length as usize) else { return Ok(None) };
    Ok(Some(String::from_utf8_lossy(&bytes[4..]).trim().to_owned()))
}

/// The screen, with the name of the desktop, which nobody needs.
fn screen(inbox: &mut Inbox) -> Result<Option<Screen>, Trouble> {
    let Some(start) = inbox.take::<24>() else { return Ok(None) };
    let short = |at: usize| u16::from_be_bytes([start[at], start[at + 1]]);
    let name_bytes = u32::from_be_bytes([start[20], start[21], start[22], start[23]]);
    let pixel_bytes = match start[4] {
        bits @ (8 | 16 | 32) => bits / 8,
        bits => return Err(protocol(format!("its pixels have {bits} bits"))),
    };
    inbox.skip(name_bytes.into());
    Ok(Some(Screen { width: short(0), height: short(2), pixel_bytes }))
}

pub(super) fn protocol(what: String) -> Trouble {
    Trouble::Protocol { protocol: "VNC", what }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes of a 640x480 screen with 32 bits, whose name has two letters.
    const SCREEN: [u8; 26] = [
        2, 128, 1, 224, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0, 0, 0, 0, 2, b'v',
        b'm',
    ];

    /// Gives the bytes one by one and returns all that was said, and the end.
    fn run(given: &[&[u8]]) -> (Vec<u8>, Result<Option<Screen>, Trouble>) {
        let mut handshake = Handshake::new(Secret::new("12345678"));
        let mut inbox = Inbox::default();
        let mut said = Vec::new();
        for byte in given.iter().copied().flatten() {
            inbox.add(&[*byte]);
            loop {
                match handshake.go_on(&mut inbox) {
                    Ok(Progress::Waits) => break,
                    Ok(Progress::Say(bytes)) => said.extend(bytes),
                    Ok(Progress::Done(screen)) => return (said, Ok(Some(screen))),
                    Err(trouble) => return (said, Err(trouble)),
                }
            }
        }
        (said, Ok(None))
    }

    fn reason(text: &str) -> Vec<u8> {
        let mut bytes = (text.len() as u32).to_be_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }

    #[test]
    fn each_version_ends_with_the_screen() {
        let expected = Screen { width: 640, height: 480, pixel_bytes: 4 };
        let challenge = [7u8; 16];
        let answer = response(&Secret::new("12345678"), challenge);
        let with = |parts: &[&[u8]]| parts.concat();
        let ok: &[u8] = &[0, 0, 0, 0];
        let cases: [(&[&[u8]], Vec<u8>); 6] = [
            (
                &[b"RFB 003.008\n", &[2, 16, 2], &challenge, ok, &SCREEN],
                with(&[b"RFB 003.008\n", &[2], &answer, &[1]]),
            ),
            (
                &[b"RFB 003.007\n", &[1, 2], &challenge, ok, &SCREEN],
                with(&[b"RFB 003.007\n", &[2], &answer, &[1]]),
            ),
            (
                &[b"RFB 003.003\n", &[0, 0, 0, 2], &challenge, ok, &SCREEN],
                with(&[b"RFB 003.003\n", &answer, &[1]]),
            ),
            (&[b"RFB 003.003\n", &[0, 0, 0, 1], &SCREEN], with(&[b"RFB 003.003\n", &[1]])),
            (&[b"RFB 003.007\n", &[1, 1], &SCREEN], with(&[b"RFB 003.007\n", &[1, 1]])),
            (&[b"RFB 004.001\n", &[1, 1], ok, &SCREEN], with(&[b"RFB 003.008\n", &[1], &[1]])),
        ];
        for (given, said) in cases {
            assert_eq!(run(given), (said, Ok(Some(expected))), "{given:?}");
        }
    }

    #[test]
    fn each_refusal_gives_its_reason() {
        let refused = |given: &[&[u8]]| run(given).1.unwrap_err().to_string();
        let full = reason("Too many");
        let wrong = reason("Authentication failed");
        let cases: [(&[&[u8]], &str); 8] = [
            (&[b"RFB 003.008\n", &[0], &full], "refused the session: Too many"),
            (&[b"RFB 003.003\n", &[0; 4], &full], "refused the session: Too many"),
            (
                &[b"RFB 003.008\n", &[1, 2], &[0; 16], &[0, 0, 0, 1], &wrong],
                "refused the login (Authentication failed)",
            ),
            (&[b"RFB 003.007\n", &[1, 2], &[0; 16], &[0, 0, 0, 1]], "refused the login: check"),
            (&[b"RFB 003.008\n", &[2, 19, 5]], "only security types [19, 5]"),
            (&[b"SSH-2.0-OpenS"], "it begins with \"SSH-2.0-Open\""),
            (&[b"RFB 002.002\n"], "its version is 2.2"),
            (&[b"RFB 003.008\n", &[0], &[255; 4]], "its reason has 4294967295 bytes"),
        ];
        for (given, words) in cases {
            let said = refused(given);
            assert!(said.contains(words), "{said}");
        }
    }
}
