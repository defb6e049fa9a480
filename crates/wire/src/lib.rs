//! The boundary between a protocol's session machine and the transport that moves its bytes.
//!
//! A session machine (NFS, iSCSI) turns operations on virtual disks into bytes to send, and
//! received bytes into completions. It opens no socket and reads no clock: that is the transport's
//! job. Both meet here and nowhere else, so that one transport serves every protocol and a test can
//! connect a session to recorded bytes, to a faulty peer, or to another session in memory.
//!
//! Payload never passes through the session's own memory: an operation names a buffer of the
//! transport ([`Span`]), the [`Outbox`] refers to it, and received payload is copied there once, or
//! received there directly ([`Session::direct`]).

mod memory;
mod outbox;
mod secret;
mod session;

pub use memory::{Heap, Memory, Span};
pub use outbox::{Outbox, Piece};
pub use secret::Secret;
pub use session::{Session, SessionState};
