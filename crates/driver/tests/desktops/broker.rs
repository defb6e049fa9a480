//! The broker's laws, after every event of courses drawn at random.

use std::collections::HashSet;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_driver::{Broker, BrokerAction};
use stormeter_trial::{BrokerRules, Resources};

use crate::{S, rules};

/// A world around a broker, which remembers what it was promised.
struct World {
    broker: Broker,
    rules: BrokerRules,
    places: u32,
    now_ns: u64,
    came: u32,
    waiting: HashSet<u32>,
    refused: HashSet<u32>,
    gone: HashSet<u32>,
    /// Who is at which desktop.
    seated: Vec<Option<u32>>,
    left: u32,
    deploying: HashSet<u32>,
    leaving: HashSet<u32>,
    actions: Vec<BrokerAction>,
}

impl World {
    fn new(rules: BrokerRules, places: u32) -> Self {
        let mut world = Self {
            broker: Broker::new(rules, places),
            rules,
            places,
            now_ns: 0,
            came: 0,
            waiting: HashSet::new(),
            refused: HashSet::new(),
            gone: HashSet::new(),
            seated: vec![None; places as usize],
            left: 0,
            deploying: HashSet::new(),
            leaving: HashSet::new(),
            actions: Vec::new(),
        };
        world.broker.begin(0, &mut world.actions);
        world.acted();
        world
    }

    /// Believes the broker, and checks that it asks for nothing impossible.
    fn acted(&mut self) {
        for action in std::mem::take(&mut self.actions) {
            match action {
                BrokerAction::Deploy { desktop } => {
                    assert!(!self.leaving.contains(&desktop));
                    assert!(self.deploying.insert(desktop), "{desktop} is made twice");
                }
                BrokerAction::Seat { user, desktop } => {
                    assert!(self.waiting.remove(&user), "{user} does not wait");
                    let before = self.seated[desktop as usize].replace(user);
                    assert_eq!(before, None, "two users at {desktop}");
                }
                BrokerAction::TearDown { desktop } => {
                    self.deploying.remove(&desktop);
                    assert!(self.leaving.insert(desktop), "{desktop} leaves twice");
                }
                BrokerAction::Refuse { user } => {
                    assert!(self.waiting.remove(&user) && self.refused.insert(user));
                }
                BrokerAction::Leave { user } => {
                    assert!(self.waiting.remove(&user) && self.gone.insert(user));
                }
            }
        }
    }

    fn check(&self) {
        let at_work = self.seated.iter().flatten().count();
        let all = self.waiting.len() + self.refused.len() + self.gone.len() + at_work;
        assert_eq!(all as u32 + self.left, self.came, "every user is somewhere");
        let counts = self.broker.counts();
        assert_eq!(counts.waiting as usize, self.waiting.len());
        assert_eq!(counts.used as usize, at_work);
        assert_eq!(counts.deploying as usize, self.deploying.len());
        assert_eq!(counts.leaving as usize, self.leaving.len());
        assert!(counts.deploying <= self.rules.deploying_most);
        let reserved = self.broker.reserved();
        assert_eq!(reserved.plus(self.broker.free()), self.rules.capacity);
        let each = self.rules.desktop;
        let desktops = u64::from(counts.desktops());
        assert_eq!(reserved.cpus, desktops * each.cpus);
        assert!(reserved.memory_bytes <= self.rules.capacity.memory_bytes);
        if let Some(most) = self.rules.waiting_most {
            // Those whose desktops died wait again, however many wait already.
            let most = most.max(1) as usize + self.places as usize;
            assert!(self.waiting.len() <= most);
        }
        // Nobody waits while a desktop is ready.
        assert!(counts.waiting == 0 || counts.ready == 0);
    }

    fn pick(&self, random: &mut SplitMix64, from: &HashSet<u32>) -> Option<u32> {
        let mut sorted: Vec<u32> = from.iter().copied().collect();
        sorted.sort_unstable();
        let count = sorted.len().max(1) as u64;
        sorted.get((random.next_u64() % count) as usize).copied()
    }

    fn step(&mut self, random: &mut SplitMix64) {
        self.now_ns += random.next_u64() % (2 * S);
        let (now_ns, actions) = (self.now_ns, &mut self.actions);
        match random.next_u64() % 10 {
            0..=2 => {
                let user = self.came;
                self.came += 1;
                self.waiting.insert(user);
                self.broker.came(user, now_ns, actions);
            }
            3..=4 => {
                if let Some(desktop) = self.pick(random, &self.deploying) {
                    self.deploying.remove(&desktop);
                    self.broker.deployed(desktop, now_ns, &mut self.actions);
                }
            }
            5 => {
                let desktop = (random.next_u64() % u64::from(self.places)) as u32;
                let is_leaving = self.leaving.contains(&desktop);
                let was = self.seated[desktop as usize];
                let lived = self.broker.failed(desktop, now_ns, &mut self.actions);
                assert!(!(lived && is_leaving));
                if let Some(user) = was.filter(|_| lived) {
                    self.seated[desktop as usize] = None;
                    self.waiting.insert(user);
                }
            }
            6 => self.user_leaves(random),
            7 => {
                if let Some(desktop) = self.pick(random, &self.leaving) {
                    self.leaving.remove(&desktop);
                    self.broker.torn_down(desktop, now_ns, &mut self.actions);
                }
            }
            _ => {
                self.now_ns = self.now_ns.max(self.broker.due_ns().min(now_ns + 60 * S));
                self.broker.pass(self.now_ns, &mut self.actions);
                assert!(self.broker.due_ns() > self.now_ns, "what was due has been done");
            }
        }
        self.acted();
        self.check();
    }

    fn user_leaves(&mut self, random: &mut SplitMix64) {
        let used: HashSet<u32> =
            (0..self.places).filter(|desktop| self.seated[*desktop as usize].is_some()).collect();
        let Some(desktop) = self.pick(random, &used) else { return };
        assert_eq!(self.broker.user_of(desktop), self.seated[desktop as usize]);
        self.seated[desktop as usize] = None;
        self.left += 1;
        if random.next_u64().is_multiple_of(2) {
            self.broker.logged_out(desktop, &mut self.actions);
        } else {
            self.broker.fell_idle(desktop, self.now_ns);
        }
    }
}

#[test]
fn users_and_resources_are_conserved_at_every_moment() {
    for seed in 0..1000 {
        let mut random = SplitMix64::seed_from_u64(seed);
        let mut draw = |most: u64| random.next_u64() % (most + 1);
        let cpus = 1 + draw(12);
        let rules = BrokerRules {
            pool: draw(4) as u32,
            deploying_most: 1 + draw(4) as u32,
            waiting_most: (draw(1) == 0).then_some(draw(5) as u32),
            patience_ns: (draw(1) == 0).then_some(1 + draw(20 * S)),
            deploy_most_ns: 1 + draw(30 * S),
            idle_ns: draw(20 * S),
            capacity: Resources {
                cpus,
                memory_bytes: (1 + draw(8)) << 30,
                storage_bytes: (1 + draw(8)) << 20,
            },
            ..rules(cpus)
        };
        let mut world = World::new(rules, 1 + draw(9) as u32);
        for _ in 0..300 {
            world.step(&mut random);
        }
        assert!(world.came > 30);
    }
}

#[test]
fn the_pool_serves_at_once_and_is_filled_again() {
    let mut actions = Vec::new();
    let mut broker = Broker::new(BrokerRules { pool: 2, ..rules(4) }, 4);
    broker.begin(0, &mut actions);
    let deploy = |desktop| BrokerAction::Deploy { desktop };
    assert_eq!(actions, [deploy(0), deploy(1)]);
    actions.clear();
    broker.deployed(0, S, &mut actions);
    broker.deployed(1, S, &mut actions);
    assert_eq!(actions, []);
    broker.came(7, 2 * S, &mut actions);
    assert_eq!(actions, [BrokerAction::Seat { user: 7, desktop: 0 }, deploy(2)]);
}

#[test]
fn what_is_not_there_is_waited_for_or_refused_and_never_overcommitted() {
    let mut actions = Vec::new();
    let mut broker = Broker::new(BrokerRules { waiting_most: Some(1), ..rules(1) }, 4);
    for user in 0..3 {
        broker.came(user, 0, &mut actions);
    }
    let refused = |user| BrokerAction::Refuse { user };
    assert_eq!(actions, [BrokerAction::Deploy { desktop: 0 }, refused(1), refused(2)]);
    assert_eq!(broker.free().cpus, 0);
}

#[test]
fn a_user_whose_desktop_dies_is_the_next_to_be_served() {
    let mut actions = Vec::new();
    let mut broker = Broker::new(rules(2), 2);
    broker.came(0, 0, &mut actions);
    broker.deployed(0, S, &mut actions);
    broker.came(1, S, &mut actions);
    actions.clear();
    assert!(broker.failed(0, 2 * S, &mut actions));
    assert_eq!(actions, [BrokerAction::TearDown { desktop: 0 }]);
    actions.clear();
    broker.deployed(1, 3 * S, &mut actions);
    assert_eq!(actions, [BrokerAction::Seat { user: 0, desktop: 1 }]);
}

/// Storage that is full refuses at once: without a pause the broker would ask without end at one moment.
#[test]
fn after_a_failure_the_next_desktop_is_begun_a_second_later() {
    let mut actions = Vec::new();
    let mut broker = Broker::new(rules(2), 2);
    broker.came(0, 0, &mut actions);
    broker.failed(0, S, &mut actions);
    broker.torn_down(0, S, &mut actions);
    actions.clear();
    assert_eq!(broker.due_ns(), 2 * S);
    broker.pass(2 * S, &mut actions);
    assert_eq!(actions, [BrokerAction::Deploy { desktop: 0 }]);
}

#[test]
fn a_desktop_that_never_becomes_ready_is_given_up() {
    let mut actions = Vec::new();
    let mut broker = Broker::new(rules(1), 1);
    broker.came(0, 0, &mut actions);
    assert_eq!(broker.due_ns(), 100 * S);
    actions.clear();
    assert_eq!(broker.pass(100 * S, &mut actions).given_up, 1);
    assert_eq!(actions, [BrokerAction::TearDown { desktop: 0 }]);
    actions.clear();
    assert!(!broker.deployed(0, 101 * S, &mut actions));
    assert_eq!(actions, [], "too late");
}
