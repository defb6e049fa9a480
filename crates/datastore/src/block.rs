//! What the kernel says about a block device: sysfs, mounts, swap.
//!
//! Everything is keyed by the device number of an opened file rather than by a name: names are
//! links, and links change.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::libc::{major, makedev, minor};
use serde::{Deserialize, Serialize};

use crate::filesystem::mounted_at;

/// What holds a device, so that nothing else may use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceUser {
    /// A file system that is mounted from it.
    Mount(PathBuf),
    /// The kernel, as swap space.
    Swap,
    /// Devices built on it, such as a RAID array or an LVM volume.
    Holders(Vec<String>),
    /// A process with an exclusive descriptor.
    Unknown,
}

/// Use of a device or of one of its partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceUse {
    /// The partition; `None` for the device itself.
    pub partition: Option<String>,
    /// What uses it.
    pub by: DeviceUser,
}

impl DeviceUse {
    /// How to free it.
    pub(crate) fn remedy(&self) -> &'static str {
        match self.by {
            DeviceUser::Mount(_) => {
                "unmount it, or give the mount point to compare the file system"
            }
            DeviceUser::Swap => "swapoff it, or give another device",
            DeviceUser::Holders(_) | DeviceUser::Unknown => {
                "stop what uses it (lsblk and fuser -v show it), or give another device"
            }
        }
    }
}

impl std::fmt::Display for DeviceUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(partition) = &self.partition {
            write!(f, "its partition {partition} is ")?;
        }
        match &self.by {
            DeviceUser::Mount(point) => write!(f, "mounted at {}", point.display()),
            DeviceUser::Swap => f.write_str("used as swap"),
            DeviceUser::Holders(holders) => write!(f, "held by {}", holders.join(", ")),
            DeviceUser::Unknown => f.write_str("the kernel or another process holds it"),
        }
    }
}

/// A block device, as it appears in the record of an environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// The kernel's name: `nvme0n1`.
    pub name: String,
    /// The model, where the device has one.
    pub model: Option<String>,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The smallest unit that it reads and writes (logical block).
    pub logical_block_bytes: u32,
    /// Whether it reports itself as rotational (virtual disks often do so wrongly).
    pub rotational: bool,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
}

/// A loop device whose file goes through the page cache: direct I/O to the device does not bypass that cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopCache {
    /// The kernel's name: `loop0`.
    pub device: String,
    /// The file behind it.
    pub backing_file: String,
}

impl LoopCache {
    /// Reads it from a disk's folder in sysfs.
    fn of(disk: &Path) -> Option<Self> {
        let backing_file = read_line(&disk.join("loop/backing_file"))?;
        let is_cached = read_line(&disk.join("loop/dio")).as_deref() == Some("0");
        let device = disk.file_name()?.to_string_lossy().into_owned();
        is_cached.then_some(Self { device, backing_file })
    }
}

/// A block device in sysfs.
pub(crate) struct Block {
    number: u64,
    folder: PathBuf,
}

impl Block {
    /// The device with this number (`st_rdev`).
    pub(crate) fn of(number: u64) -> Option<Self> {
        Self::numbered(&format!("{}:{}", major(number), minor(number)))
    }

    /// The device with this number, as `major:minor`.
    pub(crate) fn numbered(text: &str) -> Option<Self> {
        let folder = fs::canonicalize(Path::new("/sys/dev/block").join(text)).ok()?;
        Some(Self { number: parse_number(text)?, folder })
    }

    fn read(&self, file: &str) -> Option<String> {
        read_line(&self.folder.join(file))
    }

    /// The folder of the whole disk if this is a partition: queue and model belong to the disk.
    fn disk_folder(&self) -> PathBuf {
        disk_of(self.folder.clone())
    }

    /// The kernel's name for the whole disk.
    pub(crate) fn disk_name(&self) -> String {
        let folder = self.disk_folder();
        folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether the device is read-only.
    pub(crate) fn read_only(&self) -> bool {
        self.read("ro").as_deref() == Some("1")
    }

    /// What is known about it.
    pub(crate) fn facts(&self) -> DeviceFacts {
        let disk = self.disk_folder();
        let queue = |file: &str| read_line(&disk.join("queue").join(file));
        let sectors: u64 = self.read("size").and_then(|text| text.parse().ok()).unwrap_or(0);
        DeviceFacts {
            name: self.name(),
            model: read_line(&disk.join("device/model")),
            // sysfs counts in units of 512 bytes, whatever the device's sector size.
            size_bytes: sectors * 512,
            logical_block_bytes: queue("logical_block_size")
                .and_then(|text| text.parse().ok())
                .unwrap_or(512),
            rotational: queue("rotational").as_deref() == Some("1"),
            scheduler: queue("scheduler").and_then(|text| selected(&text)),
        }
    }

    fn name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The loop device that this is, or is stacked on, if its file is accessed through the page cache
    /// (`Documentation/ABI/testing/sysfs-block-loop`: dio).
    pub(crate) fn loop_cache(&self) -> Option<LoopCache> {
        /// Nested layers of device mapper and software RAID; more than a few make no sense.
        const MOST_LAYERS: usize = 8;
        let mut layer = vec![self.disk_folder().to_path_buf()];
        for _ in 0..MOST_LAYERS {
            if let Some(found) = layer.iter().find_map(|disk| LoopCache::of(disk)) {
                return Some(found);
            }
            let below = layer.iter().flat_map(|disk| {
                let slaves = disk.join("slaves");
                entries(&slaves).into_iter().map(move |name| slaves.join(name))
            });
            let below = below.filter_map(|slave| fs::canonicalize(slave).ok());
            layer = below.map(disk_of).collect();
        }
        None
    }

    /// What uses the device or one of its partitions.
    pub(crate) fn user(&self) -> Option<DeviceUse> {
        let mut all = vec![Self { number: self.number, folder: self.folder.clone() }];
        all.extend(self.partitions());
        for part in &all {
            let partition = (part.number != self.number).then(|| part.name());
            let used = |by| Some(DeviceUse { partition, by });
            let numbered = format!("{}:{}", major(part.number), minor(part.number));
            // btrfs mounts have a device number of their own; their source still names the device.
            let mounted = mounted_at(|mount| {
                mount.device_number == numbered || names(&mount.source, part.number)
            });
            if let Some(point) = mounted {
                return used(DeviceUser::Mount(point));
            }
            let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
            let mut swaps = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
            if swaps.any(|swap| names(swap, part.number)) {
                return used(DeviceUser::Swap);
            }
            let holders = entries(&part.folder.join("holders"));
            if !holders.is_empty() {
                return used(DeviceUser::Holders(holders));
            }
        }
        None
    }

    fn partitions(&self) -> Vec<Self> {
        entries(&self.folder)
            .into_iter()
            .map(|name| self.folder.join(name))
            .filter(|folder| folder.join("partition").exists())
            .filter_map(|folder| {
                let number = parse_number(&read_line(&folder.join("dev"))?)?;
                Some(Self { number, folder })
            })
            .collect()
    }
}

/// The folder of the whole disk, given a folder in sysfs that may be a partition's.
pub(crate) fn disk_of(folder: PathBuf) -> PathBuf {
    match folder.parent() {
        Some(disk) if folder.join("partition").exists() => disk.to_path_buf(),
        _ => folder,
    }
}

/// Whether a descriptor of this process refers to that block device.
pub(crate) fn is_open_here(number: u64) -> bool {
    entries(Path::new("/proc/self/fd"))
        .iter()
        .any(|fd| names(&format!("/proc/self/fd/{fd}"), number))
}

/// `[none] mq-deadline` → `none`.
fn selected(text: &str) -> Option<String> {
    let (_, after) = text.split_once('[')?;
    after.split_once(']').map(|(name, _)| name.to_owned())
}

pub(crate) fn parse_number(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    Some(makedev(major.parse().ok()?, minor.parse().ok()?))
}

/// Whether a path refers to that block device.
fn names(path: &str, number: u64) -> bool {
    path.starts_with('/')
        && fs::metadata(path)
            .is_ok_and(|file| file.file_type().is_block_device() && file.rdev() == number)
}

pub(crate) fn read_line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

pub(crate) fn entries(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_schedulers_are_read() {
        assert_eq!(parse_number("8:17"), Some(makedev(8, 17)));
        assert_eq!(parse_number("8"), None);
        assert_eq!(selected("[none] mq-deadline kyber"), Some("none".into()));
        assert_eq!(selected("mq-deadline [kyber]"), Some("kyber".into()));
        assert_eq!(selected("none"), None);
    }

    /// A logical volume on a partition of a loop device, as sysfs shows it.
    #[test]
    fn a_loop_device_without_direct_io_is_found_below_others() {
        let sysfs = tempfile::tempdir().unwrap();
        let path = |name: &str| sysfs.path().join(name);
        let file = |name: &str, text: &str| {
            let path = path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        file("dm-0/size", "8\n");
        file("loop3/loop3p1/partition", "1\n");
        file("loop3/loop/backing_file", "/srv/disk.img\n");
        fs::create_dir_all(path("dm-0/slaves")).unwrap();
        std::os::unix::fs::symlink(path("loop3/loop3p1"), path("dm-0/slaves/loop3p1")).unwrap();
        let volume = Block { number: 0, folder: fs::canonicalize(path("dm-0")).unwrap() };
        for (dio, expected) in [("1\n", None), ("0\n", Some(("loop3", "/srv/disk.img")))] {
            file("loop3/loop/dio", dio);
            let found = volume.loop_cache();
            let found = found.as_ref().map(|it| (it.device.as_str(), it.backing_file.as_str()));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_is_no_device_is_none() {
        assert!(Block::numbered("0:0").is_none());
        assert!(!names("/dev/null", 0));
        assert!(!names("tmpfs", 0));
    }
}
