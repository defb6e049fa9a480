//! Checks that concern no single key: contradictory keys, and loads that no disk can carry.

use stormeter_trial::{Arrivals, FileOperation, ScreenFields, TransferSink, Workload};
use stormeter_units::{format_bytes, format_duration_ns};

use super::keys;
use crate::plan::Metric;
use crate::reach::Reach;
use crate::study_plan::{Reset, StudyHost, StudyPlan, StudyWorkload, Unit, WorkloadKind};
use stormeter_yaml::{Diagnostics, Place, Section, shortened};

/// The positions for such messages.
#[derive(Debug, Default)]
pub(super) struct Places {
    workloads: Vec<Place>,
    metric: Place,
    verify: Place,
    time_limit: Place,
    reset: Place,
    unit: Place,
    load: Place,
    equal: Place,
    hosts: Place,
}

impl Places {
    pub(super) fn of(study: &Section<'_>, workloads: Vec<Place>) -> Places {
        // The sections' mistakes were reported when they were read.
        let mut ignored = Diagnostics::default();
        let mut place = |section: &str, keys, key: &str| {
            let opened =
                study.get(section).and_then(|n| Section::open(n, section, keys, &mut ignored));
            opened.map_or(study.place, |section| section.place_of(key))
        };
        Places {
            workloads,
            metric: place("design", &keys::DESIGN, "metric"),
            time_limit: place("design", &keys::DESIGN, "time-limit"),
            reset: place("design", &keys::DESIGN, "reset"),
            verify: place("measure", &keys::MEASURE, "verify"),
            unit: place("measure", &keys::MEASURE, "unit"),
            load: place("load", &keys::LOAD, "vms"),
            equal: place("load", &keys::LOAD, "equal"),
            hosts: study.place_of("hosts"),
        }
    }
}

/// The most VMs at once: each has a disk, which is a file or a region.
const MOST_VMS: u32 = 100_000;
/// Letters, each of which needs a field of its own, and viewers that have two of them.
const LETTERS: u32 = 26;
const MOST_VIEWERS: u32 = LETTERS / 2;
/// The most cells: each trial is a row with its intervals and histograms in the results file.
const MOST_CELLS: usize = 10_000;

/// Whether a workload replaces the prepared files.
fn makes_files(workload: &StudyWorkload) -> bool {
    match &workload.kind {
        WorkloadKind::File(test) => test.operation == FileOperation::Write,
        WorkloadKind::Deploy(_) | WorkloadKind::Desktops(_) => true,
        _ => false,
    }
}

/// Checks the plan as a whole.
pub(super) fn check(
    plan: &StudyPlan,
    places: &Places,
    first_step: Option<&Place>,
    metric_given: bool,
    diagnostics: &mut Diagnostics,
) {
    for (index, workload) in plan.workloads.iter().enumerate() {
        let place = places.workloads.get(index).copied().unwrap_or_default();
        if let Err(message) = check_workload(plan, workload, plan.disk_bytes_of(index)) {
            diagnostics.error_at(place, format!("workload {}: {message}", workload.name));
        }
    }
    if let Some(&vms) = plan.vms.iter().find(|&&vms| vms > MOST_VMS) {
        diagnostics.error_at(
            places.load,
            format!("{vms} VMs are more than the {MOST_VMS} that one machine can drive"),
        );
    }
    let cells = plan.cells().len();
    if cells > MOST_CELLS {
        diagnostics.error_at(
            places.load,
            format!(
                "the levels make {cells} cells, more than the {MOST_CELLS} that a study can have; \
                 name fewer levels"
            ),
        );
        return;
    }
    check_metric(plan, places, metric_given, diagnostics);
    let ios = || plan.workloads.iter().filter(|w| matches!(w.kind, WorkloadKind::Io(_)));
    if plan.verify && ios().next().is_none() {
        diagnostics.error_at(
            places.verify,
            "verify looks at the reads of timed workloads, and this study has none; leave it out",
        );
    } else if plan.verify && ios().count() < plan.workloads.len() {
        diagnostics.error_at(
            places.verify,
            "verify knows what timed workloads write, and not what file tests, transfers and \
             deployments write over it; leave it out, or give those a study of their own",
        );
    }
    check_services(plan, places, diagnostics);
    check_desktops(plan, places, diagnostics);
    if !plan.hosts.is_empty() {
        check_hosts(plan, places, diagnostics);
    }
    if let Some(&step) = first_step
        && !plan.workloads.iter().all(|workload| workload.kind.is_timed())
    {
        diagnostics.error_at(
            step,
            "steps come at times of a trial, and a file test, a transfer or a deployment lasts as long as \
             it takes; leave steps out, or give such workloads a study of their own",
        );
    }
    if plan.design.reset == Reset::Snapshot && plan.workloads.iter().any(makes_files) {
        diagnostics.error_at(
            places.reset,
            "a file test that writes and a deployment create new files, which a rollback would remove again; \
             write reset: recreate, or give such workloads a study of their own",
        );
    }
    let all_timed = plan.workloads.iter().all(|workload| workload.kind.is_timed());
    if plan.design.unit == Unit::Interval && !all_timed {
        diagnostics.error_at(
            places.unit,
            "work that ends when it is done has no intervals to take as observations; write unit: \
             trial, or leave such workloads out",
        );
    }
    let is_closed = |workload: &StudyWorkload| matches!(&workload.kind, WorkloadKind::Io(io) if io.arrivals.rate_per_s().is_none());
    if plan.design.equal_load.is_some() && !plan.workloads.iter().any(is_closed) {
        diagnostics.error_at(
            places.equal,
            "no workload of this study is a closed loop, whose rate could be made equal; leave equal out",
        );
    }
    if let Some(limit_ns) = plan.design.time_limit_ns {
        let block_ns = plan.estimate().block_ns;
        if block_ns > limit_ns {
            diagnostics.error_at(
                places.time_limit,
                format!(
                    "one block of this study takes {} and more, which is longer than the time \
                     limit of {}; raise the limit, shorten ramp and duration, or name fewer levels",
                    format_duration_ns(block_ns as f64),
                    format_duration_ns(limit_ns as f64)
                ),
            );
        }
    }
}

/// Sessions are with servers, and servers have nothing but sessions.
fn check_services(plan: &StudyPlan, places: &Places, diagnostics: &mut Diagnostics) {
    let service = plan.workloads.iter().find(|workload| workload.kind.service().is_some());
    let disk = plan.workloads.iter().position(|workload| workload.kind.service().is_none());
    let place = |workload: usize| places.workloads.get(workload).copied().unwrap_or_default();
    let server = plan.datastores.iter().find(|datastore| datastore.is_server());
    let storage = plan.datastores.iter().find(|datastore| !datastore.is_server());
    if let (Some(service), Some(disk)) = (service, disk) {
        diagnostics.error_at(
            place(disk),
            format!(
                "workload {} is of disks, and {} of sessions with a server; make two studies of them",
                plan.workloads[disk].name, service.name
            ),
        );
    } else if let (Some(service), Some(storage)) = (service, storage) {
        diagnostics.error_at(
            places.workloads.first().copied().unwrap_or_default(),
            format!(
                "workload {} is of sessions with a server, and datastore {} is none; write {}: \
                 \"server://host\"",
                service.name, storage.name, storage.name
            ),
        );
    } else if let (None, Some(server), Some(disk)) = (service, server, disk) {
        diagnostics.error_at(
            place(disk),
            format!(
                "workload {} is of disks, and {} is a server, which has none; write a workload with ftp or vnc, or \
                 name the datastore's URL",
                plan.workloads[disk].name, server.name
            ),
        );
    }
    let viewers = plan.vms.iter().copied().max().unwrap_or(1);
    for (index, workload) in plan.workloads.iter().enumerate() {
        let WorkloadKind::Vnc(vnc) = &workload.kind else { continue };
        let fields = vnc.fields.map_or(1, ScreenFields::count);
        if viewers > MOST_VIEWERS || viewers > 1 && fields < LETTERS {
            diagnostics.error_at(
                place(index),
                format!(
                    "several viewers share a desktop, and each must know its own keys by their fields; write at least \
                     {LETTERS} fields (fields: 8x4, where the desktop shows keys so) and at most {MOST_VIEWERS} \
                     viewers (load: {{vms: {MOST_VIEWERS}}}), or one viewer"
                ),
            );
        }
    }
    if service.is_some() && plan.design.reset != Reset::None {
        diagnostics.error_at(
            places.reset,
            "sessions with a server leave no disks to reset; leave reset out",
        );
    }
}

/// Desktops of a lab have nothing but users.
fn check_desktops(plan: &StudyPlan, places: &Places, diagnostics: &mut Diagnostics) {
    let Some(machines) = plan.datastores.iter().find(|datastore| datastore.is_desktops()) else {
        return;
    };
    let place = places.workloads.first().copied().unwrap_or_default();
    if let Some(other) = plan.workloads.iter().find(|it| it.kind.desktops().is_none()) {
        diagnostics.error_at(
            place,
            format!(
                "datastore {} is desktops of a lab, and workload {} has no users for them; write a workload with \
                 desktops, or name the datastore's URL",
                machines.name, other.name
            ),
        );
    } else if let Some(other) = plan.datastores.iter().find(|datastore| !datastore.is_desktops()) {
        diagnostics.error_at(
            place,
            format!(
                "{} is desktops of a lab, which are machines, and {} has disks only; make two studies of them",
                machines.name, other.name
            ),
        );
    }
    if plan.design.reset != Reset::None {
        diagnostics.error_at(
            places.reset,
            "each trial makes its desktops again, from a template that no trial changes; leave reset out",
        );
    }
}

/// Checks what hosts cannot do, and what their clients must know.
fn check_hosts(plan: &StudyPlan, places: &Places, diagnostics: &mut Diagnostics) {
    let is_any = |is: fn(&WorkloadKind) -> bool| plan.workloads.iter().any(|w| is(&w.kind));
    if is_any(|kind| kind.desktops().is_some()) {
        diagnostics.error_at(
            places.hosts,
            "desktops on demand have one broker, on the machine that runs the study; leave hosts out, or put the \
             desktops into a study of their own",
        );
    }
    let unknown = |host: &StudyHost| match &host.reached_by {
        Reach::Command(command) if host.address.is_none() => {
            Some((host.name.clone(), command.clone()))
        }
        _ => None,
    };
    if is_any(|kind| matches!(kind, WorkloadKind::Transfer(_)))
        && let Some((name, command)) = plan.hosts.iter().find_map(unknown)
    {
        diagnostics.error_at(
            places.hosts,
            format!(
                "host {name} is reached by a command, and the clients of transfers need its address; \
                 write {name}: {{command: \"{}\", address: 10.0.0.5}}",
                shortened(&command)
            ),
        );
    }
}

/// Checks the metric against values that the workloads fix by construction.
fn check_metric(plan: &StudyPlan, places: &Places, given: bool, diagnostics: &mut Diagnostics) {
    if !given {
        return;
    }
    let metric = plan.design.metric;
    let is_open = |w: &&StudyWorkload| w.kind.has_rate();
    let is_timed = |w: &&StudyWorkload| w.kind.is_timed();
    let message = match metric {
        Metric::Iops | Metric::Throughput => plan.workloads.iter().find(is_open).map(|open| {
            format!(
                "workload {} has a fixed rate, so {} is equal by construction; write metric: \
                 latency-mean, latency-p99 or cpu-per-io",
                open.name,
                metric.title()
            )
        }),
        Metric::Elapsed => plan.workloads.iter().find(is_timed).map(|timed| {
            format!(
                "workload {} runs for the duration of measure, so its elapsed time says nothing; \
                 write metric: iops, or leave it out",
                timed.name
            )
        }),
        metric => plan.lacks(metric),
    };
    if let Some(message) = message {
        diagnostics.error_at(places.metric, message);
    }
}

/// Checks that a workload can be driven on its disks, at every level of the load.
fn check_workload(
    plan: &StudyPlan,
    workload: &StudyWorkload,
    disk_bytes: u64,
) -> Result<(), String> {
    let has_room = |bytes: u64, what: &str| {
        if bytes <= disk_bytes {
            return Ok(());
        }
        Err(format!(
            "a disk of {} has no room for {what} of {}; write a larger size",
            format_bytes(disk_bytes),
            format_bytes(bytes)
        ))
    };
    match &workload.kind {
        WorkloadKind::Io(io) => {
            for io in at_every_level(plan, io) {
                io.check(disk_bytes).map_err(|error| error.to_string())?;
                if plan.verify {
                    io.check_verify(disk_bytes).map_err(|error| error.to_string())?;
                }
            }
            Ok(())
        }
        WorkloadKind::File(test) => has_room(u64::from(test.record_bytes), "a record"),
        WorkloadKind::Transfer(transfer) => match transfer.sink {
            TransferSink::Disk => has_room(transfer.message_bytes, "a message"),
            TransferSink::Memory => Ok(()),
        },
        WorkloadKind::Deploy(deployment) => has_room(u64::from(deployment.copy_bytes), "a copy"),
        WorkloadKind::Ftp(_) | WorkloadKind::Vnc(_) => Ok(()),
        WorkloadKind::Desktops(load) => {
            for io in [&load.session.log_on, &load.session.work] {
                io.check(disk_bytes).map_err(|error| format!("{}: {error}", io.name))?;
            }
            let mut one = load.broker.desktop;
            if one.storage_bytes == 0 {
                one.storage_bytes = disk_bytes;
            }
            if load.broker.capacity.fits(one, 1) == 0 {
                return Err("capacity has no room for one desktop; write more, or let a desktop reserve less".into());
            }
            has_room(u64::from(load.deployment.copy_bytes), "a copy")
        }
    }
}

fn at_every_level(plan: &StudyPlan, io: &Workload) -> Vec<Workload> {
    if io.arrivals.rate_per_s().is_some() || plan.outstanding.is_empty() {
        return vec![io.clone()];
    }
    let levels = plan.outstanding.iter();
    levels
        .map(|&outstanding| Workload { arrivals: Arrivals::Closed { outstanding }, ..io.clone() })
        .collect()
}
