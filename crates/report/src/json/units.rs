//! The units that the printed metrics have.

/// The units of metrics, as `quantity::metric_unit` has them: I/Os per second, bytes per second, nanoseconds,
/// and none for a share.
pub(super) const UNITS: [&str; 4] = ["1/s", "B/s", "ns", "1"];
