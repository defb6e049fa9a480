//! Disks, what is expected of them, and trials on them.

use std::cell::RefCell;
use std::rc::Rc;

use stormeter_driver::{ContentSource, Expectations, PriorContent, Seal, drive_verified};
use stormeter_simulator::VirtualTime;
use stormeter_trial::{Arrivals, Limits, Sample, Trial, Verified, Workload};

use crate::memory::{Content, Contents, Memory, Plan};

pub(crate) const MS: u64 = 1_000_000;
const OWNER: u64 = 0x5eed;

pub(crate) fn workload(outstanding: u32) -> Workload {
    Workload { read_percent: 60.0, ..stormeter_testkit::workload(Arrivals::Closed { outstanding }) }
}

/// A datastore: disks with contents and expectations, used by consecutive trials.
pub(crate) struct Store {
    pub(crate) contents: Contents,
    pub(crate) expectations: Expectations,
    pub(crate) workload: Workload,
    pub(crate) limits: Limits,
    pub(crate) duration_ns: u64,
    seal: Seal,
    disks: u32,
    disk_bytes: u64,
}

/// The results of a trial, all threads together.
pub(crate) struct Outcome {
    pub(crate) sample: Sample,
    pub(crate) verified: Verified,
    pub(crate) overlaps: u64,
    pub(crate) lied: bool,
}

impl Store {
    pub(crate) fn new(workload: Workload, disks: u32, disk_bytes: u64) -> Self {
        let unit_bytes = workload.verify_unit_bytes().unwrap();
        let seal = Seal { owner: OWNER, unit_bytes };
        let source = ContentSource::new(workload.content, 3).sealed(seal);
        let filled = |disk| {
            let mut bytes = vec![0; disk_bytes as usize];
            source.fill(disk, 0, &mut bytes);
            Content::new(bytes)
        };
        Self {
            contents: Rc::new(RefCell::new((0..disks).map(filled).collect())),
            expectations: Expectations::new(seal, PriorContent::Prepared, 0, disks, disk_bytes),
            workload,
            limits: Limits { open_loop_outstanding: 16, ..Limits::default() },
            duration_ns: 12 * MS,
            seal,
            disks,
            disk_bytes,
        }
    }

    /// A later process finds the disks as they are.
    pub(crate) fn resume(&mut self, resumptions: u32) {
        self.expectations = Expectations::new(
            self.seal,
            PriorContent::Unknown,
            resumptions,
            self.disks,
            self.disk_bytes,
        );
    }

    pub(crate) fn trial(&self, seed: u64) -> Trial {
        Trial {
            workload: self.workload.clone(),
            first_disk: 0,
            disks: self.disks,
            disk_bytes: self.disk_bytes,
            seed,
            start: Default::default(),
            content_seed: 0,
            ramp_ns: 2 * MS,
            duration_ns: self.duration_ns,
            interval_ns: 5 * MS,
            limits: self.limits,
            verify: true,
        }
    }

    /// One trial on threads that each have a contiguous share of the disks.
    pub(crate) fn run(&mut self, seed: u64, threads: u32, plan: Plan) -> Outcome {
        let whole = self.trial(seed);
        let mut rest = self.expectations.lend();
        let mut outcome: Option<Outcome> = None;
        for thread in 0..threads {
            let first_disk = self.disks * thread / threads;
            let disks = self.disks * (thread + 1) / threads - first_disk;
            let trial = Trial { first_disk, disks, ..whole.clone() };
            let (lent, others) = rest.split(disks);
            rest = others;
            let time = VirtualTime::new();
            let mut memory = Memory::new(
                self.contents.clone(),
                first_disk as usize,
                time.clone(),
                trial.buffer_needs(),
                plan,
                seed ^ u64::from(thread) << 32,
            );
            let sample =
                drive_verified(&trial, || Some(0), &mut memory, &mut time.clock(), &mut (), lent)
                    .unwrap();
            let verified = sample.verified.clone().unwrap();
            let (overlaps, lied) = (memory.overlaps, memory.lied);
            outcome = Some(match outcome {
                None => Outcome { sample, verified, overlaps, lied },
                Some(mut all) => {
                    all.sample.merge(sample);
                    all.verified = all.sample.verified.clone().unwrap();
                    all.overlaps += overlaps;
                    all.lied |= lied;
                    all
                }
            });
        }
        outcome.unwrap()
    }
}
