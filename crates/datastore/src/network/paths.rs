//! The connections of one thread: which are established, which are being re-established, and which of them an
//! operation takes.

use std::net::SocketAddr;

use stormeter_wire::{Outbox, Session, SessionState};

/// The wait before a second attempt, doubled with each further one.
const FIRST_WAIT_NS: u64 = 50_000_000;
const LONGEST_WAIT_NS: u64 = 1_000_000_000;
/// A connection attempt that takes longer is given up.
const CONNECT_NS: u64 = 3_000_000_000;

/// Which path an operation takes, and what happens to it when that path is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The first path that works; the others are on standby.
    Fixed,
    /// All that work in turn; from a lost one, operations move to others.
    RoundRobin,
    /// All that work in turn; operations stay with their connection, where the server recognises
    /// them when they are sent again.
    Spread,
    /// Each disk has its own, and its operations stay with it: where writes complete before they are
    /// stable, what is written again after a server's restart must not pass what came later to the
    /// same place by another connection.
    ByDisk,
}

impl Policy {
    /// Whether operations of a lost path move to another that works.
    pub(super) fn moves(self) -> bool {
        matches!(self, Self::Fixed | Self::RoundRobin)
    }
}

/// The state of a path's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// Being made, until this time.
    Connecting { until_ns: u64 },
    /// It is established; the session may still be logging in.
    Up,
    /// It will be tried again at this time.
    Waiting { until_ns: u64 },
    /// It was ended on purpose.
    Ended,
}

/// One connection with its session.
pub(super) struct Path<S> {
    pub(super) session: S,
    pub(super) outbox: Outbox,
    pub(super) address: SocketAddr,
    pub(super) link: Link,
    /// Since when it does not work; `None` while it does.
    pub(super) lost_at_ns: Option<u64>,
    /// It was gone for too long: what takes it fails at once, until it is back.
    pub(super) is_given_up: bool,
    /// Attempts in a row that came to nothing, or to a connection on which no I/O completed.
    failures: u32,
    /// No I/O has completed on the present connection.
    pub(super) is_untried: bool,
    pub(super) last_reason: String,
    /// Whether the last connection came about at all.
    pub(super) was_connected: bool,
}

impl<S: Session> Path<S> {
    pub(super) fn new(address: SocketAddr, session: S, now_ns: u64) -> Self {
        Self {
            session,
            outbox: Outbox::default(),
            address,
            link: Link::Waiting { until_ns: now_ns },
            lost_at_ns: Some(now_ns),
            is_given_up: false,
            failures: 0,
            is_untried: true,
            last_reason: String::new(),
            was_connected: false,
        }
    }

    /// Whether operations go out at once.
    #[inline]
    pub(super) fn is_usable(&self) -> bool {
        self.link == Link::Up && self.session.state() == SessionState::Ready
    }

    /// An attempt starts.
    pub(super) fn connecting(&mut self, now_ns: u64) {
        self.link = Link::Connecting { until_ns: now_ns + CONNECT_NS };
    }

    /// The connection is gone, or did not come about.
    pub(super) fn lost(&mut self, now_ns: u64, reason: String) {
        self.was_connected = self.link == Link::Up;
        if self.was_connected {
            self.session.disconnected(now_ns);
        }
        self.outbox.clear();
        self.lost_at_ns.get_or_insert(now_ns);
        // The first attempt after a loss is made at once: most servers are back, or never left.
        let wait_ns = match self.failures {
            0 => 0,
            n => (FIRST_WAIT_NS << (n - 1).min(10)).min(LONGEST_WAIT_NS),
        };
        self.failures += 1;
        self.is_untried = true;
        self.link = Link::Waiting { until_ns: now_ns + wait_ns };
        self.last_reason = reason;
    }

    /// The session works (again).
    pub(super) fn recovered(&mut self) {
        self.lost_at_ns = None;
        self.is_given_up = false;
    }

    /// An I/O has completed. A peer that takes connections and ends them at once never comes here,
    /// and is tried less and less often.
    pub(super) fn tried(&mut self) {
        self.is_untried = false;
        self.failures = 0;
    }

    /// The failed attempts since an I/O last completed.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// When something has to be done at the latest; `patience_ns` is how long it may be gone.
    pub(super) fn deadline_ns(&self, patience_ns: u64) -> Option<u64> {
        let link = match self.link {
            Link::Up => self.session.deadline_ns(),
            Link::Connecting { until_ns } | Link::Waiting { until_ns } => Some(until_ns),
            Link::Ended => None,
        };
        let give_up = self.lost_at_ns.filter(|_| !self.is_given_up && self.link != Link::Ended);
        let give_up = give_up.map(|at_ns| at_ns.saturating_add(patience_ns));
        match (link, give_up) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}

/// The path for the next operation: one that works, otherwise one on which it may wait; `None` if all
/// are given up. `turn` counts operations.
#[inline]
pub(super) fn choose<S: Session>(
    paths: &[Path<S>],
    policy: Policy,
    disk: u32,
    turn: &mut usize,
) -> Option<usize> {
    if let [only] = paths {
        return (!only.is_given_up).then_some(0);
    }
    if policy == Policy::ByDisk {
        let own = disk as usize % paths.len().max(1);
        return paths.get(own).is_some_and(|path| !path.is_given_up).then_some(own);
    }
    if policy == Policy::Fixed {
        return paths
            .iter()
            .position(Path::is_usable)
            .or_else(|| paths.iter().position(|path| !path.is_given_up));
    }
    for _ in 0..paths.len() {
        *turn = if *turn + 1 >= paths.len() { 0 } else { *turn + 1 };
        if paths[*turn].is_usable() {
            return Some(*turn);
        }
    }
    paths.iter().position(|path| !path.is_given_up)
}
