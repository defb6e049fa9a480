//! A running site: requests go step by step through stations, lines and storages, in virtual time.
//!
//! It is one event queue. The driver's loop submits and reaps as on real storage; in between the
//! machine executes event after event until something completes or the wait is over. A step that ends
//! before anything else happens is executed at once and never enters the queue: on a machine whose
//! disks take milliseconds and whose CPUs take microseconds, that applies to most steps.

mod build;
mod component;
mod event_queue;
mod fault;
mod fork;
mod interrupts;
mod job;
mod load;
mod meter;
mod mix;
mod nodes;
mod notes;
mod parts;
mod resync;
mod settle;
mod settling;
mod station;
mod step;
mod token;
mod usage;
mod vm_path;

use rand_xoshiro::Xoshiro256PlusPlus;
use stormeter_disk::{Completion, DeviceError, Disks, DisksError, Operation, Wait};

use crate::device::{Access, Bench};
use crate::slab::Slab;
use crate::storage::{FAILED, FOR_ROOM, IN_FRONT, Request, Store};
use crate::time::VirtualTime;
use component::Component;
use fault::{Action, Map};
use interrupts::Interrupts;
use job::{Job, NONE};
use meter::Meter;
use nodes::Nodes;
use parts::Fork;
use settling::Settling;
use step::{Pick, Route, Standing, Step, What, of_flow, port_of};
use token::{KIND_SHIFT, OF_FAULT, OF_JOB};
use vm_path::VmPath;

pub use build::MachineError;
pub(crate) use build::{ClientWay, Lane};
pub use component::{ComponentKind, ComponentUse, SitePart};
pub(crate) use event_queue::EventQueue;
pub use fault::{Broken, FaultError, FaultNameError, SiteFault};
pub use load::{Load, Window};
pub(crate) use resync::Resync;
pub use resync::ResyncUse;
pub(crate) use station::Station;
pub(crate) use token::access_token;

/// A running site for one datastore. It is the disks that a driver's loop drives.
#[derive(Debug)]
pub struct Machine {
    time: VirtualTime,
    now_ns: u64,
    events: EventQueue,
    jobs: Slab<Job>,
    steps: Vec<Step>,
    /// By virtual disk; the lanes of clients come after them.
    routes: Vec<Route>,
    /// The serial path of each VM's requests to the host.
    vm_path: Option<VmPath>,
    /// The clients' lanes.
    client: Option<ClientWay>,
    stations: Vec<Station>,
    /// By station, those of ports that moderate them; empty if there is none.
    interrupts: Vec<Interrupts>,
    /// By station: the current turn among several.
    turns: Vec<u32>,
    /// Sets of paths of which some are down.
    standing: Vec<Standing>,
    /// By station: whether its port is down; and whether any is.
    down: Vec<bool>,
    any_down: bool,
    /// The part of `down` that has been noticed.
    noticed: Vec<bool>,
    components: Vec<Component>,
    stores: Vec<Store>,
    /// First steps of all programs, in order.
    programs: Vec<u32>,
    forks: Vec<Fork>,
    /// For a distributed datastore.
    nodes: Option<Nodes>,
    map: Map,
    /// Future and past faults.
    actions: Vec<Action>,
    /// Lost nodes, and when they were lost.
    lost_nodes: Vec<(u32, u64)>,
    /// The steps before anything failed; empty until then.
    as_built: Vec<Step>,
    /// When requests restart whose path failed.
    again_ns: u64,
    accesses: Slab<Access>,
    random: Xoshiro256PlusPlus,
    meter: Meter,
    /// Whether write memories that a load fills are to be full at the end of its ramp.
    steady: bool,
    settling: Settling,
    completions: Vec<Completion>,
    /// Scratch space for [`Bench::done`] and for completed jobs of storages.
    done: Vec<u32>,
    ready: Vec<u32>,
    /// Number of executed steps and events.
    steps_done: u64,
}

impl Machine {
    /// The time that the machine advances; the driver's clock reads it.
    pub fn time(&self) -> &VirtualTime {
        &self.time
    }

    /// Number of steps and events executed so far, in which the engine's speed is measured.
    pub fn events(&self) -> u64 {
        self.steps_done
    }

    /// The clients' lanes, if it was built with a client.
    pub(crate) fn client(&self) -> Option<ClientWay> {
        self.client
    }

    /// A new request passes its VM's path, if there is one; returns when the host has it.
    #[inline]
    fn leave_vm(&mut self, number: u32) -> u64 {
        let Some(path) = self.vm_path else { return self.now_ns };
        let vm = self.jobs[number].disk;
        // The lanes of clients come after the VMs' disks.
        if vm >= path.vms {
            return self.now_ns;
        }
        let station = &mut self.stations[(path.first + vm) as usize];
        let (start_ns, taken_ns) = station.visit(self.now_ns, path.takes_ns);
        let end_ns = start_ns + taken_ns;
        self.jobs[number].tail_ns = end_ns;
        self.spent(number, path.component, end_ns);
        end_ns
    }

    /// Executes events until `until_ns`, or until something completes.
    fn advance(&mut self, until_ns: u64) {
        while self.completions.is_empty() {
            let next_ns = self.events.next_ns();
            if next_ns > until_ns {
                self.read_meter(until_ns);
                self.now_ns = self.now_ns.max(until_ns);
                return;
            }
            let Some((at_ns, token)) = self.events.pop() else { return };
            self.read_meter(at_ns);
            self.now_ns = at_ns;
            self.steps_done += 1;
            let number = token & ((1 << KIND_SHIFT) - 1);
            match token >> KIND_SHIFT {
                OF_JOB => self.execute(number, until_ns),
                OF_FAULT => self.carry_out(number),
                _ => self.access_event(number, until_ns),
            }
        }
    }

    /// Executes the steps of a job until one ends later than another event.
    fn execute(&mut self, number: u32, until_ns: u64) {
        if self.jobs[number].again {
            self.begin_again(number);
            return;
        }
        loop {
            let job = &mut self.jobs[number];
            let step = self.steps[job.step as usize];
            let next_ns = match step.what {
                What::Serve(pick) => {
                    let station =
                        picked(pick, job, &mut self.turns, (&self.standing, &self.noticed));
                    let service_ns = step.takes.cpu_ns(job.moving_bytes, job.interrupts);
                    job.interrupts = 1;
                    let (start_ns, taken_ns) =
                        self.stations[station as usize].visit(self.now_ns, service_ns);
                    let end_ns = start_ns + taken_ns + u64::from(step.latency_ns);
                    job.tail_ns = end_ns;
                    end_ns
                }
                What::Send(pick) => {
                    let station =
                        picked(pick, job, &mut self.turns, (&self.standing, &self.noticed));
                    self.send(number, station, step)
                }
                What::Queue { station, buffer_us } => {
                    let waiting_ns = self.stations[station as usize].backlog_ns(self.now_ns);
                    if waiting_ns > u64::from(buffer_us) * 1000 {
                        // The loss of its last packets is detected when others arrive after them,
                        // and they are sent again at once (fast retransmission, RFC 5681, section
                        // 3.2).
                        let again_ns = self.now_ns + waiting_ns + 2 * u64::from(step.latency_ns);
                        job.tail_ns = again_ns;
                        self.components[step.component as usize].lost += 1;
                        self.spent(number, step.component, again_ns);
                        self.events.push(again_ns, OF_JOB << KIND_SHIFT | number);
                        return;
                    }
                    self.send(number, station, step)
                }
                What::Credit(pick) => {
                    let station =
                        picked(pick, job, &mut self.turns, (&self.standing, &self.noticed));
                    let service_ns = step.takes.ns(job.moving_bytes);
                    let (start_ns, taken_ns) =
                        self.stations[station as usize].visit(self.now_ns, service_ns);
                    // The last frame is sent when the one before it by the number of credits was
                    // received.
                    let end_ns = (start_ns + taken_ns).saturating_sub(u64::from(step.latency_ns));
                    job.tail_ns = end_ns.max(self.now_ns);
                    job.tail_ns
                }
                What::Solicit(burst_bytes) => {
                    job.moved_bytes += job.moving_bytes;
                    job.moving_bytes = burst_bytes.min(job.length_bytes - job.moved_bytes);
                    job.step += 1;
                    continue;
                }
                What::Again(from) => {
                    let is_more = job.moved_bytes + job.moving_bytes < job.length_bytes;
                    job.step = if is_more { from } else { job.step + 1 };
                    continue;
                }
                What::Store(store) => {
                    let request = request_of(number, job);
                    self.store_arrives(store, request, until_ns);
                    return;
                }
                What::NodeStore(first) => {
                    let store = first + u32::from(job.node);
                    let request = request_of(number, job);
                    self.store_arrives(store, request, until_ns);
                    return;
                }
                What::Fork(fork) => {
                    self.fork(number, fork);
                    return;
                }
                What::End => {
                    self.end(number);
                    return;
                }
            };
            self.spent(number, step.component, next_ns);
            self.jobs[number].step += 1;
            if next_ns < self.events.next_ns()
                && next_ns <= until_ns
                && next_ns < self.meter.due_ns.min(self.settling.due_ns())
            {
                self.now_ns = next_ns;
                self.steps_done += 1;
            } else {
                self.events.push(next_ns, OF_JOB << KIND_SHIFT | number);
                return;
            }
        }
    }

    /// A message is sent over a line; returns when its step is over.
    #[inline(always)]
    fn send(&mut self, number: u32, station: u32, step: Step) -> u64 {
        let job = &mut self.jobs[number];
        let service_ns = step.takes.ns(job.moving_bytes);
        let (start_ns, taken_ns) = self.stations[station as usize].visit(self.now_ns, service_ns);
        let head_ns = u64::from(step.takes.head_ns).min(taken_ns);
        let end_ns = (start_ns + taken_ns).max(job.tail_ns + head_ns);
        job.tail_ns = end_ns + u64::from(step.latency_ns);
        // The next line already has the head; anything else waits for the whole message.
        let arrived_ns = start_ns + head_ns + u64::from(step.latency_ns);
        match self.steps[job.step as usize + 1].what {
            What::Send(_) | What::Queue { .. } => arrived_ns,
            _ if step.takes.batch_packets > 0 => {
                let port = &mut self.interrupts[station as usize];
                job.interrupts = port.of_message(arrived_ns, job.tail_ns);
                job.tail_ns
            }
            _ => job.tail_ns,
        }
    }

    /// Charges the time of a job until `end_ns` to a component.
    #[inline]
    fn spent(&mut self, number: u32, component: u32, end_ns: u64) {
        let job = &mut self.jobs[number];
        let ns = end_ns.saturating_sub(job.entered_ns);
        job.entered_ns = end_ns;
        let ns = match job.share {
            1 => ns,
            share => ns.checked_div(u64::from(share)).unwrap_or(0),
        };
        self.components[component as usize].residence_ns += ns;
    }

    fn store_arrives(&mut self, store: u32, request: Request, until_ns: u64) {
        let mut bench = Bench {
            now_ns: self.now_ns,
            accesses: &mut self.accesses,
            events: &mut self.events,
            random: &mut self.random,
            done: &mut self.done,
        };
        self.stores[store as usize].arrive(request, &mut bench, &mut self.ready);
        self.leave_stores(until_ns);
    }

    fn access_event(&mut self, access: u32, until_ns: u64) {
        let store = self.accesses[access].store as usize;
        let mut bench = Bench {
            now_ns: self.now_ns,
            accesses: &mut self.accesses,
            events: &mut self.events,
            random: &mut self.random,
            done: &mut self.done,
        };
        self.stores[store].event(access, &mut bench, &mut self.ready);
        self.leave_stores(until_ns);
    }

    /// Jobs that a storage has completed continue. All but the last as events of this instant, so
    /// that none runs ahead of the others.
    fn leave_stores(&mut self, until_ns: u64) {
        while let Some(ready) = self.ready.pop() {
            let number = ready & !(FAILED | IN_FRONT | FOR_ROOM);
            let step = &self.steps[self.jobs[number].step as usize];
            let component = match step.what {
                // The nodes of a cluster share one component of flash, and one of write buffers.
                What::Store(store) | What::NodeStore(store)
                    if ready & (IN_FRONT | FOR_ROOM) != 0 =>
                {
                    self.stores[store as usize].front(ready & FOR_ROOM != 0)
                }
                _ => step.component,
            };
            self.spent(number, component, self.now_ns);
            let job = &mut self.jobs[number];
            job.step += 1;
            job.tail_ns = self.now_ns;
            job.failed |= ready & FAILED != 0;
            if self.ready.is_empty() && self.events.next_ns() > self.now_ns {
                self.execute(number, until_ns);
                return;
            }
            self.events.push(self.now_ns, OF_JOB << KIND_SHIFT | number);
        }
    }

    /// A job has ended: a request, or a part of one.
    fn end(&mut self, number: u32) {
        let job = self.jobs[number];
        self.jobs.free(number);
        if job.parent != NONE {
            self.part_is_back(job);
            return;
        }
        self.completions.push(if job.failed {
            Completion::failed(job.slot, DeviceError::IO)
        } else {
            Completion::moved(job.slot, job.length_bytes)
        });
    }
}

/// The request that a storage gets for a job.
#[inline]
fn request_of(number: u32, job: &Job) -> Request {
    Request {
        job: number,
        kind: job.kind,
        disk: job.disk,
        offset_bytes: job.offset_bytes,
        length_bytes: job.length_bytes,
        background: job.share == 0,
    }
}

/// The station that a job uses.
#[inline(always)]
fn picked(
    pick: Pick,
    job: &mut Job,
    turns: &mut [u32],
    (standing, noticed): (&[Standing], &[bool]),
) -> u32 {
    match pick {
        Pick::One(station) => station,
        Pick::Rotate { first, ports, paths } => {
            let turn = &mut turns[first as usize];
            *turn = if *turn + 1 >= u32::from(paths) { 0 } else { *turn + 1 };
            job.path = *turn as u16;
            first + port_of(job.path, ports)
        }
        Pick::Standing { first, ports, set } => {
            let Standing { paths, up } = standing[set as usize];
            let turn = &mut turns[first as usize];
            loop {
                *turn = if *turn + 1 >= u32::from(paths) { 0 } else { *turn + 1 };
                if up & 1 << *turn != 0 {
                    break;
                }
            }
            job.path = *turn as u16;
            first + port_of(job.path, ports)
        }
        Pick::Same { first, ports } => first + port_of(job.path, ports),
        Pick::Node { first, ports } => {
            first + u32::from(job.node) * u32::from(ports) + port_of(job.path, ports)
        }
        Pick::Flow { first, ports, salt } => of_flow(first, (ports, salt), job.node, noticed),
        Pick::NodeFlow { first, ports, salt } => {
            let first = first + u32::from(job.node) * u32::from(ports);
            of_flow(first, (ports, salt), job.node, noticed)
        }
    }
}

impl Disks for Machine {
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        for operation in operations {
            let route = &self.routes[operation.disk as usize];
            let kind = route.requested(operation.kind);
            let (step, moving_bytes) = route.begin(kind, operation.length_bytes);
            let number = self.jobs.insert(Job {
                offset_bytes: operation.offset_bytes,
                entered_ns: self.now_ns,
                tail_ns: self.now_ns,
                length_bytes: operation.length_bytes,
                slot: operation.slot,
                disk: operation.disk,
                moving_bytes,
                moved_bytes: 0,
                step,
                parent: NONE,
                parts: 0,
                share: 1,
                path: 0,
                node: 0,
                kind,
                failed: false,
                interrupts: 1,
                again: false,
            });
            // Not at once: its effect may depend on other events of this instant.
            let at_ns = self.leave_vm(number);
            self.events.push(at_ns, OF_JOB << KIND_SHIFT | number);
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        let until_ns = match wait {
            Wait::No => self.now_ns,
            Wait::AtMost(wait_ns) => self.now_ns.saturating_add(wait_ns),
        };
        self.advance(until_ns);
        self.time.advance_to(self.now_ns);
        completions.append(&mut self.completions);
        Ok(())
    }

    fn buffer(&mut self, _buffer: u32) -> Option<&mut [u8]> {
        None
    }
}
