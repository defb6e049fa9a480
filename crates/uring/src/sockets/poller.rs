//! epoll, as calls that cannot be misused.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use super::socket::errno;

/// An epoll instance.
pub(super) struct Poller {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
    /// Whether waits can be specified in nanoseconds (Linux 5.11; some sandboxes lack this).
    is_exact: bool,
}

impl Poller {
    /// For at most this many sockets.
    pub(super) fn new(sockets: usize) -> io::Result<Self> {
        // SAFETY: no memory is involved.
        let descriptor = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let epoll = unsafe { OwnedFd::from_raw_fd(descriptor) };
        Ok(Self { epoll, events: Vec::with_capacity(sockets), is_exact: true })
    }

    /// Watches a socket, identified by `token`, for each change of its state.
    pub(super) fn add(&self, socket: RawFd, token: u32) -> Result<(), i32> {
        let what = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        let mut event = libc::epoll_event { events: what as u32, u64: u64::from(token) };
        // SAFETY: the event lives through the call.
        let outcome = unsafe {
            let epoll = self.epoll.as_raw_fd();
            libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, socket, &raw mut event)
        };
        if outcome == 0 { Ok(()) } else { Err(errno()) }
    }

    /// Waits for at most `wait_ns`, or not at all if that is zero, and returns how many sockets
    /// have events. A signal ends it with none.
    pub(super) fn wait(&mut self, wait_ns: u64) -> Result<usize, i32> {
        self.events.clear();
        let mut outcome = self.enter(wait_ns);
        if outcome < 0 && self.is_exact && matches!(errno(), libc::ENOSYS | libc::EPERM) {
            self.is_exact = false;
            outcome = self.enter(wait_ns);
        }
        match usize::try_from(outcome) {
            Ok(count) => {
                // SAFETY: the kernel has written this many events, at most the capacity.
                unsafe { self.events.set_len(count) };
                Ok(count)
            }
            Err(_) if errno() == libc::EINTR => Ok(0),
            Err(_) => Err(errno()),
        }
    }

    fn enter(&mut self, wait_ns: u64) -> libc::c_int {
        let epoll = self.epoll.as_raw_fd();
        let events = self.events.as_mut_ptr();
        let most = self.events.capacity() as libc::c_int;
        if self.is_exact {
            let wait_ns = wait_ns.min(i64::MAX as u64 / 2);
            let limit = libc::timespec {
                tv_sec: (wait_ns / 1_000_000_000) as _,
                tv_nsec: (wait_ns % 1_000_000_000) as libc::c_long,
            };
            // SAFETY: the vector has space for `most` events, no signal mask is given, and the
            // limit lives through the call.
            let outcome = unsafe {
                libc::syscall(
                    libc::SYS_epoll_pwait2,
                    epoll,
                    events,
                    most,
                    &raw const limit,
                    ptr::null::<libc::sigset_t>(),
                    0usize,
                )
            };
            outcome as libc::c_int
        } else {
            let limit_ms = wait_ns.div_ceil(1_000_000).min(i32::MAX as u64) as libc::c_int;
            // SAFETY: the vector has space for `most` events.
            unsafe { libc::epoll_wait(epoll, events, most, limit_ms) }
        }
    }

    /// The result of the last wait: tokens and epoll flags.
    pub(super) fn ready(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.events.iter().map(|event| (event.u64 as u32, event.events))
    }
}
