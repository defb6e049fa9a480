//! Trials of sessions with a service: each thread has some of the sessions, and drives them on sockets of its own.

use std::sync::atomic::{AtomicBool, Ordering};

use stormeter_datastore::{CloseSummary, Datastore, DatastoreError, RealClock, Secret};
use stormeter_driver::drive_sessions;
use stormeter_service::{PATIENCE, ServiceSessions, SessionPlan};
use stormeter_study::Timing;
use stormeter_trial::{FtpDirection, Limits, Sample, ServiceLoad, SessionTrial};

use crate::error::RunError;
use crate::progress::Progress;
use crate::threads::{Start, shares, threads};
use crate::trial_end::TrialEnd;
use crate::watcher::Watcher;
use crate::workers::{Job, Windows, Workers};

/// A trial of sessions over all its threads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SessionRun {
    pub(crate) load: ServiceLoad,
    pub(crate) password: Secret,
    /// Number of the first over all hosts.
    pub(crate) first_session: u32,
    pub(crate) sessions: u32,
    /// Driving threads; 0: one per CPU, but at most one per session.
    pub(crate) threads: u32,
    pub(crate) timing: Timing,
    /// The seed of pauses.
    pub(crate) seed: u64,
    /// The seed of keys and contents.
    pub(crate) content_seed: u64,
    /// The service is disturbed on purpose: failures and silence are counted and do not end the trial.
    pub(crate) disturbed: bool,
}

/// Opens one session and ends it, so that a service that is missing or refuses is found before the first trial.
pub(crate) fn check_service(
    datastore: &Datastore,
    load: &ServiceLoad,
    password: Secret,
    cancel: &AtomicBool,
) -> Result<(), RunError> {
    let mut load = load.clone();
    if let ServiceLoad::Ftp(ftp) = &mut load {
        // One byte is put there and removed: passive connections and the right to write are checked, too.
        (ftp.direction, ftp.file_bytes, ftp.files) = (FtpDirection::Download, 1, 1);
    }
    let plan = plan_of(datastore, load, password, 0, (0, 1))?;
    let opened = ServiceSessions::open(&plan, &|| cancel.load(Ordering::Relaxed));
    let failed = |source| crate::workers::failed(datastore, source);
    opened.map_err(|error| failed(no_session(datastore, &error)))?.finish();
    Ok(())
}

/// Runs a trial of sessions with the server of a datastore.
pub(crate) fn run_sessions(
    run: &SessionRun,
    datastore: &Datastore,
    (clock, cancel): (&RealClock, &AtomicBool),
    start: Start<'_>,
    progress: &mut dyn Progress,
) -> Result<TrialEnd, RunError> {
    let jobs = shares(run.sessions, threads(run.threads, run.sessions)).map(|share| {
        let (load, password) = (run.load.clone(), run.password.clone());
        let (first, sessions) = (run.first_session.saturating_add(share.0), share.1);
        let plan = plan_of(datastore, load, password, run.content_seed, (first, sessions))?;
        Ok(OnSockets { trial: trial_of(run, share), plan, datastore, cancel })
    });
    let jobs = jobs.collect::<Result<Vec<_>, RunError>>()?;
    let Start { first_cpu, starter } = start;
    let (windows, interval_ns) = (Windows::Together, run.timing.interval_ns);
    let workers = Workers { datastore, clock, cancel, windows, interval_ns, first_cpu };
    workers.carry_out(jobs, starter, progress)
}

fn plan_of(
    datastore: &Datastore,
    load: ServiceLoad,
    password: Secret,
    seed: u64,
    (first_session, sessions): (u32, u32),
) -> Result<SessionPlan, RunError> {
    let url = || datastore.description().url.to_string();
    let server = datastore
        .server()
        .ok_or_else(|| RunError::Order(format!("sessions need a server, and {} is none", url())))?;
    Ok(SessionPlan { load, server, password, first_session, sessions, seed })
}

fn trial_of(run: &SessionRun, (first_session, sessions): (u32, u32)) -> SessionTrial {
    let Timing { ramp_ns, duration_ns, interval_ns } = run.timing;
    let mut limits = Limits::default();
    // A session that is given up says why.
    limits.stall_ns = limits.stall_ns.max(2 * PATIENCE.as_nanos() as u64);
    if run.disturbed {
        limits.stall_ns = limits.stall_ns.max(ramp_ns.saturating_add(duration_ns));
        limits.max_io_failures = u64::MAX;
    }
    SessionTrial {
        first_session,
        sessions,
        pause_ns: run.load.pause_ns(),
        seed: run.seed,
        ramp_ns,
        duration_ns,
        interval_ns,
        limits,
    }
}

fn no_session(datastore: &Datastore, error: &stormeter_service::ServiceError) -> DatastoreError {
    let name = datastore.description().url.to_string();
    DatastoreError::NoSession { name, reason: error.to_string() }
}

/// One thread's share of the sessions.
struct OnSockets<'a> {
    trial: SessionTrial,
    plan: SessionPlan,
    datastore: &'a Datastore,
    cancel: &'a AtomicBool,
}

impl Job for OnSockets<'_> {
    type Tools = ServiceSessions;

    /// A goodbye stores nothing.
    const SETTLES: bool = false;

    fn open(&mut self) -> Result<ServiceSessions, DatastoreError> {
        let cancelled = || self.cancel.load(Ordering::Relaxed);
        ServiceSessions::open(&self.plan, &cancelled)
            .map_err(|error| no_session(self.datastore, &error))
    }

    fn work(
        self,
        sessions: &mut ServiceSessions,
        start: impl FnOnce() -> Option<u64>,
        clock: &mut RealClock,
        watcher: &mut Watcher<'_>,
    ) -> Option<Sample> {
        Some(drive_sessions(&self.trial, start, sessions, clock, watcher))
    }

    fn leave(mut sessions: ServiceSessions, _: &dyn Fn() -> bool) -> CloseSummary {
        CloseSummary { incidents: sessions.finish(), lost: None }
    }
}
