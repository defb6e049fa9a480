//! The limits on connections: options are checked against them, and errors name them.

/// The most connections of one thread: a set of them is one word.
pub const MAX_PLACES: u32 = 64;

/// The smallest inbox in bytes.
pub const MIN_RECEIVE_BYTES: u32 = 4096;
