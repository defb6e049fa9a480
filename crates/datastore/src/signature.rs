//! Whether a device holds data that its owner may miss.
//!
//! Two tests, either of which is enough to refuse: a magic number of a known format at its known
//! place, which lets us name what was found; and any non-zero byte in the first or the last
//! MiB, which needs no knowledge of formats. The second is the real protection; the first
//! makes the message useful and covers formats whose only trace lies further in.
//!
//! Offsets and magics are those of the formats' own documentation and of the headers of the Linux
//! kernel and util-linux (`magic(5)` lists many of them).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::aligned::AlignedBuffer;
use crate::header::{self, HEADER_BYTES};
use crate::owner::Owner;

/// Bytes at either end that must be zero.
pub(crate) const EDGE_BYTES: u64 = 1 << 20;
/// Bytes read at places beyond the edges.
const WINDOW_BYTES: usize = 4096;

/// A known place of a magic: from the start if positive, from the end if negative.
type Magic = (&'static str, i64, &'static [u8]);

/// One place, one sequence of bytes, no condition.
const MAGICS: &[Magic] = &[
    ("XFS", 0, b"XFSB"),
    ("btrfs", 0x1_0040, b"_BHRfS_M"),
    ("btrfs (its copy at 64 MiB)", 0x400_0040, b"_BHRfS_M"),
    ("LUKS", 0, b"LUKS\xba\xbe"),
    ("LUKS2 (its second header)", 0x4000, b"SKUL\xba\xbe"),
    ("Linux RAID (md 1.1)", 0, b"\xfc\x4e\x2b\xa9"),
    ("Linux RAID (md 1.2)", 4096, b"\xfc\x4e\x2b\xa9"),
    ("NTFS", 3, b"NTFS    "),
    ("exFAT", 3, b"EXFAT   "),
    ("BitLocker", 3, b"-FVE-FS-"),
    ("FAT", 54, b"FAT12   "),
    ("FAT", 54, b"FAT16   "),
    ("FAT", 54, b"FAT     "),
    ("FAT", 82, b"FAT32   "),
    (
        "bcache or bcachefs",
        4120,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
    ),
    ("bcachefs", 4120, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    ("F2FS", 1024, b"\x10\x20\xf5\xf2"),
    ("JFS", 0x8000, b"JFS1"),
    ("ReiserFS", 0x1_0034, b"ReIsErFs"),
    ("ReiserFS", 0x1_0034, b"ReIsEr2Fs"),
    ("ReiserFS", 0x1_0034, b"ReIsEr3Fs"),
    ("ReiserFS", 0x2034, b"ReIsErFs"),
    ("Reiser4", 0x1_0000, b"ReIsEr4"),
    ("ISO 9660", 0x8001, b"CD001"),
    ("UDF", 0x8001, b"BEA01"),
    ("UDF", 0x8001, b"NSR02"),
    ("UDF", 0x8001, b"NSR03"),
    ("squashfs", 0, b"hsqs"),
    ("squashfs", 0, b"sqsh"),
    ("EROFS", 1024, b"\xe2\xe1\xf5\xe0"),
    ("NILFS2", 1030, b"\x34\x34"),
    ("HFS+", 1024, b"H+\x00\x04"),
    ("HFSX", 1024, b"HX\x00\x05"),
    ("APFS", 32, b"NXSB"),
    ("VMFS", 0x10_0000, b"\x0d\xd0\x01\xc0"),
    ("VMFS", 0x20_0000, b"\x5e\xf1\xab\x2f"),
    ("OCFS2", 1024, b"OCFSV2"),
    ("OCFS2", 2048, b"OCFSV2"),
    ("OCFS2", 4096, b"OCFSV2"),
    ("OCFS2", 8192, b"OCFSV2"),
    ("GFS2", 0x1_0000, b"\x01\x16\x19\x70\x00\x00\x00\x01"),
    ("Ceph BlueStore", 0, b"bluestore block device"),
    ("DRBD", -4036, b"\x83\x74\x02\x67"),
    ("DRBD", -4036, b"\x83\x74\x02\x6b"),
    ("DRBD", -4036, b"\x83\x74\x02\x6c"),
    ("DRBD", -4036, b"\x83\x74\x02\x6d"),
    ("RAID of the firmware (DDF)", -512, b"\xde\x11\xde\x11"),
    ("RAID of the firmware (DDF)", -131_584, b"\xde\x11\xde\x11"),
    ("RAID of the firmware (Intel)", -1024, b"Intel Raid ISM Cfg Sig. "),
    ("GPT partition table", 512, b"EFI PART"),
    ("GPT partition table", 4096, b"EFI PART"),
    ("GPT partition table (its copy at the end)", -512, b"EFI PART"),
    ("GPT partition table (its copy at the end)", -4096, b"EFI PART"),
    ("VDO", 0, b"dmvdo001"),
    ("Stratis", 516, b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("dm-integrity", 0, b"integrt\0"),
    ("dm-verity", 0, b"verity\0\0"),
    ("Oracle ASM", 32, b"ORCLDISK"),
    ("LVM1", 0, b"HM\x01\x00"),
    ("LVM1", 0, b"HM\x02\x00"),
    ("Apple partition map", 512, b"PM\x00\x00"),
];

/// Formats that are recognised, since their sector may end in the MBR's signature too.
const BOOT_SECTORS: [&str; 5] = ["NTFS", "exFAT", "BitLocker", "FAT", "GPT"];

/// The content of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Nothing: both ends are zero and no format is recognised.
    Blank,
    /// A mark of ours, and nothing else.
    Ours(Signature),
    /// A known format, or several.
    Recognised(Vec<&'static str>),
    /// Non-zero bytes of no known format.
    Unrecognised {
        /// The offset of the first of them.
        offset: u64,
    },
}

/// The mark of one of our runs on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub(crate) owner: Owner,
}

impl Signature {
    /// The run that left it.
    pub fn run_id(&self) -> &str {
        &self.owner.run_id
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Blank => out.write_str("nothing"),
            Self::Ours(signature) => write!(out, "disks of stormeter's run {}", signature.run_id()),
            Self::Recognised(names) => out.write_str(&names.join(", ")),
            Self::Unrecognised { offset } => write!(out, "unrecognised data at offset {offset}"),
        }
    }
}

/// Looks for data on a device (or a file) of `size_bytes`. Only reads.
///
/// Works on a file opened with O_DIRECT too, as long as its logical block divides 4096 and the size.
pub fn inspect(file: &File, size_bytes: u64) -> io::Result<Finding> {
    inspect_source(file, size_bytes)
}

/// Where bytes can be read from: a file, or a LUN behind a session.
pub(crate) trait Source {
    /// Fills `bytes` with those at `offset`; both are multiples of 4096, or reach the end.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
}

impl Source for File {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, bytes, offset)
    }
}

/// The same for anything that can be read.
pub(crate) fn inspect_source(file: &dyn Source, size_bytes: u64) -> io::Result<Finding> {
    let image = Image::read(file, size_bytes)?;
    let ours = header::decode(&image.head);
    if let Some(owner) = ours
        && image.first_data(HEADER_BYTES as u64).is_none()
    {
        return Ok(Finding::Ours(Signature { owner }));
    }
    let names = recognise(&image)?;
    if !names.is_empty() {
        return Ok(Finding::Recognised(names));
    }
    Ok(match image.first_data(0) {
        Some(offset) => Finding::Unrecognised { offset },
        None => Finding::Blank,
    })
}

/// Both ends of a device, and access to the rest.
struct Image<'a> {
    file: &'a dyn Source,
    size_bytes: u64,
    head: AlignedBuffer,
    tail: AlignedBuffer,
    tail_start: u64,
}

impl<'a> Image<'a> {
    fn read(file: &'a dyn Source, size_bytes: u64) -> io::Result<Self> {
        let edge = size_bytes.min(EDGE_BYTES);
        let tail_start = size_bytes - edge;
        let (mut head, mut tail) =
            (AlignedBuffer::new(edge as usize), AlignedBuffer::new(edge as usize));
        file.read_exact_at(&mut head, 0)?;
        file.read_exact_at(&mut tail, tail_start)?;
        Ok(Self { file, size_bytes, head, tail, tail_start })
    }

    /// Whether these bytes are there. Nothing beyond the device matches.
    fn has(&self, offset: u64, magic: &[u8]) -> io::Result<bool> {
        let Some(end) = offset.checked_add(magic.len() as u64) else { return Ok(false) };
        if end > self.size_bytes {
            return Ok(false);
        }
        if end <= self.head.len() as u64 {
            return Ok(&self.head[offset as usize..end as usize] == magic);
        }
        if offset >= self.tail_start {
            let start = (offset - self.tail_start) as usize;
            return Ok(&self.tail[start..start + magic.len()] == magic);
        }
        let window_start = offset / WINDOW_BYTES as u64 * WINDOW_BYTES as u64;
        if window_start + WINDOW_BYTES as u64 > self.size_bytes {
            return Ok(false);
        }
        let mut window = AlignedBuffer::new(WINDOW_BYTES);
        self.file.read_exact_at(&mut window, window_start)?;
        let start = (offset - window_start) as usize;
        Ok(window.get(start..start + magic.len()) == Some(magic))
    }

    /// The first non-zero byte at either end, ignoring `skip` bytes at the start.
    fn first_data(&self, skip: u64) -> Option<u64> {
        let first = |bytes: &[u8], start: u64| {
            let from = skip.saturating_sub(start).min(bytes.len() as u64);
            let found = bytes[from as usize..].iter().position(|&byte| byte != 0)?;
            Some(start + from + found as u64)
        };
        first(&self.head, 0).or_else(|| first(&self.tail, self.tail_start))
    }
}

/// The names of all recognised formats, each once.
fn recognise(image: &Image<'_>) -> io::Result<Vec<&'static str>> {
    let mut names = Vec::new();
    for &(name, place, magic) in MAGICS {
        let offset = if place >= 0 {
            place as u64
        } else {
            match image.size_bytes.checked_sub(place.unsigned_abs()) {
                Some(offset) => offset,
                None => continue,
            }
        };
        if image.has(offset, magic)? && !names.contains(&name) {
            names.push(name);
        }
    }
    if image.has(1080, b"\x53\xef")? {
        names.push(ext_version(&image.head));
    }
    // The mark is at the end of the first page, whose size depends on the architecture.
    for page in [4096, 8192, 16_384, 32_768, 65_536] {
        let at = page - 10;
        if image.has(at, b"SWAPSPACE2")? || image.has(at, b"SWAP-SPACE")? {
            names.push("swap");
        }
    }
    // The label is in one of the first four sectors.
    for sector in 0..4 {
        if image.has(sector * 512, b"LABELONE")? && image.has(sector * 512 + 24, b"LVM2 001")? {
            names.push("LVM2 physical volume");
        }
    }
    if linux_raid_at_end(image)? {
        names.push("Linux RAID (md)");
    }
    if has_zfs_label(image)? {
        names.push("ZFS");
    }
    let boot_sector =
        names.iter().any(|name| BOOT_SECTORS.iter().any(|boot| name.starts_with(boot)));
    if !boot_sector && image.has(510, b"\x55\xaa")? {
        names.push("MBR partition table or boot sector");
    }
    Ok(names)
}

/// ext2, 3 and 4 share the magic; feature flags tell them apart (`s_feature_compat` at 0x5c of the
/// superblock, `s_feature_incompat` at 0x60).
fn ext_version(head: &[u8]) -> &'static str {
    let field = |offset: usize| {
        head.get(offset..offset + 4)
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u32::from_le_bytes)
    };
    const HAS_JOURNAL: u32 = 0x4;
    const EXTENTS_64BIT_FLEX: u32 = 0x40 | 0x80 | 0x200;
    if field(1024 + 0x60) & EXTENTS_64BIT_FLEX != 0 {
        "ext4"
    } else if field(1024 + 0x5c) & HAS_JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    }
}

/// md 0.90 lies in the last whole 64 KiB (in the byte order of its creator), md 1.0 in the last 8 to
/// 12 KiB, aligned to 4 KiB.
fn linux_raid_at_end(image: &Image<'_>) -> io::Result<bool> {
    let little = 0xa92b_4efc_u32.to_le_bytes();
    let big = 0xa92b_4efc_u32.to_be_bytes();
    let old = (image.size_bytes & !0xffff).checked_sub(0x1_0000);
    let new = image.size_bytes.checked_sub(0x2000).map(|offset| offset & !0xfff);
    for offset in [old, new].into_iter().flatten() {
        if image.has(offset, &little)? || image.has(offset, &big)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// ZFS keeps four labels of 256 KiB, two at either end; the second half of each is a ring of
/// überblocks of 1 KiB or more that begin with the magic in the byte order of the writer.
fn has_zfs_label(image: &Image<'_>) -> io::Result<bool> {
    const LABEL: u64 = 256 << 10;
    let little = 0x00ba_b10c_u64.to_le_bytes();
    let big = 0x00ba_b10c_u64.to_be_bytes();
    let end = image.size_bytes / LABEL * LABEL;
    let labels = [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
    for label in labels.into_iter().flatten() {
        for block in 128..256 {
            let offset = label + block * 1024;
            if image.has(offset, &little)? || image.has(offset, &big)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
