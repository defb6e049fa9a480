//! The operation, its completion, and why an operation may be refused before the kernel sees it.

/// What an operation does.
// The numbers are those of `disk::Kind`, so that translating one costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Positioned read into a buffer, which it uses exclusively.
    Read = 0,
    /// Positioned write from a buffer, which other writes may use at the same time.
    Write = 1,
    /// `fdatasync(2)`: the data and the metadata needed to read it back are stable. This is what a
    /// hypervisor issues when a guest flushes its disk. It uses no buffer: offset, length and
    /// buffer are ignored. It does not order anything: writes that must be covered have to be
    /// reaped first.
    Flush = 2,
    /// A write that completes when its bytes, and the metadata needed to read them back, are stable
    /// (`RWF_DSYNC` of `pwritev2(2)`, Linux 4.7): the kernel writes past the device's cache (FUA)
    /// or flushes it afterwards. The ring reports EOPNOTSUPP where a file does not know the flag;
    /// the threads then write and call `fdatasync(2)`.
    DurableWrite = 3,
}

impl Kind {
    /// The number of kinds.
    pub(crate) const COUNT: usize = 4;
}

/// One operation, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawOperation {
    /// The caller's number, returned in the completion.
    pub user: u32,
    /// Index into the files that the engine was opened with.
    pub file: u32,
    /// What to do.
    pub kind: Kind,
    /// Byte offset in the file; at most `i64::MAX`.
    pub offset: u64,
    /// Bytes to move; at most the engine's buffer size.
    pub length: u32,
    /// Index of the buffer; the transfer starts at the buffer's first byte.
    pub buffer: u32,
}

/// The end of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawCompletion {
    /// The operation's `user`.
    pub user: u32,
    /// Bytes moved (zero for a flush) when >= 0, otherwise the negative errno. A short transfer is
    /// reported as is and never retried here: the caller counts it.
    pub result: i32,
}

/// Why [`push`](crate::Engine::push) did not accept an operation. Nothing was changed.
///
/// One byte, because it is part of the hot path's return value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum Refusal {
    /// The maximum number of operations is in flight.
    #[error("all operations are in flight: reap completions before pushing more")]
    Full,
    /// There is no file with this index.
    #[error("no file has this index: use one below the number of files of the engine")]
    File,
    /// There is no buffer with this index.
    #[error("no buffer has this index: use one below the number of buffers of the engine")]
    Buffer,
    /// The length exceeds the buffer size.
    #[error("the length exceeds the buffer: open the engine with larger buffers")]
    Length,
    /// The offset exceeds `i64::MAX`.
    #[error("the offset exceeds 2^63 - 1, the largest that a file can have")]
    Offset,
    /// A read of the buffer is in flight, or a read needs a buffer that is in use.
    #[error("the buffer is in use: reap its operation first, or take another buffer")]
    Busy,
}
