//! Disks that record requests, and the arithmetic that every sample must satisfy.

use std::cell::RefCell;
use std::rc::Rc;

use stormeter_disk::{Completion, Disks, DisksError, Kind, Operation, Wait};
use stormeter_driver::{Observer, drive_deployment, drive_file_test};
use stormeter_simulator::{
    FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
};
use stormeter_trial::{
    Deployment, FileOperation, FileTest, FixedWork, FixedWorkTrial, Limits, Sample,
};

pub(crate) const US: u64 = 1_000;
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const RECORD: u32 = 16 << 10;
pub(crate) const DISK: u64 = 1 << 20;
pub(crate) const RECORDS: u64 = DISK / RECORD as u64;

pub(crate) fn file_test(operation: FileOperation, outstanding: u32, disks: u32) -> FixedWorkTrial {
    let test = FileTest {
        operation,
        record_bytes: RECORD,
        outstanding,
        client_cache: false,
        flush_at_end: false,
    };
    trial(FixedWork::File(test), disks)
}

pub(crate) fn deployment(outstanding: u32, disks: u32) -> FixedWorkTrial {
    let deployment = Deployment {
        copy_bytes: 64 << 10,
        clone: false,
        outstanding,
        customise_writes: 30,
        boot_reads: 50,
    };
    trial(FixedWork::Deploy(deployment), disks)
}

fn trial(fixed_work: FixedWork, disks: u32) -> FixedWorkTrial {
    FixedWorkTrial {
        fixed_work,
        first_disk: 3,
        disks,
        disk_bytes: DISK,
        seed: 11,
        content_seed: 11,
        interval_ns: MS,
        limits: Limits::default(),
    }
}

pub(crate) fn constant(ns: u64, servers: u32) -> Model {
    Model { servers, service: Service::Constant { ns }, faults: FaultPlan::default() }
}

/// Disks that record what was submitted, in order.
pub(crate) struct Watched<D> {
    pub(crate) disks: D,
    pub(crate) submitted: Vec<Operation>,
    pub(crate) completed: usize,
    /// The largest number of operations outstanding at once.
    pub(crate) deepest: usize,
}

impl<D> Watched<D> {
    pub(crate) fn new(disks: D) -> Self {
        Self { disks, submitted: Vec::new(), completed: 0, deepest: 0 }
    }
}

impl<D: Disks> Disks for Watched<D> {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        self.submitted.extend_from_slice(operations);
        self.deepest = self.deepest.max(self.submitted.len() - self.completed);
        self.disks.submit(operations)
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let before = completions.len();
        self.disks.reap(wait, completions)?;
        self.completed += completions.len() - before;
        Ok(())
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        self.disks.buffer(buffer)
    }
}

/// Drives the trial over a model, from a start in the future.
pub(crate) fn run(trial: &FixedWorkTrial, model: Model) -> (Sample, Vec<Operation>) {
    let (sample, watched) = run_watched(trial, model, &mut ());
    (sample, watched.submitted)
}

pub(crate) fn run_watched(
    trial: &FixedWorkTrial,
    model: Model,
    observer: &mut impl Observer,
) -> (Sample, Watched<SimulatedDisks>) {
    let time = VirtualTime::new();
    let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
    let mut disks = Watched::new(SimulatedDisks::new(time.clone(), model, noise, trial.seed));
    let start = || Some(5 * MS);
    let mut clock = time.clock();
    let sample = match trial.fixed_work {
        FixedWork::File(_) => drive_file_test(trial, start, &mut disks, &mut clock, observer),
        FixedWork::Deploy(_) => drive_deployment(trial, start, &mut disks, &mut clock, observer),
    };
    let sample = sample.unwrap();
    assert_laws(&sample);
    (sample, disks)
}

/// The sanity checks for a sample: the tallies agree, and Little's law is an identity.
#[track_caller]
pub(crate) fn assert_laws(sample: &Sample) {
    let histograms = sample.reads.histogram.count() + sample.writes.histogram.count();
    let rows: u64 =
        sample.intervals.iter().map(|row| row.reads.operations + row.writes.operations).sum();
    let disks: u64 = sample.disks.iter().map(|disk| disk.operations).sum();
    assert_eq!(histograms, sample.operations());
    assert_eq!(rows, sample.operations());
    assert_eq!(disks, sample.operations());
    if sample.failed_operations() == 0 {
        let busy_ns = sample.total().latency_sum_ns as i64 + sample.carried_ns;
        let mean = busy_ns as f64 / sample.window_ns.max(1) as f64;
        let outstanding = sample.outstanding_mean;
        assert!((mean - outstanding).abs() <= 1e-9 * mean.max(1.0), "{mean} {outstanding}");
    }
    let mut end_ns = 0;
    for row in &sample.intervals {
        assert_eq!(row.start_ns, end_ns);
        assert!(row.length_ns > 0 && row.length_ns <= sample.interval_ns);
        end_ns += row.length_ns;
    }
    assert_eq!(end_ns, sample.window_ns);
}

/// Disks that store every byte. What is submitted completes at the next reap, last one first.
pub(crate) struct MemoryDisks {
    pub(crate) disks: Vec<Vec<u8>>,
    buffers: Vec<Vec<u8>>,
    in_use: Vec<u32>,
    waiting: Vec<Operation>,
    time: VirtualTime,
}

impl MemoryDisks {
    /// Disks with the contents of `content`, with the memory that the trial needs.
    pub(crate) fn new(
        trial: &FixedWorkTrial,
        time: VirtualTime,
        content: impl Fn(u32, usize) -> u8,
    ) -> Self {
        let needs = trial.buffer_needs();
        let disk = |disk| (0..trial.disk_bytes as usize).map(|at| content(disk, at)).collect();
        Self {
            disks: (0..trial.disks_opened()).map(disk).collect(),
            buffers: vec![vec![0; needs.bytes as usize]; needs.count as usize],
            in_use: vec![0; needs.count as usize],
            waiting: Vec::new(),
            time,
        }
    }
}

impl Disks for MemoryDisks {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        operations.iter().for_each(|one| self.in_use[one.buffer as usize] += 1);
        self.waiting.extend_from_slice(operations);
        Ok(())
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let Wait::AtMost(wait_ns) = wait else { return Ok(()) };
        let step_ns = if self.waiting.is_empty() { wait_ns } else { wait_ns.min(10 * US) };
        self.time.advance_to(self.time.now_ns() + step_ns);
        for one in std::mem::take(&mut self.waiting).into_iter().rev() {
            let place =
                one.offset_bytes as usize..one.offset_bytes as usize + one.length_bytes as usize;
            let buffer = &mut self.buffers[one.buffer as usize][..one.length_bytes as usize];
            let disk = &mut self.disks[one.disk as usize][place];
            match one.kind {
                Kind::Read => buffer.copy_from_slice(disk),
                _ => disk.copy_from_slice(buffer),
            }
            self.in_use[one.buffer as usize] -= 1;
            completions.push(Completion::moved(one.slot, one.length_bytes));
        }
        Ok(())
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        let is_free = self.in_use[buffer as usize] == 0;
        is_free.then(|| self.buffers[buffer as usize].as_mut_slice())
    }
}
