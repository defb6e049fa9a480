//! Time as the engine sees it.

/// A monotonic clock, passed in so that the same loop runs in real and in virtual time.
pub trait Clock {
    /// Nanoseconds since an origin that stays the same for the life of the clock. Never goes back.
    fn now_ns(&mut self) -> u64;
}

impl<C: Clock + ?Sized> Clock for &mut C {
    #[inline]
    fn now_ns(&mut self) -> u64 {
        (**self).now_ns()
    }
}
