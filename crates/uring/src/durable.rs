//! A positioned write that is durable when it returns, for the threads.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// Writes with `RWF_DSYNC` (`pwritev2(2)`). A kernel or a file that does not know the flag gets a plain write and
/// `fdatasync(2)`, which mean the same.
///
/// # Errors
/// The system's. After an error of the `fdatasync` the bytes may have been written, and may be lost.
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    match write_with_flag(file, bytes, offset) {
        Err(error) if is_unknown(&error) => write_and_sync(file, bytes, offset),
        written => written,
    }
}

fn write_with_flag(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    let vector = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // The call itself rather than the C library's wrapper, which older ones lack. The kernel takes the offset in two
    // words, of which one holds all of it where words have 64 bits: the other is shifted out.
    // SAFETY: the vector and the bytes that it refers to live through the call, which only reads them.
    let written = unsafe {
        libc::syscall(
            libc::SYS_pwritev2,
            file.as_raw_fd(),
            &raw const vector,
            1 as libc::c_long,
            offset as libc::c_long,
            (offset >> 32) as libc::c_long,
            libc::RWF_DSYNC,
        )
    };
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}

fn is_unknown(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS))
}

fn write_and_sync(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    let written = file.write_at(bytes, offset)?;
    file.sync_data()?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{dirty_bytes, scratch};

    type Write = fn(&File, &[u8], u64) -> io::Result<usize>;

    #[test]
    fn both_ways_leave_nothing_in_memory() {
        let directory = scratch();
        let path = directory.path().join("file");
        let plain: Write = |file, bytes, offset| file.write_at(bytes, offset);
        let ways: [(Write, bool); 4] =
            [(plain, true), (write_with_flag, false), (write_and_sync, false), (write_at, false)];
        for (number, (write, is_dirty)) in ways.into_iter().enumerate() {
            let file = File::create(&path).unwrap();
            assert_eq!(write(&file, &[7; 8192], 1 << 33).unwrap(), 8192);
            assert_eq!(file.metadata().unwrap().len(), (1 << 33) + 8192);
            let dirty = dirty_bytes(&file);
            if number == 0 && dirty == 0 {
                eprintln!("NOT RUN: nothing is dirty on the file system of the build");
                return;
            }
            assert_eq!(dirty > 0, is_dirty, "{number}");
        }
    }

    #[test]
    fn a_file_that_does_not_know_the_flag_is_written_and_synced() {
        // Files of proc(5) are written without flags, and cannot be synced. This one keeps its value.
        let path = "/proc/self/oom_score_adj";
        let value = std::fs::read(path).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        let errno = |written: io::Result<usize>| written.unwrap_err().raw_os_error();
        assert_eq!(errno(write_with_flag(&file, &value, 0)), Some(libc::EOPNOTSUPP));
        assert_eq!(errno(write_and_sync(&file, &value, 0)), Some(libc::EINVAL));
        assert_eq!(errno(write_at(&file, &value, 0)), Some(libc::EINVAL), "the sync's");
    }

    #[test]
    fn only_an_unknown_flag_is_written_otherwise() {
        let unknown = |errno| is_unknown(&io::Error::from_raw_os_error(errno));
        assert!(unknown(libc::EOPNOTSUPP) && unknown(libc::ENOSYS));
        assert!(!unknown(libc::EIO) && !unknown(libc::ENOSPC) && !unknown(libc::EINVAL));
    }
}
