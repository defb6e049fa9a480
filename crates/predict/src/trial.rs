//! One trial of one cell: a machine of its own, driven by the same loops as real storage.

use std::sync::atomic::{AtomicBool, Ordering};

use stormeter_disk::Disks;
use stormeter_driver::{
    DiskDesktops, Observer, drive, drive_deployment, drive_desktops, drive_file_test,
};
use stormeter_runner::{Modelled, TrialEnd, TrialOrder};
use stormeter_simulator::{
    CachedDisks, Load, Machine, SitePart, TransferTrial, Window, drive_transfer,
};
use stormeter_site::{PageCache, Site};
use stormeter_study::{Timing, WorkloadKind};
use stormeter_trial::{
    Deployment, Distribution, Ended, FileOperation, FileTest, FixedWork, FixedWorkTrial, Limits,
    NoteFact, Sample, Transfer, Trial, Workload,
};

use crate::error::NoMachine;
use crate::request::SitePlace;
use crate::steps::Disturbances;
use crate::usage;

/// The most outstanding I/Os of an open loop, all VMs together: enough to show that a site does not keep up.
const OPEN_LOOP_OUTSTANDING: u32 = 1 << 16;

/// A transfer is a TCP connection, which gives up unacknowledged data after 100 seconds at the earliest (RFC 1122,
/// section 4.2.3.5): a shorter failover does not break it.
const TRANSFER_GIVES_UP_NS: u64 = 100_000_000_000;

/// The inputs of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialRun<'a> {
    pub(crate) order: &'a TrialOrder,
    /// Size of a VM's disk; the trial may use only a part.
    pub(crate) disk_bytes: u64,
    /// The interval for trials of fixed work, which are never shortened.
    pub(crate) fixed_work_interval_ns: u64,
    pub(crate) site: &'a Site,
    pub(crate) place: SitePlace,
    pub(crate) disturbances: Disturbances<'a>,
    pub(crate) cancel: &'a AtomicBool,
}

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SiteEnd {
    pub(crate) end: TrialEnd,
    /// For each component, the part of the site that it stands for.
    pub(crate) parts: Vec<Option<SitePart>>,
}

/// Polls for cancellation.
struct Watcher<'a>(&'a AtomicBool);

impl Observer for Watcher<'_> {
    fn cancelled(&mut self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl TrialRun<'_> {
    /// The properties of the load that the machine is built for.
    fn load(&self) -> Load {
        let (random, zipf) = match &self.order.work {
            WorkloadKind::Io(io) => (
                io.random_percent / 100.0,
                match io.distribution {
                    Distribution::Zipf { exponent } => Some(exponent),
                    Distribution::Uniform => None,
                },
            ),
            WorkloadKind::File(test) => (f64::from(u8::from(test.operation.is_random())), None),
            _ => (0.0, None),
        };
        let template = u32::from(self.order.work.has_template());
        Load {
            vms: self.order.vms.saturating_add(template),
            disk_bytes: self.disk_bytes,
            working_set_bytes: self.order.disk_bytes,
            random,
            zipf,
            flushes: matches!(&self.order.work, WorkloadKind::Io(io) if io.flush.is_some()),
        }
    }

    /// Builds the machine of the cell.
    pub(crate) fn machine(&self) -> Result<Machine, NoMachine> {
        let Timing { ramp_ns, interval_ns, .. } = self.order.timing;
        let window = Window { from_ns: ramp_ns, interval_ns };
        let build = match self.order.work {
            WorkloadKind::Transfer(_) => Machine::with_client,
            _ => Machine::new,
        };
        let mut machine =
            build(self.site, self.place.datastore, self.load(), window, self.order.seed)?;
        for planned in self.disturbances.planned(self.site, self.place.datastore)? {
            planned.schedule(&mut machine)?;
        }
        Ok(machine)
    }

    /// Runs the trial.
    pub(crate) fn carry_out(&self) -> Result<SiteEnd, String> {
        let mut machine = self.machine().map_err(|error| error.to_string())?;
        let (mut sample, ramp_ns) = match &self.order.work {
            WorkloadKind::Io(io) => (self.timed(io, &mut machine)?, self.order.timing.ramp_ns),
            WorkloadKind::File(test) => (self.file_test(*test, &mut machine)?, 0),
            WorkloadKind::Deploy(deployment) => (self.deployment(*deployment, &mut machine)?, 0),
            WorkloadKind::Transfer(transfer) => (self.transfer(*transfer, &mut machine)?, 0),
            WorkloadKind::Desktops(_) => (self.desktops(&mut machine)?, self.order.timing.ramp_ns),
            // Refused before the first trial.
            WorkloadKind::Ftp(_) | WorkloadKind::Vnc(_) => {
                return Err("a site has no services".into());
            }
        };
        machine.end_window();
        sample.disturbances = self.disturbances.taken(ramp_ns, machine.time().now_ns());
        let uses = machine.usage();
        let datastore = &self.site.datastores[self.place.datastore];
        let sink = match &self.order.work {
            WorkloadKind::Transfer(transfer) => Some(transfer.sink),
            _ => None,
        };
        let place = (self.site, datastore);
        let end = TrialEnd {
            cpu: usage::cpu(self.site, datastore, &sample, &uses),
            clock_deviation: 0.0,
            notes: machine
                .notes()
                .into_iter()
                .map(|model| NoteFact::Model { model }.into())
                .collect(),
            incidents: Vec::new(),
            monitor: usage::monitor(place, sink, &sample, &uses, ramp_ns),
            hosts: Vec::new(),
            guests: Vec::new(),
            modelled: Some(Modelled {
                elapsed_ns: machine.time().now_ns(),
                components: usage::thinned(uses),
                losses: machine.losses(),
            }),
            sample,
        };
        Ok(SiteEnd { end, parts: machine.parts() })
    }

    fn timed(&self, io: &Workload, machine: &mut Machine) -> Result<Sample, String> {
        let Timing { ramp_ns, duration_ns, interval_ns } = self.order.timing;
        let limits = Limits { open_loop_outstanding: OPEN_LOOP_OUTSTANDING, ..Limits::default() };
        let limits = self.disturbances.limits(limits, ramp_ns.saturating_add(duration_ns));
        let trial = Trial {
            workload: io.clone(),
            first_disk: 0,
            disks: self.order.vms,
            disk_bytes: self.order.disk_bytes,
            seed: self.order.seed,
            start: self.order.start,
            content_seed: self.order.content_seed,
            ramp_ns,
            duration_ns,
            interval_ns,
            limits,
            // A model stores no bytes to verify.
            verify: false,
        };
        machine.measure(Window { from_ns: ramp_ns, interval_ns }, ramp_ns + duration_ns);
        // In the pauses of bursts a memory empties, whatever it looks like in between.
        if io.burst.is_none() {
            machine.settle_in(ramp_ns);
        }
        let mut clock = machine.time().clock();
        drive(&trial, || Some(0), machine, &mut clock, &mut Watcher(self.cancel))
            .map_err(|error| error.to_string())
    }

    fn desktops(&self, machine: &mut Machine) -> Result<Sample, String> {
        let Timing { ramp_ns, duration_ns, interval_ns } = self.order.timing;
        let run = self.order.desktops().ok_or("the trial is not one of desktops")?;
        let mut trial = run.trial();
        trial.limits = self.disturbances.limits(trial.limits, ramp_ns.saturating_add(duration_ns));
        machine.measure(Window { from_ns: ramp_ns, interval_ns }, ramp_ns + duration_ns);
        let (mut clock, own) = (machine.time().clock(), machine.time().clock());
        let (bytes, seed) = (run.disk_bytes, run.content_seed);
        let mut desktops = DiskDesktops::new(&trial, bytes, seed, machine, own);
        let watcher = &mut Watcher(self.cancel);
        Ok(drive_desktops(&trial, || Some(0), &mut desktops, &mut clock, watcher))
    }

    /// Where the client's page cache takes part, it is cold at first.
    fn file_test(&self, mut test: FileTest, machine: &mut Machine) -> Result<Sample, String> {
        test.outstanding = self.order.outstanding.unwrap_or(test.outstanding);
        let hosts = &self.site.hosts[self.site.datastores[self.place.datastore].hosts];
        match hosts.page_cache.filter(|_| test.client_cache) {
            None => self.passes(test, machine, |machine| machine),
            Some(cache) => {
                let memory_bytes = cache.memory_bytes.saturating_mul(u64::from(hosts.count));
                let all = PageCache { memory_bytes, ..cache };
                let cores = hosts.cores.saturating_mul(hosts.count);
                let time = machine.time().clone();
                let mut cached =
                    CachedDisks::new((machine, time), all, cores, self.order.disk_bytes);
                self.passes(test, &mut cached, CachedDisks::below)
            }
        }
    }

    /// A reread follows a read.
    fn passes<D: Disks>(
        &self,
        test: FileTest,
        disks: &mut D,
        machine: fn(&mut D) -> &mut Machine,
    ) -> Result<Sample, String> {
        if test.operation == FileOperation::Reread {
            let first = FileTest { operation: FileOperation::Read, ..test };
            let sample = self.pass(FixedWork::File(first), disks, machine)?;
            if sample.ended != Ended::Completed {
                return Ok(sample);
            }
        }
        self.pass(FixedWork::File(test), disks, machine)
    }

    fn deployment(
        &self,
        mut deployment: Deployment,
        machine: &mut Machine,
    ) -> Result<Sample, String> {
        deployment.outstanding = self.order.outstanding.unwrap_or(deployment.outstanding);
        self.fixed_work(FixedWork::Deploy(deployment), machine)
    }

    fn transfer(&self, transfer: Transfer, machine: &mut Machine) -> Result<Sample, String> {
        let interval_ns = self.order.timing.interval_ns;
        let trial = TransferTrial {
            transfer,
            vms: self.order.vms,
            disk_bytes: self.order.disk_bytes,
            start: self.order.start,
            interval_ns,
            limits: Limits { stall_ns: TRANSFER_GIVES_UP_NS, ..Limits::default() },
        };
        machine.measure(Window { from_ns: machine.time().now_ns(), interval_ns }, u64::MAX);
        drive_transfer(&trial, machine, &mut Watcher(self.cancel))
            .map_err(|error| error.to_string())
    }

    fn fixed_work(&self, fixed_work: FixedWork, machine: &mut Machine) -> Result<Sample, String> {
        self.pass(fixed_work, machine, |machine| machine)
    }

    /// Carries fixed work out on the disks of a machine, or on what is in front of them.
    fn pass<D: Disks>(
        &self,
        fixed_work: FixedWork,
        disks: &mut D,
        machine: fn(&mut D) -> &mut Machine,
    ) -> Result<Sample, String> {
        let trial = FixedWorkTrial {
            fixed_work,
            first_disk: 0,
            disks: self.order.vms,
            disk_bytes: self.order.disk_bytes,
            seed: self.order.seed,
            content_seed: self.order.content_seed,
            interval_ns: self.fixed_work_interval_ns,
            limits: Limits::default(),
        };
        let machine = machine(disks);
        let now_ns = machine.time().now_ns();
        let window = Window { from_ns: now_ns, interval_ns: self.fixed_work_interval_ns };
        machine.measure(window, u64::MAX);
        let mut clock = machine.time().clock();
        let (start, watcher) = (|| Some(now_ns), &mut Watcher(self.cancel));
        match fixed_work {
            FixedWork::File(_) => drive_file_test(&trial, start, disks, &mut clock, watcher),
            FixedWork::Deploy(_) => drive_deployment(&trial, start, disks, &mut clock, watcher),
        }
        .map_err(|error| error.to_string())
    }
}
