//! What trials touched of their disks, and how much of it had been touched before.
//!
//! Caches answer what was read before: a datastore that reads the same data twice may answer from a memory,
//! and the trial then measures that memory. One trial's share is in its sample
//! ([`stormeter_trial::touched_share`]). Over several trials on the same disks, streams add up as arcs
//! of a circle, because each starts elsewhere ([`Start`]) and the disks of a trial differ only in where
//! they start; random requests add up as further draws.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_trial::{Sample, Start, Workload, touched_share};

/// What the trials of a datastore or cell touched.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Touched {
    /// The share of its disks that a trial touched, as the mean over the trials.
    #[schemars(range(min = 0))]
    pub trial_share: f64,
    /// The share of the disks that all trials together touched.
    #[schemars(range(min = 0))]
    pub run_share: f64,
    /// The share of the bytes moved whose places had been read or written before in these trials.
    #[schemars(range(min = 0))]
    pub again_share: f64,
    /// Size of the disks of a trial, all together, in bytes.
    pub working_set_bytes: u64,
}

impl Touched {
    /// From the trials of one workload on the same disks, each with the start of its streams. `None` without a
    /// trial, or where it is not known what one touched.
    pub fn of<'a>(
        workload: &Workload,
        disk_bytes: u64,
        trials: impl Iterator<Item = (&'a Sample, Start)>,
    ) -> Option<Self> {
        let disk = disk_bytes as f64;
        let (mut count, mut shares, mut moved, mut disks) = (0.0, 0.0, 0.0, 0);
        let mut arcs = Vec::new();
        for (sample, start) in trials {
            let own = sample.disks.len().max(1);
            let share = sample.touched_bytes? as f64 / (own as f64 * disk);
            // Of a disk, including the ramp.
            let of_disk = moved_bytes(sample) / own as f64;
            count += 1.0;
            shares += share;
            moved += of_disk;
            disks = disks.max(own);
            let start = start.0 as f64 / 2f64.powi(64);
            arcs.push(Arc { start, length: (of_disk / disk).min(1.0) });
        }
        if count == 0.0 || moved <= 0.0 {
            return None;
        }
        let run_share = match workload.random_percent == 0.0 {
            true => covered(arcs),
            false => touched_share(workload, disk_bytes, moved),
        };
        Some(Self {
            trial_share: shares / count,
            run_share,
            again_share: (1.0 - run_share * disk / moved).max(0.0),
            working_set_bytes: disks as u64 * disk_bytes,
        })
    }
}

/// What a trial moved, ramp included.
fn moved_bytes(sample: &Sample) -> f64 {
    let operations = sample.operations().max(1) as f64;
    sample.bytes() as f64 * (1.0 + sample.ramp_operations as f64 / operations)
}

/// An arc of a circle, in shares of the circle.
struct Arc {
    start: f64,
    length: f64,
}

/// The share of a circle that arcs cover.
fn covered(arcs: Vec<Arc>) -> f64 {
    // An arc that passes the end is two.
    let split = |Arc { start, length }: Arc| {
        let end = start + length;
        let rest = Arc { start: 0.0, length: (end - 1.0).max(0.0) };
        [Arc { start, length: end.min(1.0) - start }, rest]
    };
    let mut pieces: Vec<Arc> = arcs.into_iter().flat_map(split).collect();
    pieces.sort_by(|a, b| a.start.total_cmp(&b.start));
    let (mut covered, mut until) = (0.0, 0.0);
    for Arc { start, length } in pieces {
        let (start, end) = (f64::max(start, until), start + length);
        if end > start {
            covered += end - start;
            until = end;
        }
    }
    covered
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use stormeter_driver::drive;
    use stormeter_simulator::{
        FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
    };
    use stormeter_study::{profile, trial_start};
    use stormeter_trial::{Limits, Trial};

    use super::*;

    const S: u64 = 1_000_000_000;

    /// The trials of this many blocks on a disk of this size, on storage of 1000 I/Os a second.
    fn touched(name: &str, disk_bytes: u64, blocks: u64, begin_elsewhere: bool) -> Touched {
        let workload = profile(name).unwrap().workload;
        let starts: Vec<Start> = (0..blocks)
            .map(|block| if begin_elsewhere { trial_start(7, block) } else { Start::default() })
            .collect();
        let samples: Vec<Sample> = (0..blocks)
            .map(|block| {
                let trial = Trial {
                    workload: workload.clone(),
                    first_disk: 0,
                    disks: 2,
                    disk_bytes,
                    seed: block,
                    start: starts[block as usize],
                    content_seed: 0,
                    ramp_ns: S / 4,
                    duration_ns: S,
                    interval_ns: S / 10,
                    limits: Limits::default(),
                    verify: false,
                };
                let time = VirtualTime::new();
                let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
                let service = Service::Exponential { mean_ns: 4_000_000 };
                let model = Model { servers: 4, service, faults: FaultPlan::default() };
                let mut disks = SimulatedDisks::new(time.clone(), model, noise, block);
                drive(&trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap()
            })
            .collect();
        Touched::of(&workload, disk_bytes, samples.iter().zip(starts)).unwrap()
    }

    #[test]
    fn streams_that_begin_elsewhere_touch_more_from_trial_to_trial() {
        // 625 MiB of each disk a trial.
        let touched_of = |gib: u64, elsewhere| touched("seq-read-1m", gib << 30, 5, elsewhere);
        let large = touched_of(16, true);
        assert!((large.trial_share - 0.038).abs() < 0.004, "{large:?}");
        assert!((large.run_share - 0.19).abs() < 0.02 && large.again_share < 0.01, "{large:?}");
        assert_eq!(large.working_set_bytes, 32 << 30);
        // The same on a disk of which a trial reads more than half.
        let small = touched_of(1, true);
        assert!(small.run_share > 0.999 && (0.6..0.75).contains(&small.again_share), "{small:?}");
        // Like streams that all start at the first byte.
        let same = touched_of(16, false);
        assert!((0.75..0.85).contains(&same.again_share), "{same:?}");
    }

    #[test]
    fn random_requests_touch_places_again_by_chance() {
        let small = touched("vm-4k", 8 << 20, 5, true);
        // 2.5 MiB of 8 a trial.
        assert!((0.2..0.35).contains(&small.trial_share), "{small:?}");
        assert!((0.7..0.9).contains(&small.run_share), "{small:?}");
        let large = touched("vm-4k", 8 << 30, 5, true);
        assert!(large.run_share < 0.01 && large.again_share < 0.01, "{large:?}");
    }

    #[test]
    fn arcs_that_overlap_count_once() {
        assert_eq!(covered(vec![]), 0.0);
        let arc = |start, length| Arc { start, length };
        let three = vec![arc(0.9, 0.3), arc(0.1, 0.3), arc(0.6, 0.1)];
        assert!((covered(three) - 0.6).abs() < 1e-12);
        assert_eq!(covered(vec![arc(0.3, 1.0), arc(0.0, 0.2)]), 1.0);
    }
}
