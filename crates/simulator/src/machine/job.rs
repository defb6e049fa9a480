//! A request on its way.

use stormeter_disk::Kind;

/// No job.
pub(crate) const NONE: u32 = u32::MAX;

/// A request, or a part of one, on its way through the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) offset_bytes: u64,
    /// When it came to its present step.
    pub(crate) entered_ns: u64,
    /// When its last byte is where its head is now.
    pub(crate) tail_ns: u64,
    pub(crate) length_bytes: u32,
    /// The caller's name for it.
    pub(crate) slot: u32,
    /// The virtual disk.
    pub(crate) disk: u32,
    /// The step that it is at.
    pub(crate) step: u32,
    /// The request that it is a part of.
    pub(crate) parent: u32,
    /// Parts that are not back yet.
    pub(crate) parts: u32,
    /// How many parts its request has; the time of each counts this much less.
    pub(crate) share: u32,
    /// Which of several paths it took.
    pub(crate) path: u32,
    pub(crate) kind: Kind,
    /// Whether it goes wrong.
    pub(crate) failed: bool,
}
