//! The handshake on a line that never closes, such as a guest's virtual serial port.
//!
//! A pipe is new for each controller; such a line is not. Incomplete data of an earlier controller may
//! still be on it, in both directions, and neither end reliably notices when the other disconnects. So
//! both ends exchange lines before frames: the controller repeats a line with a nonce of its own until it
//! is answered, then opens the session, and discards whatever arrives before the answer to that. No line can be
//! mistaken for a frame: its first four bytes would be a length that no frame has.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// How often the line is repeated. What is written to a guest that is not listening yet is kept for it,
/// so repeating costs an extra answer and loses none.
const REPEAT_EVERY: Duration = Duration::from_millis(250);
/// Longer than any of our lines.
const LONGEST: usize = 200;

/// Asks until an agent at the far end answers; returns its version. Reads from `stream` must time out after a short
/// time; `nonce` must be one that no other controller of the line uses; `keep_trying` is polled in between.
///
/// # Errors
/// The line broke or ended, or `keep_trying` returned false ([`io::ErrorKind::TimedOut`]).
pub fn find_agent(
    stream: &mut (impl Read + Write),
    nonce: &str,
    keep_trying: &mut dyn FnMut() -> bool,
) -> io::Result<String> {
    let question = format!("\nstormeter knock {nonce}\n");
    let mut lines = Lines::default();
    let mut asked: Option<Instant> = None;
    while keep_trying() {
        if asked.is_none_or(|at| at.elapsed() >= REPEAT_EVERY) {
            stream.write_all(question.as_bytes())?;
            asked = Some(Instant::now());
        }
        if let Some(line) = lines.next(stream)?
            && let Some(version) = said(&line, "here", nonce)
        {
            return Ok(version.to_owned());
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"))
}

/// Finds the agent and opens a session: what follows on the stream are frames of an agent that waits for a hello.
///
/// # Errors
/// See [`find_agent`].
pub(crate) fn open_session(
    stream: &mut (impl Read + Write),
    nonce: &str,
    keep_trying: &mut dyn FnMut() -> bool,
) -> io::Result<()> {
    find_agent(stream, nonce, keep_trying)?;
    stream.write_all(format!("stormeter enter {nonce}\n").as_bytes())?;
    let mut lines = Lines::default();
    while keep_trying() {
        // Answers to superfluous questions come before it.
        if let Some(line) = lines.next(stream)?
            && said(&line, "entered", nonce).is_some()
        {
            return Ok(());
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"))
}

/// The far end: answers controllers until one opens a session. If a read returns nothing, the other end is not
/// open; it is retried after `rest`.
///
/// # Errors
/// The line broke.
pub(crate) fn accept_session(
    stream: &mut (impl Read + Write),
    version: &str,
    rest: &mut dyn FnMut(),
) -> io::Result<()> {
    let mut lines = Lines::default();
    loop {
        let line = match lines.next(stream) {
            Ok(Some(line)) => line,
            Ok(None) => continue,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                // An incomplete line is not continued by the next controller.
                lines.partial.clear();
                rest();
                continue;
            }
            Err(error) => return Err(error),
        };
        let Some((verb, nonce)) = line.strip_prefix("stormeter ").and_then(|it| it.split_once(' '))
        else {
            continue;
        };
        let answered = match verb {
            "knock" => format!("\nstormeter here {nonce} {version}\n"),
            "enter" => format!("\nstormeter entered {nonce}\n"),
            _ => continue,
        };
        // A controller that has left meanwhile does not miss it.
        let written = stream.write_all(answered.as_bytes());
        if verb == "enter" && written.is_ok() {
            return Ok(());
        }
    }
}

/// What follows `stormeter VERB NONCE`, if the line has that form.
fn said<'l>(line: &'l str, verb: &str, nonce: &str) -> Option<&'l str> {
    let rest = line.strip_prefix("stormeter ")?.strip_prefix(verb)?.strip_prefix(' ')?;
    let rest = rest.strip_prefix(nonce)?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start())
}

/// Lines of a stream, read byte by byte: what follows them must not be consumed.
#[derive(Default)]
struct Lines {
    partial: Vec<u8>,
}

impl Lines {
    /// The next line; `None` if it is not complete yet.
    fn next(&mut self, stream: &mut impl Read) -> io::Result<Option<String>> {
        let mut byte = [0];
        loop {
            match stream.read(&mut byte) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) if byte[0] == b'\n' => {
                    let line = String::from_utf8_lossy(&self.partial).into_owned();
                    self.partial.clear();
                    return Ok(Some(line));
                }
                Ok(_) if self.partial.len() < LONGEST => self.partial.push(byte[0]),
                // The rest of a frame: discarded up to its next line end.
                Ok(_) => self.partial.clear(),
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock
                            | io::ErrorKind::TimedOut
                            | io::ErrorKind::Interrupted
                    ) =>
                {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    /// The two ends of a line; reads on the first time out after a moment.
    fn line() -> (UnixStream, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        (near, far)
    }

    fn far_end(mut far: UnixStream) -> std::thread::JoinHandle<(io::Result<()>, UnixStream)> {
        std::thread::spawn(move || {
            let mut rests = 0;
            let answered = accept_session(&mut far, "1.2.3", &mut || {
                rests += 1;
                assert!(rests < 1000, "the line was closed");
            });
            (answered, far)
        })
    }

    #[test]
    fn a_session_opens_despite_what_others_left_on_the_line() {
        let (mut near, mut far) = line();
        // Half a frame of an earlier controller, and half a report to it.
        near.write_all(&[7, 1, 0, 0, b'{', b'"']).unwrap();
        near.write_all(&vec![b'x'; 10_000]).unwrap();
        far.write_all(b"\x10\0\0\0{\"Interval\":stormeter here other 9").unwrap();
        let far = far_end(far);
        open_session(&mut near, "mine", &mut || true).unwrap();
        near.write_all(b"frames").unwrap();
        let (answered, mut far) = far.join().unwrap();
        answered.unwrap();
        let mut next = [0; 6];
        far.read_exact(&mut next).unwrap();
        assert_eq!(&next, b"frames", "nothing of it was taken for a line");
    }

    #[test]
    fn finding_an_agent_yields_its_version_and_opens_no_session() {
        let (mut near, far) = line();
        let far = far_end(far);
        for nonce in ["first", "second"] {
            assert_eq!(find_agent(&mut near, nonce, &mut || true).unwrap(), "1.2.3");
        }
        open_session(&mut near, "third", &mut || true).unwrap();
        far.join().unwrap().0.unwrap();
    }

    #[test]
    fn an_answer_counts_only_with_the_nonce_of_the_question() {
        assert_eq!(said("stormeter here a 1.0", "here", "a"), Some("1.0"));
        assert_eq!(said("stormeter entered a", "entered", "a"), Some(""));
        for line in ["stormeter here ab 1.0", "stormeter entered a", "here a", ""] {
            assert_eq!(said(line, "here", "a"), None, "{line}");
        }
    }

    #[test]
    fn the_wait_for_an_agent_ends_when_the_caller_says_so() {
        let (mut near, _far) = line();
        let mut asked = 0;
        let error = find_agent(&mut near, "mine", &mut || {
            asked += 1;
            asked < 4
        });
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let (mut near, far) = line();
        drop(far);
        assert!(open_session(&mut near, "mine", &mut || true).is_err());
    }
}
