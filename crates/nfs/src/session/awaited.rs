//! Flushes and COMMITs that have not ended.

/// A flush that has something to wait for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flush {
    pub(super) transfer: u32,
    pub(super) file: u32,
    /// The last entry of the log that it covers.
    pub(super) upto: u64,
}

/// A COMMIT that has not been answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Committing {
    pub(super) file: u32,
    /// The last entry of the log that was there when it was sent.
    pub(super) upto: u64,
    /// Sent for a flush; otherwise because the log is full, verified or to be emptied.
    pub(super) by_flush: bool,
}

impl Committing {
    pub(super) fn is_for(&self, file: u32, upto: u64) -> bool {
        (self.file, self.upto) == (file, upto)
    }
}
