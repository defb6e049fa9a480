//! Disks that keep the buffer of a write for a while after its completion, like a kernel that is still
//! sending what a server has answered.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::VecDeque;

use stormeter_disk::{Completion, Disks, DisksError, Operation, Wait};
use stormeter_driver::{drive, drive_deployment, drive_file_test};
use stormeter_simulator::VirtualTime;
use stormeter_testkit::workload;
use stormeter_trial::{
    Arrivals, Deployment, Ended, FileOperation, FileTest, FixedWork, FixedWorkTrial, Limits,
    Sample, SizeShare, Trial, Workload,
};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const MIB: u32 = 1 << 20;

struct Holding {
    time: VirtualTime,
    buffers: Vec<Vec<u8>>,
    /// Uses of each buffer.
    in_use: Vec<u32>,
    waiting: Vec<Operation>,
    /// Completed but still held buffers, with the reap that frees each.
    held: VecDeque<(u64, u32)>,
    reaps: u64,
    late_reaps: u64,
    /// Number of operations that complete with one reap.
    at_a_time: usize,
}

impl Holding {
    fn new(time: VirtualTime, buffers: u32, bytes: u32, late_reaps: u64) -> Self {
        Self {
            time,
            buffers: vec![vec![0; bytes as usize]; buffers as usize],
            in_use: vec![0; buffers as usize],
            waiting: Vec::new(),
            held: VecDeque::new(),
            reaps: 0,
            late_reaps,
            at_a_time: usize::MAX,
        }
    }
}

impl Disks for Holding {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        for one in operations {
            assert_eq!(self.in_use[one.buffer as usize], 0, "a buffer is used that is held");
            self.in_use[one.buffer as usize] += 1;
            self.waiting.push(*one);
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let step_ns = match wait {
            Wait::AtMost(wait_ns) if self.waiting.is_empty() => wait_ns,
            Wait::AtMost(wait_ns) => wait_ns.min(10 * US),
            Wait::No => 100,
        };
        self.time.advance_to(self.time.now_ns() + step_ns);
        self.reaps += 1;
        while let Some(&(at, buffer)) = self.held.front()
            && at <= self.reaps
        {
            self.in_use[buffer as usize] -= 1;
            self.held.pop_front();
        }
        let count = self.waiting.len().min(self.at_a_time);
        for one in self.waiting.drain(..count) {
            completions.push(Completion::moved(one.slot, one.length_bytes));
            self.held.push_back((self.reaps.saturating_add(self.late_reaps), one.buffer));
        }
        Ok(())
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        let is_free = self.in_use[buffer as usize] == 0;
        is_free.then(|| self.buffers[buffer as usize].as_mut_slice())
    }
}

fn load(late_reaps: u64) -> Sample {
    load_of(late_reaps, usize::MAX)
}

fn load_of(late_reaps: u64, at_a_time: usize) -> Sample {
    let trial = Trial {
        workload: Workload {
            // The larger, the fewer buffers there are.
            sizes: vec![SizeShare { bytes: MIB, share: 1.0 }],
            read_percent: 0.0,
            ..workload(Arrivals::Closed { outstanding: 4 })
        },
        first_disk: 0,
        disks: 2,
        disk_bytes: 1 << 30,
        seed: 1,
        start: Default::default(),
        content_seed: 0,
        ramp_ns: MS,
        duration_ns: 20 * MS,
        interval_ns: MS,
        limits: Limits::default(),
        verify: false,
    };
    let time = VirtualTime::new();
    let mut clock = time.clock();
    let needs = trial.buffer_needs();
    let mut disks = Holding::new(time, needs.count, needs.bytes, late_reaps);
    disks.at_a_time = at_a_time;
    drive(&trial, || Some(0), &mut disks, &mut clock, &mut ()).unwrap()
}

fn work(fixed_work: FixedWork, late_reaps: u64) -> Sample {
    let trial = FixedWorkTrial {
        fixed_work,
        first_disk: 0,
        disks: 2,
        disk_bytes: 32 * u64::from(MIB),
        seed: 1,
        content_seed: 1,
        interval_ns: MS,
        limits: Limits::default(),
    };
    let time = VirtualTime::new();
    let mut clock = time.clock();
    let needs = trial.buffer_needs();
    let mut disks = Holding::new(time, needs.count, needs.bytes, late_reaps);
    match trial.fixed_work {
        FixedWork::File(_) => {
            drive_file_test(&trial, || Some(0), &mut disks, &mut clock, &mut ()).unwrap()
        }
        FixedWork::Deploy(_) => {
            drive_deployment(&trial, || Some(0), &mut disks, &mut clock, &mut ()).unwrap()
        }
    }
}

fn file_test() -> FixedWork {
    FixedWork::File(FileTest {
        operation: FileOperation::Write,
        record_bytes: MIB,
        outstanding: 4,
        client_cache: false,
        flush_at_end: false,
    })
}

fn deployment() -> FixedWork {
    FixedWork::Deploy(Deployment {
        clone: false,
        copy_bytes: MIB,
        outstanding: 4,
        customise_writes: 30,
        boot_reads: 50,
    })
}

/// Little's law: an operation that waits for a buffer is not outstanding, and the wait is in no
/// latency.
#[track_caller]
fn assert_little(sample: &Sample) {
    let busy_ns = sample.total().latency_sum_ns as i64 + sample.carried_ns;
    let mean = busy_ns as f64 / sample.window_ns as f64;
    let outstanding = sample.outstanding_mean;
    assert!((mean - outstanding).abs() < 1e-6 * outstanding, "{mean} {outstanding}");
}

#[test]
fn a_load_continues_when_all_buffers_are_held_for_a_while() {
    for late_reaps in [0, 1, 3, 10] {
        let sample = load(late_reaps);
        assert_eq!(sample.ended, Ended::Completed);
        assert!(sample.operations() > 500, "{late_reaps}: {}", sample.operations());
        assert_little(&sample);
        // Ten microseconds of the disks, and the duration of the turn that sees a completion.
        let longest_ns = sample.total().latency_max_ns;
        assert!(longest_ns <= 31 * US, "{late_reaps}: {longest_ns}");
    }
}

#[test]
fn a_load_ends_in_time_when_every_request_waits_for_a_buffer() {
    // Each wait sees one completion, whose successor waits again.
    for late_reaps in [6, 10, 14, 20] {
        let sample = load_of(late_reaps, 1);
        assert_eq!(sample.ended, Ended::Completed);
        assert_eq!(sample.window_ns / MS, 20, "{late_reaps}");
        assert_little(&sample);
    }
}

#[test]
fn fixed_work_continues_when_all_buffers_are_held_for_a_while() {
    for late_reaps in [0, 1, 3, 10] {
        let sample = work(file_test(), late_reaps);
        assert_little(&sample);
        assert_eq!((sample.operations(), sample.ended), (64, Ended::Completed));
        let sample = work(deployment(), late_reaps);
        assert_eq!((sample.operations(), sample.ended), (2, Ended::Completed));
    }
}

#[test]
fn buffers_that_are_never_let_go_end_it_with_a_reason() {
    for sample in [load(u64::MAX), work(file_test(), u64::MAX), work(deployment(), u64::MAX)] {
        let Ended::QueueBroken { reason } = &sample.ended else { panic!("{:?}", sample.ended) };
        assert!(reason.contains("a buffer to write from"), "{reason}");
    }
}
