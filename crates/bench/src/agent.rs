//! The same trial in this process and by an agent over a pipe: the overhead of hosts in a study.

use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::json;
use stormeter_agent::{Fleet, FleetOptions, Stop, Timeouts};
use stormeter_datastore::DiskSpec;
use stormeter_runner::{Executor, OpenOrder, Silent, TrialOrder, TrialTarget};
use stormeter_study::{Reach, StudyHost, WorkloadKind};

use crate::arguments::Arguments;
use crate::drive::{BLOCK_BYTES, Drive, RUN_ID, SEED};
use crate::failure::Failure;
use crate::line::{Bound, Line, rate};
use crate::ours;
use crate::pairs::interleave;

/// Agents must cost less than 2 %.
const LEAST_IOPS: f64 = 0.98;
const MOST_CPU: f64 = 1.02;
/// One timed run. The effect is smaller than the difference between two runs of one program, so there are
/// many short ones.
const TIMED_MS: u64 = 2000;
const PAIRS: usize = 25;

/// The lines of the table.
pub(crate) fn lines(arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    let drive = Drive { outstanding: 4, ramp_ms: 500, duration_ms: TIMED_MS, ..Drive::default() };
    let by_agent = Drive { agent: true, ..drive.clone() };
    let run = |drive: &Drive| {
        ours::run(drive, &[]).map(|(report, _)| [report.iops, report.cpu_per_io_ns])
    };
    let [iops, cpu] = interleave(arguments.pairs_or(PAIRS), || run(&by_agent), || run(&drive))?;
    let what = |figure| format!("`null:`, one thread, agent on a pipe: {figure}");
    let reference = "in process";
    Ok(vec![
        Line::paired(what("IOPS"), &iops, Bound::LeastWithinNoise(LEAST_IOPS), rate)
            .reference(reference),
        Line::paired(what("CPU per I/O"), &cpu, Bound::Most(MOST_CPU), |ns| format!("{ns:.1} ns"))
            .reference(reference),
    ])
}

/// The agent's end.
pub(crate) fn serve() -> Result<(), Failure> {
    let streams = || -> std::io::Result<_> {
        let input = std::io::stdin().as_fd().try_clone_to_owned()?;
        let output = std::io::stdout().as_fd().try_clone_to_owned()?;
        Ok((std::fs::File::from(input), std::fs::File::from(output)))
    };
    let (input, output) = streams().map_err(|error| error.to_string())?;
    let version = env!("CARGO_PKG_VERSION");
    stormeter_agent::serve(input, output, version, Stop::default()).map_err(|e| e.to_string())
}

/// Drives through an agent and prints the result.
pub(crate) fn run(drive: &Drive) -> Result<(), Failure> {
    println!("{}", through_agent(drive)?);
    Ok(())
}

/// Drives through an agent. The CPU time is the agent's in the window plus all that this process
/// spends on the trial.
fn through_agent(drive: &Drive) -> Result<serde_json::Value, Failure> {
    let failed = |error: stormeter_runner::RunError| error.to_string();
    let options = FleetOptions {
        guests: vec![],
        program: std::env::current_exe().map_err(|error| error.to_string())?,
        agent_binary: None,
        version: env!("CARGO_PKG_VERSION").into(),
        patience: Timeouts::default(),
    };
    let host = StudyHost { name: "here".into(), reached_by: Reach::Local, address: None };
    let mut fleet = Fleet::new(&[host], options).map_err(failed)?;
    let cancel = AtomicBool::new(false);
    let disks =
        DiskSpec { count: drive.vms, size_bytes: drive.disk_bytes, granularity_bytes: BLOCK_BYTES };
    let order = OpenOrder {
        run_id: RUN_ID.into(),
        urls: vec!["null:".into()],
        disks,
        templates: 0,
        destroy_data: vec![],
        secrets: vec![],
        first_number: 0,
        verification: None,
        needs_target: false,
        durability: Default::default(),
        clones: false,
        services: Vec::new(),
        drivers: vec![],
    };
    fleet.open(&order, &cancel, &mut Silent).map_err(failed)?;
    let workload = drive.workload();
    let filling =
        stormeter_runner::FillSpec { disks, content: workload.content, seed: SEED, zero: false };
    let order = stormeter_runner::PrepareOrder { store: 0, filling, templates: 0, reset: None };
    fleet.prepare(&order, &cancel, &mut Silent).map_err(failed)?;
    let order = TrialOrder {
        target: TrialTarget::Store(0),
        work: WorkloadKind::Io(workload),
        outstanding: None,
        listener: None,
        first_vm: 0,
        vms: drive.vms,
        disk_bytes: drive.disk_bytes,
        threads: drive.threads,
        first_cpu: 0,
        timing: drive.timing(),
        seed: SEED,
        start: Default::default(),
        content_seed: 0,
        disturbed: false,
        watched: false,
    };
    let before_ns = own_cpu_ns();
    let end = fleet.trial(&order, &cancel, &mut Silent).map_err(failed)?;
    let spent_ns = own_cpu_ns().saturating_sub(before_ns);
    if let Some(failure) = end.failure() {
        return Err(failure.to_string());
    }
    let total = end.sample.total();
    Ok(json!({
        "operations": total.operations + end.sample.ramp_operations,
        "iops": end.sample.iops(),
        "cpu_per_io_ns": (end.cpu.process_ns + spent_ns) as f64 / total.operations.max(1) as f64,
    }))
}

fn own_cpu_ns() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF);
    usage.map_or(0, |usage| {
        (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as u64
            * 1000
    })
}
