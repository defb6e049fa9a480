//! How long a key must be: keys are checked against it, and the message about a short one names it.

/// The shortest key: 128 bits, if they are random.
pub(crate) const MIN_KEY_BYTES: usize = 16;
