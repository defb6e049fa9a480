//! The options of a session.

use std::rc::Rc;

use crate::chap::Credentials;
use crate::login::{Isid, Parameters};
use crate::scsi::Lun;
use crate::unit_cache::UnitCache;

/// Time limits, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a login as a whole.
    pub login_ns: u64,
    /// For a command that receives no answer, or is held back by the target's window; also for the
    /// answers to a ping and a logout.
    pub reply_ns: u64,
    /// For an operation as a whole: after this time it fails when its connection is lost or its
    /// target is full, instead of being sent again.
    pub operation_ns: u64,
    /// For a flush that receives no answer. It is longer: a cache of gigabytes takes its time, and
    /// pings show that the target is alive.
    pub flush_ns: u64,
    /// Silence after which the target is pinged.
    pub ping_ns: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            login_ns: 15_000_000_000,
            reply_ns: 10_000_000_000,
            operation_ns: 20_000_000_000,
            flush_ns: 60_000_000_000,
            ping_ns: 5_000_000_000,
        }
    }
}

/// Everything that a session needs to know.
pub struct Options {
    /// Our initiator name, as in the target's access list.
    pub initiator_name: String,
    /// Our part of the session identifier; kept across reconnects.
    pub isid: Isid,
    /// The target's name.
    pub target_name: String,
    /// The target's name.
    pub lun: Lun,
    /// Our CHAP credentials, if any.
    pub chap: Option<Credentials>,
    /// The parameters to offer.
    pub parameters: Parameters,
    /// Bytes of a logical block; operations that are not whole blocks fail with EINVAL.
    pub block_bytes: u32,
    /// Start of each disk on the unit, in bytes, by the disk's index.
    pub extents: Vec<u64>,
    /// Length of each disk, in bytes; 0 if unknown, so that a flush takes the whole unit.
    pub disk_bytes: u64,
    /// The unit's write cache, which all sessions of a thread to the unit share.
    pub cache: Rc<UnitCache>,
    /// The most bytes per command; larger operations are split.
    pub max_transfer_bytes: u32,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Whether [`close`](stormeter_wire::Session::close) first has the target flush its cache.
    pub flush_on_close: bool,
    /// A source of random numbers for challenges.
    pub random: Box<dyn FnMut() -> u64 + Send>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("initiator_name", &self.initiator_name)
            .field("isid", &self.isid)
            .field("target_name", &self.target_name)
            .field("lun", &self.lun)
            .field("chap", &self.chap)
            .field("parameters", &self.parameters)
            .field("block_bytes", &self.block_bytes)
            .field("extents", &self.extents)
            .field("disk_bytes", &self.disk_bytes)
            .field("cache", &self.cache)
            .field("max_transfer_bytes", &self.max_transfer_bytes)
            .field("timeouts", &self.timeouts)
            .field("flush_on_close", &self.flush_on_close)
            .finish_non_exhaustive()
    }
}
