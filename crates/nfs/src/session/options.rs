//! What a session is told when it is made.

use crate::data::Stability;
use crate::handle::FileHandle;
use crate::rpc::Auth;

/// What a session is told when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOptions {
    /// The disks: an operation's `disk` counts these from 0.
    pub files: Vec<FileHandle>,
    /// Who calls.
    pub auth: Auth,
    /// The longest READ, in bytes (the server's `rtmax`). Longer operations are split and joined.
    pub read_max_bytes: u32,
    /// The longest WRITE, in bytes (the server's `wtmax`).
    pub write_max_bytes: u32,
    /// How stable a WRITE is when it completes. With anything but FILE_SYNC the session sees to the
    /// COMMITs, and keeps what is not committed to write it again if the server restarts.
    pub stability: Stability,
    /// The first transaction number. Choose it unlike that of any earlier session of this client:
    /// servers remember replies by it.
    pub first_xid: u32,
    /// No reply to the oldest request for so long: the connection is given up. In nanoseconds.
    pub reply_ns: u64,
    /// How long to wait when the server asks for patience the first time, in nanoseconds; doubles
    /// with each further time.
    pub wait_first_ns: u64,
    /// The longest such wait, in nanoseconds.
    pub wait_most_ns: u64,
    /// How long the server may have one request wait in all, in nanoseconds; after that the operation
    /// fails.
    pub waits_ns: u64,
    /// The most memory for data not yet committed, in bytes. Two WRITEs fit in any case.
    pub log_bytes: usize,
}

impl SessionOptions {
    /// Requests of at most 1 MiB, FILE_SYNC, 10 s for a reply, waits of 100 ms to 2 s and of 20 s in all,
    /// 16 MiB for uncommitted data.
    #[must_use]
    pub fn new(files: Vec<FileHandle>, auth: Auth, first_xid: u32) -> Self {
        Self {
            files,
            auth,
            read_max_bytes: 1 << 20,
            write_max_bytes: 1 << 20,
            stability: Stability::FileSync,
            first_xid,
            reply_ns: 10_000_000_000,
            wait_first_ns: 100_000_000,
            wait_most_ns: 2_000_000_000,
            waits_ns: 20_000_000_000,
            log_bytes: 16 << 20,
        }
    }
}
