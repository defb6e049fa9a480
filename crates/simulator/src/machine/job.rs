//! A request on its way.

use stormeter_disk::Kind;

/// No job.
pub(crate) const NONE: u32 = u32::MAX;
/// The parent of what belongs to no request: a copy that is made anew.
pub(crate) const RESYNC: u32 = u32::MAX - 1;

/// A request, or a part of one, on its way through the machine. One cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Job {
    pub(crate) offset_bytes: u64,
    /// When it came to its present step.
    pub(crate) entered_ns: u64,
    /// When its last byte is where its head is now; while its parts are under way, when they left.
    pub(crate) tail_ns: u64,
    pub(crate) length_bytes: u32,
    /// Payload that the present message carries.
    pub(crate) moving_bytes: u32,
    /// Payload that earlier messages carried.
    pub(crate) moved_bytes: u32,
    /// The caller's name for it; of a part on a node, the number of its place; of a copy's chunk, its
    /// number.
    pub(crate) slot: u32,
    /// The virtual disk; of a part on a node, the device there.
    pub(crate) disk: u32,
    /// The step that it is at.
    pub(crate) step: u32,
    /// The request that it is a part of.
    pub(crate) parent: u32,
    /// Parts that are not back yet.
    pub(crate) parts: u16,
    /// How many parts its request has; the time of each counts this much less. 0: it counts for nobody.
    pub(crate) share: u16,
    /// Which of several paths it took.
    pub(crate) path: u16,
    /// Which node it is for.
    pub(crate) node: u16,
    pub(crate) kind: Kind,
    /// Whether it goes wrong.
    pub(crate) failed: bool,
    /// Whether its path failed under it: it begins anew.
    pub(crate) again: bool,
}

#[cfg(test)]
mod tests {
    use super::Job;

    #[test]
    fn a_job_is_one_cache_line() {
        assert_eq!(size_of::<Job>(), 64);
    }
}
