//! Runs a trial of fixed work on real threads: on disks, as a transfer, or one end of a transfer alone.

use std::net::TcpStream;
use std::sync::atomic::AtomicBool;

use stormeter_datastore::{Datastore, DatastoreUrl, OpenOptions, RealClock};
use stormeter_trial::FixedWork;

use super::disks::OnDisks;
use super::order::FixedWorkRun;
use super::transfer;
use crate::error::RunError;
use crate::progress::Progress;
use crate::threads::{Start, shares, threads};
use crate::trial_end::TrialEnd;
use crate::workers::{Job, Windows, Workers, at_once, check_memory};

/// Runs a trial of fixed work on prepared disks ([`FixedWorkRun::disks`] of them; the template of a deployment is the
/// last). The window of the sample lasts from the common start to the end of the last worker, and the
/// CPU times are those of that window.
///
/// For the meaning of operations, bytes and steps see [`stormeter_driver::drive_file_test`] and
/// [`stormeter_driver::drive_deployment`]. In a transfer an operation is one message, from its first byte
/// (a read: from the request for it) to the server's acknowledgement (a read: to the last byte); the step `transfer` is
/// counted once per message. On the sink `disk` a message is acknowledged when the datastore has answered all of its
/// writes; stability is only requested at the end of the trial, if the datastore supports it ([`stormeter_datastore::DiskSet::finish`]: NFS with
/// `sync=unstable`). A message takes whole blocks of 4 KiB there, one message after another from
/// [`FixedWorkRun::start`] on, and continues at the start of the disk when its end is reached.
///
/// # Errors
/// The work is impossible, disks cannot be opened, threads cannot be started, or memory is short. Failures while it runs
/// are in the sample.
pub fn run_fixed_work(
    run: &FixedWorkRun<'_>,
    datastore: &Datastore,
    clock: &RealClock,
    cancel: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    let start = Start { first_cpu: 0, starter: &mut at_once };
    run_fixed_work_from(run, datastore, (clock, cancel), start, progress)
}

/// As [`run_fixed_work`], with a given start.
pub(crate) fn run_fixed_work_from(
    run: &FixedWorkRun<'_>,
    datastore: &Datastore,
    clock: (&RealClock, &AtomicBool),
    start: Start<'_>,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    run.check()?;
    let Some(fixed_work) = run.disk_fixed_work() else {
        let transfer = run.transfer()?;
        check_memory(std::iter::empty(), transfer::memory_bytes(run, transfer))?;
        let jobs = transfer::pairs(run, transfer, datastore)?;
        return carry_out(run, jobs, datastore, clock, start, progress);
    };
    let jobs = shares(run.vms, threads(run.threads, run.vms)).map(|(first_disk, disks)| {
        let template = matches!(fixed_work, FixedWork::Deploy(_)).then_some(run.vms);
        OnDisks { trial: run.trial(fixed_work, first_disk, disks), template, datastore }
    });
    let jobs: Vec<OnDisks<'_>> = jobs.collect();
    check_memory(jobs.iter().map(|job| job.trial.buffer_needs()), 0)?;
    carry_out(run, jobs, datastore, clock, start, progress)
}

/// Runs the servers of a transfer whose clients are elsewhere, connected by `sockets` in the order of the VMs. The sample
/// has only failures of the servers: the rest is the clients'.
pub(crate) fn run_servers(
    run: &FixedWorkRun<'_>,
    sockets: Vec<TcpStream>,
    datastore: &Datastore,
    clock: (&RealClock, &AtomicBool),
    start: Start<'_>,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    run.check()?;
    let transfer = run.transfer()?;
    check_memory(std::iter::empty(), transfer::memory_bytes(run, transfer))?;
    let jobs = transfer::servers(run, transfer, datastore, sockets)?;
    carry_out(run, jobs, datastore, clock, start, progress)
}

/// When and where clients start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientStart {
    /// The time, by the clock that they receive.
    pub at_ns: u64,
    /// The first client's CPU among those of the process: clients of several hosts must not share one.
    pub first_cpu: usize,
}

/// Runs the clients of a transfer whose servers are elsewhere, connected by `sockets` in the order of the VMs. The sample
/// is like that of [`run_fixed_work`]; the CPU times are those of the clients.
///
/// # Errors
/// As [`run_fixed_work`].
pub fn run_clients(
    run: &FixedWorkRun<'_>,
    sockets: Vec<TcpStream>,
    clock: &RealClock,
    cancel: &AtomicBool,
    start: ClientStart,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    run.check()?;
    let jobs = transfer::clients(run, run.transfer()?, sockets)?;
    let url = DatastoreUrl::parse("null:")?;
    let options = OpenOptions { run_id: "0".repeat(16), ..OpenOptions::default() };
    // A client has no disks, only its socket.
    let nothing = Datastore::open(&url, options)
        .map_err(|source| RunError::Datastore { url: url.to_string(), source })?;
    let start = Start { first_cpu: start.first_cpu, starter: &mut |_| Ok(start.at_ns) };
    carry_out(run, jobs, &nothing, (clock, cancel), start, progress)
}

fn carry_out<J: Job>(
    run: &FixedWorkRun<'_>,
    jobs: Vec<J>,
    datastore: &Datastore,
    (clock, cancel): (&RealClock, &AtomicBool),
    start: Start<'_>,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    let (windows, interval_ns) = (Windows::OneByOne, run.interval_ns);
    let Start { first_cpu, starter } = start;
    let workers = Workers { datastore, clock, cancel, windows, interval_ns, first_cpu };
    workers.carry_out(jobs, starter, progress)
}
