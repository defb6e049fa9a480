//! How requests follow completions, and the slots of outstanding operations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::arrivals::DueTimes;
use crate::direction::Direction;
use crate::issue_log::IssueLog;
use stormeter_trial::{Arrivals, Burst, Trial};

/// The slot of an outstanding operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    /// When it was submitted, or was due.
    pub(crate) started_ns: u64,
    pub(crate) offset_bytes: u64,
    /// The disk; kept when idle.
    pub(crate) disk: u32,
    /// 0: idle.
    pub(crate) length_bytes: u32,
    pub(crate) direction: Direction,
}

/// How requests follow completions.
#[derive(Debug)]
#[repr(u8)] // A separate tag, read by one comparison in every turn and completion.
pub(crate) enum Pacing {
    /// At once, on the same slot.
    Closed,
    /// The same with flushes: a slot may have to wait for one ([`crate::flushes`]).
    Flushed,
    /// In groups.
    Bursts { burst: Burst, disks: Vec<BurstState>, resting: BinaryHeap<Reverse<(u64, u32)>> },
    /// When they are due, on any free slot.
    Open { due: DueTimes, free: Vec<u32>, log: Box<IssueLog> },
}

#[derive(Debug, Default)]
pub(crate) struct BurstState {
    pub(crate) left: u32,
    pub(crate) idle: Vec<u32>,
}

impl Pacing {
    /// According to the trial's workload, with all slots idle.
    pub(crate) fn new(trial: &Trial) -> (Self, Vec<Slot>) {
        let slots_count = trial.slots();
        let per_disk = match trial.workload.arrivals {
            Arrivals::Closed { outstanding } => outstanding,
            _ => u32::MAX,
        };
        let idle = Slot {
            started_ns: 0,
            offset_bytes: 0,
            disk: 0,
            length_bytes: 0,
            direction: Direction::Read,
        };
        let slots = (0..slots_count).map(|slot| Slot { disk: slot / per_disk, ..idle }).collect();
        let arrival_seed = trial.seed ^ (u64::from(trial.first_disk) << 20);
        let due = DueTimes::new(trial.workload.arrivals, trial.disks, arrival_seed);
        let pacing = match (due, trial.workload.burst) {
            (Some(due), _) => Pacing::Open {
                due,
                free: (0..slots_count).rev().collect(),
                log: IssueLog::new(slots_count),
            },
            (None, Some(burst)) => Pacing::Bursts {
                burst,
                disks: (0..trial.disks)
                    .map(|disk| BurstState {
                        left: burst.length,
                        idle: (disk * per_disk..(disk + 1) * per_disk).rev().collect(),
                    })
                    .collect(),
                resting: BinaryHeap::new(),
            },
            (None, None) if trial.workload.flush.is_some() => Pacing::Flushed,
            (None, None) => Pacing::Closed,
        };
        (pacing, slots)
    }
}
