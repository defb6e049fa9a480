//! A trial on all hosts: prepared everywhere, started at one moment, combined.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use stormeter_runner::{Progress, Rows, RunError, Seen, TrialEnd, TrialOrder, TrialTarget};
use stormeter_study::{WorkloadKind, vms_of_host};
use stormeter_trial::NoteFact;

use super::drivers::Part;
use super::ended::Ended;
use super::gather::Trouble;
use super::start::{LateStart, Start};
use super::{Fleet, merge, seed_of};
use crate::message::{Command, Report};

/// What may follow the window: outstanding requests complete (the driver gives up after 30 s), a network
/// datastore confirms what was written.
pub(super) const AFTERWARDS: Duration = Duration::from_secs(120);

/// What came of an attempt to run a trial.
pub(super) enum Attempt {
    /// It was run; each host's share.
    Ended(Vec<Ended>),
    /// A host learned of the start too late, and no I/O was done.
    TooLate(LateStart),
}

impl Fleet {
    /// Executes a trial.
    pub(super) fn carry_out(
        &mut self,
        order: &TrialOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let orders = self.orders(order);
        let hosts: Vec<usize> = orders.iter().map(|(host, _)| *host).collect();
        let is_transfer = matches!(order.work, WorkloadKind::Transfer(_));
        let mut in_vain = 0;
        let ended = loop {
            let attempt = match is_transfer {
                true => self.transfer(orders.clone(), cancel, progress)?,
                false => self.drive(&orders, &hosts, cancel, progress)?,
            };
            match attempt {
                Attempt::Ended(ended) => break ended,
                Attempt::TooLate(LateStart { host, late_ns }) => progress.note(&format!(
                    "host {host} learned of the common start {:.0} ms too late, so the trial is restarted",
                    late_ns as f64 / 1e6
                )),
            }
            in_vain += 1;
        };
        let mut end = merge::trial(&self.hosts, ended)
            .ok_or_else(|| self.stop_after(Trouble::Refused(0, "no host has a VM".into())))?;
        if in_vain > 0 {
            end.notes.push(NoteFact::StartRepeated { times: in_vain }.into());
        }
        Ok(end)
    }

    /// A trial in which all I/O is done by the hosts.
    fn drive(
        &mut self,
        orders: &[(usize, TrialOrder)],
        hosts: &[usize],
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Attempt, RunError> {
        let is_watched = progress.watches();
        let names: Vec<String> = self.hosts.iter().map(|host| host.name.clone()).collect();
        for (host, order) in orders {
            let order = TrialOrder { watched: is_watched, ..order.clone() };
            self.say(*host, Command::Trial(Box::new(order)));
        }
        self.gather(hosts, "get ready for the trial", cancel, |_, report| match report {
            Report::Ready => Ok(Some(())),
            // Preparations that precede the trial.
            Report::Preparing { .. } => Ok(None),
            other => Err(other),
        })?;
        // Hosts that confirmed first may be ahead of the others by some rows, or at their end.
        let mut early = Vec::new();
        let mut ends: Vec<Option<TrialEnd>> = self.hosts.iter().map(|_| None).collect();
        let start = self.start(orders, cancel, |host, report| {
            match report {
                Report::Interval(row) => early.push(row),
                // The first moments of a picture.
                Report::Seen(_) => {}
                Report::Done(end) => ends[host] = Some(*end),
                other => return Err(other),
            }
            Ok(())
        })?;
        let start = match start {
            Start::Agreed(start) => start,
            Start::TooLate(late) => return Ok(Attempt::TooLate(late)),
        };
        progress.load_starts(start.at);
        let length_ns = orders.iter().map(|(_, order)| match order.work.is_timed() {
            true => order.timing.ramp_ns.saturating_add(order.timing.duration_ns),
            // The rows of a trial of fixed work show that it makes progress.
            false => order.timing.interval_ns,
        });
        let within = Duration::from_nanos(length_ns.max().unwrap_or(0)) + AFTERWARDS;
        let mut rows = Rows::new(hosts.len());
        early.into_iter().for_each(|row| rows.add(&row, progress));
        let open: Vec<usize> = hosts.iter().copied().filter(|&host| ends[host].is_none()).collect();
        let what = "carry out the trial";
        let last =
            self.gather_within(&open, what, within, cancel, |host, report| match report {
                Report::Interval(row) => {
                    rows.add(&row, progress);
                    if is_watched {
                        progress.seen(Some(&names[host]), &Seen::Interval(row));
                    }
                    Ok(None)
                }
                Report::Seen(seen) => {
                    progress.seen(Some(&names[host]), &seen);
                    Ok(None)
                }
                Report::Done(end) => Ok(Some(*end)),
                other => Err(other),
            })?;
        rows.finish(progress);
        for (host, end) in open.into_iter().zip(last) {
            ends[host] = Some(end);
        }
        let all = orders.iter().zip(start.late_ns);
        let ended = all.filter_map(|((host, order), late_ns)| {
            Some(Ended { host: *host, vms: order.vms, end: ends[*host].take()?, late_ns })
        });
        Ok(Attempt::Ended(ended.collect()))
    }

    /// What each host has to do in a trial. Without a store all hosts take part.
    fn parts(&self, order: &TrialOrder) -> Vec<Part> {
        let vms = |host: usize| vms_of_host(order.vms, host as u32, self.hosts.len() as u32);
        match order.target {
            TrialTarget::Store(store) => self.drivers.parts(store, order.vms).collect(),
            TrialTarget::Nothing | TrialTarget::NullServer(_) => self
                .all()
                .into_iter()
                .map(|host| Part { host, place: host, store: 0, vms: vms(host) })
                .collect(),
        }
    }

    /// The order for each host that has VMs.
    fn orders(&self, order: &TrialOrder) -> Vec<(usize, TrialOrder)> {
        let (mut orders, mut first_vm) = (Vec::new(), 0);
        let mut taken: Vec<(Option<&str>, u32)> = Vec::new();
        for Part { host, place, store, vms } in self.parts(order) {
            let of = &self.hosts[host];
            if vms == 0 {
                continue;
            }
            // Agents on one machine take its CPUs in turn.
            let machine = of.facts.boot_id.as_deref();
            let threads = match order.threads {
                0 => of.facts.environment.cpus.min(vms),
                threads => threads.min(vms),
            };
            let first_cpu =
                match taken.iter_mut().find(|(other, _)| machine.is_some() && *other == machine) {
                    Some((_, next)) => {
                        let first = *next;
                        *next += threads;
                        first
                    }
                    None => {
                        taken.push((machine, threads));
                        0
                    }
                };
            let seed = seed_of(order.seed, place);
            let start = order.start.of_host(place as u32);
            let content_seed = seed_of(order.content_seed, place);
            let target = match order.target {
                // The store's number on this host.
                TrialTarget::Store(_) => TrialTarget::Store(store),
                TrialTarget::Nothing | TrialTarget::NullServer(_) => order.target.clone(),
            };
            let own = TrialOrder {
                target,
                vms,
                first_vm,
                first_cpu,
                seed,
                start,
                content_seed,
                ..order.clone()
            };
            first_vm += vms;
            orders.push((host, own));
        }
        orders
    }
}
