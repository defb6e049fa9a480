//! Disks and how they are put together.

use serde::{Deserialize, Serialize};

/// Disks of one kind in RAID groups of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskGroup {
    /// Its name in the site.
    pub name: String,
    /// How each group is protected.
    pub raid: Raid,
    /// Disks of a group, parity and mirrors among them.
    pub disks: u32,
    /// How many such groups; data is spread over them.
    pub groups: u32,
    /// Disks that stand by: a rebuild begins at once where there is one.
    pub spares: u32,
    /// Bytes on one disk before the next one's turn.
    pub stripe_bytes: u64,
    /// What a rebuild moves, at most, beside the load; `None`: as much as the disks give.
    pub rebuild_bytes_per_s: Option<f64>,
    /// The disk.
    pub device: Device,
}

/// RAID levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Raid {
    /// Striped without protection; one disk: a plain disk.
    Raid0,
    /// Mirrors of all disks.
    Raid1,
    /// Striped over mirrored pairs.
    Raid10,
    /// One rotating parity.
    Raid5,
    /// Two parities: RAID 6, or row and diagonal parity (RAID-DP).
    Raid6,
}

/// A storage device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// A disk with heads and platters.
    Hdd(Hdd),
    /// Flash.
    Ssd(Ssd),
    /// Something of which only its times are known, such as a virtual disk.
    Queue(Queue),
}

/// A disk by its data sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hdd {
    /// Revolutions a minute.
    pub rpm: f64,
    /// To the next track.
    pub seek_track_ns: f64,
    /// The mean of random seeks, which is what data sheets call average; of reads.
    pub seek_average_ns: f64,
    /// Over all tracks.
    pub seek_full_ns: f64,
    /// What writes take longer to settle: the average seek of writes less that of reads.
    pub write_settle_ns: f64,
    /// Rate at the edge, where the disk begins: what data sheets call sustained, changes of track
    /// within.
    pub outer_bytes_per_s: f64,
    /// As `outer_bytes_per_s`, at the hub.
    pub inner_bytes_per_s: f64,
    /// Size.
    pub capacity_bytes: u64,
    /// Between controller and disk.
    pub interface_bytes_per_s: f64,
    /// Command decoding and status.
    pub overhead_ns: f64,
    /// Commands from which the disk picks the next (NCQ, tagged queueing); 1: none.
    pub queue_depth: u32,
    /// Its memory, for read-ahead and writes.
    pub buffer_bytes: u64,
    /// Whether a write is done when it is in that memory.
    pub write_cache: bool,
}

/// Flash by its data sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ssd {
    /// Dies that work at the same time.
    pub channels: u32,
    /// What one die reads or programs at a time.
    pub page_bytes: u32,
    /// To read a page.
    pub read_ns: f64,
    /// To program a page.
    pub program_ns: f64,
    /// To erase a block.
    pub erase_ns: f64,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Of the flash, what the host does not see, 0 to 1: room for garbage collection.
    pub spare_share: f64,
    /// How full it is, 0 to 1, before the load: what garbage collection has to move.
    pub filled_share: f64,
    /// Size as the host sees it.
    pub capacity_bytes: u64,
    /// Between controller and device.
    pub interface_bytes_per_s: f64,
    /// Of the controller and its firmware.
    pub overhead_ns: f64,
    /// Commands that it works on at the same time; others wait.
    pub queue_depth: u32,
    /// Its memory, where writes are done when they are in it (with power-loss protection); 0: none.
    pub write_buffer_bytes: u64,
}

/// A device as a queue with so many servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// Requests served at the same time.
    pub servers: u32,
    /// Of each read.
    pub read_ns: f64,
    /// Of each write.
    pub write_ns: f64,
    /// Of each byte.
    pub per_byte_ns: f64,
    /// Of all requests together, each byte: a shared bus or a cap on the rate; 0: none.
    pub shared_per_byte_ns: f64,
    /// Of all requests together, each request: a cap on IOPS; 0: none.
    pub shared_per_io_ns: f64,
    /// How service times vary.
    pub spread: Spread,
}

/// How a service time varies about its mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Not at all.
    Constant,
    /// Exponentially.
    Exponential,
    /// Log-normally, with this standard deviation of the logarithm; the mean is kept.
    LogNormal(f64),
}
