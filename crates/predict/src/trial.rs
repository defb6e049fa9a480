//! One trial of one cell: a machine of its own under the loops that drive real storage.

use std::sync::atomic::{AtomicBool, Ordering};

use stormeter_driver::{Observer, drive, drive_deployment, drive_file_test};
use stormeter_simulator::{Load, Machine, SitePart, TransferTrial, Window, drive_transfer};
use stormeter_site::Site;
use stormeter_study::{Cell, StudyPlan, Timing, WorkloadKind};
use stormeter_trial::{
    Arrivals, ComponentUse, CpuUsage, Deployment, Distribution, Ended, FileOperation, FileTest,
    FixedWork, FixedWorkTrial, Limits, MonitorRow, Sample, Start, Transfer, Trial, TrialFailure,
    Workload,
};

use crate::error::NoMachine;
use crate::request::SitePlace;
use crate::steps::Disturbances;
use crate::usage;

/// I/Os of an open loop that may be outstanding, all VMs together: as many as it takes to see that a
/// site does not keep up.
const OPEN_LOOP_OUTSTANDING: u32 = 1 << 16;

/// A transfer is a TCP connection, which gives up what is not acknowledged after 100 seconds at the
/// earliest (RFC 1122, section 4.2.3.5): a way that takes less to fail over is waited for.
const TRANSFER_GIVES_UP_NS: u64 = 100_000_000_000;

/// What a trial is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialRun<'a> {
    pub(crate) plan: &'a StudyPlan,
    pub(crate) cell: Cell,
    pub(crate) timing: Timing,
    /// The interval of trials of fixed work, which are never shortened.
    pub(crate) fixed_work_interval_ns: u64,
    pub(crate) seed: u64,
    pub(crate) start: Start,
    pub(crate) site: &'a Site,
    pub(crate) place: SitePlace,
    pub(crate) disturbances: Disturbances<'a>,
    pub(crate) cancel: &'a AtomicBool,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrialEnd {
    pub(crate) sample: Sample,
    pub(crate) cpu: CpuUsage,
    pub(crate) monitor: Vec<MonitorRow>,
    pub(crate) components: Vec<ComponentUse>,
    /// What each stands for.
    pub(crate) parts: Vec<Option<SitePart>>,
    /// What a reader should know of it, one sentence each.
    pub(crate) notes: Vec<String>,
    /// What bytes are gone that faults took, one sentence each.
    pub(crate) losses: Vec<String>,
    /// Virtual time that passed, ramp and drain included.
    pub(crate) elapsed_ns: u64,
}

/// Looks whether to go on.
struct Watcher<'a>(&'a AtomicBool);

impl Observer for Watcher<'_> {
    fn cancelled(&mut self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl TrialRun<'_> {
    fn kind(&self) -> &WorkloadKind {
        &self.plan.workloads[self.cell.workload].kind
    }

    /// What the machine has to know of the load before.
    fn load(&self) -> Load {
        let (random, zipf) = match self.kind() {
            WorkloadKind::Io(io) => (
                io.random_percent / 100.0,
                match io.distribution {
                    Distribution::Zipf { exponent } => Some(exponent),
                    Distribution::Uniform => None,
                },
            ),
            WorkloadKind::File(test) => (f64::from(u8::from(test.operation.is_random())), None),
            WorkloadKind::Transfer(_) | WorkloadKind::Deploy(_) => (0.0, None),
        };
        let template = u32::from(matches!(self.kind(), WorkloadKind::Deploy(_)));
        Load {
            vms: self.cell.vms.saturating_add(template),
            disk_bytes: self.plan.disks().1,
            working_set_bytes: self.plan.disk_bytes_of(self.cell.workload),
            random,
            zipf,
        }
    }

    /// The machine of the cell, at its beginning.
    pub(crate) fn machine(&self) -> Result<Machine, NoMachine> {
        let Timing { ramp_ns, interval_ns, .. } = self.timing;
        let window = Window { from_ns: ramp_ns, interval_ns };
        let build = match self.kind() {
            WorkloadKind::Transfer(_) => Machine::with_client,
            _ => Machine::new,
        };
        let mut machine = build(self.site, self.place.datastore, self.load(), window, self.seed)?;
        for planned in self.disturbances.planned(self.site, self.place.datastore)? {
            planned.schedule(&mut machine)?;
        }
        Ok(machine)
    }

    /// Carries it out.
    pub(crate) fn carry_out(&self) -> Result<TrialEnd, String> {
        let mut machine = self.machine().map_err(|error| error.to_string())?;
        let (mut sample, ramp_ns) = match self.kind() {
            WorkloadKind::Io(io) => (self.timed(io, &mut machine)?, self.timing.ramp_ns),
            WorkloadKind::File(test) => (self.file_test(*test, &mut machine)?, 0),
            WorkloadKind::Deploy(deployment) => (self.deployment(*deployment, &mut machine)?, 0),
            WorkloadKind::Transfer(transfer) => (self.transfer(*transfer, &mut machine)?, 0),
        };
        machine.end_window();
        sample.disturbances = self.disturbances.taken(ramp_ns, machine.time().now_ns());
        let uses = machine.usage();
        let datastore = &self.site.datastores[self.place.datastore];
        let sink = match self.kind() {
            WorkloadKind::Transfer(transfer) => Some(transfer.sink),
            _ => None,
        };
        let place = (self.site, datastore);
        Ok(TrialEnd {
            cpu: usage::cpu(self.site, datastore, &sample, &uses),
            monitor: usage::monitor(place, sink, &sample, &uses, ramp_ns),
            components: usage::thinned(uses),
            parts: machine.parts(),
            notes: machine.notes(),
            losses: machine.losses(),
            elapsed_ns: machine.time().now_ns(),
            sample,
        })
    }

    fn timed(&self, io: &Workload, machine: &mut Machine) -> Result<Sample, String> {
        let Timing { ramp_ns, duration_ns, interval_ns } = self.timing;
        let mut workload = io.clone();
        if let (Some(outstanding), Arrivals::Closed { .. }) =
            (self.cell.outstanding, workload.arrivals)
        {
            workload.arrivals = Arrivals::Closed { outstanding };
        }
        let limits = Limits { open_loop_outstanding: OPEN_LOOP_OUTSTANDING, ..Limits::default() };
        let limits = self.disturbances.limits(limits, ramp_ns.saturating_add(duration_ns));
        let trial = Trial {
            workload,
            first_disk: 0,
            disks: self.cell.vms,
            disk_bytes: self.plan.disk_bytes_of(self.cell.workload),
            seed: self.seed,
            start: self.start,
            content_seed: self.seed,
            ramp_ns,
            duration_ns,
            interval_ns,
            limits,
            // A model keeps no bytes that could be wrong.
            verify: false,
        };
        machine.measure(Window { from_ns: ramp_ns, interval_ns }, ramp_ns + duration_ns);
        let mut clock = machine.time().clock();
        drive(&trial, || Some(0), machine, &mut clock, &mut Watcher(self.cancel))
            .map_err(|error| error.to_string())
    }

    fn file_test(&self, mut test: FileTest, machine: &mut Machine) -> Result<Sample, String> {
        test.outstanding = self.cell.outstanding.unwrap_or(test.outstanding);
        if test.operation == FileOperation::Reread {
            // What is read again was read before.
            let first = FileTest { operation: FileOperation::Read, ..test };
            let sample = self.fixed_work(FixedWork::File(first), machine)?;
            if sample.ended != Ended::Completed {
                return Ok(sample);
            }
        }
        self.fixed_work(FixedWork::File(test), machine)
    }

    fn deployment(
        &self,
        mut deployment: Deployment,
        machine: &mut Machine,
    ) -> Result<Sample, String> {
        deployment.outstanding = self.cell.outstanding.unwrap_or(deployment.outstanding);
        self.fixed_work(FixedWork::Deploy(deployment), machine)
    }

    fn transfer(&self, transfer: Transfer, machine: &mut Machine) -> Result<Sample, String> {
        let interval_ns = self.timing.interval_ns;
        let trial = TransferTrial {
            transfer,
            vms: self.cell.vms,
            disk_bytes: self.plan.disk_bytes_of(self.cell.workload),
            start: self.start,
            interval_ns,
            limits: Limits { stall_ns: TRANSFER_GIVES_UP_NS, ..Limits::default() },
        };
        machine.measure(Window { from_ns: machine.time().now_ns(), interval_ns }, u64::MAX);
        drive_transfer(&trial, machine, &mut Watcher(self.cancel))
            .map_err(|error| error.to_string())
    }

    fn fixed_work(&self, fixed_work: FixedWork, machine: &mut Machine) -> Result<Sample, String> {
        let trial = FixedWorkTrial {
            fixed_work,
            first_disk: 0,
            disks: self.cell.vms,
            disk_bytes: self.plan.disk_bytes_of(self.cell.workload),
            seed: self.seed,
            content_seed: self.seed,
            interval_ns: self.fixed_work_interval_ns,
            limits: Limits::default(),
        };
        let now_ns = machine.time().now_ns();
        let window = Window { from_ns: now_ns, interval_ns: self.fixed_work_interval_ns };
        machine.measure(window, u64::MAX);
        let mut clock = machine.time().clock();
        let (start, watcher) = (|| Some(now_ns), &mut Watcher(self.cancel));
        match fixed_work {
            FixedWork::File(_) => drive_file_test(&trial, start, machine, &mut clock, watcher),
            FixedWork::Deploy(_) => drive_deployment(&trial, start, machine, &mut clock, watcher),
        }
        .map_err(|error| error.to_string())
    }
}

impl TrialEnd {
    /// Why this is no prediction, if it is none: it was not carried out to its end, or some of its
    /// requests failed because their bytes are gone.
    pub(crate) fn failure(&self) -> Option<TrialFailure> {
        let Self { sample, losses, .. } = self;
        let first = sample.faults.first().cloned();
        let is_lost = !losses.is_empty() && (first.is_some() || sample.ended != Ended::Completed);
        let lost = || {
            let (ended, losses) = (sample.ended.clone(), losses.clone());
            TrialFailure::BytesLost { ended, first, losses }
        };
        if is_lost { Some(lost()) } else { TrialFailure::of_ended(sample) }
    }
}
