//! Sessions with servers of our own on this machine, which also misbehave.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod desktop;
mod ftp;
mod vnc;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use stormeter_disk::{Clock, Incident};
use stormeter_driver::{Observer, drive_sessions};
use stormeter_service::{ServiceError, ServiceSessions, SessionPlan};
use stormeter_trial::{Ended, Interval, Limits, Sample, ServiceLoad, SessionTrial};
use stormeter_wire::Secret;

/// The right password, of both servers.
const PASSWORD: &str = stormeter_testkit::FTP_PASSWORD;

/// Time since it was made.
struct SinceStart(Instant);

impl Clock for SinceStart {
    fn now_ns(&mut self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
}

fn plan(load: ServiceLoad, sessions: u32) -> SessionPlan {
    SessionPlan {
        load,
        server: IpAddr::V4(Ipv4Addr::LOCALHOST),
        password: Secret::new(PASSWORD),
        first_session: 0,
        sessions,
        seed: 7,
    }
}

fn open(plan: &SessionPlan) -> Result<ServiceSessions, ServiceError> {
    ServiceSessions::open(plan, &|| false)
}

/// Why the sessions cannot be opened.
fn refusal(plan: &SessionPlan) -> String {
    match open(plan) {
        Ok(_) => panic!("the sessions were opened"),
        Err(error) => error.to_string(),
    }
}

/// Ends a trial when it has seen enough.
struct Until<'a> {
    operations: u64,
    enough: &'a dyn Fn(u64) -> bool,
}

impl Observer for Until<'_> {
    fn interval(&mut self, row: &Interval) {
        self.operations += row.reads.operations + row.writes.operations;
    }

    fn cancelled(&mut self) -> bool {
        (self.enough)(self.operations)
    }
}

/// Drives open sessions until `enough` says so of the number of operations that have ended; a machine may be slow.
fn drive_open(
    plan: &SessionPlan,
    sessions: &mut ServiceSessions,
    enough: &dyn Fn(u64) -> bool,
) -> Sample {
    let trial = SessionTrial {
        first_session: plan.first_session,
        sessions: plan.sessions,
        pause_ns: plan.load.pause_ns(),
        seed: 1,
        ramp_ns: 0,
        duration_ns: 60_000_000_000,
        interval_ns: 20_000_000,
        limits: Limits::default(),
    };
    let mut clock = SinceStart(Instant::now());
    let mut until = Until { operations: 0, enough };
    let sample = drive_sessions(&trial, || Some(0), sessions, &mut clock, &mut until);
    assert_eq!(
        sample.ended,
        Ended::Cancelled,
        "it has not seen enough within a minute: {sample:?}"
    );
    sample
}

/// Opens sessions, drives them and ends them.
fn drive(plan: &SessionPlan, enough: &dyn Fn(u64) -> bool) -> (Sample, Vec<Incident>) {
    let mut sessions = open(plan).unwrap_or_else(|error| panic!("{error}"));
    let sample = drive_open(plan, &mut sessions, enough);
    (sample, sessions.finish())
}
