//! Failures at given times: of disks, paths, lines and nodes.
//!
//! A path that is down serves no requests until another takes its place. Requests that were on it restart
//! once the failure is noticed, after the network's `failover`. A fixed policy then uses the next port that
//! is up and returns to its own when that is back; round-robin skips the path at once. Nothing starts to
//! pass a line that is down until it is back, or until another line has taken over if the network has a
//! failover; what is already on the wire arrives. The data of a lost node is lost: reads go to another
//! replica and writes to those that are left. The VMs of its host continue at once, as if they had been
//! restarted on an identical host without data, and a note of the trial says so. When a node is given up,
//! its data is copied again from the other replicas ([`super::resync`]); if it returns before that, its data
//! counts as complete.

mod action;
mod effects;
mod map;
mod named;
mod plan;

use stormeter_disk::Kind;

use super::job::{Job, NONE, RESYNC};
use super::parts::Fork;
use super::step::{Pick, Standing, Step, What};
use super::{KIND_SHIFT, Machine, OF_FAULT, OF_JOB, of_flow, port_of};
use crate::device::Bench;

pub(super) use action::{Action, NEVER_NS};
pub(super) use map::{Map, PortCount};
pub use named::FaultNameError;
pub use plan::{Broken, FaultError, SiteFault};

impl Machine {
    /// Schedules faults. Faults of parts that this datastore does not use have no effect
    /// ([`Machine::concerns`]).
    ///
    /// # Errors
    /// A fault names a disk, port or node that the machine does not have, or cannot last as long as
    /// it says.
    pub fn schedule(&mut self, faults: &[SiteFault]) -> Result<(), FaultError> {
        for fault in faults {
            for (at_ns, action) in self.planned(fault)? {
                if at_ns < NEVER_NS {
                    let number = self.actions.len() as u32;
                    self.actions.push(action);
                    self.events.push(at_ns.max(self.now_ns), OF_FAULT << KIND_SHIFT | number);
                }
            }
        }
        Ok(())
    }

    #[cold]
    pub(super) fn carry_out(&mut self, number: u32) {
        match self.actions[number as usize] {
            Action::Disk(store, fault) => {
                let mut bench = Bench {
                    now_ns: self.now_ns,
                    accesses: &mut self.accesses,
                    events: &mut self.events,
                    random: &mut self.random,
                    done: &mut self.done,
                };
                self.stores[store as usize].fault(fault, &mut bench, &mut self.ready);
                self.leave_stores(self.now_ns);
            }
            Action::Silent { node, device } => self.silent(node, device),
            Action::Data { node, device, lost } => self.data(node, device, lost),
            Action::GiveUp { node, device } => self.give_up(node, device),
            Action::Take { node } => self.turn_to_take(node),
            Action::PortDown { set, port, until_ns } => self.port_down(set, port, until_ns),
            Action::PortUp { set, port } => {
                for station in self.map.port_stations(set, port) {
                    self.down[station as usize] = false;
                }
                self.any_down = self.down.contains(&true);
                self.fail_over();
            }
            Action::FailOver => self.fail_over(),
            Action::LinkDown { line, until_ns } => {
                for station in self.map.line_stations(line) {
                    self.stations[station as usize].fail_until(until_ns);
                }
            }
        }
    }

    fn silent(&mut self, node: u32, device: Option<u32>) {
        let Some(nodes) = &mut self.nodes else { return };
        for device in nodes.devices_of(node, device) {
            nodes.silent[device] = true;
        }
        if device.is_none() {
            self.lost_nodes.push((node, self.now_ns));
        }
        nodes.any_silent = true;
        self.again_ns = self.now_ns + self.map.failover_ns;
        for job in self.jobs.places_mut() {
            let there = u32::from(job.node) == node && job.parent != NONE;
            job.again |= there && device.is_none_or(|device| device == job.disk);
        }
    }

    fn data(&mut self, node: u32, device: Option<u32>, lost: bool) {
        let Some(nodes) = &mut self.nodes else { return };
        for device in nodes.devices_of(node, device) {
            nodes.lost[device] = lost;
            nodes.silent[device] = false;
        }
        nodes.any_silent = nodes.silent.contains(&true);
        nodes.any_lost = nodes.lost.contains(&true);
        self.plan_resync();
    }

    fn port_down(&mut self, set: u32, port: u32, until_ns: u64) {
        let stations: Vec<u32> = self.map.port_stations(set, port).collect();
        let noticed_ns = self.now_ns + self.map.failover_ns;
        for &station in &stations {
            self.down[station as usize] = true;
        }
        self.any_down = true;
        // If another port is up, requests wait no longer than until the switch to it.
        let others = self.map.sets[set as usize].first_that_is_up(port, &self.down).is_some();
        let end_ns = if others { until_ns.min(noticed_ns) } else { until_ns };
        for &station in &stations {
            self.stations[station as usize].fail_until(end_ns);
        }
        self.again_ns = if others { noticed_ns } else { until_ns };
        self.restart_on(&stations);
        self.leave_out();
    }

    /// Restarts the requests whose path uses one of the stations.
    fn restart_on(&mut self, stations: &[u32]) {
        let ends = self.programs.iter().skip(1).copied().chain([self.steps.len() as u32]);
        let ranges: Vec<(u32, u32)> = self.programs.iter().copied().zip(ends).collect();
        for job in self.jobs.places_mut() {
            let number = ranges.partition_point(|&(first, _)| first <= job.step);
            let Some(&(first, end)) = number.checked_sub(1).and_then(|place| ranges.get(place))
            else {
                continue;
            };
            let steps = &self.steps[first as usize..end as usize];
            let is_message = |step: &Step| matches!(step.what, What::Send(_));
            let left = steps.iter().position(is_message).map(|place| first + place as u32);
            let back = steps.iter().rposition(is_message).map(|place| first + place as u32);
            let (Some(left), Some(back)) = (left, back) else { continue };
            let under_way = job.step > left && job.step <= back + 1;
            let uses = |step: &Step| match step.what {
                What::Send(pick) => {
                    stations.contains(&resolved(pick, job.path, job.node, &self.noticed))
                }
                _ => false,
            };
            job.again |= under_way && steps.iter().any(uses);
        }
    }

    /// Restarts a request whose path or node failed, once the failure has been noticed.
    #[cold]
    pub(super) fn begin_again(&mut self, number: u32) {
        if self.now_ns < self.again_ns {
            let component = self.steps[self.jobs[number].step as usize].component;
            self.spent(number, component, self.again_ns);
            self.events.push(self.again_ns, OF_JOB << KIND_SHIFT | number);
            return;
        }
        if self.jobs[number].parent == RESYNC {
            self.chunk_failed(number);
            return;
        }
        let place = self.programs.partition_point(|&first| first <= self.jobs[number].step);
        let step = self.programs.get(place.wrapping_sub(1)).copied().unwrap_or_default();
        let job = &mut self.jobs[number];
        job.again = false;
        job.failed = false;
        job.tail_ns = self.now_ns;
        job.moved_bytes = 0;
        job.step = step;
        job.moving_bytes = job.length_bytes;
        if job.parent == NONE {
            let route = self.routes[job.disk as usize];
            (job.step, job.moving_bytes) = route.begin(job.kind, job.length_bytes);
        } else if self.nodes.is_some() {
            self.begin_part_again(number);
        }
        self.events.push(self.now_ns, OF_JOB << KIND_SHIFT | number);
    }

    /// A part on a node uses a path that is up, and another replica if its own is lost. A write is already on
    /// its way to the other replicas, so for a lost one nothing is left to do. If no replica is left, the
    /// part fails.
    fn begin_part_again(&mut self, number: u32) {
        let job = self.jobs[number];
        let Some(nodes) = &self.nodes else { return };
        let within = job.offset_bytes % nodes.piece_bytes.max(1);
        let first = job.slot / nodes.replicas * nodes.replicas;
        let is_there = |place: &u32| !nodes.is_lost(nodes.places[*place as usize]);
        let standing = (first..first + nodes.replicas).find(is_there);
        let own = match job.kind {
            Kind::Read => Some(nodes.places[job.slot as usize]).filter(|&own| !nodes.is_lost(own)),
            Kind::Write | Kind::DurableWrite | Kind::Flush => nodes.written_at(job.slot, within),
        };
        let other = standing.filter(|_| job.kind == Kind::Read);
        let other = other.map(|slot| (slot, nodes.places[slot as usize]));
        let place = own.map(|own| (job.slot, own)).or(other);
        let Some(place) = place else {
            self.jobs[number].failed = standing.is_none();
            let left = &self.steps[job.step as usize..];
            let to_end = left.iter().position(|step| step.what == What::End).unwrap_or_default();
            self.jobs[number].step += to_end as u32;
            return;
        };
        let parent = self.jobs[job.parent];
        let What::Fork(fork) = self.steps[parent.step as usize].what else { return };
        let Fork::Nodes(parts) = self.forks[fork as usize] else { return };
        if let Some((step, path, part)) =
            self.on_node(Job { offset_bytes: within, ..job }, parts, place)
        {
            self.jobs[number] = Job { step, path, ..part };
        }
    }

    /// Round-robin skips paths with a port that is down at either end.
    fn leave_out(&mut self) {
        self.patch(false);
    }

    /// A fixed policy also switches to the next port that is up.
    fn fail_over(&mut self) {
        self.noticed.clone_from(&self.down);
        self.patch(true);
    }

    /// Adapts all steps to the ports that are down: rotations always, fixed ports if the failure was
    /// noticed.
    fn patch(&mut self, noticed: bool) {
        if self.as_built.is_empty() {
            self.as_built = self.steps.clone();
        }
        self.standing.clear();
        let ends = self.programs.iter().skip(1).copied().chain([self.steps.len() as u32]);
        let ranges: Vec<(u32, u32)> = self.programs.iter().copied().zip(ends).collect();
        for (first, end) in ranges {
            let program = &self.as_built[first as usize..end as usize];
            let up = self.paths_that_stand(program);
            for place in first..end {
                let built = self.as_built[place as usize];
                self.steps[place as usize].what = match built.what {
                    What::Send(pick) => What::Send(self.patched(pick, up, noticed, place)),
                    What::Credit(pick) => What::Credit(self.patched(pick, up, noticed, place)),
                    what => what,
                };
            }
        }
    }

    /// A pick, adapted to the ports that are down.
    fn patched(&mut self, pick: Pick, up: Option<Standing>, noticed: bool, place: u32) -> Pick {
        match (pick, up) {
            (Pick::Rotate { first, ports, .. }, Some(up)) => {
                let set = self.standing.iter().position(|other| *other == up);
                let set = set.unwrap_or_else(|| {
                    self.standing.push(up);
                    self.standing.len() - 1
                });
                Pick::Standing { first, ports, set: set as u16 }
            }
            (Pick::One(station), _) if noticed => Pick::One(self.map.instead(station, &self.down)),
            // What failed over earlier stays so.
            (Pick::One(_), _) => match self.steps[place as usize].what {
                What::Send(pick) | What::Credit(pick) => pick,
                _ => pick,
            },
            (pick, _) => pick,
        }
    }

    /// The paths of a program's rotation that are up at both ends; `None` if all are, or none.
    fn paths_that_stand(&self, program: &[Step]) -> Option<Standing> {
        let pick_of = |step: &Step| match step.what {
            What::Send(pick) | What::Credit(pick) => Some(pick),
            _ => None,
        };
        let picks: Vec<Pick> = program.iter().filter_map(pick_of).collect();
        let paths = picks.iter().find_map(|pick| match pick {
            Pick::Rotate { paths, .. } => Some(*paths),
            _ => None,
        })?;
        let stands = |path: u16| {
            picks.iter().all(|&pick| match pick {
                Pick::Rotate { .. } | Pick::Same { .. } => {
                    !self.down[resolved(pick, path, 0, &self.noticed) as usize]
                }
                _ => true,
            })
        };
        let up = (0..paths).filter(|&path| stands(path)).fold(0u64, |up, path| up | 1 << path);
        (up != 0 && up.count_ones() < u32::from(paths)).then_some(Standing { paths, up })
    }
}

/// The station that a pick means for a request on a path.
fn resolved(pick: Pick, path: u16, node: u16, noticed: &[bool]) -> u32 {
    match pick {
        Pick::One(station) => station,
        Pick::Rotate { first, ports, .. }
        | Pick::Standing { first, ports, .. }
        | Pick::Same { first, ports } => first + port_of(path, ports),
        Pick::Node { first, ports } => {
            first + u32::from(node) * u32::from(ports) + port_of(path, ports)
        }
        Pick::Flow { first, ports, salt } => of_flow(first, (ports, salt), node, noticed),
        Pick::NodeFlow { first, ports, salt } => {
            let first = first + u32::from(node) * u32::from(ports);
            of_flow(first, (ports, salt), node, noticed)
        }
    }
}
