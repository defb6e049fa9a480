//! What a guest wrote to a disk and when it flushed, and what of it a loss of power leaves.
//!
//! When QEMU ends, what it wrote is in this machine's page cache and survives; on a real machine that loses its power
//! only what was flushed is certain to. So QEMU logs each write and flush of such a disk (its `blklogwrites`
//! filter), and after a cut the disk is made again from its earlier contents and from what must have survived. The
//! format is that of the device mapper's log-writes target (Linux,
//! Documentation/admin-guide/device-mapper/log-writes.rst, drivers/md/dm-log-writes.c).

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// The first eight bytes of a log.
const MAGIC: u64 = 0x006a_7366_7773_6872;
const FLUSH: u64 = 1;
const FORCED: u64 = 2;
const DISCARD: u64 = 4;
/// What can be torn: drives write sectors whole.
const SECTOR_BYTES: usize = 512;

/// What a cut left of the writes to a disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Survived {
    /// Writes that a flush covered or that were forced: all of them survive.
    pub(crate) covered: u64,
    /// Other writes that survived.
    pub(crate) by_chance: u64,
    /// Other writes that are lost, one of which may be torn.
    pub(crate) lost: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// On the disk, in bytes.
    offset: u64,
    length: usize,
    flags: u64,
    /// In the log, in bytes.
    data: u64,
}

/// Applies the writes of `log` that survive a loss of power to `disk`, which has the contents from before the log was
/// started. Which of the others survive is drawn from `random`; the last of them that does may be torn.
///
/// # Errors
/// The log is none, or a file cannot be read or written.
pub(crate) fn survive(
    log: &mut File,
    disk: &File,
    random: &mut dyn FnMut() -> u64,
) -> io::Result<Survived> {
    let entries = entries(log)?;
    let is_flush = |entry: &Entry| entry.flags & FLUSH != 0;
    let flushed = entries.iter().rposition(is_flush).unwrap_or(0);
    let mut survived = Survived::default();
    for (number, entry) in entries.iter().enumerate() {
        let covered = number < flushed || entry.flags & FORCED != 0;
        if entry.length == 0 {
            continue;
        }
        let mut length = entry.length;
        if covered {
            survived.covered += 1;
        } else if random().is_multiple_of(2) {
            survived.lost += 1;
            continue;
        } else {
            survived.by_chance += 1;
            if number + 1 == entries.len() {
                let sectors = (length / SECTOR_BYTES) as u64;
                length = (random() % sectors.max(1) + 1) as usize * SECTOR_BYTES;
            }
        }
        let mut bytes = vec![0; length];
        if entry.flags & DISCARD == 0 {
            log.read_exact_at(&mut bytes, entry.data)?;
        }
        disk.write_all_at(&bytes, entry.offset)?;
    }
    Ok(survived)
}

/// The entries of a log, as far as it was written: the last may be incomplete.
fn entries(log: &mut File) -> io::Result<Vec<Entry>> {
    let length = log.metadata()?.len();
    log.seek(SeekFrom::Start(0))?;
    let mut head = [0; 32];
    match log.read_exact(&mut head) {
        // The guest was ended before its disk was opened.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(Vec::new()),
        other => other?,
    }
    let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap_or_default());
    let stated = u64::from(u32::from_le_bytes(head[24..28].try_into().unwrap_or_default()));
    let sector = match word(0) {
        // QEMU writes the head with the first flush; its sectors have this size by default.
        0 => SECTOR_BYTES as u64,
        MAGIC if stated >= SECTOR_BYTES as u64 => stated,
        _ => return Err(io::Error::new(ErrorKind::InvalidData, "it is no log of writes")),
    };
    let (mut at, mut entries) = (sector, Vec::new());
    while at + sector <= length {
        let mut entry = [0; 32];
        log.read_exact_at(&mut entry, at)?;
        let word = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap_or_default());
        let (place, sectors, flags) = (word(0), word(8), word(16));
        if sectors == 0 && flags == 0 {
            break;
        }
        let stored = if flags & DISCARD == 0 { sectors * sector } else { 0 };
        let data = at + sector;
        if data + stored > length {
            break;
        }
        let entry =
            Entry { offset: place * sector, length: (sectors * sector) as usize, flags, data };
        entries.push(entry);
        at = data + stored;
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A log with these entries: sector, number of sectors, flags, and the byte of which the data are.
    fn log_of(entries: &[(u64, u64, u64, u8)]) -> File {
        let mut log = tempfile::tempfile().unwrap();
        let mut head = vec![0; SECTOR_BYTES];
        head[..8].copy_from_slice(&MAGIC.to_le_bytes());
        head[8] = 1;
        head[24..28].copy_from_slice(&512u32.to_le_bytes());
        log.write_all(&head).unwrap();
        for &(sector, sectors, flags, byte) in entries {
            let mut head = vec![0; SECTOR_BYTES];
            for (at, value) in [(0, sector), (8, sectors), (16, flags)] {
                head[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            log.write_all(&head).unwrap();
            if flags & DISCARD == 0 {
                log.write_all(&vec![byte; sectors as usize * SECTOR_BYTES]).unwrap();
            }
        }
        log
    }

    fn after(entries: &[(u64, u64, u64, u8)], draws: &[u64]) -> (Survived, Vec<u8>) {
        let disk = tempfile::tempfile().unwrap();
        disk.set_len(16 * 512).unwrap();
        let mut draws = draws.iter().copied();
        let survived =
            survive(&mut log_of(entries), &disk, &mut || draws.next().unwrap_or(0)).unwrap();
        let sectors = (0..16).map(|sector| {
            let mut byte = [0];
            disk.read_exact_at(&mut byte, sector * 512).unwrap();
            byte[0]
        });
        (survived, sectors.collect())
    }

    #[test]
    fn what_was_flushed_survives_and_the_rest_by_chance() {
        let entries = [(0, 1, 0, 1), (1, 2, 0, 2), (0, 0, FLUSH, 0), (3, 1, 0, 3), (4, 1, 0, 4)];
        let (survived, disk) = after(&entries, &[0, 0]);
        assert_eq!(survived, Survived { covered: 2, by_chance: 0, lost: 2 });
        assert_eq!(disk[..5], [1, 2, 2, 0, 0]);
        let (survived, disk) = after(&entries, &[1, 0]);
        assert_eq!((survived.by_chance, disk[3], disk[4]), (1, 3, 0));
    }

    /// As with a cache that is never flushed: nothing is certain.
    #[test]
    fn without_a_flush_everything_may_be_lost_but_forced_writes() {
        let entries = [(0, 1, 0, 1), (1, 1, FORCED, 2), (2, 1, 0, 3)];
        let (survived, disk) = after(&entries, &[0, 0]);
        assert_eq!(survived, Survived { covered: 1, by_chance: 0, lost: 2 });
        assert_eq!(disk[..3], [0, 2, 0]);
    }

    #[test]
    fn the_last_write_may_be_torn_and_a_discard_leaves_zeros() {
        let (_, disk) = after(&[(0, 4, 0, 7)], &[1, 1]);
        assert_eq!(disk[..4], [7, 7, 0, 0]);
        let entries = [(0, 2, 0, 7), (1, 1, DISCARD, 0), (0, 0, FLUSH, 0)];
        assert_eq!(after(&entries, &[]).1[..2], [7, 0]);
    }

    #[test]
    fn a_log_that_was_cut_off_ends_there_and_something_else_is_refused() {
        let log = log_of(&[(0, 1, 0, 1), (1, 4, 0, 2)]);
        log.set_len(log.metadata().unwrap().len() - 1).unwrap();
        let disk = tempfile::tempfile().unwrap();
        let survived = survive(&mut { log }, &disk, &mut || 1).unwrap();
        assert_eq!(survived.by_chance, 1);
        let empty = tempfile::tempfile().unwrap();
        assert_eq!(survive(&mut { empty }, &disk, &mut || 1).unwrap(), Survived::default());
        let mut headless = log_of(&[(0, 1, 0, 1)]);
        headless.write_all_at(&[0; 32], 0).unwrap();
        assert_eq!(survive(&mut headless, &disk, &mut || 1).unwrap().by_chance, 1);
        let mut other = tempfile::tempfile().unwrap();
        other.write_all(&[1; 4096]).unwrap();
        assert!(survive(&mut other, &disk, &mut || 1).is_err());
    }
}
