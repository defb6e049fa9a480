//! Disks of storage guests: what each does at most, and how they are joined.

use serde::{Deserialize, Serialize};

/// How much a disk does at most, reads and writes together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskLimit {
    /// Requests per second.
    pub iops: Option<u32>,
    /// Bytes per second.
    #[serde(default)]
    pub bytes_per_s: Option<u64>,
}

impl DiskLimit {
    /// Whether there is one.
    pub fn is_some(self) -> bool {
        self.iops.is_some() || self.bytes_per_s.is_some()
    }
}

/// A disk of a storage guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageDisk {
    /// Its size in bytes.
    pub size_bytes: u64,
    /// How much it does.
    #[serde(flatten)]
    pub limit: DiskLimit,
    /// The least time that each request takes, in milliseconds.
    pub latency_ms: u32,
}

/// Disks that are used as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskGroup {
    /// Its name.
    pub name: String,
    /// Index of its first disk.
    pub first: usize,
    /// Number of consecutive disks.
    pub count: usize,
    /// How they are joined; `None` for a single disk.
    pub raid: Option<Raid>,
    /// Number of disks at the end that are left out of the array, which is then degraded.
    pub missing: usize,
    /// The last disk is new: the array rebuilds it at this rate, in bytes per second.
    pub rebuild_rate: Option<u64>,
    /// Index of a disk that caches them.
    pub cache: Option<usize>,
    /// What they serve lies on a logical volume.
    #[serde(default)]
    pub lvm: bool,
}

/// A level of redundancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Raid {
    /// Striped.
    Zero,
    /// Mirrored.
    One,
    /// Striped with parity.
    Five,
    /// Striped with two parities.
    Six,
    /// Mirrored and striped.
    Ten,
}

impl Raid {
    /// All levels, with their spelling in lab files.
    pub const ALL: [(&'static str, Raid); 5] = [
        ("0", Raid::Zero),
        ("1", Raid::One),
        ("5", Raid::Five),
        ("6", Raid::Six),
        ("10", Raid::Ten),
    ];

    /// Its spelling in lab files.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, raid)| *raid == self).map_or("", |(name, _)| name)
    }

    /// The smallest number of disks.
    pub fn least_disks(self) -> usize {
        match self {
            Raid::Zero | Raid::One => 2,
            Raid::Five => 3,
            Raid::Six | Raid::Ten => 4,
        }
    }

    /// How many disks may be missing, in the worst case.
    pub fn tolerates(self, disks: usize) -> usize {
        match self {
            Raid::Zero => 0,
            Raid::One => disks.saturating_sub(1),
            Raid::Five | Raid::Ten => 1,
            Raid::Six => 2,
        }
    }

    /// How many of `disks` hold data rather than redundancy.
    pub fn data_disks(self, disks: usize) -> usize {
        match self {
            Raid::Zero => disks,
            Raid::One => 1,
            Raid::Five => disks.saturating_sub(1),
            Raid::Six => disks.saturating_sub(2),
            Raid::Ten => disks / 2,
        }
    }
}
