//! The ring's `io_uring_enter(2)` calls, on its registered descriptor if the kernel supports that.
//!
//! The io-uring crate keeps a registered ring descriptor only for as long as one borrow of the ring
//! lives, so the two calls that need it are made here.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;

use io_uring::{EnterFlags, IoUring};

// Values of <linux/io_uring.h>.
const IORING_REGISTER_RING_FDS: libc::c_uint = 20;
const IORING_UNREGISTER_RING_FDS: libc::c_uint = 21;

/// `struct io_uring_rsrc_update` of <linux/io_uring.h>.
#[repr(C)]
struct ResourceUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

/// `struct __kernel_timespec`.
#[repr(C)]
struct KernelTimespec {
    seconds: i64,
    nanoseconds: i64,
}

/// `struct io_uring_getevents_arg` of <linux/io_uring.h>.
#[repr(C)]
struct GetEventsArgument {
    sigmask: u64,
    sigmask_bytes: u32,
    min_wait_us: u32,
    timespec: u64,
}

/// How to enter the kernel for one ring, from the thread that created the ring.
pub(crate) struct Entrance {
    /// The ring's descriptor, or its index among the thread's registered rings.
    target: i32,
    /// `REGISTERED_RING` or nothing.
    flags: u32,
    descriptor: RawFd,
}

impl Entrance {
    /// Registers the ring's descriptor with this thread (Linux 5.18, at most 16 per thread), which
    /// saves each entry a look-up and a reference count; if that fails, works without.
    pub(crate) fn new(ring: &IoUring) -> Self {
        let descriptor = ring.as_raw_fd();
        let mut update =
            ResourceUpdate { offset: u32::MAX, reserved: 0, data: descriptor as u32 as u64 };
        // SAFETY: the argument is one ResourceUpdate that lives through the call, which writes the
        // chosen index into it.
        let registered = unsafe { register(descriptor, IORING_REGISTER_RING_FDS, &mut update) };
        match i32::try_from(update.offset) {
            Ok(target) if registered == 1 => {
                Self { target, flags: EnterFlags::REGISTERED_RING.bits(), descriptor }
            }
            _ => Self { target: descriptor, flags: 0, descriptor },
        }
    }

    #[cfg(test)]
    pub(crate) fn is_registered(&self) -> bool {
        self.flags != 0
    }

    /// Undoes the registration. It keeps the ring open, so this comes before closing the ring.
    pub(crate) fn close(&mut self) {
        if self.flags != 0 {
            let mut update = ResourceUpdate { offset: self.target as u32, reserved: 0, data: 0 };
            // SAFETY: as in `new`. A failure leaves the ring open until the thread ends: harmless.
            unsafe { register(self.descriptor, IORING_UNREGISTER_RING_FDS, &mut update) };
            self.target = self.descriptor;
            self.flags = 0;
        }
    }

    /// Submits `pending` entries without waiting and without running task work. Returns the number
    /// submitted.
    pub(crate) fn submit(&self, pending: u32) -> Result<u32, i32> {
        // SAFETY: no argument is passed; submitted entries were checked when they were pushed.
        unsafe { self.enter(pending, 0, 0, ptr::null(), 0) }
    }

    /// Submits `pending` entries and lets the kernel post what has completed. Never sleeps.
    pub(crate) fn peek(&self, pending: u32) -> Result<u32, i32> {
        // SAFETY: as in `submit`.
        unsafe { self.enter(pending, 0, EnterFlags::GETEVENTS.bits(), ptr::null(), 0) }
    }

    /// Submits `pending` entries and sleeps until one has completed or `wait_ns` have passed.
    pub(crate) fn wait(&self, pending: u32, wait_ns: u64) -> Result<u32, i32> {
        // The kernel adds the time of day to it in signed nanoseconds.
        let wait_ns = wait_ns.min(i64::MAX as u64 / 2);
        let timespec = KernelTimespec {
            seconds: (wait_ns / 1_000_000_000) as i64,
            nanoseconds: (wait_ns % 1_000_000_000) as i64,
        };
        let argument = GetEventsArgument {
            sigmask: 0,
            sigmask_bytes: 0,
            min_wait_us: 0,
            timespec: (&raw const timespec) as u64,
        };
        let flags = (EnterFlags::GETEVENTS | EnterFlags::EXT_ARG).bits();
        // SAFETY: EXT_ARG says that the argument is a GetEventsArgument of the given size; it and
        // the timespec that it points to live through the call.
        unsafe { self.enter(pending, 1, flags, &raw const argument, size_of_val(&argument)) }
    }

    /// # Safety
    /// `argument` and `bytes` must match `flags`.
    #[inline]
    unsafe fn enter(
        &self,
        pending: u32,
        min_complete: u32,
        flags: u32,
        argument: *const GetEventsArgument,
        bytes: usize,
    ) -> Result<u32, i32> {
        // SAFETY: the descriptor is one of our io_urings (its owner calls `close` before closing
        // it); the caller guarantees the argument.
        let entered = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.target,
                pending,
                min_complete,
                self.flags | flags,
                argument,
                bytes,
            )
        };
        if entered >= 0 { Ok(entered as u32) } else { Err(errno()) }
    }
}

/// # Safety
/// `code` must take one `ResourceUpdate` as its argument.
unsafe fn register(descriptor: RawFd, code: libc::c_uint, update: &mut ResourceUpdate) -> i64 {
    // SAFETY: the descriptor is an open io_uring; the caller guarantees the rest.
    let result = unsafe {
        libc::syscall(libc::SYS_io_uring_register, descriptor, code, &raw mut *update, 1u32)
    };
    result as i64
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
