//! A trial on all hosts: made ready everywhere, begun at one moment, joined.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use stormeter_disk::Clock;
use stormeter_driver::Interval;
use stormeter_runner::{Progress, RunError, TrialEnd, TrialOrder};
use stormeter_study::{WorkloadKind, vms_of_host};

use super::gather::Trouble;
use super::{Fleet, merge, seed_of};
use crate::error::HostError;
use crate::message::{Command, Report};

/// The start is so far ahead that all agents hear of it before: the longest way there is added.
const AHEAD_NS: u64 = 20_000_000;
/// Telling one more agent takes less.
const AHEAD_EACH_NS: u64 = 500_000;
/// A host that begins later than this share of the trial measures another window.
const LATE_SHARE: f64 = 0.02;
/// Hearing of the start a little late is no harm, however short the trial.
const LATE_LEAST_NS: u64 = 10_000_000;
/// What may be done after the window: outstanding requests come back (the driver gives up after 30 s), a
/// network datastore confirms what was written.
pub(super) const AFTERWARDS: Duration = Duration::from_secs(120);

/// What a host did.
pub(super) struct Ended {
    pub(super) host: usize,
    pub(super) vms: u32,
    pub(super) end: TrialEnd,
    pub(super) late_ns: u64,
}

impl Fleet {
    /// Carries out a trial.
    pub(super) fn carry_out(
        &mut self,
        order: &TrialOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        let orders = self.orders(order);
        let hosts: Vec<usize> = orders.iter().map(|(host, _)| *host).collect();
        self.measure_clocks(&hosts, cancel)?;
        let ended = if matches!(order.work, WorkloadKind::Transfer(_)) {
            self.transfer(orders, cancel, progress)?
        } else {
            self.drive(&orders, &hosts, cancel, progress)?
        };
        for it in &ended {
            // An errand lasts as long as it takes.
            let length_ns = match order.work {
                WorkloadKind::Io(_) => {
                    order.timing.ramp_ns.saturating_add(order.timing.duration_ns)
                }
                _ => it.end.sample.window_ns,
            };
            let allowed_ns = (length_ns as f64 * LATE_SHARE) as u64;
            if it.late_ns > allowed_ns.max(LATE_LEAST_NS) {
                let error = HostError::Late { late_ms: it.late_ns as f64 / 1e6 };
                return Err(self.agent_error(it.host, &error));
            }
        }
        merge::trial(&self.hosts, ended)
            .ok_or_else(|| self.stop_after(Trouble::Refused(0, "no host has a VM".into())))
    }

    /// A trial that is all the hosts' own.
    fn drive(
        &mut self,
        orders: &[(usize, TrialOrder)],
        hosts: &[usize],
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Ended>, RunError> {
        for (host, order) in orders {
            self.say(*host, Command::Trial(Box::new(order.clone())));
        }
        self.gather(hosts, "get ready for the trial", cancel, |_, report| match report {
            Report::Ready => Ok(Some(())),
            // What has to be done before it gets on.
            Report::Preparing { .. } => Ok(None),
            other => Err(other),
        })?;
        progress.begun(self.start(hosts).0);
        let length_ns = orders.iter().map(|(_, order)| match order.work {
            WorkloadKind::Io(_) => order.timing.ramp_ns.saturating_add(order.timing.duration_ns),
            // An errand's rows tell that it gets on.
            _ => order.timing.interval_ns,
        });
        let within = Duration::from_nanos(length_ns.max().unwrap_or(0)) + AFTERWARDS;
        let mut rows = Rows::new(self.hosts.len());
        let what = "carry out the trial";
        let ends =
            self.gather_within(hosts, what, within, cancel, |host, report| match report {
                Report::Interval(row) => {
                    rows.tell(host, row, progress);
                    Ok(None)
                }
                Report::Done { end, late_ns } => Ok(Some((end, late_ns))),
                other => Err(other),
            })?;
        let ended = orders.iter().zip(ends).map(|((host, order), (end, late_ns))| Ended {
            host: *host,
            vms: order.vms,
            end: *end,
            late_ns,
        });
        Ok(ended.collect())
    }

    /// What each host that has VMs is asked for.
    fn orders(&self, order: &TrialOrder) -> Vec<(usize, TrialOrder)> {
        let mut orders = Vec::new();
        let mut taken: Vec<(Option<&str>, u32)> = Vec::new();
        for (host, of) in self.hosts.iter().enumerate() {
            let vms = vms_of_host(order.vms, host as u32, self.count());
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
            let seed = seed_of(order.seed, host);
            orders.push((host, TrialOrder { vms, first_cpu, seed, ..order.clone() }));
        }
        orders
    }

    /// Names the common start, each agent by its own clock; gives it by this machine's, too.
    pub(super) fn start(&mut self, hosts: &[usize]) -> (Instant, u64) {
        let farthest_ns = hosts.iter().map(|&host| self.hosts[host].offset.error_ns).max();
        let ahead_ns = AHEAD_NS
            + AHEAD_EACH_NS * hosts.len() as u64
            + farthest_ns.unwrap_or(0).saturating_mul(8);
        let at_ns = self.clock.now_ns() + ahead_ns;
        for &host in hosts {
            let at_ns = self.hosts[host].offset.there(at_ns);
            self.say(host, Command::Start { at_ns });
        }
        let ahead_ns = at_ns.saturating_sub(self.clock.now_ns());
        (Instant::now() + Duration::from_nanos(ahead_ns), at_ns)
    }
}

/// The latest row of each host.
pub(super) struct Rows {
    latest: Vec<Option<Interval>>,
    told_ns: Option<u64>,
}

impl Rows {
    pub(super) fn new(hosts: usize) -> Self {
        Self { latest: vec![None; hosts], told_ns: None }
    }

    /// Tells what all hosts did in about the same interval, when the first of them reports it.
    pub(super) fn tell(&mut self, host: usize, row: Interval, progress: &mut dyn Progress) {
        self.latest[host] = Some(row);
        if self.told_ns.is_some_and(|told_ns| row.start_ns <= told_ns) {
            return;
        }
        self.told_ns = Some(row.start_ns);
        let mut all = Interval { start_ns: row.start_ns, length_ns: row.length_ns, ..row };
        (all.reads, all.writes) = Default::default();
        let rows = self.latest.iter().flatten();
        for row in rows.filter(|other| other.start_ns + other.length_ns >= row.start_ns) {
            all.reads.merge(&row.reads);
            all.writes.merge(&row.writes);
        }
        progress.interval(&all);
    }
}
