//! Which way an I/O moves bytes.
//!
//! The loop keeps its tallies by direction and not by [`Kind`]: all writes of a trial are durable or none is, so two
//! tables suffice, whose size a compiler can see. The kind is needed only when an operation is submitted or reported.

use stormeter_disk::Kind;

/// The direction of an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Direction {
    /// From the disk.
    Read = 0,
    /// Onto the disk.
    Write = 1,
}

impl Direction {
    /// That of a kind which moves bytes.
    pub(crate) fn of(kind: Kind) -> Self {
        if kind.is_write() { Self::Write } else { Self::Read }
    }

    /// The kind of operation, if writes are of kind `write`.
    pub(crate) fn kind(self, write: Kind) -> Kind {
        match self {
            Self::Read => Kind::Read,
            Self::Write => write,
        }
    }
}
