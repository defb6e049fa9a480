//! Bulk service: waiting requests are served together and answered together.
//!
//! A virtual disk works like this if its guest puts requests into a ring and a single thread is woken for
//! them: more arrive until it runs; then all are done one after another; then the guest is notified once
//! (N. T. J. Bailey, "On queueing processes with bulk service", J. R. Stat. Soc. B 16, 1954, is the theory
//! of such queues). With n always outstanding, a request takes the wake-up time plus n times what each
//! adds.

use std::collections::VecDeque;

use super::queue::Times;
use super::{Bench, DeviceUse};

/// Such a device. Its next event belongs to the first access of the current group.
#[derive(Debug)]
pub(crate) struct Bulk {
    times: Times,
    /// The most accesses served together.
    most: usize,
    /// They arrived after the current group was formed.
    waiting: VecDeque<u32>,
    together: Vec<u32>,
    phase: Phase,
    /// Since when it is busy, and how long it was busy before.
    busy_since_ns: u64,
    busy_ns: u64,
    waited_ns: u64,
    accesses: u64,
    slowness: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    /// The first of the group is in progress; more may join.
    Gathering,
    /// The shared part is in progress.
    Serving,
}

impl Bulk {
    pub(super) fn new(times: Times, most: u32) -> Self {
        Self {
            times,
            most: most as usize,
            waiting: VecDeque::new(),
            together: Vec::new(),
            phase: Phase::Idle,
            busy_since_ns: 0,
            busy_ns: 0,
            waited_ns: 0,
            accesses: 0,
            slowness: 1.0,
        }
    }

    pub(super) fn arrive(&mut self, access: u32, bench: &mut Bench<'_>) {
        self.accesses += 1;
        self.waiting.push_back(access);
        match self.phase {
            Phase::Idle => {
                self.busy_since_ns = bench.now_ns;
                self.gather(bench);
            }
            Phase::Gathering => self.join(bench.now_ns, bench),
            Phase::Serving => {}
        }
    }

    /// The thread is woken for the first waiting access.
    fn gather(&mut self, bench: &mut Bench<'_>) {
        let Some(&first) = self.waiting.front() else { return };
        self.phase = Phase::Gathering;
        let own_ns = self.times.own_ns(&bench.accesses[first], bench.random) * self.slowness;
        bench.at(bench.now_ns + own_ns as u64, first);
        self.join(bench.now_ns, bench);
    }

    /// Waiting accesses join while there is space.
    fn join(&mut self, now_ns: u64, bench: &Bench<'_>) {
        while self.together.len() < self.most
            && let Some(next) = self.waiting.pop_front()
        {
            self.waited_ns += now_ns - bench.accesses[next].arrived_ns;
            self.together.push(next);
        }
    }

    /// The event of the first access has occurred.
    pub(super) fn event(&mut self, first: u32, bench: &mut Bench<'_>) {
        match self.phase {
            Phase::Gathering => {
                self.phase = Phase::Serving;
                let shared = |&access: &u32| self.times.shared_ns(&bench.accesses[access]);
                let all_ns = self.together.iter().map(shared).sum::<f64>() * self.slowness;
                bench.at(bench.now_ns + all_ns as u64, first);
            }
            Phase::Serving | Phase::Idle => {
                bench.done.append(&mut self.together);
                self.phase = Phase::Idle;
                self.gather(bench);
                if self.phase == Phase::Idle {
                    self.busy_ns += bench.now_ns - self.busy_since_ns;
                }
            }
        }
    }

    pub(super) fn slow_down(&mut self, slowness: f64) {
        self.slowness = slowness.max(0.0);
    }

    /// It counts as one server, whatever the size of the group.
    pub(super) fn usage(&self, now_ns: u64) -> DeviceUse {
        let present_ns = match self.phase {
            Phase::Idle => 0,
            _ => now_ns.saturating_sub(self.busy_since_ns),
        };
        DeviceUse {
            servers: 1,
            busy_ns: self.busy_ns + present_ns,
            waited_ns: self.waited_ns,
            accesses: self.accesses,
        }
    }
}
