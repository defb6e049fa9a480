//! An errand in a lab guest, through the port of its agent.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::errand::{Errand, ErrandEnd, ErrandError};
use crate::frame::{FrameError, read_frame, write_frame};
use crate::message::{Command, PROTOCOL, Report};
use crate::serial_handshake::open_session;
use crate::socket::connect;

/// How often a conversation looks whether it is over.
const LOOK: Duration = Duration::from_millis(20);

impl Errand {
    /// Sends it to the agent of a lab guest, whose port has its other end at `socket`; `nonce` must be one that no
    /// other controller of the port uses.
    ///
    /// # Errors
    /// The guest is gone, which is how an errand ends whose guest loses its power; or it could not be run.
    pub fn send(
        &self,
        socket: &Path,
        nonce: &str,
        version: &str,
        line: &mut dyn FnMut(String) -> Option<String>,
    ) -> Result<ErrandEnd, ErrandError> {
        let mut stream = greeted(socket, nonce, version)?;
        write_frame(&mut stream, &Command::Errand(self.clone()))?;
        loop {
            match read_frame(&mut stream)? {
                Report::Printed { line: printed } => {
                    if let Some(text) = line(printed) {
                        write_frame(&mut stream, &Command::Answer { text })?;
                    }
                }
                other => return ended(&mut stream, other),
            }
        }
    }

    /// As [`Errand::send`], with lines for its standard input that may come at any time; they end when it does.
    ///
    /// # Errors
    /// As there.
    pub fn converse(
        &self,
        socket: &Path,
        nonce: &str,
        version: &str,
        line: &mut dyn FnMut(String),
        said: Receiver<String>,
    ) -> Result<ErrandEnd, ErrandError> {
        let mut stream = greeted(socket, nonce, version)?;
        let mut to = stream.try_clone().map_err(FrameError::Io)?;
        write_frame(&mut stream, &Command::Errand(self.clone()))?;
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    match said.recv_timeout(LOOK) {
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return,
                        // A guest that is gone is noticed by its reader.
                        Ok(text) => drop(write_frame(&mut to, &Command::Answer { text })),
                    }
                }
            });
            let last = loop {
                match read_frame(&mut stream) {
                    Ok(Report::Printed { line: printed }) => line(printed),
                    other => break other,
                }
            };
            is_over.store(true, Ordering::Relaxed);
            ended(&mut stream, last?)
        })
    }
}

/// A session with the agent behind `socket`.
fn greeted(socket: &Path, nonce: &str, version: &str) -> Result<UnixStream, ErrandError> {
    let mut stream = connect(socket).map_err(FrameError::Io)?;
    stream.set_read_timeout(Some(Duration::from_millis(100))).map_err(FrameError::Io)?;
    open_session(&mut stream, nonce, &mut || true).map_err(FrameError::Io)?;
    stream.set_read_timeout(None).map_err(FrameError::Io)?;
    let hello = Command::Hello { protocols: vec![PROTOCOL], version: version.into() };
    write_frame(&mut stream, &hello)?;
    match read_frame(&mut stream)? {
        Report::Hello { protocol: PROTOCOL, .. } => Ok(stream),
        Report::Hello { version, .. } => Err(ErrandError::Version(version)),
        other => Err(out_of_turn(&other)),
    }
}

/// What the last report says.
fn ended(stream: &mut UnixStream, last: Report) -> Result<ErrandEnd, ErrandError> {
    match last {
        Report::ErrandEnded(end) => {
            // Its answer would say nothing more.
            let _ = write_frame(stream, &Command::Goodbye);
            let _ = read_frame::<Report>(stream);
            Ok(end)
        }
        Report::Failed { reason } => Err(ErrandError::Run(reason)),
        other => Err(out_of_turn(&other)),
    }
}

fn out_of_turn(report: &Report) -> ErrandError {
    ErrandError::Run(format!("its agent answered something else: {report:?}"))
}
