//! The broker of desktops: who gets which, what is made, what is taken apart.
//!
//! A machine without clock, randomness or I/O: it learns what happened and when, and answers with what is to be done. So it
//! is the same for guests of a rack, for disks of a datastore and in virtual time, and its laws are tested over any course
//! of events: every user who came waits, has a desktop, was refused or has gone; what desktops reserve and what is free are
//! together what there is, at every moment.

use std::collections::VecDeque;

use stormeter_trial::{BrokerRules, Resources};

/// After a desktop could not be made, none is started for this long: storage that refuses at once must not be asked without
/// end.
const RETRY_NS: u64 = 1_000_000_000;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokerAction {
    /// Make a desktop in this place, which is empty.
    Deploy {
        /// The place.
        desktop: u32,
    },
    /// A user who waits gets this desktop, and logs on.
    Seat {
        /// The user.
        user: u32,
        /// The place of the desktop.
        desktop: u32,
    },
    /// Take this desktop apart.
    TearDown {
        /// The place.
        desktop: u32,
    },
    /// A user who came was refused.
    Refuse {
        /// The user.
        user: u32,
    },
    /// A user has waited for too long, and goes.
    Leave {
        /// The user.
        user: u32,
    },
}

/// What a place for a desktop holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Empty,
    Deploying { until_ns: u64 },
    Ready,
    Used { user: u32 },
    Idle { until_ns: u64 },
    Leaving,
}

/// What time has brought about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BrokerPassed {
    /// Desktops that leave because their users were idle for too long.
    pub idled_out: u64,
    /// Desktops that leave because they were not made in time.
    pub given_up: u64,
}

/// How many of what there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BrokerCounts {
    /// Users who wait.
    pub waiting: u32,
    /// Desktops that are being made.
    pub deploying: u32,
    /// Desktops that are ready for a user.
    pub ready: u32,
    /// Desktops whose users log on or work.
    pub used: u32,
    /// Desktops whose users are idle.
    pub idle: u32,
    /// Desktops that are being taken apart.
    pub leaving: u32,
}

impl BrokerCounts {
    /// Desktops that there are, in whatever state.
    pub fn desktops(&self) -> u32 {
        self.deploying + self.ready + self.used + self.idle + self.leaving
    }
}

/// A broker.
#[derive(Debug, Clone)]
pub struct Broker {
    rules: BrokerRules,
    places: Vec<Place>,
    /// Users who wait, the next one first, with the time from which their patience counts.
    waiting: VecDeque<(u32, u64)>,
    /// Ready desktops, the oldest first.
    ready: VecDeque<u32>,
    counts: BrokerCounts,
    free: Resources,
    /// No desktop is started before.
    retry_ns: u64,
}

impl Broker {
    /// A broker with this many empty places for desktops.
    pub fn new(rules: BrokerRules, places: u32) -> Self {
        Self {
            rules,
            places: vec![Place::Empty; places as usize],
            waiting: VecDeque::new(),
            ready: VecDeque::new(),
            counts: BrokerCounts::default(),
            free: rules.capacity,
            retry_ns: 0,
        }
    }

    /// How many of what there are.
    pub fn counts(&self) -> BrokerCounts {
        self.counts
    }

    /// What no desktop has reserved.
    pub fn free(&self) -> Resources {
        self.free
    }

    /// What desktops have reserved, summed desktop by desktop.
    pub fn reserved(&self) -> Resources {
        let held = self.places.iter().filter(|place| **place != Place::Empty);
        held.fold(Resources::default(), |sum, _| sum.plus(self.rules.desktop))
    }

    /// The user of a desktop who logs on or works.
    pub fn user_of(&self, desktop: u32) -> Option<u32> {
        match self.places.get(desktop as usize) {
            Some(Place::Used { user }) => Some(*user),
            _ => None,
        }
    }

    /// Whether a desktop is being made and awaited.
    pub fn is_deploying(&self, desktop: u32) -> bool {
        self.places.get(desktop as usize).copied().is_some_and(is_deploying)
    }

    /// When [`Broker::pass`] is to be called at the latest; `u64::MAX`: nothing is due.
    pub fn due_ns(&self) -> u64 {
        let places = self.places.iter().filter_map(|place| match place {
            Place::Idle { until_ns } | Place::Deploying { until_ns } => Some(*until_ns),
            _ => None,
        });
        let patience = self.waiting.iter().filter_map(|(_, since_ns)| self.goes_ns(*since_ns));
        let retry = (self.retry_ns > 0).then_some(self.retry_ns);
        places.chain(patience).chain(retry).min().unwrap_or(u64::MAX)
    }

    fn goes_ns(&self, since_ns: u64) -> Option<u64> {
        self.rules.patience_ns.map(|patience_ns| since_ns.saturating_add(patience_ns))
    }

    /// Fills the pool: to be called once, before anything happens.
    pub fn begin(&mut self, now_ns: u64, actions: &mut Vec<BrokerAction>) {
        self.decide(now_ns, actions);
    }

    /// A user came.
    pub fn came(&mut self, user: u32, now_ns: u64, actions: &mut Vec<BrokerAction>) {
        let is_full = self.rules.waiting_most.is_some_and(|most| self.counts.waiting >= most);
        // Users who can be served at once do not wait.
        if is_full && self.ready.is_empty() {
            actions.push(BrokerAction::Refuse { user });
            return;
        }
        self.waiting.push_back((user, now_ns));
        self.counts.waiting += 1;
        self.decide(now_ns, actions);
    }

    /// A desktop has been made. Returns whether it was still awaited.
    pub fn deployed(&mut self, desktop: u32, now_ns: u64, actions: &mut Vec<BrokerAction>) -> bool {
        let is_awaited = self.change(desktop, Place::Ready, is_deploying).is_some();
        if is_awaited {
            self.ready.push_back(desktop);
            self.decide(now_ns, actions);
        }
        is_awaited
    }

    /// A desktop could not be made, or died. Its user, if it has one, is the first of those who wait. Returns whether it was
    /// still expected to live.
    pub fn failed(&mut self, desktop: u32, now_ns: u64, actions: &mut Vec<BrokerAction>) -> bool {
        let lives = |place| !matches!(place, Place::Empty | Place::Leaving);
        let Some(before) = self.change(desktop, Place::Leaving, lives) else { return false };
        self.ready.retain(|ready| *ready != desktop);
        actions.push(BrokerAction::TearDown { desktop });
        match before {
            Place::Used { user } => {
                self.waiting.push_front((user, now_ns));
                self.counts.waiting += 1;
            }
            Place::Deploying { .. } => self.retry_ns = now_ns.saturating_add(RETRY_NS),
            _ => {}
        }
        self.decide(now_ns, actions);
        true
    }

    /// The user of a desktop logs out.
    pub fn logged_out(&mut self, desktop: u32, actions: &mut Vec<BrokerAction>) {
        let is_used = |place| matches!(place, Place::Used { .. });
        if self.change(desktop, Place::Leaving, is_used).is_some() {
            actions.push(BrokerAction::TearDown { desktop });
        }
    }

    /// The user of a desktop stops working and does not log out.
    pub fn fell_idle(&mut self, desktop: u32, now_ns: u64) {
        let until_ns = now_ns.saturating_add(self.rules.idle_ns);
        let is_used = |place| matches!(place, Place::Used { .. });
        self.change(desktop, Place::Idle { until_ns }, is_used);
    }

    /// Nothing is left of a desktop.
    pub fn torn_down(&mut self, desktop: u32, now_ns: u64, actions: &mut Vec<BrokerAction>) {
        if self.change(desktop, Place::Empty, |place| place == Place::Leaving).is_some() {
            self.free = self.free.plus(self.rules.desktop);
            self.decide(now_ns, actions);
        }
    }

    /// Time has come to `now_ns`.
    pub fn pass(&mut self, now_ns: u64, actions: &mut Vec<BrokerAction>) -> BrokerPassed {
        let mut passed = BrokerPassed::default();
        for desktop in 0..self.places.len() as u32 {
            let is_over = |place| match place {
                Place::Idle { until_ns } | Place::Deploying { until_ns } => until_ns <= now_ns,
                _ => false,
            };
            let Some(before) = self.change(desktop, Place::Leaving, is_over) else { continue };
            actions.push(BrokerAction::TearDown { desktop });
            if is_deploying(before) {
                passed.given_up += 1;
                self.retry_ns = now_ns.saturating_add(RETRY_NS);
            } else {
                passed.idled_out += 1;
            }
        }
        if let Some(patience_ns) = self.rules.patience_ns {
            let before = self.waiting.len();
            self.waiting.retain(|&(user, since_ns)| {
                let stays = now_ns < since_ns.saturating_add(patience_ns);
                if !stays {
                    actions.push(BrokerAction::Leave { user });
                }
                stays
            });
            self.counts.waiting -= (before - self.waiting.len()) as u32;
        }
        self.decide(now_ns, actions);
        passed
    }

    /// Seats those who wait, and has desktops made for the rest and for the pool, as far as there is room.
    fn decide(&mut self, now_ns: u64, actions: &mut Vec<BrokerAction>) {
        while let Some(&desktop) = self.ready.front()
            && let Some((user, _)) = self.waiting.pop_front()
        {
            self.ready.pop_front();
            self.counts.waiting -= 1;
            self.change(desktop, Place::Used { user }, |place| place == Place::Ready);
            actions.push(BrokerAction::Seat { user, desktop });
        }
        if now_ns < self.retry_ns {
            return;
        }
        self.retry_ns = 0;
        let until_ns = now_ns.saturating_add(self.rules.deploy_most_ns);
        let wanted = self.counts.waiting.saturating_add(self.rules.pool);
        while self.counts.deploying + self.counts.ready < wanted
            && self.counts.deploying < self.rules.deploying_most
            && let Some(desktop) = self.places.iter().position(|place| *place == Place::Empty)
            && let Some(rest) = self.free.less(self.rules.desktop)
        {
            self.free = rest;
            let desktop = desktop as u32;
            self.change(desktop, Place::Deploying { until_ns }, |place| place == Place::Empty);
            actions.push(BrokerAction::Deploy { desktop });
        }
    }

    /// Changes what a place holds, if it holds what `expected` says; returns what it held. What is reported of a desktop
    /// after the broker has decided otherwise changes nothing.
    fn change(
        &mut self,
        desktop: u32,
        after: Place,
        expected: impl Fn(Place) -> bool,
    ) -> Option<Place> {
        let place = self.places.get_mut(desktop as usize)?;
        if !expected(*place) {
            return None;
        }
        let before = std::mem::replace(place, after);
        for (place, is_more) in [(before, false), (after, true)] {
            let count = match place {
                Place::Empty => continue,
                Place::Deploying { .. } => &mut self.counts.deploying,
                Place::Ready => &mut self.counts.ready,
                Place::Used { .. } => &mut self.counts.used,
                Place::Idle { .. } => &mut self.counts.idle,
                Place::Leaving => &mut self.counts.leaving,
            };
            if is_more {
                *count += 1;
            } else {
                *count -= 1;
            }
        }
        Some(before)
    }
}

fn is_deploying(place: Place) -> bool {
    matches!(place, Place::Deploying { .. })
}
