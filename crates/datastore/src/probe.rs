//! What a file system really accepts, found by trying on a file of our own.
//!
//! No portable call says whether O_DIRECT works, and at which alignment: `statx` answers only
//! on some file systems since Linux 6.1. Trial writes at growing alignments do.

use std::io;
use std::os::unix::fs::FileExt;

use nix::errno::Errno;
use nix::fcntl::OFlag;

use crate::DatastoreError;
use crate::aligned::AlignedBuffer;
use crate::folder::{Folder, PROBE};

/// The smallest sector of any disk, and the largest block size that is tried.
const SMALLEST_BYTES: usize = 512;
const LARGEST_BYTES: usize = 65_536;

/// How direct I/O behaved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DirectIo {
    /// It works, for offsets and lengths that are multiples of this.
    Aligned { logical_block_bytes: u32 },
    /// It does not.
    Refused,
}

/// Writes to a file in `folder` with O_DIRECT, and removes the file.
pub(crate) fn direct_io(folder: &Folder) -> Result<DirectIo, DatastoreError> {
    let result = try_on_file(folder)
        .map_err(|error| DatastoreError::system("write", folder.path().join(PROBE), error));
    // Removing the folder covers this name too.
    let _ = folder.unlink(PROBE);
    result
}

fn try_on_file(folder: &Folder) -> io::Result<DirectIo> {
    folder.unlink(PROBE)?;
    let buffered = folder.create_file(PROBE, OFlag::empty())?;
    // Something to overwrite: an extending write could go through the page cache.
    buffered.write_all_at(&vec![1; 2 * LARGEST_BYTES], 0)?;
    buffered.sync_all()?;
    let direct = match folder.open_file(PROBE, OFlag::O_RDWR | OFlag::O_DIRECT) {
        Ok(file) => file,
        Err(errno) if refuses(errno) => return Ok(DirectIo::Refused),
        Err(errno) => return Err(errno.into()),
    };
    let buffer = AlignedBuffer::new(LARGEST_BYTES);
    let mut length = SMALLEST_BYTES;
    while length <= LARGEST_BYTES {
        match direct.write_at(&buffer[..length], length as u64) {
            Ok(written) if written == length => {
                return Ok(DirectIo::Aligned { logical_block_bytes: length as u32 });
            }
            Ok(_) => {}
            Err(error) if error.raw_os_error().map(Errno::from_raw).is_some_and(refuses) => {}
            Err(error) => return Err(error),
        }
        length *= 2;
    }
    Ok(DirectIo::Refused)
}

fn refuses(errno: Errno) -> bool {
    matches!(errno, Errno::EINVAL | Errno::EOPNOTSUPP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_true_and_nothing_stays() {
        let directory = tempfile::tempdir().unwrap();
        let (folder, _) =
            Folder::claim(directory.path(), ".stormeter-00000000000000aa-0", "00000000000000aa")
                .unwrap();
        let answer = direct_io(&folder).unwrap();
        assert!(!folder.path().join(PROBE).exists());
        if let DirectIo::Aligned { logical_block_bytes } = answer {
            // Half a block, if there is one, must then be refused.
            let file = folder.create_file("disk-00000", OFlag::O_DIRECT).unwrap();
            let block = logical_block_bytes as usize;
            let buffer = AlignedBuffer::new(block);
            file.write_all_at(&buffer, 0).unwrap();
            if block > SMALLEST_BYTES {
                assert!(file.write_at(&buffer[..block / 2], 0).is_err());
            }
        }
        folder.remove(1);
    }

    #[test]
    fn only_these_reasons_mean_refusal() {
        assert!(refuses(Errno::EINVAL) && refuses(Errno::EOPNOTSUPP));
        assert!(!refuses(Errno::EIO) && !refuses(Errno::ENOSPC));
    }
}
