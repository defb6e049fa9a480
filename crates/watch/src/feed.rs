//! A body that grows while its client reads it, as server-sent events do (HTML Standard, section 9.2).

use std::time::Instant;

/// Where a growing body comes from. Called on the server's only thread: it must not wait.
pub trait Feed: Send {
    /// What is to be sent next. Called when everything before has left, so a client that reads slowly gets what is new by
    /// then, and never what is old.
    fn next(&mut self, now: Instant) -> Fed;
}

/// What a feed has.
#[derive(Debug, PartialEq, Eq)]
pub enum Fed {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Nothing new yet.
    Later,
    /// Nothing any more.
    End,
}
