//! The io_uring engine.
//!
//! How it minimizes its cost:
//! - Files and buffers are registered, so the kernel neither looks descriptors up nor pins pages.
//! - One system call submits and waits. [`Ring::reap`] submits whatever is pending in the call that
//!   collects; and it makes no call at all if nothing is pending and completions are ready.
//! - [`Ring::push`] enters the kernel by itself only if `enter_every` operations are pending and
//!   another one arrives. Waiting for that other one leaves the last few to `reap`, which enters
//!   the kernel anyway; not waiting longer keeps the storage busy while a deep queue is being
//!   filled.
//! - Operations in flight are limited by the submission queue's size, and that by the completion
//!   queue's, so neither can overflow and no check is needed.

use std::fs::File;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::Arc;

use io_uring::IoUring;
use io_uring::types::{CancelBuilder, Timespec};

use crate::buffer::Buffers;
use crate::setup;
use crate::submission::{Codes, Submission};
use crate::syscall::Entrance;
use crate::{
    EngineError, EngineOptions, Kind, Note, RawCompletion, RawOperation, ReapError, Refusal,
};

/// The buffer index in a flush's user data: beyond any buffer, because their number is a `u32` too.
const NO_BUFFER: u32 = u32::MAX;

/// Milliseconds of one wait of the drop.
const DROP_WAIT_MS: u32 = 100;

/// I/O by io_uring.
///
/// Open it on the thread that will use it: the kernel is promised that no other thread will submit,
/// which lets it defer work cheaply. The type is not `Send`, so the compiler enforces this.
///
/// Dropping it cancels what is in flight and waits for the rest, for as long as operations complete
/// and 5 s more. If some still do not complete (a dead network storage can hold them forever), the
/// buffers' memory is leaked on purpose: the kernel may write to it at any later time.
pub struct Ring {
    // Before the buffers: fields are dropped in this order.
    ring: IoUring,
    entrance: Entrance,
    buffers: Buffers,
    /// For each file the `fd` of its entries: the registered index, or the descriptor.
    targets: Box<[i32]>,
    /// Number of operations pushed and not reaped.
    in_flight: u32,
    max_in_flight: u32,
    /// Number pushed and not yet submitted; part of `in_flight`.
    pending: u32,
    enter_every: u32,
    codes: Codes,
    chunk_shift: u32,
    patience_ms: u32,
    notes: Vec<Note>,
    /// Kept open: unregistered files are referred to by descriptor, and all are synced here.
    files: Vec<File>,
    _of_one_thread: PhantomData<*mut ()>,
}

impl Ring {
    /// Creates the ring and registers files and buffers. If a registration is refused, the ring
    /// works without it and adds a [`Note`].
    pub fn open(options: EngineOptions) -> Result<Self, EngineError> {
        options.check()?;
        let ring = Self::build(&options)?;
        Self::with(ring, options)
    }

    /// The step of opening in which io_uring as such is refused; the options remain intact for a
    /// fallback.
    pub(crate) fn build(
        options: &EngineOptions,
    ) -> Result<(IoUring, Option<Note>), crate::Unavailable> {
        setup::build(options.in_flight, options.knobs.skip_rungs, options.simulate_refusal)
    }

    /// The rest of opening.
    pub(crate) fn with(
        (ring, note): (IoUring, Option<Note>),
        options: EngineOptions,
    ) -> Result<Self, EngineError> {
        let mut notes: Vec<Note> = note.into_iter().collect();
        let buffers = Buffers::new(options.buffers, options.buffer_bytes)?;
        let EngineOptions { files, in_flight, enter_every, knobs, .. } = options;

        let files_registered = setup::register_files(&ring, &files, &knobs);
        if let Err(errno) = files_registered {
            notes.push(Note::FilesNotRegistered { errno });
        }
        let fixed_files = files_registered.is_ok();
        let target = |(index, file): (usize, &File)| {
            if fixed_files { index as i32 } else { file.as_raw_fd() }
        };
        let targets = files.iter().enumerate().map(target).collect();

        let buffers_registered = setup::register_buffers(&ring, &buffers, &knobs);
        if let Err(errno) = buffers_registered {
            let bytes = buffers.count() as u64 * buffers.bytes() as u64;
            notes.push(Note::BuffersNotRegistered { errno, bytes });
        }
        Ok(Self {
            entrance: Entrance::new(&ring),
            ring,
            buffers,
            targets,
            in_flight: 0,
            max_in_flight: in_flight,
            pending: 0,
            enter_every,
            codes: Codes::new(buffers_registered.is_ok(), fixed_files),
            // Without registration this shifts any index to zero, which older kernels require.
            chunk_shift: buffers_registered.unwrap_or(u32::BITS),
            patience_ms: knobs.patience_ms,
            notes,
            files,
            _of_one_thread: PhantomData,
        })
    }

    /// Accepts an operation. It reaches the kernel with the next [`reap`](Self::reap) at the
    /// latest, or earlier if `enter_every` operations are pending and one more is pushed.
    // Always inlined: it is called from one place of the I/O loop, which has the operation in
    // registers.
    #[inline(always)]
    pub fn push(&mut self, operation: RawOperation) -> Result<(), Refusal> {
        if self.in_flight >= self.max_in_flight {
            return Err(Refusal::Full);
        }
        let Some(&target) = self.targets.get(operation.file as usize) else {
            return Err(Refusal::File);
        };
        let RawOperation { user, kind, mut offset, mut length, mut buffer, .. } = operation;
        let (address, chunk);
        if kind == Kind::Flush {
            (offset, length, buffer) = (0, 0, NO_BUFFER);
            (address, chunk) = (ptr::null_mut(), 0);
        } else {
            if offset > i64::MAX as u64 {
                return Err(Refusal::Offset);
            }
            address = self.buffers.claim(kind, buffer, length)?;
            chunk = (u64::from(buffer) >> self.chunk_shift) as u16;
        }
        let ([code, entry_flags], operation_flags) = self.codes.of(kind);
        let entry = Submission {
            code,
            entry_flags,
            fd: target,
            offset,
            address: address as u64,
            length,
            operation_flags,
            user_data: u64::from(user) << 32 | u64::from(buffer),
            buffer_index: chunk,
            ..Submission::ZERO
        };

        if self.pending >= self.enter_every {
            self.submit();
        }
        // SAFETY: the entry refers to one of our buffers (in range, and claimed until its
        // completion is reaped; the pool outlives the kernel's use, see `drop`) or to none, and to
        // a file that is registered or that we keep open.
        let pushed = unsafe { self.ring.submission().push(&entry.into()) };
        debug_assert!(pushed.is_ok(), "the queue holds all that may be in flight");
        self.pending += 1;
        self.in_flight += 1;
        Ok(())
    }

    /// Appends completions to `out`, each converted by `made`.
    ///
    /// With nothing pending and completions ready it takes them without a system call. Otherwise one
    /// system call submits what is pending and collects; it sleeps, at most `wait_ns` nanoseconds,
    /// only if nothing was ready. `None` (or zero) never sleeps. A time-out or a signal ends the
    /// wait with nothing, which is not an error; so may a shortage in the kernel, in which case the
    /// pending operations are submitted by the next call. With nothing in flight the wait is a
    /// sleep.
    #[inline]
    pub fn reap<C>(
        &mut self,
        wait_ns: Option<u64>,
        out: &mut Vec<C>,
        made: impl Fn(RawCompletion) -> C,
    ) -> Result<(), ReapError> {
        if self.pending == 0 && self.take(out, &made) {
            return Ok(());
        }
        let entered = self.enter(wait_ns.unwrap_or(0));
        self.take(out, &made);
        entered
    }

    /// The buffer for writing; `None` while an operation uses it, or if it does not exist.
    #[inline]
    pub fn buffer_mut(&mut self, index: u32) -> Option<&mut [u8]> {
        self.buffers.get_mut(index)
    }

    /// The buffer's contents; `None` while a read fills it, or if it does not exist.
    #[inline]
    pub fn buffer(&self, index: u32) -> Option<&[u8]> {
        self.buffers.get(index)
    }

    /// Size of a buffer in bytes.
    pub fn buffer_bytes(&self) -> usize {
        self.buffers.bytes()
    }

    /// Number of buffers.
    pub fn buffer_count(&self) -> u32 {
        self.buffers.count() as u32
    }

    /// Number of operations pushed and not reaped.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The files, by their indices.
    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    /// What was requested and not granted.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Moves the completion queue's contents to `out`; returns whether there was anything.
    #[inline]
    fn take<C>(&mut self, out: &mut Vec<C>, made: impl Fn(RawCompletion) -> C) -> bool {
        let Self { ring, buffers, .. } = self;
        let ready = ring.completion();
        out.reserve(ready.len());
        let mut count = 0;
        for (place, completion) in out.spare_capacity_mut().iter_mut().zip(ready) {
            let user_data = completion.user_data();
            buffers.release(user_data as u32);
            let user = (user_data >> 32) as u32;
            place.write(made(RawCompletion { user, result: completion.result() }));
            count += 1;
        }
        // SAFETY: the first `count` places after the old length lie within the capacity and were
        // written just now.
        unsafe { out.set_len(out.len() + count) };
        self.in_flight -= count as u32;
        count > 0
    }

    /// The part of `reap` that enters the kernel.
    #[inline(never)]
    fn enter(&mut self, wait_ns: u64) -> Result<(), ReapError> {
        let entered = if wait_ns == 0 || !self.ring.completion().is_empty() {
            if self.in_flight == 0 {
                return Ok(());
            }
            self.entrance.peek(self.pending)
        } else {
            self.entrance.wait(self.pending, wait_ns)
        };
        match entered {
            Ok(submitted) => {
                self.pending -= submitted;
                Ok(())
            }
            // An error means that nothing was submitted (otherwise the kernel returns the number).
            // If memory is short, or completions have to be flushed first, the call must be
            // repeated.
            Err(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(()),
            Err(errno) => Err(ReapError { errno }),
        }
    }

    /// Submits from within `push`. A failure is left to `reap`, which meets it again and reports
    /// it: the queue has space for all that may be in flight.
    #[inline(never)]
    fn submit(&mut self) {
        if let Ok(submitted) = self.entrance.submit(self.pending) {
            self.pending -= submitted;
        }
    }

    /// Ends everything in flight; returns whether it succeeded.
    fn quiesce(&mut self) -> bool {
        // The kernel has never seen what was not submitted. No kernel thread polls the queue, and
        // no submission follows.
        self.in_flight -= self.pending;
        self.pending = 0;
        if self.in_flight == 0 {
            return true;
        }
        // Only an acceleration (Linux 6.0): disk I/O that has started cannot be cancelled anyway.
        let _ =
            self.ring.submitter().register_sync_cancel(Some(Timespec::new()), CancelBuilder::any());
        let mut out = Vec::with_capacity(self.in_flight as usize);
        let mut waited_ms = 0;
        while self.in_flight > 0 && waited_ms < self.patience_ms {
            // Only fruitless waits are counted, so no clock is needed.
            let _ = self.entrance.wait(0, u64::from(DROP_WAIT_MS) * 1_000_000);
            if !self.take(&mut out, |raw| raw) {
                waited_ms += DROP_WAIT_MS;
            }
        }
        self.in_flight == 0
    }
}

#[cfg(test)]
impl Ring {
    pub(crate) fn mapping(&self) -> &Arc<crate::buffer::Mapping> {
        self.buffers.mapping()
    }

    pub(crate) fn is_entrance_registered(&self) -> bool {
        self.entrance.is_registered()
    }

    /// As if there were an operation in flight that never ends.
    pub(crate) fn count_one_more_in_flight(&mut self) {
        self.in_flight += 1;
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.quiesce() {
            // The kernel tears down a closed ring some time later; unregistering now unlocks the
            // memory and closes the files at once, which an unmount or the next ring may need.
            let submitter = self.ring.submitter();
            let _ = submitter.unregister_buffers();
            let _ = submitter.unregister_files();
        } else {
            std::mem::forget(Arc::clone(self.buffers.mapping()));
        }
        self.entrance.close();
    }
}
