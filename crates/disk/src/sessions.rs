//! The sessions that one thread drives: users of a service, each of whom does one thing after another.
//!
//! Unlike the requests of a disk, what a session does has no place and no buffer, may move any number of bytes in any
//! number of messages, and more may arrive than was asked for.

use crate::disks::{DisksError, Wait};
use crate::operation::{DeviceError, Kind};

/// Sessions with a server behind one queue of events.
pub trait Sessions {
    /// Starts the next operation of a session (counted from 0), which has none outstanding. It ends with
    /// [`SessionChange::Ended`] or [`SessionChange::Failed`]. A session that is not connected connects first.
    ///
    /// # Errors
    /// The queue itself no longer works, and the trial must end.
    fn begin(&mut self, session: u32) -> Result<(), DisksError>;

    /// Appends what has happened to `events`, waiting as `wait` says if there is nothing yet. May return with none after a
    /// wait.
    ///
    /// # Errors
    /// As [`Sessions::begin`].
    fn wait(&mut self, wait: Wait, events: &mut Vec<SessionEvent>) -> Result<(), DisksError>;
}

/// What happened to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEvent {
    /// The session, counted from 0.
    pub session: u32,
    /// What happened.
    pub what: SessionChange,
}

/// What can happen to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionChange {
    /// Bytes of the user's data passed: to the server (a write) or from it (a read).
    Moved {
        /// Which way.
        kind: Kind,
        /// Their number.
        bytes: u64,
    },
    /// The outstanding operation has ended.
    Ended {
        /// Which way its bytes went.
        kind: Kind,
    },
    /// The outstanding operation failed.
    Failed {
        /// Which way its bytes went.
        kind: Kind,
        /// The closest error of the operating system; the sessions keep the reason.
        error: DeviceError,
    },
    /// The server sent an update of a screen.
    Updated,
}
