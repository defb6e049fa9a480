//! A request in progress.

use stormeter_disk::Kind;

/// No job.
pub(crate) const NONE: u32 = u32::MAX;
/// The parent of jobs that belong to no request: copies that are being recreated.
pub(crate) const RESYNC: u32 = u32::MAX - 1;

/// A request, or a part of one, on its path through the machine. One cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Job {
    pub(crate) offset_bytes: u64,
    /// When it arrived at its current step.
    pub(crate) entered_ns: u64,
    /// When its last byte will be where its head is now; while its parts are in progress, when they
    /// started.
    pub(crate) tail_ns: u64,
    pub(crate) length_bytes: u32,
    /// Payload of the current message.
    pub(crate) moving_bytes: u32,
    /// Payload of earlier messages.
    pub(crate) moved_bytes: u32,
    /// The caller's identifier; for a part on a node, the index of its place; for a chunk of a copy,
    /// its number.
    pub(crate) slot: u32,
    /// The virtual disk; for a part on a node, the device there.
    pub(crate) disk: u32,
    /// Its current step.
    pub(crate) step: u32,
    /// The request to which it belongs.
    pub(crate) parent: u32,
    /// Number of parts that are not back yet.
    pub(crate) parts: u16,
    /// Number of parts of its request, by which the time of each is divided. 0: it is not counted.
    pub(crate) share: u16,
    /// The selected path.
    pub(crate) path: u16,
    /// Its node.
    pub(crate) node: u16,
    pub(crate) kind: Kind,
    /// Interrupts that its last message took; 1 until there is one.
    pub(crate) interrupts: u8,
    /// Whether it fails.
    pub(crate) failed: bool,
    /// Whether its path failed: it is restarted.
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
