//! `stormeter ceiling`.

use serde_json::json;
use stormeter_datastore::{DatastoreUrl, RealClock};
use stormeter_runner::{NullProtocol, TrialRun, measure_ceiling};
use stormeter_study::{PlanError, Timing};
use stormeter_units::{format_count, format_duration_ns};

use crate::arguments::{CeilingOptions, Through};
use crate::exit::{Exit, Failure};
use crate::live::Display;
use crate::null_servers::null_server;
use crate::output::print;
use crate::signals::cancel_on_signals;

/// Drawing offsets on an imaginary disk of this size costs as much as on any other.
const DISK_BYTES: u64 = 64 << 30;
const SMALL_DISK_BYTES: u64 = 64 << 20;

pub(crate) fn run(options: &CeilingOptions) -> Result<Exit, Failure> {
    let workload = options.load.workload()?;
    if options.load.vms == 0 {
        return Err(Failure::Usage(PlanError::NoVms.to_string()));
    }
    if options.duration == 0 {
        return Err(Failure::Usage("the duration must be greater than 0, such as 2s".into()));
    }
    // A load through a server is written in full first.
    let disk_bytes = if options.through.is_some() { SMALL_DISK_BYTES } else { DISK_BYTES };
    workload.check(disk_bytes).map_err(|error| Failure::Usage(error.to_string()))?;
    let run = TrialRun {
        workload: &workload,
        vms: options.load.vms,
        disk_bytes,
        threads: options.load.threads.unwrap_or(0),
        timing: Timing {
            ramp_ns: options.duration / 10,
            duration_ns: options.duration,
            interval_ns: (options.duration / 10).max(1),
        },
        seed: options.seed,
        start: Default::default(),
        content_seed: 0,
        disturbed: false,
    };
    let server = options.through.map(|it| null_server(protocol(it))).transpose()?;
    let url = server.as_ref().map_or("null:", |server| server.url());
    let url = DatastoreUrl::parse(url).map_err(|error| Failure::Usage(error.to_string()))?;
    let cancel = cancel_on_signals();
    let mut progress = Display::new("", options.json);
    let end = measure_ceiling(&url, &run, None, &RealClock::new(), &cancel, &mut progress)?;
    drop(progress);
    if let Some(reason) = end.failure() {
        let interrupted = cancel.load(std::sync::atomic::Ordering::Relaxed);
        let exit = if interrupted { Exit::Interrupted } else { Exit::Failed };
        eprintln!("error: the ceiling could not be measured: {reason}");
        return Ok(exit);
    }
    let total = end.sample.total();
    let operations = total.operations.max(1) as f64;
    let cpu_ns = (end.cpu.threads_user_ns + end.cpu.threads_system_ns) as f64 / operations;
    let p50 = total.histogram.percentile_ns(0.5).unwrap_or(0.0);
    let outstanding = end.sample.outstanding_configured.unwrap_or(0);
    if options.json {
        let value = json!({
            "workload": workload.name,
            "through": options.through.map(name),
            "iops": end.sample.iops(),
            "operations": total.operations,
            "ramp_operations": end.sample.ramp_operations,
            "seconds": end.sample.window_ns as f64 / 1e9,
            "outstanding": outstanding,
            "vms": options.load.vms,
            "latency_p50_ns": p50,
            "cpu_ns_per_io": cpu_ns,
        });
        print(&format!("{value:#}\n"))?;
    } else {
        let through = options.through.map(|it| format!(", through {}", name(it)));
        print(&format!(
            "{} IOPS with {outstanding} outstanding ({}{}, {} CPU per I/O)\n\
             Trust results up to one third of this rate; beyond that the load generator itself may be \
             the limit.\n",
            format_count(end.sample.iops()),
            workload.name,
            through.unwrap_or_default(),
            format_duration_ns(cpu_ns),
        ))?;
    }
    Ok(Exit::Done)
}

fn name(through: Through) -> &'static str {
    match through {
        Through::Nfs => "nfs",
        Through::Iscsi => "iscsi",
    }
}

fn protocol(through: Through) -> NullProtocol {
    match through {
        Through::Nfs => NullProtocol::Nfs,
        Through::Iscsi => NullProtocol::Iscsi,
    }
}
