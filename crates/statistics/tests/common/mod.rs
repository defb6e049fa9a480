//! A comparison on simulated storage, for the test programs of this crate.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test program takes what it needs")]

use std::cell::RefCell;
use std::rc::Rc;

use stormeter_driver::drive;
use stormeter_simulator::{
    FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
};
use stormeter_study::{ComparisonPlan, Metric, Timing, profile};
use stormeter_trial::{Limits, Sample, Trial};

pub(crate) const MS: u64 = 1_000_000;

/// Two datastores compared in this many blocks, with trials of 100 ms.
pub(crate) fn plan(blocks: u32) -> ComparisonPlan {
    ComparisonPlan {
        datastores: vec!["sim:a".into(), "sim:b".into()],
        baseline: 0,
        workload: profile("vm-4k").unwrap().workload,
        vms: 1,
        disk_bytes: 1 << 30,
        threads: 1,
        timing: Timing { ramp_ns: 10 * MS, duration_ns: 100 * MS, interval_ns: 20 * MS },
        metric: Metric::Iops,
        precision: 0.02,
        margin: 0.05,
        level: 0.95,
        min_blocks: blocks,
        max_blocks: blocks,
        time_limit_ns: u64::MAX,
        equal_load: None,
        seed: 1,
        verify: false,
    }
}

/// A trial with the usual load (4 outstanding I/Os) on four servers that take so long.
pub(crate) fn sample(plan: &ComparisonPlan, seed: u64, service: Service) -> Sample {
    let time = VirtualTime::new();
    let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, seed)));
    let model = Model { servers: 4, service, faults: FaultPlan::default() };
    let mut disks = SimulatedDisks::new(time.clone(), model, noise, seed);
    let trial = Trial {
        workload: plan.workload.clone(),
        first_disk: 0,
        disks: plan.vms,
        disk_bytes: plan.disk_bytes,
        seed,
        start: Default::default(),
        content_seed: 0,
        verify: false,
        ramp_ns: plan.timing.ramp_ns,
        duration_ns: plan.timing.duration_ns,
        interval_ns: plan.timing.interval_ns,
        limits: Limits::default(),
    };
    drive(&trial, || Some(time.now_ns()), &mut disks, &mut time.clock(), &mut ()).unwrap()
}
