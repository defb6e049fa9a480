//! What all loops share about their turns.

/// How often a loop checks limits and cancellation, whatever its disks, sessions or desktops do.
pub(crate) const LOOK_UP_NS: u64 = 50_000_000;
/// After this many turns without progress of the clock it is considered stopped. They take much longer than the step
/// of any clock; a simulated clock advances with its disks.
pub(crate) const STILL_TURNS: u32 = 2_000_000;
