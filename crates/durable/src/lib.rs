//! Does storage keep what it has acknowledged as flushed?
//!
//! A [`write()`] puts numbered records on a disk, flushes after every few, and tells its caller the number up to which
//! they are acknowledged; a [`Journal`] keeps that number on other storage. After the power was cut, [`read_back`]
//! reads the whole disk and [`judge`] compares it with the journal. Only acknowledged records are judged, and among those only records over which no later write can have been under way (see [`Ring`]): storage
//! that is honest is never accused.
//!
//! Knows disks and the files of journals; nothing of sockets, datastores or the terminal.

mod check;
mod journal;
mod record;
mod ring;
mod verdict;
mod writer;

pub use check::read_back;
pub use journal::{Acknowledged, Ended, Header, Journal, JournalError, JournalRead, Moment};
pub use record::{Content, RunId, fill, look};
pub use ring::{Ring, RingError};
pub use verdict::{Causes, CheckError, Lost, Misplaced, Order, Outcome, Place, Verdict, judge};
pub use writer::{Speed, WriteError, write};
