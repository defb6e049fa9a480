//! The boundary between a protocol's session machine and whatever moves its bytes.
//!
//! A session machine (NFS, iSCSI) turns operations on virtual disks into bytes to be sent and bytes
//! that came in into completions. It opens no socket and reads no clock: that is the transport's
//! part. Both meet here and nowhere else, so that one transport serves every protocol and a test
//! can join a session to recorded bytes, to a faulty peer, or to another session in memory.
//!
//! Payload never passes through the session's own memory: an operation names a buffer of the
//! transport ([`Span`]), the [`Outbox`] refers to it, and what comes in is copied there once, or
//! received there directly ([`Session::direct`]).

mod memory;
mod outbox;
mod session;

pub use memory::{Heap, Memory, Span};
pub use outbox::{Outbox, Piece};
pub use session::{Session, SessionState};
