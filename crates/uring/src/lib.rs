//! The only safe wrapper of io_uring, and its replacements where io_uring is refused: a pool of
//! threads for files, epoll for connections.
//!
//! This crate and `rbd` are the only ones of the workspace that may contain `unsafe`, so it offers an interface
//! that no caller can misuse into undefined behaviour, and it knows nothing about what the bytes
//! mean: files are passed in open, operations are numbers, completions are numbers.
//!
//! Both engines for files share one interface, that of [`Engine`]:
//! - [`Engine::push`] submits one [`RawOperation`]; [`Engine::reap`] collects completions.
//! - The engine owns the memory. [`Engine::buffer_mut`] lends a buffer only while no operation uses
//!   it, which is what makes the asynchronous kernel's access sound: no slice that the caller can
//!   reach ever overlaps memory that the kernel writes.
//! - [`Engine::notes`] reports what was requested and not granted, so that a result can mention it.
//!
//! [`Sockets`] are the same for connections: io_uring, or epoll where it is refused. They are
//! separate from the engine, because a thread drives either files or connections.
//!
//! The hot path (`push`, `reap`) allocates nothing (once the caller's completion vector has grown),
//! takes no lock in the ring, and enters the kernel as rarely as possible; see [`Ring`].

mod available;
mod buffer;
mod durable;
mod engine;
mod error;
mod gate;
mod limits;
mod note;
mod operation;
mod options;
mod positional;
mod ring;
mod setup;
mod sockets;
mod submission;
#[cfg(test)]
mod suite;
mod syscall;
mod unavailable;

pub use available::available;
pub use buffer::BUFFER_ALIGNMENT;
pub use engine::{Engine, EngineChoice};
pub use error::{EngineError, ReapError};
pub use limits::{MAX_BUFFER_BYTES, MAX_IN_FLIGHT};
pub use note::Note;
pub use operation::{Kind, RawCompletion, RawOperation, Refusal};
pub use options::EngineOptions;
pub use positional::Positional;
pub use ring::Ring;
pub use sockets::{
    EpollSockets, MAX_PLACES, MIN_RECEIVE_BYTES, Pool, RingSockets, SocketError, SocketEvent,
    SocketOptions, SocketPiece, SocketSpan, Sockets,
};
pub use unavailable::Unavailable;
