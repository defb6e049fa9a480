//! A queue with k servers in front of all disks, and the ways in which storage misbehaves.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_disk::{Completion, DeviceError, Disks, DisksError, Kind, Operation, Wait};

use crate::noise::{HostNoise, normal, unit_open};
use crate::time::VirtualTime;

/// How long a server works on one operation, before noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Service {
    /// Constant.
    Constant {
        /// Service time.
        ns: u64,
    },
    /// Exponential: the M of queueing theory.
    Exponential {
        /// Mean service time.
        mean_ns: u64,
    },
    /// Log-normal, like the latency of real devices.
    LogNormal {
        /// Median service time.
        median_ns: u64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

/// Injected faults. Shares are drawn for each operation individually.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FaultPlan {
    /// Share of reads and writes that fail with EIO.
    pub errors: f64,
    /// Share of reads and writes that move half of their bytes.
    pub shorts: f64,
    /// Share of flushes that fail with EIO.
    pub flush_errors: f64,
    /// From this operation on (counted from 0) every one fails with ENOSPC.
    pub full_from: Option<u64>,
    /// A period in which nothing is served.
    pub stall: Option<Stall>,
}

/// Nothing is served from `at_ns` for `for_ns`; `u64::MAX` is forever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// When it starts, in virtual time.
    pub at_ns: u64,
    /// Its length.
    pub for_ns: u64,
}

/// A storage system as one queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Operations served concurrently.
    pub servers: u32,
    /// Service time of reads and writes, and of flushes if no other is set ([`SimulatedDisks::flushing_in`]).
    pub service: Service,
    /// Injected faults.
    pub faults: FaultPlan,
}

/// Disks in virtual time: submission queues, reaping advances time to the next completion.
#[derive(Debug)]
pub struct SimulatedDisks {
    time: VirtualTime,
    model: Model,
    flush: Service,
    noise: Rc<RefCell<HostNoise>>,
    random: Xoshiro256PlusPlus,
    /// When each server is free again.
    free_at_ns: BinaryHeap<Reverse<u64>>,
    /// Outstanding operations by completion time; the counter keeps ties in order of arrival.
    ending: BinaryHeap<Reverse<(u64, u64, u32, i32)>>,
    served: u64,
}

impl SimulatedDisks {
    /// Disks under the given noise, which other disks of the same simulation may share.
    pub fn new(time: VirtualTime, model: Model, noise: Rc<RefCell<HostNoise>>, seed: u64) -> Self {
        let now_ns = time.now_ns();
        Self {
            time,
            model,
            flush: model.service,
            noise,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            free_at_ns: (0..model.servers.max(1)).map(|_| Reverse(now_ns)).collect(),
            ending: BinaryHeap::new(),
            served: 0,
        }
    }

    /// Sets the service time of flushes. A flush takes its turn in the queue like any other operation.
    #[must_use]
    pub fn flushing_in(self, flush: Service) -> Self {
        Self { flush, ..self }
    }

    fn service_ns(&mut self, kind: Kind, start_ns: u64) -> u64 {
        let service = match kind {
            Kind::Read | Kind::Write | Kind::DurableWrite => self.model.service,
            Kind::Flush => self.flush,
        };
        let plain = match service {
            Service::Constant { ns } => ns as f64,
            Service::Exponential { mean_ns } => -unit_open(&mut self.random).ln() * mean_ns as f64,
            Service::LogNormal { median_ns, sigma } => {
                median_ns as f64 * (sigma * normal(&mut self.random)).exp()
            }
        };
        // Nothing takes zero time: a simulated disk always advances its clock.
        ((plain * self.noise.borrow_mut().factor(start_ns)) as u64).max(1)
    }

    fn result(&mut self, operation: &Operation) -> i32 {
        let Operation { slot, length_bytes, kind, .. } = *operation;
        let faults = self.model.faults;
        if faults.full_from.is_some_and(|from| self.served >= from) {
            return Completion::failed(slot, DeviceError::NO_SPACE).result;
        }
        let (errors, shorts) = match kind {
            Kind::Read | Kind::Write | Kind::DurableWrite => (faults.errors, faults.shorts),
            Kind::Flush => (faults.flush_errors, 0.0),
        };
        if errors > 0.0 || shorts > 0.0 {
            let draw = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            if draw < errors {
                return Completion::failed(slot, DeviceError::IO).result;
            }
            if draw < errors + shorts {
                return (length_bytes / 2) as i32;
            }
        }
        length_bytes as i32
    }
}

impl Disks for SimulatedDisks {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        let now_ns = self.time.now_ns();
        for operation in operations {
            let Some(Reverse(free_ns)) = self.free_at_ns.pop() else { continue };
            let mut start_ns = free_ns.max(now_ns);
            if let Some(Stall { at_ns, for_ns }) = self.model.faults.stall
                && (at_ns..at_ns.saturating_add(for_ns)).contains(&start_ns)
            {
                start_ns = at_ns.saturating_add(for_ns);
            }
            let end_ns = match start_ns {
                // An endless stall: there is no noise at the end of time.
                u64::MAX => u64::MAX,
                _ => start_ns.saturating_add(self.service_ns(operation.kind, start_ns)),
            };
            let result = self.result(operation);
            self.free_at_ns.push(Reverse(end_ns));
            self.ending.push(Reverse((end_ns, self.served, operation.slot, result)));
            self.served += 1;
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let now_ns = self.time.now_ns();
        let until_ns = match wait {
            Wait::No => now_ns,
            Wait::AtMost(wait_ns) => now_ns.saturating_add(wait_ns),
        };
        let next_ns = self.ending.peek().map_or(u64::MAX, |Reverse((end_ns, ..))| *end_ns);
        self.time.advance_to(next_ns.min(until_ns));
        let now_ns = self.time.now_ns();
        while let Some(&Reverse((end_ns, _, slot, result))) = self.ending.peek()
            && end_ns <= now_ns
        {
            self.ending.pop();
            completions.push(Completion { slot, result });
        }
        Ok(())
    }

    fn buffer(&mut self, _buffer: u32) -> Option<&mut [u8]> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::NoisePlan;

    fn disks(faults: FaultPlan) -> SimulatedDisks {
        let model = Model { servers: 1, service: Service::Constant { ns: 10 }, faults };
        let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
        SimulatedDisks::new(VirtualTime::new(), model, noise, 1)
            .flushing_in(Service::Constant { ns: 500 })
    }

    fn operation(kind: Kind) -> Operation {
        let length_bytes = if kind == Kind::Flush { 0 } else { 4096 };
        Operation { offset_bytes: 0, length_bytes, disk: 0, slot: 0, buffer: 0, kind }
    }

    /// The time that each operation takes alone, and its result.
    fn served(disks: &mut SimulatedDisks, kind: Kind) -> (u64, i32) {
        let before_ns = disks.time.now_ns();
        let mut completions = Vec::new();
        disks.submit(&[operation(kind)]).unwrap();
        disks.reap(Wait::AtMost(u64::MAX), &mut completions).unwrap();
        (disks.time.now_ns() - before_ns, completions[0].result)
    }

    #[test]
    fn flushes_have_a_service_time_of_their_own() {
        let mut disks = disks(FaultPlan::default());
        assert_eq!(served(&mut disks, Kind::Write), (10, 4096));
        assert_eq!(served(&mut disks, Kind::DurableWrite), (10, 4096));
        assert_eq!(served(&mut disks, Kind::Flush), (500, 0));
    }

    #[test]
    fn the_share_of_failing_flushes_is_of_flushes_only() {
        let mut all_flushes = disks(FaultPlan { flush_errors: 1.0, ..FaultPlan::default() });
        assert_eq!(served(&mut all_flushes, Kind::Flush).1, -DeviceError::IO.0);
        assert_eq!(served(&mut all_flushes, Kind::DurableWrite).1, 4096);
        let mut all_others = disks(FaultPlan { errors: 1.0, ..FaultPlan::default() });
        assert_eq!(served(&mut all_others, Kind::Flush).1, 0);
        assert_eq!(served(&mut all_others, Kind::DurableWrite).1, -DeviceError::IO.0);
    }
}
