//! How far the closing of a session is: the state that [`super::closing`] moves on.

/// The progress of closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// Not requested.
    No,
    /// Waiting for outstanding operations.
    Draining,
    /// Asking whether there is a write cache.
    Asking,
    /// The cache is being flushed.
    Flushing,
    /// The logout was sent and not answered yet.
    Leaving,
    /// Done.
    Done,
}
