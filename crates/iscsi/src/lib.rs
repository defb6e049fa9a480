//! An iSCSI initiator (RFC 7143, and RFC 3720 for older targets), with the SCSI that a virtual disk
//! needs: bytes in, bytes out.
//!
//! Nothing here opens a socket, reads a clock or draws random numbers: the transport passes those
//! in, so that a test can connect a session to a target in memory, cut the stream at any byte and
//! let any amount of time pass.
//!
//! Read from the bottom: [`pdu`] (headers), [`text`] and [`chap`] (the parts of a login),
//! [`login`], then [`session`] (full feature phase), and next to it [`scsi`] (the commands that are
//! carried) and [`discovery`] (listing targets).

mod binary;
mod bytes;
pub mod chap;
pub mod discovery;
pub mod fuzz;
pub mod login;
pub mod pdu;
pub mod scsi;
mod serial;
pub mod session;
pub mod text;
mod unit_cache;

pub use discovery::Discovery;
pub use login::{Isid, LoginError, Negotiated, Parameters};
pub use session::{Command, CommandError, Error, Options, Session, Timeouts};
pub use stormeter_wire::Secret;
pub use unit_cache::UnitCache;
