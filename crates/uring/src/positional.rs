//! The engine used where io_uring is refused: a pool of threads that read and write by position.
//!
//! Each operation goes through two bounded channels and wakes two threads, so its latency and CPU
//! time are well above those of the ring; the notes say so.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::slice;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::buffer::{Buffers, Mapping};
use crate::durable;
use crate::gate::Gate;
use crate::{
    EngineError, EngineOptions, Kind, Note, RawCompletion, RawOperation, ReapError, Refusal,
};

/// The most threads: beyond this, more threads add context switches rather than I/O.
const MAX_THREADS: u32 = 128;

/// Stack size of a worker in bytes: it only makes one system call.
const STACK_BYTES: usize = 128 * 1024;

/// Milliseconds of one wait of the drop.
const DROP_WAIT_MS: u32 = 100;

/// The address in a flush, which is ignored, and its buffer index, which is invalid.
const NO_BUFFER: u32 = u32::MAX;

/// An operation sent to a worker.
struct Job {
    operation: RawOperation,
    address: *mut u8,
}

// SAFETY: the address points into the mapping that each worker keeps alive, and `Buffers::claim`
// returned it for this job: the worker alone may access it for a read, and nothing writes to it
// during a write, until the completion has come back.
unsafe impl Send for Job {}

/// A finished operation.
struct Done {
    completion: RawCompletion,
    buffer: u32,
}

/// What each worker keeps alive for as long as it runs, even after the engine.
struct Shared {
    files: Vec<File>,
    gate: Gate,
    _mapping: Arc<Mapping>,
}

/// I/O by threads that read and write by position (`pread(2)`, `pwrite(2)`).
///
/// There are as many threads as operations may be in flight, at most 128; further operations queue.
/// They inherit the CPU affinity of the thread that opens the engine, and their CPU time is not
/// included in that thread's.
///
/// Dropping it discards what no thread has started and waits for the rest, for as long as
/// operations complete and 5 s more. If some still do not complete, their threads are left behind;
/// they own the memory and the files together with the engine, and free them when they end.
pub struct Positional {
    buffers: Buffers,
    shared: Arc<Shared>,
    jobs: Option<Sender<Job>>,
    /// The workers' end, kept to take back what they have not started.
    queue: Receiver<Job>,
    done: Receiver<Done>,
    in_flight: u32,
    max_in_flight: u32,
    threads: Vec<JoinHandle<()>>,
    patience_ms: u32,
    notes: Vec<Note>,
}

impl Positional {
    /// Maps the buffers and starts the threads. If fewer threads can be started than wanted, but at
    /// least one, it continues and the [`Note`] has the number.
    pub fn open(options: EngineOptions) -> Result<Self, EngineError> {
        options.check()?;
        let buffers = Buffers::new(options.buffers, options.buffer_bytes)?;
        let EngineOptions { files, in_flight, knobs, .. } = options;
        let (jobs, queue) = bounded(in_flight as usize);
        let (completed, done) = bounded(in_flight as usize);
        let shared =
            Arc::new(Shared { files, gate: knobs.gate, _mapping: Arc::clone(buffers.mapping()) });

        let mut threads = Vec::new();
        for number in 0..in_flight.min(MAX_THREADS) {
            let (queue, completed) = (queue.clone(), completed.clone());
            let shared = Arc::clone(&shared);
            let started = thread::Builder::new()
                .name(format!("positional-{number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || work(&queue, &completed, &shared));
            match started {
                Ok(thread) => threads.push(thread),
                Err(source) if threads.is_empty() => return Err(EngineError::Threads { source }),
                Err(_) => break,
            }
        }
        let notes = vec![Note::Positional { threads: threads.len() as u32, in_flight }];
        Ok(Self {
            buffers,
            shared,
            jobs: Some(jobs),
            queue,
            done,
            in_flight: 0,
            max_in_flight: in_flight,
            threads,
            patience_ms: knobs.patience_ms,
            notes,
        })
    }

    /// Adds a note before the others.
    pub(crate) fn note_first(&mut self, note: Note) {
        self.notes.insert(0, note);
    }

    /// Accepts an operation and passes it to the threads.
    pub fn push(&mut self, operation: RawOperation) -> Result<(), Refusal> {
        if self.in_flight >= self.max_in_flight {
            return Err(Refusal::Full);
        }
        if operation.file as usize >= self.shared.files.len() {
            return Err(Refusal::File);
        }
        let address = if operation.kind == Kind::Flush {
            std::ptr::null_mut()
        } else if operation.offset > i64::MAX as u64 {
            return Err(Refusal::Offset);
        } else {
            self.buffers.claim(operation.kind, operation.buffer, operation.length)?
        };
        // The channel has space for all that may be in flight, and lives as long as `self`.
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(Job { operation, address }));
        debug_assert!(matches!(sent, Some(Ok(()))), "the engine keeps both ends open");
        self.in_flight += 1;
        Ok(())
    }

    /// Appends completions to `out`, each converted by `made`; if there is none, waits at most `wait_ns` nanoseconds
    /// for one. `None` (or zero) never waits. A time-out is not an error. With nothing in flight the wait is a sleep.
    /// Never fails: it has the ring's signature.
    pub fn reap<C>(
        &mut self,
        wait_ns: Option<u64>,
        out: &mut Vec<C>,
        made: impl Fn(RawCompletion) -> C,
    ) -> Result<(), ReapError> {
        if !self.take(out, &made)
            && let Some(wait_ns @ 1..) = wait_ns
            && let Ok(done) = self.done.recv_timeout(Duration::from_nanos(wait_ns))
        {
            out.push(made(self.settle(done)));
            self.take(out, &made);
        }
        Ok(())
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
        &self.shared.files
    }

    /// What was requested and not granted.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Takes what has come back; returns whether there was anything.
    fn take<C>(&mut self, out: &mut Vec<C>, made: impl Fn(RawCompletion) -> C) -> bool {
        let before = out.len();
        while let Ok(done) = self.done.try_recv() {
            out.push(made(self.settle(done)));
        }
        out.len() > before
    }

    fn settle(&mut self, done: Done) -> RawCompletion {
        self.buffers.release(done.buffer);
        self.in_flight -= 1;
        done.completion
    }
}

#[cfg(test)]
impl Positional {
    pub(crate) fn mapping(&self) -> &Arc<Mapping> {
        self.buffers.mapping()
    }
}

impl Drop for Positional {
    fn drop(&mut self) {
        self.jobs = None;
        while self.queue.try_recv().is_ok() {
            self.in_flight -= 1;
        }
        let mut out = Vec::with_capacity(self.in_flight as usize);
        let mut waited_ms = 0;
        while self.in_flight > 0 && waited_ms < self.patience_ms {
            // Never fails; only fruitless waits are counted, so no clock is needed.
            let _ = self.reap(Some(u64::from(DROP_WAIT_MS) * 1_000_000), &mut out, |raw| raw);
            if out.is_empty() {
                waited_ms += DROP_WAIT_MS;
            }
            out.clear();
        }
        if self.in_flight == 0 {
            for thread in self.threads.drain(..) {
                let _ = thread.join();
            }
        }
    }
}

/// A worker: does jobs until the engine closes the queue.
fn work(queue: &Receiver<Job>, completed: &Sender<Done>, shared: &Shared) {
    for job in queue {
        shared.gate.pass();
        let completion = RawCompletion { user: job.operation.user, result: perform(&job, shared) };
        let buffer =
            if job.operation.kind == Kind::Flush { NO_BUFFER } else { job.operation.buffer };
        if completed.send(Done { completion, buffer }).is_err() {
            return;
        }
    }
}

/// Performs one operation, and retries only if a signal interrupted it; returns bytes or the
/// negative errno.
fn perform(job: &Job, shared: &Shared) -> i32 {
    let RawOperation { file, kind, offset, length, .. } = job.operation;
    let file = &shared.files[file as usize];
    loop {
        let outcome = match kind {
            Kind::Read => {
                // SAFETY: see `Job`: the bytes lie in the living mapping and are exclusively ours.
                let bytes = unsafe { slice::from_raw_parts_mut(job.address, length as usize) };
                file.read_at(bytes, offset)
            }
            Kind::Write => {
                // SAFETY: see `Job`: the bytes lie in the living mapping and nothing writes to
                // them.
                let bytes = unsafe { slice::from_raw_parts(job.address, length as usize) };
                file.write_at(bytes, offset)
            }
            Kind::DurableWrite => {
                // SAFETY: see `Job`: the bytes lie in the living mapping and nothing writes to
                // them.
                let bytes = unsafe { slice::from_raw_parts(job.address, length as usize) };
                durable::write_at(file, bytes, offset)
            }
            Kind::Flush => file.sync_data().map(|()| 0),
        };
        match outcome {
            // At most a buffer's size, which is at most 1 GiB.
            Ok(bytes) => return bytes as i32,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return -error.raw_os_error().unwrap_or(libc::EIO),
        }
    }
}
