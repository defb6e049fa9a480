//! An agent at a virtual serial port: the only way into a guest that has no network.
//!
//! The port outlives its controllers, so the agent serves one after the other. The kernel tells that nobody
//! holds the other end by reads of nothing, and keeps a writer waiting until somebody does; a writer here
//! is refused instead, because what an agent does has to end with its controller.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::knock::answer;
use crate::serve::{Stop, serve};

/// How long to rest when nobody holds the other end.
const NOBODY: Duration = Duration::from_millis(5);

/// Serves controllers at the port, one after the other, for ever. `say` is told why one ended early.
///
/// # Errors
/// The port cannot be opened, or broke.
pub fn serve_port(port: &Path, version: &str, say: &mut dyn FnMut(&str)) -> io::Result<()> {
    // A port has one opener: both directions are of the same file.
    let mut line = Line(OpenOptions::new().read(true).write(true).open(port)?);
    loop {
        answer(&mut line, version, &mut || thread::sleep(NOBODY))?;
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
