//! Tokens of events: what an event belongs to, and its index.

/// The upper bits of a token say what it belongs to; the rest is an index.
pub(super) const KIND_SHIFT: u32 = 30;
pub(super) const OF_JOB: u32 = 0;
pub(super) const OF_ACCESS: u32 = 1;
pub(super) const OF_FAULT: u32 = 2;

/// The token of an access's event.
pub(crate) fn access_token(access: u32) -> u32 {
    OF_ACCESS << KIND_SHIFT | access
}
