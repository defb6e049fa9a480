//! What a task asks of the unit, and with that the direction of its data.

use stormeter_disk::Kind;

/// What a task does. Commands that are not part of an operation count as reads or writes by the
/// direction of their data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Data from the target.
    Read,
    /// Data to the target.
    Write,
    /// SYNCHRONIZE CACHE over the operation's disk.
    FlushDisk,
    /// Data to the target, with FUA: past the unit's cache (SBC-4 §5.46).
    ForcedWrite,
    /// SYNCHRONIZE CACHE over the whole unit, after the target has refused a range.
    FlushUnit,
}

impl Action {
    /// What an operation's tasks do first.
    #[inline]
    pub(super) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Read => Self::Read,
            Kind::Write => Self::Write,
            Kind::Flush => Self::FlushDisk,
            Kind::DurableWrite => Self::ForcedWrite,
        }
    }

    /// Whether data goes to the target.
    #[inline]
    pub(super) fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::ForcedWrite)
    }

    /// Whether it flushes.
    pub(super) fn is_flush(self) -> bool {
        matches!(self, Self::FlushDisk | Self::FlushUnit)
    }
}
