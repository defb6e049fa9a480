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

/// What the disks of one RAID group hold of each stripe, in units: one unit a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StripeUnits {
    /// Of data, each counted once. At least 1.
    pub data: u32,
    /// Of parity.
    pub parity: u32,
    /// How often each unit of data is there: 1, or more where it is mirrored.
    pub copies: u32,
}

impl DiskGroup {
    /// How the disks of one group share a stripe. A group of fewer disks than its level needs, which the
    /// reader refuses, has what is left after one unit of data.
    pub fn stripe_units(&self) -> StripeUnits {
        let disks = self.disks.max(1);
        let (data, parity, copies) = match self.raid {
            Raid::Raid0 => (disks, 0, 1),
            Raid::Raid1 => (1, 0, disks),
            Raid::Raid10 => ((disks / 2).max(1), 0, 2.min(disks)),
            Raid::Raid5 => ((disks - 1).max(1), 1.min(disks - 1), 1),
            Raid::Raid6 => (disks.saturating_sub(2).max(1), 2.min(disks - 1), 1),
        };
        StripeUnits { data, parity, copies }
    }

    /// What the groups hold together for data, without spares; `None` where the size of the device is
    /// not told.
    pub fn usable_bytes(&self) -> Option<u64> {
        let data = u64::from(self.stripe_units().data).saturating_mul(u64::from(self.groups));
        Some(self.device.capacity_bytes()?.saturating_mul(data))
    }
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

impl Device {
    /// Its size; `None` where only its times are told.
    pub fn capacity_bytes(&self) -> Option<u64> {
        match self {
            Device::Hdd(hdd) => Some(hdd.capacity_bytes),
            Device::Ssd(ssd) => Some(ssd.capacity_bytes),
            Device::Queue(_) => None,
        }
    }
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
    /// In which company requests are served.
    pub service: Service,
}

/// In which company a queue serves its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// Each by itself, as a server is free.
    Single,
    /// All that wait at once: a queue with bulk service (N. T. J. Bailey, "On queueing processes with bulk
    /// service", J. R. Stat. Soc. B 16, 1954), as of a virtual disk whose one thread is woken for all that
    /// its guest has put into the ring, and which tells of them together. What came first has its own time,
    /// in which others join; the shared times follow one after the other; then all are answered.
    Bulk,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn group(raid: Raid, disks: u32, groups: u32) -> DiskGroup {
        let queue = Queue {
            servers: 1,
            read_ns: 1.0,
            write_ns: 1.0,
            per_byte_ns: 0.0,
            shared_per_byte_ns: 0.0,
            shared_per_io_ns: 0.0,
            spread: Spread::Constant,
            service: Service::Single,
        };
        DiskGroup {
            name: "aggregate".into(),
            raid,
            disks,
            groups,
            spares: 1,
            stripe_bytes: 65_536,
            rebuild_bytes_per_s: None,
            device: Device::Queue(queue),
        }
    }

    #[test]
    fn data_parity_and_mirrors_are_all_the_disks() {
        for (raid, disks, data, parity, copies) in [
            (Raid::Raid0, 1, 1, 0, 1),
            (Raid::Raid0, 6, 6, 0, 1),
            (Raid::Raid1, 2, 1, 0, 2),
            (Raid::Raid1, 3, 1, 0, 3),
            (Raid::Raid10, 6, 3, 0, 2),
            (Raid::Raid5, 3, 2, 1, 1),
            (Raid::Raid5, 6, 5, 1, 1),
            (Raid::Raid6, 6, 4, 2, 1),
        ] {
            let units = group(raid, disks, 2).stripe_units();
            assert_eq!(units, StripeUnits { data, parity, copies }, "{raid:?} of {disks}");
            assert_eq!(data * copies + parity, disks, "{raid:?} of {disks}");
        }
    }

    #[test]
    fn a_group_of_too_few_disks_still_holds_a_unit_of_data() {
        for raid in [Raid::Raid0, Raid::Raid1, Raid::Raid10, Raid::Raid5, Raid::Raid6] {
            let units = group(raid, 1, 1).stripe_units();
            assert_eq!(units, StripeUnits { data: 1, parity: 0, copies: 1 }, "{raid:?}");
        }
    }
}
