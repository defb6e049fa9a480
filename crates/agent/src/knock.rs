//! The handshake on a line that never closes, such as a guest's virtual serial port.
//!
//! A pipe is new for each controller; such a line is not. Incomplete data of an earlier controller may
//! still be on it, in both directions, and neither end reliably notices when the other disconnects. So
//! both ends exchange lines before frames: the controller repeats a line with a nonce of its own until it
//! is answered, then enters, and discards whatever arrives before the answer to that. No line can be
//! mistaken for a frame: its first four bytes would be a length that no frame has.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// How often the line is repeated. What is written to a guest that is not listening yet is kept for it,
/// so repeating costs an extra answer and loses none.
const KNOCK_EVERY: Duration = Duration::from_millis(250);
/// Longer than any of our lines.
const LONGEST: usize = 200;

/// Knocks until the far end answers; returns its version. Reads from `stream` must time out after a short
/// time; `word` must be one that no other controller of the line uses; `go_on` is polled in between.
///
/// # Errors
/// The line broke or ended, or `go_on` returned false ([`io::ErrorKind::TimedOut`]).
pub fn knock(
    stream: &mut (impl Read + Write),
    word: &str,
    go_on: &mut dyn FnMut() -> bool,
) -> io::Result<String> {
    let knock = format!("\nstormeter knock {word}\n");
    let mut lines = Lines::default();
    let mut knocked: Option<Instant> = None;
    while go_on() {
        if knocked.is_none_or(|at| at.elapsed() >= KNOCK_EVERY) {
            stream.write_all(knock.as_bytes())?;
            knocked = Some(Instant::now());
        }
        if let Some(line) = lines.next(stream)?
            && let Some(version) = said(&line, "here", word)
        {
            return Ok(version.to_owned());
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"))
}

/// Knocks and enters: what follows on the stream are frames of an agent that waits for a hello.
///
/// # Errors
/// See [`knock`].
pub(crate) fn enter(
    stream: &mut (impl Read + Write),
    word: &str,
    go_on: &mut dyn FnMut() -> bool,
) -> io::Result<()> {
    knock(stream, word, go_on)?;
    stream.write_all(format!("stormeter enter {word}\n").as_bytes())?;
    let mut lines = Lines::default();
    while go_on() {
        // Answers to superfluous knocks come before it.
        if let Some(line) = lines.next(stream)?
            && said(&line, "entered", word).is_some()
        {
            return Ok(());
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"))
}

/// The far end: answers knocks until a controller enters. If a read returns nothing, the other end is not
/// open; it is retried after `rest`.
///
/// # Errors
/// The line broke.
pub(crate) fn answer(
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
        let Some((verb, word)) = line.strip_prefix("stormeter ").and_then(|it| it.split_once(' '))
        else {
            continue;
        };
        let answered = match verb {
            "knock" => format!("\nstormeter here {word} {version}\n"),
            "enter" => format!("\nstormeter entered {word}\n"),
            _ => continue,
        };
        // A controller that has left meanwhile does not miss it.
        let written = stream.write_all(answered.as_bytes());
        if verb == "enter" && written.is_ok() {
            return Ok(());
        }
    }
}

/// What follows `stormeter VERB WORD`, if the line has that form.
fn said<'l>(line: &'l str, verb: &str, word: &str) -> Option<&'l str> {
    let rest = line.strip_prefix("stormeter ")?.strip_prefix(verb)?.strip_prefix(' ')?;
    let rest = rest.strip_prefix(word)?;
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
            let answered = answer(&mut far, "1.2.3", &mut || {
                rests += 1;
                assert!(rests < 1000, "the line was closed");
            });
            (answered, far)
        })
    }

    #[test]
    fn whoever_knocks_enters_over_what_others_left_on_the_line() {
        let (mut near, mut far) = line();
        // Half a frame of an earlier controller, and half a report to it.
        near.write_all(&[7, 1, 0, 0, b'{', b'"']).unwrap();
        near.write_all(&vec![b'x'; 10_000]).unwrap();
        far.write_all(b"\x10\0\0\0{\"Interval\":stormeter here other 9").unwrap();
        let far = far_end(far);
        enter(&mut near, "mine", &mut || true).unwrap();
        near.write_all(b"frames").unwrap();
        let (answered, mut far) = far.join().unwrap();
        answered.unwrap();
        let mut next = [0; 6];
        far.read_exact(&mut next).unwrap();
        assert_eq!(&next, b"frames", "nothing of it was taken for a line");
    }

    #[test]
    fn knocking_alone_tells_the_version_and_leaves_the_door_as_it_is() {
        let (mut near, far) = line();
        let far = far_end(far);
        for word in ["first", "second"] {
            assert_eq!(knock(&mut near, word, &mut || true).unwrap(), "1.2.3");
        }
        enter(&mut near, "third", &mut || true).unwrap();
        far.join().unwrap().0.unwrap();
    }

    #[test]
    fn a_word_is_answered_to_whom_it_belongs() {
        assert_eq!(said("stormeter here a 1.0", "here", "a"), Some("1.0"));
        assert_eq!(said("stormeter entered a", "entered", "a"), Some(""));
        for line in ["stormeter here ab 1.0", "stormeter entered a", "here a", ""] {
            assert_eq!(said(line, "here", "a"), None, "{line}");
        }
    }

    #[test]
    fn nobody_is_not_waited_for_longer_than_is_wanted() {
        let (mut near, _far) = line();
        let mut asked = 0;
        let error = knock(&mut near, "mine", &mut || {
            asked += 1;
            asked < 4
        });
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let (mut near, far) = line();
        drop(far);
        assert!(enter(&mut near, "mine", &mut || true).is_err());
    }
}
