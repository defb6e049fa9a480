//! The host's end of a guest's control port.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// A connection to a guest.
#[derive(Debug)]
pub(crate) struct Port {
    reader: BufReader<UnixStream>,
}

/// How often the request is repeated while the guest may not be listening yet: what is written to a port
/// that is not open in the guest is kept, so repeating costs an extra answer and loses none.
const ASK_AGAIN: Duration = Duration::from_millis(500);

impl Port {
    pub(crate) fn connect(socket: &Path) -> io::Result<Self> {
        Ok(Self { reader: BufReader::new(stormeter_agent::connect(socket)?) })
    }

    /// Asks for a hello until `patience` ends or `keep_going` returns false; returns the line received.
    pub(crate) fn hello(
        &mut self,
        patience: Duration,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> io::Result<String> {
        let end = Instant::now() + patience;
        let mut asked: Option<Instant> = None;
        let mut line = String::new();
        while Instant::now() < end && keep_going() {
            if asked.is_none_or(|asked| asked.elapsed() >= ASK_AGAIN) {
                self.reader.get_mut().write_all(b"hello\n")?;
                asked = Some(Instant::now());
            }
            if self.part_of_line(&mut line, Duration::from_millis(100))? {
                if line.starts_with("hello ") {
                    return Ok(line.trim_end().to_owned());
                }
                line.clear();
            }
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "it said no hello"))
    }

    /// Sends a guest its set-up script and waits until it is done.
    pub(crate) fn set_up(&mut self, script: &str, patience: Duration) -> io::Result<()> {
        self.send(script, "run", patience).map(drop)
    }

    /// Runs a script in a guest; returns what it prints.
    pub(crate) fn ask(&mut self, script: &str, patience: Duration) -> io::Result<String> {
        self.send(script, "ask", patience)
    }

    fn send(&mut self, script: &str, verb: &str, patience: Duration) -> io::Result<String> {
        let mut text = String::from("begin\n");
        for line in script.lines() {
            text += &format!("line {line}\n");
        }
        text += &format!("{verb}\n");
        self.reader.get_mut().write_all(text.as_bytes())?;
        let end = Instant::now() + patience;
        let (mut line, mut printed) = (String::new(), String::new());
        while Instant::now() < end {
            if self.part_of_line(&mut line, Duration::from_millis(500))? {
                match line.trim_end() {
                    "ready" => return Ok(printed),
                    // With the last line that was printed, if there was one.
                    answer if answer == "failed" || answer.starts_with("failed ") => {
                        return Err(io::Error::other(answer));
                    }
                    // Anything else is the answer to a repeated hello request.
                    answer => {
                        if let Some(said) = answer.strip_prefix("said ") {
                            printed += said;
                            printed.push('\n');
                        }
                        line.clear();
                    }
                }
            }
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "its set-up takes too long"))
    }

    /// Reads more; returns whether the line is complete.
    fn part_of_line(&mut self, line: &mut String, patience: Duration) -> io::Result<bool> {
        self.reader.get_ref().set_read_timeout(Some(patience))?;
        let mut bytes = Vec::new();
        let read = self.reader.read_until(b'\n', &mut bytes);
        line.push_str(&String::from_utf8_lossy(&bytes));
        match read {
            Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has ended")),
            Ok(_) => Ok(line.ends_with('\n')),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::TimedOut
                        | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_agent::listen;

    /// A guest that answers each line it receives with the next of these.
    fn guest(answers: &'static [&'static str]) -> (tempfile::TempDir, Port) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("port");
        let listener = listen(&path).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            for answer in answers {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 {
                    return;
                }
                if stream.write_all(answer.as_bytes()).is_err() {
                    return;
                }
            }
        });
        let port = Port::connect(&path).unwrap();
        (directory, port)
    }

    const PATIENCE: Duration = Duration::from_secs(20);

    #[test]
    fn a_guest_says_hello_after_other_lines() {
        let (_directory, mut port) = guest(&["noise\nhello worker 1\n"]);
        assert_eq!(port.hello(PATIENCE, &mut || true).unwrap(), "hello worker 1");
    }

    #[test]
    fn a_set_up_is_sent_line_by_line_and_its_failure_is_reported() {
        let (_directory, mut port) = guest(&["", "", "hello again\nready\n"]);
        port.set_up("mkdir /x", PATIENCE).unwrap();
        let (_directory, mut port) = guest(&["", "", "said a b\nsaid c\nready\n"]);
        assert_eq!(port.ask("echo a b; echo c", PATIENCE).unwrap(), "a b\nc\n");
        let (_directory, mut port) = guest(&["", "", "failed no such disk\n"]);
        let error = port.set_up("mkdir /x", PATIENCE).unwrap_err().to_string();
        assert!(error.contains("no such disk"), "{error}");
        // What failed printed nothing.
        let (_directory, mut port) = guest(&["", "", "failed \n"]);
        let error = port.set_up("[ -e /x ]", PATIENCE).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Other, "{error}");
    }

    #[test]
    fn one_that_ends_or_says_nothing_is_not_waited_for() {
        let (_directory, mut port) = guest(&[""]);
        let error = port.hello(PATIENCE, &mut || true).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{error}");
        let (_directory, mut port) = guest(&["", "", ""]);
        let error = port.hello(PATIENCE, &mut || false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
    }
}
