//! Sessions with servers of our own on this machine, which also misbehave.

mod desktop;
mod ftp;
mod vnc;

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use stormeter_disk::{Clock, Incident};
use stormeter_driver::drive_sessions;
use stormeter_service::{ServiceError, ServiceSessions, SessionPlan};
use stormeter_trial::{Limits, Sample, ServiceLoad, SessionTrial};
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

/// Drives the sessions for a while.
fn drive(plan: &SessionPlan, duration: Duration) -> (Sample, Vec<Incident>) {
    let mut sessions = open(plan).unwrap_or_else(|error| panic!("{error}"));
    let trial = SessionTrial {
        first_session: plan.first_session,
        sessions: plan.sessions,
        pause_ns: plan.load.pause_ns(),
        seed: 1,
        ramp_ns: 0,
        duration_ns: duration.as_nanos() as u64,
        interval_ns: 50_000_000,
        limits: Limits::default(),
    };
    let mut clock = SinceStart(Instant::now());
    let sample = drive_sessions(&trial, || Some(0), &mut sessions, &mut clock, &mut ());
    (sample, sessions.finish())
}
