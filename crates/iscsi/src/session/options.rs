//! What a session is told at its beginning.

use crate::chap::Credentials;
use crate::login::{Isid, Parameters};
use crate::scsi::Lun;

/// How long things may take, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// A login as a whole.
    pub login_ns: u64,
    /// A command without any sign of life of its own, or one that the target's window does not let
    /// out; also the answer to a ping and to a logout.
    pub reply_ns: u64,
    /// An operation as a whole: one that has taken as long fails when its connection is lost, or its
    /// target is full, and is not sent again.
    pub operation_ns: u64,
    /// Silence after which the target is asked whether it is there.
    pub ping_ns: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            login_ns: 15_000_000_000,
            reply_ns: 10_000_000_000,
            operation_ns: 20_000_000_000,
            ping_ns: 5_000_000_000,
        }
    }
}

/// Everything a session needs to know.
pub struct Options {
    /// Our name, as the target's access list has it.
    pub initiator_name: String,
    /// Our part of the session's identifier; kept over reconnects.
    pub isid: Isid,
    /// The target's name.
    pub target_name: String,
    /// The logical unit that operations go to.
    pub lun: Lun,
    /// How we prove ourselves, where we do.
    pub chap: Option<Credentials>,
    /// What we wish for.
    pub parameters: Parameters,
    /// Bytes of a logical block; operations that are not whole blocks fail with EINVAL.
    pub block_bytes: u32,
    /// Where each disk begins on the unit, in bytes, by the disk's index.
    pub extents: Vec<u64>,
    /// Most bytes of one command; larger operations are split.
    pub max_transfer_bytes: u32,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Whether [`close`](stormeter_wire::Session::close) has the target write its cache out first.
    pub flush_on_close: bool,
    /// Random words, for challenges.
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
            .field("max_transfer_bytes", &self.max_transfer_bytes)
            .field("timeouts", &self.timeouts)
            .field("flush_on_close", &self.flush_on_close)
            .finish_non_exhaustive()
    }
}
