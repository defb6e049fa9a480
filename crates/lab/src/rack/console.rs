//! `lab console`: the serial console of a guest, until Ctrl-] or the end of the guest.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};

use super::directory::{guest, started};
use crate::error::{LabError, at};

/// Ctrl-], as in telnet.
const LEAVE: u8 = 0x1d;

/// Connects standard input and output to the console of `name` in the lab in `directory`. The console's
/// earlier output is in its log; `say` receives the path.
///
/// # Errors
/// There is no such lab or guest, or it does not run.
pub fn console(directory: &Path, name: &str, say: &mut dyn FnMut(&str)) -> Result<(), LabError> {
    let (path, state) = started(directory)?;
    let names: Vec<&str> = state.lab.names().collect();
    if !names.contains(&name) {
        return Err(LabError::NoGuest { name: name.into(), known: names.join(", ") });
    }
    let guest = guest(&path, name);
    let Ok(stream) = stormeter_agent::connect(&guest.console()) else {
        return Err(guest.failed("does not run"));
    };
    say(&format!("the console of {name}; Ctrl-] leaves it. Before: {}", guest.log().display()));
    let _raw = Raw::set();
    join(&mut io::stdin(), stream, &mut io::stdout()).map_err(at(&guest.console()))
}

/// Copies input and output in both directions as they come.
fn join(
    keys: &mut (impl Read + AsFd),
    mut stream: UnixStream,
    screen: &mut impl Write,
) -> io::Result<()> {
    let mut bytes = [0; 4096];
    let mut typing = true;
    loop {
        let readable = {
            let flags = PollFlags::POLLIN;
            let mut ends = vec![PollFd::new(stream.as_fd(), flags)];
            if typing {
                ends.push(PollFd::new(keys.as_fd(), flags));
            }
            poll(&mut ends, PollTimeout::NONE)?;
            ends.iter().map(|end| end.any().unwrap_or(false)).collect::<Vec<_>>()
        };
        if readable[0] {
            let count = stream.read(&mut bytes)?;
            if count == 0 {
                return Ok(());
            }
            screen.write_all(&bytes[..count])?;
            screen.flush()?;
        }
        if readable.get(1) == Some(&true) {
            let count = keys.read(&mut bytes)?;
            let typed = &bytes[..count];
            // The end of piped input is not the end of the output.
            typing = count > 0;
            let end = typed.iter().position(|byte| *byte == LEAVE);
            stream.write_all(&typed[..end.unwrap_or(count)])?;
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

/// The terminal in raw mode until this is dropped.
struct Raw {
    before: Option<Termios>,
}

impl Raw {
    fn set() -> Self {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(before) = &before {
            let mut raw = before.clone();
            cfmakeraw(&mut raw);
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &raw);
        }
        Self { before }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_in_and_lines_come_out_until_the_key_that_leaves() {
        let (ours, mut guest) = UnixStream::pair().unwrap();
        let (mut keys, mut typist) = UnixStream::pair().unwrap();
        guest.write_all(b"login: ").unwrap();
        typist.write_all(b"ls\n\x1dnot sent").unwrap();
        let mut screen = Vec::new();
        join(&mut keys, ours, &mut screen).unwrap();
        assert_eq!(screen, b"login: ");
        let mut typed = Vec::new();
        guest.read_to_end(&mut typed).unwrap();
        assert_eq!(typed, b"ls\n");
    }

    #[test]
    fn it_ends_with_the_guest_and_not_with_the_keys() {
        let (ours, mut guest) = UnixStream::pair().unwrap();
        let (mut keys, typist) = UnixStream::pair().unwrap();
        drop(typist);
        let shown = std::thread::spawn(move || {
            let mut screen = Vec::new();
            join(&mut keys, ours, &mut screen).map(|()| screen)
        });
        guest.write_all(b"bye").unwrap();
        drop(guest);
        assert_eq!(shown.join().unwrap().unwrap(), b"bye");
    }
}
