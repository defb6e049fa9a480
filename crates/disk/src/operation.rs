//! One request to a virtual disk and its answer: small plain values that are cheap to copy.

use serde::{Deserialize, Serialize};

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Kind {
    /// Bytes from the disk into the buffer.
    Read = 0,
    /// Bytes from the buffer onto the disk. When it completes, the storage may hold them in a cache that a loss of
    /// power empties.
    Write = 1,
    /// A write that completes when its bytes are on stable storage (FUA, `O_DSYNC`, NFS `FILE_SYNC`).
    DurableWrite = 3,
    /// Puts every write to the disk that completed before the flush was submitted on stable storage. Moves no
    /// bytes: offset and length are 0, the buffer is not used, and it completes with 0. What it does for
    /// writes that are outstanding meanwhile depends on the storage.
    Flush = 2,
}

impl Kind {
    /// All kinds, in the order in which tables list them.
    pub const ALL: [Kind; 4] = [Kind::Read, Kind::Write, Kind::DurableWrite, Kind::Flush];

    /// `read`, `write`, `durable write` or `flush`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::DurableWrite => "durable write",
            Kind::Flush => "flush",
        }
    }

    /// Whether bytes go from the buffer onto the disk.
    #[inline]
    pub fn is_write(self) -> bool {
        matches!(self, Kind::Write | Kind::DurableWrite)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A request to move `length_bytes` bytes between a disk and a buffer, or to flush a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Offset on the virtual disk, in bytes.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u32,
    /// Number of the disk, counted from 0.
    pub disk: u32,
    /// The caller's name for this operation while it is outstanding; comes back in the completion.
    pub slot: u32,
    /// Number of the buffer (see [`crate::Disks::buffer`]) to read into or write from.
    pub buffer: u32,
    /// What it does.
    pub kind: Kind,
}

/// The answer to an [`Operation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The operation's slot.
    pub slot: u32,
    /// Bytes moved, or a negated `errno`, as the kernel returns it: one word, built without a
    /// branch.
    pub result: i32,
}

impl Completion {
    /// A completion that moved `bytes`.
    #[inline]
    pub fn moved(slot: u32, bytes: u32) -> Self {
        Self { slot, result: bytes as i32 }
    }

    /// A completion that failed.
    #[inline]
    pub fn failed(slot: u32, error: DeviceError) -> Self {
        Self { slot, result: -error.0 }
    }

    /// The number of bytes moved, or the error.
    #[inline]
    pub fn outcome(self) -> Result<u32, DeviceError> {
        if self.result >= 0 { Ok(self.result as u32) } else { Err(DeviceError(-self.result)) }
    }
}

/// Why the device refused an operation: an `errno` of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceError(pub i32);

impl DeviceError {
    /// EIO: the device failed.
    pub const IO: DeviceError = DeviceError(5);
    /// ENOSPC: no space is left.
    pub const NO_SPACE: DeviceError = DeviceError(28);
    /// EOPNOTSUPP: the storage does not know the operation.
    pub const NOT_SUPPORTED: DeviceError = DeviceError(95);
}

impl std::fmt::Display for DeviceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The standard library has the table of messages; this makes no system call.
        write!(f, "{}", std::io::Error::from_raw_os_error(self.0))
    }
}

impl std::error::Error for DeviceError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completion_tells_bytes_from_errors() {
        assert_eq!(Completion::moved(3, 4096).outcome(), Ok(4096));
        assert_eq!(Completion::moved(3, 0).outcome(), Ok(0));
        assert_eq!(Completion::failed(3, DeviceError::NO_SPACE).outcome(), Err(DeviceError(28)));
    }

    #[test]
    fn a_device_error_reads_as_the_system_says_it() {
        assert!(DeviceError::NO_SPACE.to_string().contains("No space left"));
    }
}
