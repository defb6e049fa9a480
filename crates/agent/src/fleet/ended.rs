//! A trial as one host of the fleet ended it, before the hosts' results are combined.

use stormeter_runner::TrialEnd;

/// What one host did.
pub(super) struct Ended {
    pub(super) host: usize,
    pub(super) vms: u32,
    pub(super) end: TrialEnd,
    pub(super) late_ns: u64,
}
