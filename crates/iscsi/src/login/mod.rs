//! Login (RFC 7143 §6 and §11.12): identification, authentication, and the rules for the session.

mod error;
mod identity;
mod isid;
mod machine;
mod negotiated;
mod negotiation;
mod parameters;

pub use error::LoginError;
pub use identity::Identity;
pub use isid::Isid;
pub use machine::{Finished, Login, Purpose, Stage};
pub use negotiated::Negotiated;
pub use negotiation::Negotiation;
pub use parameters::{Digest, Parameters};

/// The most text of keys that is assembled, in bytes: many times what any target sends.
pub(crate) const MAX_TEXT_BYTES: usize = 64 << 10;

/// MaxRecvDataSegmentLength until another value is declared, and during login (RFC 7143 §13.12).
pub(crate) const DEFAULT_SEGMENT_BYTES: u32 = 8192;

/// CmdSN of the first command of a session. Any number would do; a small one is easy to read in a
/// trace.
pub(crate) const FIRST_CMD_SN: u32 = 1;
