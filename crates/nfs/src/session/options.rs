//! The options of a session.

use crate::data::Stability;
use crate::handle::FileHandle;
use crate::rpc::Auth;

/// The options of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOptions {
    /// The disks: an operation's `disk` counts these from 0.
    pub files: Vec<FileHandle>,
    /// The caller's credentials.
    pub auth: Auth,
    /// The longest READ, in bytes (the server's `rtmax`). Longer operations are split and
    /// recombined.
    pub read_max_bytes: u32,
    /// The longest WRITE, in bytes (the server's `wtmax`).
    pub write_max_bytes: u32,
    /// How stable an ordinary WRITE is when it completes (durable ones are FILE_SYNC in any case).
    /// With anything but FILE_SYNC the session sends COMMITs, and keeps uncommitted data to write
    /// it again if the server restarts.
    pub stability: Stability,
    /// The first transaction number. It must differ from those of earlier sessions of this client:
    /// servers remember replies by it.
    pub first_xid: u32,
    /// How long the oldest request may wait for its reply before the connection is given up, in
    /// nanoseconds.
    pub reply_ns: u64,
    /// How long to wait when the server first asks for a retry later, in nanoseconds; doubles each
    /// further time.
    pub wait_first_ns: u64,
    /// The longest such wait, in nanoseconds.
    pub wait_most_ns: u64,
    /// How long the server may delay one request in total, in nanoseconds; after that the operation
    /// fails.
    pub waits_ns: u64,
    /// The most memory for uncommitted data, in bytes. Two WRITEs fit in any case.
    pub log_bytes: usize,
}

impl SessionOptions {
    /// Requests of at most 1 MiB, FILE_SYNC, 10 s for a reply, waits of 100 ms to 2 s and of 20 s in
    /// total, 16 MiB for uncommitted data.
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
