//! An errand in a lab guest, through the port of its agent.

use std::path::Path;
use std::time::Duration;

use crate::errand::{Errand, ErrandEnd, ErrandError};
use crate::frame::{FrameError, read_frame, write_frame};
use crate::message::{Command, PROTOCOL, Report};
use crate::serial_handshake::open_session;
use crate::socket::connect;

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
        let mut stream = connect(socket).map_err(FrameError::Io)?;
        stream.set_read_timeout(Some(Duration::from_millis(100))).map_err(FrameError::Io)?;
        open_session(&mut stream, nonce, &mut || true).map_err(FrameError::Io)?;
        stream.set_read_timeout(None).map_err(FrameError::Io)?;
        let hello = Command::Hello { protocols: vec![PROTOCOL], version: version.into() };
        write_frame(&mut stream, &hello)?;
        match read_frame(&mut stream)? {
            Report::Hello { protocol: PROTOCOL, .. } => {}
            Report::Hello { version, .. } => return Err(ErrandError::Version(version)),
            other => return Err(out_of_turn(&other)),
        }
        write_frame(&mut stream, &Command::Errand(self.clone()))?;
        loop {
            match read_frame(&mut stream)? {
                Report::Printed { line: printed } => {
                    if let Some(text) = line(printed) {
                        write_frame(&mut stream, &Command::Answer { text })?;
                    }
                }
                Report::ErrandEnded(end) => {
                    // Its answer would say nothing more.
                    let _ = write_frame(&mut stream, &Command::Goodbye);
                    let _ = read_frame::<Report>(&mut stream);
                    return Ok(end);
                }
                Report::Failed { reason } => return Err(ErrandError::Run(reason)),
                other => return Err(out_of_turn(&other)),
            }
        }
    }
}

fn out_of_turn(report: &Report) -> ErrandError {
    ErrandError::Run(format!("its agent answered something else: {report:?}"))
}
