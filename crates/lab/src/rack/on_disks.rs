//! What a storage guest finds on its disks, and where it mounts exports.

/// What a storage guest finds on its disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disks {
    /// Nothing: arrays and file systems are created.
    New,
    /// What it has left there: arrays are reassembled and file systems mounted again.
    Kept,
}

/// Where exports are mounted in the guest, and the path that clients use.
pub(super) fn export_path(name: &str) -> String {
    format!("/export/{name}")
}
