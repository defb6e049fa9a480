//! The memory for one send or receive call, in the kernel's format, and the non-blocking calls.

use std::os::fd::RawFd;
use std::ptr::NonNull;

use super::socket::errno;

/// Without blocking, and without a signal if the peer is gone.
const SEND_FLAGS: libc::c_int = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;

/// What one system call or ring entry moves.
#[derive(Clone, Copy)]
pub(crate) enum Transfer {
    /// One run of bytes.
    One {
        /// Its start.
        address: *mut u8,
        /// Its length in bytes.
        length: usize,
    },
    /// Several runs.
    Many(*mut libc::msghdr),
}

/// A `struct msghdr` at a fixed address, behind a raw pointer: the kernel may read and write it (a
/// receive stores flags there) while references to its owner exist.
pub(super) struct Header(NonNull<libc::msghdr>);

impl Header {
    pub(super) fn new() -> Self {
        // SAFETY: all members of msghdr are integers and pointers, for which zero is a value.
        let empty: libc::msghdr = unsafe { std::mem::zeroed() };
        Self(NonNull::from(Box::leak(Box::new(empty))))
    }

    /// Makes it refer to these vectors. The kernel must not be using it.
    pub(super) fn naming(&mut self, vectors: *mut libc::iovec, count: usize) -> *mut libc::msghdr {
        // SAFETY: all zero is a msghdr, see `new`.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = vectors;
        // The types differ between the C libraries.
        #[allow(clippy::unnecessary_cast)]
        {
            header.msg_iovlen = count as _;
        }
        // SAFETY: the allocation is ours until the drop; by the contract nothing else uses it now.
        unsafe { self.0.write(header) };
        self.0.as_ptr()
    }
}

impl Drop for Header {
    fn drop(&mut self) {
        // SAFETY: `new` leaked exactly this box. The owner is dropped only when the kernel has
        // ended all transfers of it (else it is leaked).
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// Sends what the kernel accepts at once; returns bytes or the negative errno.
///
/// # Safety
/// The transfer's memory must be readable.
pub(super) unsafe fn send(socket: RawFd, transfer: Transfer) -> isize {
    repeat(|| match transfer {
        Transfer::One { address, length } => {
            // SAFETY: the caller guarantees the memory.
            unsafe { libc::send(socket, address.cast_const().cast(), length, SEND_FLAGS) }
        }
        Transfer::Many(header) => {
            // SAFETY: as above.
            unsafe { libc::sendmsg(socket, header, SEND_FLAGS) }
        }
    })
}

/// Receives what is available; returns bytes or the negative errno.
///
/// # Safety
/// The transfer's memory must be writable and not in use elsewhere.
pub(super) unsafe fn receive(socket: RawFd, transfer: Transfer) -> isize {
    repeat(|| match transfer {
        Transfer::One { address, length } => {
            // SAFETY: the caller guarantees the memory.
            unsafe { libc::recv(socket, address.cast(), length, libc::MSG_DONTWAIT) }
        }
        Transfer::Many(header) => {
            // SAFETY: as above.
            unsafe { libc::recvmsg(socket, header, libc::MSG_DONTWAIT) }
        }
    })
}

/// Repeats a call that a signal interrupted.
fn repeat(call: impl Fn() -> isize) -> isize {
    loop {
        let outcome = call();
        if outcome >= 0 {
            return outcome;
        }
        let errno = errno();
        if errno != libc::EINTR {
            return -(errno as isize);
        }
    }
}

/// Whether a transfer has to wait for the other end.
pub(super) fn is_unready(outcome: isize) -> bool {
    outcome == -(libc::EAGAIN as isize)
}
