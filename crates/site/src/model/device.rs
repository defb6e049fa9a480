//! Disks and their RAID groups.

use serde::{Deserialize, Serialize};

/// Disks of one kind in RAID groups of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskGroup {
    /// Its name in the site.
    pub name: String,
    /// The RAID level of each group.
    pub raid: Raid,
    /// Disks per group, including parity and mirrors.
    pub disks: u32,
    /// Number of groups; data is spread over them.
    pub groups: u32,
    /// Hot spares: a rebuild starts at once if there is one.
    pub spares: u32,
    /// Bytes on one disk before the next disk's turn.
    pub stripe_bytes: u64,
    /// Limit on the rate of a rebuild alongside the load; `None`: as fast as the disks allow.
    pub rebuild_bytes_per_s: Option<f64>,
    /// The disk.
    pub device: Device,
}

/// The units of a stripe on the disks of one RAID group, one unit per disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StripeUnits {
    /// Data units, each counted once. At least 1.
    pub data: u32,
    /// Parity units.
    pub parity: u32,
    /// Copies of each data unit: 1, or more if mirrored.
    pub copies: u32,
}

impl DiskGroup {
    /// The stripe layout of one group. If a group has fewer disks than its level needs, which the reader
    /// refuses, this is what is left after one unit of data.
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

    /// Usable capacity of all groups, without spares; `None` if the size of the device is unknown.
    pub fn usable_bytes(&self) -> Option<u64> {
        let data = u64::from(self.stripe_units().data).saturating_mul(u64::from(self.groups));
        Some(self.device.capacity_bytes()?.saturating_mul(data))
    }
}

/// RAID levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Raid {
    /// Striped without redundancy; with one disk: a plain disk.
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
    /// A hard disk.
    Hdd(Hdd),
    /// Flash.
    Ssd(Ssd),
    /// A device described only by its service times, such as a virtual disk.
    Queue(Queue),
}

impl Device {
    /// Whether a loss of power empties the memory in which its writes complete; `None`: not known.
    pub fn has_volatile_cache(&self) -> Option<bool> {
        match self {
            Device::Hdd(hdd) => Some(hdd.write_cache && hdd.buffer_bytes > 0),
            Device::Ssd(ssd) => Some(ssd.write_buffer_bytes > 0 && !ssd.power_loss_protection),
            Device::Queue(queue) => queue.write_cache,
        }
    }

    /// Its size in bytes; `None` if only its times are known.
    pub fn capacity_bytes(&self) -> Option<u64> {
        match self {
            Device::Hdd(hdd) => Some(hdd.capacity_bytes),
            Device::Ssd(ssd) => Some(ssd.capacity_bytes),
            Device::Queue(_) => None,
        }
    }
}

/// A hard disk, by its data sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hdd {
    /// Rotational speed in revolutions per minute.
    pub rpm: f64,
    /// Track-to-track seek time.
    pub seek_track_ns: f64,
    /// The mean of random read seeks, which data sheets call average.
    pub seek_average_ns: f64,
    /// Full-stroke seek time.
    pub seek_full_ns: f64,
    /// Additional settling time of writes: the average seek of writes minus that of reads.
    pub write_settle_ns: f64,
    /// Rate at the outer edge, where the disk starts: what data sheets call sustained, including
    /// track changes.
    pub outer_bytes_per_s: f64,
    /// Like `outer_bytes_per_s`, at the inner edge.
    pub inner_bytes_per_s: f64,
    /// Capacity.
    pub capacity_bytes: u64,
    /// Rate between controller and disk.
    pub interface_bytes_per_s: f64,
    /// Command decoding and status.
    pub overhead_ns: f64,
    /// Commands from which the disk selects the next (NCQ, tagged queueing); 1: no queueing.
    pub queue_depth: u32,
    /// Its buffer memory, for read-ahead and writes.
    pub buffer_bytes: u64,
    /// Whether a write completes when it is in that buffer, which a loss of power empties.
    pub write_cache: bool,
}

/// Flash, by its data sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ssd {
    /// Dies that work in parallel.
    pub channels: u32,
    /// Bytes that one die reads or programs at a time.
    pub page_bytes: u32,
    /// Time to read a page.
    pub read_ns: f64,
    /// Time to program a page.
    pub program_ns: f64,
    /// Time to erase a block.
    pub erase_ns: f64,
    /// Pages per block.
    pub pages_per_block: u32,
    /// Share of the flash that is hidden from the host, 0 to 1: space for garbage collection.
    pub spare_share: f64,
    /// How full it is before the load, 0 to 1: determines what garbage collection has to move.
    pub filled_share: f64,
    /// Capacity as the host sees it.
    pub capacity_bytes: u64,
    /// Rate between controller and device.
    pub interface_bytes_per_s: f64,
    /// Overhead of the controller and its firmware.
    pub overhead_ns: f64,
    /// Commands that are processed concurrently; others wait.
    pub queue_depth: u32,
    /// Its write buffer, in which writes complete; 0: none.
    pub write_buffer_bytes: u64,
    /// Whether capacitors keep that buffer when power is lost: then flushes complete at once.
    pub power_loss_protection: bool,
}

/// A device as a queue with a number of servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// Requests served concurrently.
    pub servers: u32,
    /// Service time of each read.
    pub read_ns: f64,
    /// Service time of each write.
    pub write_ns: f64,
    /// Additional service time per byte read.
    pub per_byte_ns: f64,
    /// Additional service time per byte written.
    pub per_written_byte_ns: f64,
    /// Shared by all requests, per byte read: a bus or a bandwidth limit; 0: none.
    pub shared_per_byte_ns: f64,
    /// The same per byte written: a log or parity moves more bytes than were sent.
    pub shared_per_written_byte_ns: f64,
    /// Shared by all requests, per read and flush: an IOPS limit; 0: none.
    pub shared_per_io_ns: f64,
    /// The same per write: what makes it stable is done by one for all.
    pub shared_per_write_ns: f64,
    /// The distribution of service times.
    pub spread: Spread,
    /// How waiting requests are served.
    pub service: Service,
    /// Whether a write completes in memory that a loss of power empties; `None`: not known.
    pub write_cache: Option<bool>,
    /// Service time of each flush.
    pub flush_ns: f64,
}

/// How a queue serves waiting requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// One at a time, when a server is free.
    Single,
    /// All that wait at once: a queue with bulk service (N. T. J. Bailey, "On queueing processes with bulk
    /// service", J. R. Stat. Soc. B 16, 1954), such as a virtual disk whose single thread is woken for
    /// everything that its guest has put into the ring, and which completes all of it together. The first
    /// request takes its own service time, during which others join; the shared times follow one after the
    /// other; then all are answered.
    Bulk,
}

/// The distribution of a service time about its mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Constant.
    Constant,
    /// Exponential.
    Exponential,
    /// Log-normal, with this standard deviation of the logarithm; the mean is unchanged.
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
            per_written_byte_ns: 0.0,
            shared_per_byte_ns: 0.0,
            shared_per_written_byte_ns: 0.0,
            shared_per_io_ns: 0.0,
            shared_per_write_ns: 0.0,
            spread: Spread::Constant,
            service: Service::Single,
            write_cache: None,
            flush_ns: 0.0,
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
