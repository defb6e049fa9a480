//! An agent at a virtual serial port: the only connection into a guest that has no network.
//!
//! The port outlives its controllers, so the agent serves one after the other. When the other end is not
//! open, the kernel returns reads of zero bytes and blocks writers; a writer here fails instead, because an
//! agent's work has to end with its controller.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::serial_handshake::accept_session;
use crate::serve::{Stop, serve};

/// How long to pause while the other end is not open, and after how many pauses, two seconds, an agent of which nothing
/// has been wanted looks less often: an emulated processor feels each look.
const NOT_OPEN: Duration = Duration::from_millis(5);
const SILENT: Duration = Duration::from_millis(150);
const MANY: u32 = 400;

/// The pause before the next look, after that many at which the other end was not open.
fn pause(looks: u32) -> Duration {
    if looks < MANY { NOT_OPEN } else { SILENT }
}

/// Serves controllers at the port, one after the other, forever. `say` receives the reason when one
/// ends early.
///
/// # Errors
/// The port cannot be opened, or broke.
pub fn serve_port(port: &Path, version: &str, say: &mut dyn FnMut(&str)) -> io::Result<()> {
    // A port can be opened only once: both directions use the same file.
    let mut line = Line(OpenOptions::new().read(true).write(true).open(port)?);
    loop {
        let mut looks = 0_u32;
        accept_session(&mut line, version, &mut || {
            thread::sleep(pause(looks));
            looks = looks.saturating_add(1);
        })?;
        let (input, output) = (line.again()?, line.again()?);
        if let Err(error) = serve(input, output, version, Stop::default()) {
            say(&error.to_string());
        }
    }
}

/// The port's file.
struct Line(File);

impl Line {
    fn again(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }
}

impl Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut ready = [PollFd::new(self.0.as_fd(), PollFlags::POLLOUT)];
        poll(&mut ready, PollTimeout::NONE)?;
        let found = ready[0].revents().unwrap_or(PollFlags::empty());
        if found.contains(PollFlags::POLLHUP) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
