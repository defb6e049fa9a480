//! Where sequential streams read their disks, trial by trial, on datastores of different speed.

use std::cell::RefCell;
use std::rc::Rc;

use stormeter_disk::{Completion, Disks, DisksError, Operation, Wait};
use stormeter_driver::drive;
use stormeter_simulator::{
    FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
};
use stormeter_testkit::workload;
use stormeter_trial::{Arrivals, Limits, SizeShare, Start, Trial, Workload};

const MS: u64 = 1_000_000;
const REQUEST: u64 = 64 << 10;
/// One trial moves 60 ms of requests of 1 ms each, a twentieth of this.
const DISK: u64 = 20 * 60 * REQUEST;
const DISKS: u32 = 2;

/// Disks that record requests.
struct Watched {
    disks: SimulatedDisks,
    asked: Vec<Operation>,
}

impl Disks for Watched {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        self.asked.extend_from_slice(operations);
        self.disks.submit(operations)
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        self.disks.reap(wait, completions)
    }

    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        self.disks.buffer(buffer)
    }
}

/// The requests of a block's trial on a datastore with this service time.
fn asked(block: u32, service_ns: u64, random_percent: f64) -> Vec<Operation> {
    let trial = Trial {
        workload: Workload {
            sizes: vec![SizeShare { bytes: REQUEST as u32, share: 1.0 }],
            read_percent: 100.0,
            random_percent,
            ..workload(Arrivals::Closed { outstanding: 1 })
        },
        first_disk: 0,
        disks: DISKS,
        disk_bytes: DISK,
        // Operations differ from block to block.
        seed: 100 + u64::from(block),
        content_seed: 0,
        start: Start(0xfeed << 40).of_trial(u64::from(block)),
        ramp_ns: 10 * MS,
        duration_ns: 50 * MS,
        interval_ns: 50 * MS,
        limits: Limits::default(),
        verify: false,
    };
    let time = VirtualTime::new();
    let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
    let service = Service::Constant { ns: service_ns };
    let model = Model { servers: DISKS, service, faults: FaultPlan::default() };
    let disks = SimulatedDisks::new(time.clone(), model, noise, 1);
    let mut disks = Watched { disks, asked: Vec::new() };
    drive(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).expect("a sound trial");
    disks.asked
}

/// How often each place of a disk was requested.
fn visits(asked: &[Operation], disk: u32) -> Vec<u32> {
    let mut visits = vec![0; (DISK / REQUEST) as usize];
    for operation in asked.iter().filter(|operation| operation.disk == disk) {
        visits[(operation.offset_bytes / REQUEST) as usize] += 1;
    }
    visits
}

#[test]
fn trials_read_what_no_trial_read_before_until_the_disk_is_passed_over() {
    for disk in 0..DISKS {
        let trials: Vec<Vec<u32>> =
            (0..40).map(|block| visits(&asked(block, MS, 0.0), disk)).collect();
        let union = |trials: &[Vec<u32>]| {
            (0..trials[0].len()).filter(|&at| trials.iter().any(|trial| trial[at] > 0)).count()
        };
        let each = union(&trials[..1]);
        assert!(
            (60..=62).contains(&each),
            "a twentieth of the disk and what is outstanding: {each}"
        );
        for block in 1..5 {
            assert_eq!(union(&trials[..=block]), each * (block + 1), "trial {block} read again");
        }
        // 1.9 of the disk by the bound of the starts, which is that of 38 trials.
        assert_eq!(union(&trials[..38]), trials[0].len(), "not all of the disk was read");
        // And evenly: no place much more often than others.
        let most = (0..trials[0].len()).map(|at| trials.iter().map(|trial| trial[at]).sum::<u32>());
        assert!(most.clone().max() <= Some(4), "{:?}", most.max());
    }
}

#[test]
fn datastores_of_a_block_are_asked_for_the_same_places() {
    for (block, random_percent) in [(0, 0.0), (3, 0.0), (7, 20.0)] {
        let (fast, slow) = (asked(block, MS, random_percent), asked(block, 3 * MS, random_percent));
        assert!(slow.len() > 30 && fast.len() > 2 * slow.len(), "{} {}", fast.len(), slow.len());
        for disk in 0..DISKS {
            let of = |asked: &[Operation]| -> Vec<u64> {
                let own = asked.iter().filter(|operation| operation.disk == disk);
                own.map(|operation| operation.offset_bytes).collect()
            };
            let (fast, slow) = (of(&fast), of(&slow));
            assert_eq!(fast[..slow.len()], slow);
        }
    }
}

#[test]
fn the_disks_of_a_trial_are_not_all_at_the_same_place() {
    let asked = asked(0, MS, 0.0);
    let first =
        |disk| asked.iter().find(|operation| operation.disk == disk).map(|it| it.offset_bytes);
    assert_ne!(first(0), first(1));
}
