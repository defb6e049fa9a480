//! One pass over each worker's file, record by record: iozone's tests.

use stormeter_disk::{Clock, Disks, Kind};

use super::log::FixedWorkLog;
use super::permutation::Permutation;
use super::run::{Finished, Io, Run, Work};
use crate::content::{ContentSource, stamp};
use crate::observer::Observer;
use crate::random::Random;
use stormeter_trial::{
    Content, FileTest, FixedWork, FixedWorkError, FixedWorkTrial, Sample, StepTime,
};

/// Drives one pass over each worker's file (its disk) and returns the measurement.
///
/// An operation of the sample is one record. Each record is visited once: in the order of the file, or
/// in a random order that follows from the seed. Bytes after the last whole record are not part of the
/// test. Written data is random, and no two blocks of 4 KiB are alike.
///
/// With [`FileTest::flush_at_end`] each worker ends with a flush, which is part of its time and of the window, and no
/// operation of the sample.
///
/// The window lasts from the start to the end of the last worker. The one step has the name of the test;
/// its times are those of the workers that finished. `start` is as in [`crate::drive`].
///
/// # Errors
/// Only for a trial that cannot be driven. Later errors are in [`Sample::ended`] and
/// [`Sample::io_failures`], with everything counted up to then; a record that fails is not retried.
pub fn drive_file_test<D: Disks, C: Clock, O: Observer>(
    trial: &FixedWorkTrial,
    start: impl FnOnce() -> Option<u64>,
    disks: &mut D,
    clock: &mut C,
    observer: &mut O,
) -> Result<Sample, FixedWorkError> {
    trial.check()?;
    let FixedWork::File(test) = trial.fixed_work else {
        return Err(FixedWorkError::OtherWork { given: "deployment", done: "file test" });
    };
    let work = FilePass::new(trial, test);
    Ok(Run::new(trial, disks, clock, observer, work).carry_out(start))
}

/// A flush may have to write whole files, and storage of 1 MB/s is still not stalled.
const FLUSH_NS_PER_BYTE: u64 = 1000;

struct FilePass {
    test: FileTest,
    records: u64,
    workers: Vec<Worker>,
    content: ContentSource,
    generation: u64,
    /// Number of buffers, from 0, that writes take in turn.
    write_buffers: u32,
    next_write: u32,
    keeps_content: bool,
    begun_ns: u64,
    /// Number of workers that are not finished.
    busy: u32,
    /// Number of those that flush their file.
    flushing: u64,
    step: StepTime,
}

struct Worker {
    next: u64,
    ended: u64,
    /// The order of the visits; `None` for the order of the file.
    order: Option<Permutation>,
}

impl FilePass {
    fn new(trial: &FixedWorkTrial, test: FileTest) -> Self {
        let records = trial.disk_bytes / u64::from(test.record_bytes);
        let order = |worker| {
            let stream = 0xf11e << 32 | u64::from(trial.first_disk + worker);
            Permutation::new(records, &mut Random::stream(trial.seed, stream))
        };
        let worker = |worker| Worker {
            next: 0,
            ended: 0,
            order: test.operation.is_random().then(|| order(worker)),
        };
        Self {
            test,
            records,
            workers: (0..trial.disks).map(worker).collect(),
            content: ContentSource::new(Content::default(), trial.content_seed),
            generation: trial.seed ^ (u64::from(trial.first_disk) << 44),
            write_buffers: trial.write_buffers(),
            next_write: 0,
            keeps_content: false,
            begun_ns: 0,
            busy: trial.disks,
            flushing: 0,
            step: StepTime::named(test.operation.name()),
        }
    }
}

impl FilePass {
    fn worker_done(&mut self, now_ns: u64) {
        self.busy -= 1;
        self.step.add(now_ns.saturating_sub(self.begun_ns));
    }
}

impl Work for FilePass {
    fn fill<D: Disks>(&mut self, disks: &mut D) {
        for buffer in 0..self.write_buffers {
            if let Some(bytes) = disks.buffer(buffer) {
                self.keeps_content = true;
                // The number of a disk that does not exist, so that the first write is not a copy
                // of a prepared disk.
                self.content.fill(u32::MAX - buffer, 0, bytes);
            }
        }
    }

    fn begin(&mut self, now_ns: u64) {
        self.begun_ns = now_ns;
    }

    fn next(&mut self, worker: u32) -> Option<Io> {
        let state = &mut self.workers[worker as usize];
        if state.next == self.records {
            return None;
        }
        let record = match &state.order {
            Some(order) => order.place(state.next),
            None => state.next,
        };
        state.next += 1;
        Some(Io {
            kind: if self.test.operation.reads() { Kind::Read } else { Kind::Write },
            disk: worker,
            offset_bytes: record * u64::from(self.test.record_bytes),
            length_bytes: self.test.record_bytes,
        })
    }

    fn buffer<D: Disks>(&mut self, slot: u32, io: &Io, disks: &mut D) -> Option<u32> {
        if self.write_buffers == 0 || io.kind == Kind::Flush {
            return Some(slot);
        }
        let mut buffer = self.next_write;
        // Some are still in use by writes; there are more buffers than outstanding I/Os.
        let is_free = |&buffer: &u32| disks.buffer(buffer).is_some();
        if self.keeps_content {
            let mut in_turn = (buffer..self.write_buffers).chain(0..buffer);
            buffer = in_turn.find(is_free)?;
            self.generation = self.generation.wrapping_add(1);
            if let Some(bytes) = disks.buffer(buffer) {
                stamp(bytes, self.generation);
            }
        }
        self.next_write = (buffer + 1) % self.write_buffers;
        Some(buffer)
    }

    fn finished(&mut self, finished: Finished, log: &mut FixedWorkLog) -> Option<Io> {
        let Finished { worker, io, started_ns, now_ns, is_whole } = finished;
        if io.kind == Kind::Flush {
            self.flushing -= 1;
            self.worker_done(now_ns);
            return None;
        }
        if is_whole {
            let latency_ns = now_ns.saturating_sub(started_ns);
            log.record(worker, io.kind, io.length_bytes, latency_ns);
        }
        let state = &mut self.workers[worker as usize];
        state.ended += 1;
        if state.ended < self.records {
            return None;
        }
        if self.test.flush_at_end {
            self.flushing += 1;
            return Some(Io { kind: Kind::Flush, disk: worker, offset_bytes: 0, length_bytes: 0 });
        }
        self.worker_done(now_ns);
        None
    }

    fn outstanding(&self, ios: u64) -> u64 {
        ios.saturating_sub(self.flushing)
    }

    fn patience_ns(&self, stall_ns: u64) -> u64 {
        let files = if self.flushing > 0 { self.workers.len() as u64 } else { 0 };
        let bytes = files * self.records * u64::from(self.test.record_bytes);
        stall_ns.saturating_add(bytes.saturating_mul(FLUSH_NS_PER_BYTE))
    }

    fn is_done(&self) -> bool {
        self.busy == 0
    }

    fn steps(self) -> Vec<StepTime> {
        vec![self.step]
    }
}
