//! The submission queue entry as the kernel defines it.
//!
//! The io-uring crate has one builder per operation. Reads and writes, fixed or not, differ in one
//! byte only, and filling the fields of one entry saves the hot path the branches and copies of
//! choosing among builders.

use io_uring::types::FsyncFlags;
use io_uring::{opcode, squeue};

use crate::Kind;

/// `struct io_uring_sqe` of <linux/io_uring.h>, with the members that reads, writes and fsync use.
#[repr(C)]
pub(crate) struct Submission {
    pub(crate) code: u8,
    pub(crate) entry_flags: u8,
    pub(crate) priority: u16,
    /// Descriptor, or index of a registered file if `entry_flags` says so.
    pub(crate) fd: i32,
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) length: u32,
    /// `rw_flags` or `fsync_flags`.
    pub(crate) operation_flags: u32,
    pub(crate) user_data: u64,
    /// Index of the registered buffer; zero for the unregistered reads and writes.
    pub(crate) buffer_index: u16,
    pub(crate) personality: u16,
    pub(crate) unused: [u32; 5],
}

impl Submission {
    pub(crate) const ZERO: Self = Self {
        code: 0,
        entry_flags: 0,
        priority: 0,
        fd: 0,
        offset: 0,
        address: 0,
        length: 0,
        operation_flags: 0,
        user_data: 0,
        buffer_index: 0,
        personality: 0,
        unused: [0; 5],
    };
}

/// What tells the kinds apart in an entry: looked up, because the hot path should not choose.
pub(crate) struct Codes {
    /// `code` and `entry_flags`, which are copied together, by [`Kind`].
    heads: [[u8; 2]; Kind::COUNT],
    /// `rw_flags` or `fsync_flags`, by [`Kind`].
    flags: [u32; Kind::COUNT],
}

impl Codes {
    /// Those for registered buffers and files, or for others.
    pub(crate) fn new(buffers_registered: bool, files_registered: bool) -> Self {
        let (read, write) = if buffers_registered {
            (opcode::ReadFixed::CODE, opcode::WriteFixed::CODE)
        } else {
            (opcode::Read::CODE, opcode::Write::CODE)
        };
        let entry_flags = if files_registered { squeue::Flags::FIXED_FILE.bits() } else { 0 };
        let mut both = Self { heads: [[0; 2]; Kind::COUNT], flags: [0; Kind::COUNT] };
        for (kind, code, flags) in [
            (Kind::Read, read, 0),
            (Kind::Write, write, 0),
            (Kind::Flush, opcode::Fsync::CODE, FsyncFlags::DATASYNC.bits()),
            (Kind::DurableWrite, write, libc::RWF_DSYNC as u32),
        ] {
            both.heads[kind as usize] = [code, entry_flags];
            both.flags[kind as usize] = flags;
        }
        both
    }

    /// `code` and `entry_flags` of an entry, and its `rw_flags` or `fsync_flags`.
    #[inline(always)]
    pub(crate) fn of(&self, kind: Kind) -> ([u8; 2], u32) {
        (self.heads[kind as usize], self.flags[kind as usize])
    }
}

impl From<Submission> for squeue::Entry {
    #[inline]
    fn from(submission: Submission) -> Self {
        // SAFETY: `squeue::Entry` is a `repr(C)` wrapper of the kernel's `struct io_uring_sqe`, as
        // `Submission` is: the kernel's ABI fixes its members, all of them plain integers, and
        // transmuting checks the size.
        unsafe { std::mem::transmute(submission) }
    }
}

#[cfg(test)]
mod tests {
    use io_uring::types::{Fd, Fixed, FsyncFlags};
    use io_uring::{opcode, squeue};

    use super::{Codes, Submission};
    use crate::Kind;

    fn bytes(entry: &squeue::Entry) -> [u8; 64] {
        // SAFETY: an entry is 64 initialised bytes, as the builders zero it first.
        unsafe { std::mem::transmute_copy(entry) }
    }

    #[test]
    fn same_bytes_as_the_builders_make() {
        let address = 0x1122_3344_5566_7788_u64 as *mut u8;
        let built = opcode::WriteFixed::new(Fixed(5), address, 4096, 3).offset(1 << 40).build();
        let filled = Submission {
            code: opcode::WriteFixed::CODE,
            entry_flags: squeue::Flags::FIXED_FILE.bits(),
            fd: 5,
            offset: 1 << 40,
            address: address as u64,
            length: 4096,
            user_data: 0x0102_0304_0506_0708,
            buffer_index: 3,
            ..Submission::ZERO
        };
        assert_eq!(bytes(&filled.into()), bytes(&built.user_data(0x0102_0304_0506_0708)));

        let built = opcode::Fsync::new(Fixed(6)).flags(FsyncFlags::DATASYNC).build();
        let filled = Submission {
            code: opcode::Fsync::CODE,
            entry_flags: squeue::Flags::FIXED_FILE.bits(),
            fd: 6,
            operation_flags: FsyncFlags::DATASYNC.bits(),
            ..Submission::ZERO
        };
        assert_eq!(bytes(&filled.into()), bytes(&built));
    }

    /// An entry for 512 bytes at 4096 of file 5, from buffer 3 if it is a fixed write.
    fn entry(codes: &Codes, kind: Kind, buffer_index: u16) -> squeue::Entry {
        let ([code, entry_flags], operation_flags) = codes.of(kind);
        let address = 0x1000_u64;
        let (offset, length) = (4096, 512);
        let fd = 5;
        let zero = Submission::ZERO;
        Submission {
            code,
            entry_flags,
            operation_flags,
            fd,
            offset,
            address,
            length,
            buffer_index,
            ..zero
        }
        .into()
    }

    #[test]
    fn a_durable_write_is_a_write_with_one_flag() {
        let (address, file) = (0x1000 as *mut u8, Fd(5));
        for flags in [0, libc::RWF_DSYNC] {
            let kind = if flags == 0 { Kind::Write } else { Kind::DurableWrite };
            let fixed = opcode::WriteFixed::new(file, address, 512, 3).offset(4096);
            let fixed = fixed.rw_flags(flags).build();
            assert_eq!(bytes(&entry(&Codes::new(true, false), kind, 3)), bytes(&fixed), "{kind:?}");
            let plain = opcode::Write::new(file, address, 512).offset(4096);
            let plain = plain.rw_flags(flags).build();
            assert_eq!(
                bytes(&entry(&Codes::new(false, false), kind, 0)),
                bytes(&plain),
                "{kind:?}"
            );
        }
        let plain = opcode::Read::new(file, address, 512).offset(4096).build();
        assert_eq!(bytes(&entry(&Codes::new(false, false), Kind::Read, 0)), bytes(&plain));
        let datasync = ([opcode::Fsync::CODE, 0], FsyncFlags::DATASYNC.bits());
        assert_eq!(Codes::new(true, false).of(Kind::Flush), datasync);
    }
}
