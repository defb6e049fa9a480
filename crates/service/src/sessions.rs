//! The sessions of one thread on one queue of events (epoll).
//!
//! A session that fails drops its connections. Its next operation connects again, and the time that this takes is part of
//! the operation's latency, because the user waits for it.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use mio::{Events, Poll};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_disk::{
    DisksError, Incident, Incidents, SessionChange, SessionEvent, Sessions, StorageEvent, Wait,
};
use stormeter_trial::{FtpDirection, ServiceLoad};
use stormeter_wire::Secret;

use crate::conversation::{Conversation, Way, Which, of_token};
use crate::error::{ServiceError, Trouble};
use crate::ftp::FtpFiles;
use crate::ftp_user::FtpUser;
use crate::viewer::Viewer;

/// Sessions of a thread that connect at the same time: servers limit how many may be at the door.
const AT_THE_DOOR: usize = 4;
/// How long sessions may take to say goodbye, all together.
const GOODBYE: Duration = Duration::from_secs(3);
/// How long is slept at most, so that cancellation is seen.
const LOOK_UP: Duration = Duration::from_millis(50);
/// Different incidents that are listed.
const MOST_INCIDENTS: usize = 20;
/// Events taken at once, and bytes received at once.
const EVENTS: usize = 256;
const BUFFER_BYTES: usize = 256 << 10;
/// Bytes of files are these over and over. A prime number, so that blocks of a file differ.
const CONTENT_BYTES: usize = 1_048_573;

/// The sessions of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlan {
    /// What each does.
    pub load: ServiceLoad,
    /// The server.
    pub server: IpAddr,
    /// The password.
    pub password: Secret,
    /// Number, over all threads, of the first session: names its files.
    pub first_session: u32,
    /// Number of sessions.
    pub sessions: u32,
    /// The seed of keys, pointers and contents; names files, too, so that trials do not meet each other's.
    pub seed: u64,
}

/// Sessions with a server. Dropping them drops their connections and leaves files at the server, unless
/// [`ServiceSessions::finish`] was called.
pub struct ServiceSessions {
    poll: Poll,
    ready: Events,
    server: IpAddr,
    users: Vec<User>,
    buffer: Vec<u8>,
    content: Vec<u8>,
    pending: Vec<SessionEvent>,
    /// Connections that have more to move than they did in the last turn; no event will tell of it.
    more: Vec<(u32, Which)>,
    incidents: Incidents,
}

/// A session and what it was asked for.
struct User {
    talk: Box<dyn Conversation>,
    /// An operation is outstanding.
    busy: bool,
    /// It was lost at this time, and is not ready again.
    lost: Option<Instant>,
}

impl ServiceSessions {
    /// Opens the sessions and makes each ready for its first operation; `cancelled` is asked now and then.
    ///
    /// # Errors
    /// The first session that cannot be opened, with the reason.
    pub fn open(plan: &SessionPlan, cancelled: &dyn Fn() -> bool) -> Result<Self, ServiceError> {
        let poll = Poll::new().map_err(|error| ServiceError::Poll(error.to_string()))?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
        let mut content = vec![0; if sends(&plan.load) { CONTENT_BYTES } else { 1 }];
        random.fill_bytes(&mut content);
        let user = |session| User { talk: talk(plan, session), busy: false, lost: None };
        let mut sessions = Self {
            poll,
            ready: Events::with_capacity(EVENTS),
            server: plan.server,
            users: (0..plan.sessions).map(user).collect(),
            buffer: vec![0; BUFFER_BYTES],
            content,
            pending: Vec::new(),
            more: Vec::new(),
            incidents: Incidents::new(MOST_INCIDENTS),
        };
        if let Err(error) = sessions.make_ready(plan.first_session, cancelled) {
            // Files of those that are ready must not stay.
            sessions.finish();
            return Err(error);
        }
        Ok(sessions)
    }

    fn make_ready(
        &mut self,
        first_session: u32,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), ServiceError> {
        let failed = |(session, trouble)| ServiceError::Session {
            session: first_session + session,
            trouble,
        };
        let mut next = 0;
        loop {
            let waiting = self.users[..next].iter().filter(|user| !user.talk.is_ready()).count();
            if waiting == 0 && next == self.users.len() {
                // What the set-up moved is not the user's.
                self.pending.clear();
                return Ok(());
            }
            for session in next..(next + AT_THE_DOOR - waiting).min(self.users.len()) {
                let session = session as u32;
                let connected = self.with(session, |talk, way| talk.connect(way));
                connected.map_err(|trouble| failed((session, trouble)))?;
            }
            next = (next + AT_THE_DOOR - waiting).min(self.users.len());
            if cancelled() {
                return Err(ServiceError::Cancelled);
            }
            let turn = self.turn(LOOK_UP).map_err(|error| ServiceError::Poll(error.reason))?;
            if let Some(trouble) = turn.into_iter().next() {
                return Err(failed(trouble));
            }
        }
    }

    /// Ends the sessions: removes their files, says goodbye; within a bounded time. Returns what happened to the
    /// connections since they were opened.
    pub fn finish(&mut self) -> Vec<Incident> {
        let until = Instant::now() + GOODBYE;
        for session in 0..self.users.len() as u32 {
            // A session that is gone has said goodbye.
            if self.with(session, |talk, way| talk.end(way)).is_err() {
                self.users[session as usize].talk.drop_connections();
            }
        }
        while self.users.iter().any(|user| !user.talk.is_over()) && Instant::now() < until {
            let Ok(troubles) = self.turn(LOOK_UP) else { break };
            for (session, _) in troubles {
                self.users[session as usize].talk.drop_connections();
            }
        }
        self.users.iter_mut().for_each(|user| user.talk.drop_connections());
        self.incidents.take()
    }

    /// Calls a session with what it works with.
    fn with<T>(
        &mut self,
        session: u32,
        call: impl FnOnce(&mut dyn Conversation, &mut Way<'_>) -> T,
    ) -> T {
        let mut way = Way {
            registry: self.poll.registry(),
            server: self.server,
            session,
            buffer: &mut self.buffer,
            content: &self.content,
            events: &mut self.pending,
            more: None,
            now: Instant::now(),
        };
        let called = call(&mut *self.users[session as usize].talk, &mut way);
        self.more.extend(way.more.map(|which| (session, which)));
        called
    }

    /// Waits for events and passes them on; returns the sessions that failed.
    fn turn(&mut self, most: Duration) -> Result<Vec<(u32, Trouble)>, DisksError> {
        let wakes_at = self.users.iter().filter_map(|user| user.talk.wakes_at()).min();
        let now = Instant::now();
        let mut wait = wakes_at.map_or(most, |at| most.min(at.saturating_duration_since(now)));
        let mut stirred = std::mem::take(&mut self.more);
        if !stirred.is_empty() {
            wait = Duration::ZERO;
        }
        if let Err(error) = self.poll.poll(&mut self.ready, Some(wait))
            && error.kind() != std::io::ErrorKind::Interrupted
        {
            let reason = error.to_string();
            return Err(DisksError { action: "waiting for the sessions' connections", reason });
        }
        let mut troubles: Vec<(u32, Trouble)> = Vec::new();
        for event in &self.ready {
            let connection = of_token(event.token());
            if !stirred.contains(&connection) {
                stirred.push(connection);
            }
        }
        for (session, which) in stirred {
            if troubles.iter().any(|(of, _)| *of == session) {
                continue;
            }
            let outcome = self.with(session, |talk, way| talk.stirred(which, way));
            troubles.extend(outcome.err().map(|trouble| (session, trouble)));
        }
        let now = Instant::now();
        for session in 0..self.users.len() as u32 {
            let due = self.users[session as usize].talk.wakes_at().is_some_and(|at| at <= now);
            if due && troubles.iter().all(|(of, _)| *of != session) {
                let outcome = self.with(session, |talk, way| talk.tick(way));
                troubles.extend(outcome.err().map(|trouble| (session, trouble)));
            }
        }
        Ok(troubles)
    }

    /// A session has failed within the trial.
    fn lost(&mut self, session: u32, trouble: &Trouble) {
        let user = &mut self.users[session as usize];
        user.talk.drop_connections();
        user.lost = user.lost.or(Some(Instant::now()));
        let busy = std::mem::take(&mut user.busy);
        let kind = user.talk.kind();
        if busy {
            let what = SessionChange::Failed { kind, error: trouble.device_error() };
            self.pending.push(SessionEvent { session, what });
        }
        self.incidents.add(Incident {
            path: Some(self.server.to_string()),
            ..Incident::new(StorageEvent::ConnectionLost {
                outstanding: u32::from(busy),
                reason: trouble.to_string().into(),
            })
        });
    }

    /// Begins the operation of a session that was asked for one before it was ready.
    fn go_on(&mut self, session: u32) {
        let user = &mut self.users[session as usize];
        if user.lost.is_none() || !user.talk.is_ready() {
            return;
        }
        user.lost = None;
        if user.busy
            && let Err(trouble) = self.with(session, |talk, way| talk.begin(way))
        {
            self.lost(session, &trouble);
        }
    }
}

impl Sessions for ServiceSessions {
    fn begin(&mut self, session: u32) -> Result<(), DisksError> {
        let user = &mut self.users[session as usize];
        user.busy = true;
        let is_ready = user.talk.is_ready();
        let started = self.with(session, |talk, way| match is_ready {
            true => talk.begin(way),
            false => talk.connect(way),
        });
        if let Err(trouble) = started {
            self.lost(session, &trouble);
        }
        Ok(())
    }

    fn wait(&mut self, wait: Wait, events: &mut Vec<SessionEvent>) -> Result<(), DisksError> {
        let most = match wait {
            Wait::AtMost(ns) if self.pending.is_empty() => Duration::from_nanos(ns),
            Wait::AtMost(_) | Wait::No => Duration::ZERO,
        };
        for (session, trouble) in self.turn(most)? {
            self.lost(session, &trouble);
        }
        for session in 0..self.users.len() as u32 {
            self.go_on(session);
        }
        for SessionEvent { session, what } in &self.pending {
            if matches!(what, SessionChange::Ended { .. }) {
                self.users[*session as usize].busy = false;
            }
        }
        events.append(&mut self.pending);
        Ok(())
    }
}

/// Whether sessions send files.
fn sends(load: &ServiceLoad) -> bool {
    matches!(load, ServiceLoad::Ftp(_))
}

fn talk(plan: &SessionPlan, session: u32) -> Box<dyn Conversation> {
    let number = plan.first_session + session;
    match &plan.load {
        ServiceLoad::Ftp(load) => {
            let tag = plan.seed as u32;
            let name = |file| format!("stormeter-{tag:08x}-{number}-{file}");
            let files = FtpFiles {
                names: (0..load.files.max(1)).map(name).collect(),
                bytes: load.file_bytes,
                upload: load.direction == FtpDirection::Upload,
            };
            let (user, password) = (load.user.clone(), plan.password.clone());
            Box::new(FtpUser::new(number, load.port, user, password, files))
        }
        ServiceLoad::Vnc(load) => {
            let seed = plan.seed ^ (u64::from(number) << 32);
            Box::new(Viewer::new(number, load.clone(), plan.password.clone(), seed))
        }
    }
}
