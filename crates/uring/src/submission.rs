//! The submission queue entry as the kernel defines it.
//!
//! The io-uring crate has one builder per operation. Reads and writes, fixed or not, differ in one
//! byte only, and filling the fields of one entry saves the hot path the branches and copies of
//! choosing among builders.

use io_uring::squeue;

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
    use io_uring::types::{Fixed, FsyncFlags};
    use io_uring::{opcode, squeue};

    use super::Submission;

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
}
