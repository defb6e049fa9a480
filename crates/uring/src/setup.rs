//! Creates a ring with the best flags that the kernel supports, and registers files and buffers.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode};

use crate::buffer::Buffers;
use crate::options::Knobs;
use crate::{Note, Unavailable};

/// Creates a ring with at least `entries` submission entries (and twice the completion entries,
/// which is the kernel's default and more than can ever be in flight).
///
/// The flag combinations are tried from the cheapest way of running completions to the oldest.
/// Deferred: they run only when this thread asks for events, never in the middle of something else.
/// Cooperative: they run when this thread enters the kernel anyway. Neither: the kernel interrupts
/// the thread. `skip_rungs` skips the first ones, `refusal` simulates an errno.
pub(crate) fn build(
    entries: u32,
    skip_rungs: usize,
    refusal: Option<i32>,
) -> Result<(IoUring, Option<Note>), Unavailable> {
    if let Some(errno) = refusal {
        return Err(Unavailable::from_errno(errno));
    }
    let mut deferred = IoUring::builder();
    deferred.setup_single_issuer().setup_defer_taskrun().setup_coop_taskrun();
    let mut cooperative = IoUring::builder();
    cooperative.setup_coop_taskrun();
    let plain = IoUring::builder();
    let ladder = [
        (deferred, None),
        (cooperative, Some(Note::WithoutDeferredTaskWork)),
        (plain, Some(Note::WithoutCooperativeTaskWork)),
    ];

    let mut refused = Unavailable::Other { errno: libc::EINVAL };
    for (builder, note) in ladder.into_iter().skip(skip_rungs) {
        match builder.build(entries) {
            Ok(mut ring) => return check(&mut ring).map(|()| (ring, note)),
            Err(error) => {
                refused = Unavailable::from_error(&error);
                if error.raw_os_error() != Some(libc::EINVAL) {
                    break;
                }
            }
        }
    }
    Err(refused)
}

/// Refuses kernels that lack what the engine needs, and sandboxes that allow the set-up and forbid
/// the rest.
fn check(ring: &mut IoUring) -> Result<(), Unavailable> {
    let parameters = ring.params();
    if !parameters.is_feature_ext_arg() {
        return Err(Unavailable::TooOld { lacks: "waiting with a time limit" });
    }
    if !parameters.is_feature_nodrop() {
        return Err(Unavailable::TooOld { lacks: "keeping completions when its queue is full" });
    }
    no_operation(ring).map_err(|error| Unavailable::from_error(&error))
}

/// Sends one no-op and waits for it.
fn no_operation(ring: &mut IoUring) -> io::Result<()> {
    let entry = opcode::Nop::new().build();
    // SAFETY: a no-op refers to no memory.
    let pushed = unsafe { ring.submission().push(&entry) };
    pushed.map_err(|_| io::Error::from_raw_os_error(libc::EBUSY))?;
    loop {
        match ring.submit_and_wait(1) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => {
                outcome?;
                break;
            }
        }
    }
    ring.completion().next().map(drop).ok_or_else(|| io::Error::from_raw_os_error(libc::EIO))
}

/// Registers the files, so that operations refer to them by index without a look-up in the
/// process's table. Returns the errno on failure.
pub(crate) fn register_files(ring: &IoUring, files: &[File], knobs: &Knobs) -> Result<(), i32> {
    if let Some(errno) = knobs.refuse_files {
        return Err(errno);
    }
    if files.is_empty() {
        return Ok(());
    }
    let descriptors: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
    let registered = ring.submitter().register_files(&descriptors);
    registered.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
}

/// Registers the buffers, so that operations need not pin their pages each time. This touches and
/// locks every page of them.
///
/// The size of a registered buffer is limited, so the pool is registered in chunks of a power of
/// two of buffers: buffer `i` is in chunk `i >> shift`, found without a division or a table, and
/// none straddles two. Returns the shift, or the errno on failure.
pub(crate) fn register_buffers(
    ring: &IoUring,
    buffers: &Buffers,
    knobs: &Knobs,
) -> Result<u32, i32> {
    if let Some(errno) = knobs.refuse_buffers {
        return Err(errno);
    }
    let shift = chunk_shift(knobs.registration_bytes, buffers.bytes());
    if buffers.count() == 0 {
        return Ok(shift);
    }
    let per_chunk = 1usize << shift;
    let chunks: Vec<_> = (0..buffers.count())
        .step_by(per_chunk)
        .map(|first| libc::iovec {
            iov_base: buffers.address(first).cast(),
            iov_len: per_chunk.min(buffers.count() - first) * buffers.bytes(),
        })
        .collect();
    // SAFETY: the chunks lie in the pool's mapping, which the ring's owner unmaps only after the
    // ring has ended (see `Ring`'s drop).
    let registered = unsafe { ring.submitter().register_buffers(&chunks) };
    registered.map(|()| shift).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
}

/// The binary logarithm of the number of buffers per registration, which is at least one.
fn chunk_shift(registration_bytes: usize, buffer_bytes: usize) -> u32 {
    (registration_bytes / buffer_bytes).max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::chunk_shift;

    #[test]
    fn chunks_are_as_large_as_the_limit_lets_them() {
        const GIB: usize = 1 << 30;
        let cases = [(4096, 18), (12_288, 16), (65_536, 14), (GIB / 2 + 4096, 0), (GIB, 0)];
        for (buffer_bytes, shift) in cases {
            assert_eq!(chunk_shift(GIB, buffer_bytes), shift);
            assert!(buffer_bytes << shift <= GIB, "{buffer_bytes}");
        }
    }
}
