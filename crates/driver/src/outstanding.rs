//! Which users have an operation outstanding, and since when.
//!
//! The time outstanding is summed turn by turn and not from latencies, so that Little's law can compare the two.

/// The outstanding operations of a trial's users.
#[derive(Debug)]
pub(crate) struct Outstanding {
    started_ns: Vec<Option<u64>>,
    count: u64,
    integral_ns: u128,
    /// What the latencies within the window lack, and what they have too much.
    carried_ns: i64,
    last_ns: u64,
    is_open: bool,
}

impl Outstanding {
    pub(crate) fn new() -> Self {
        Self {
            started_ns: Vec::new(),
            count: 0,
            integral_ns: 0,
            carried_ns: 0,
            last_ns: 0,
            is_open: false,
        }
    }

    /// How many are outstanding.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The time outstanding within the window, all operations together.
    pub(crate) fn integral_ns(&self) -> u128 {
        self.integral_ns
    }

    /// The sum of the latencies plus this is the time outstanding within the window.
    pub(crate) fn carried_ns(&self) -> i64 {
        self.carried_ns
    }

    pub(crate) fn begin(&mut self, user: u32, now_ns: u64) {
        let user = user as usize;
        if self.started_ns.len() <= user {
            self.started_ns.resize(user + 1, None);
        }
        if self.started_ns[user].replace(now_ns).is_none() {
            self.count += 1;
        }
    }

    /// The latency of the user's operation, which has ended; `None` if none was outstanding.
    pub(crate) fn end(&mut self, user: u32, now_ns: u64) -> Option<u64> {
        let started_ns = self.started_ns.get_mut(user as usize)?.take()?;
        self.count -= 1;
        Some(now_ns.saturating_sub(started_ns))
    }

    /// The user's operation failed: it was outstanding, and has no latency. For how long; `None` if there was none.
    pub(crate) fn fail(&mut self, user: u32, now_ns: u64) -> Option<u64> {
        let age_ns = self.end(user, now_ns);
        if self.is_open {
            self.carried_ns += age_ns.unwrap_or(0) as i64;
        }
        age_ns
    }

    /// For how long each has been outstanding.
    pub(crate) fn ages_ns(&self, now_ns: u64) -> impl Iterator<Item = u64> {
        self.started_ns.iter().flatten().map(move |started_ns| now_ns.saturating_sub(*started_ns))
    }

    /// Time has come to `now_ns`; nothing has changed since the last call.
    pub(crate) fn pass(&mut self, now_ns: u64) {
        if self.is_open {
            let passed_ns = now_ns.saturating_sub(self.last_ns);
            self.integral_ns += u128::from(self.count) * u128::from(passed_ns);
        }
        self.last_ns = self.last_ns.max(now_ns);
    }

    /// The window opened at `at_ns`, after the last call of [`Outstanding::pass`].
    pub(crate) fn open(&mut self, at_ns: u64) {
        self.is_open = true;
        self.last_ns = at_ns;
        self.carried_ns = -self.age_ns(at_ns);
    }

    /// The window closed at `at_ns`, after the last call of [`Outstanding::pass`].
    pub(crate) fn close(&mut self, at_ns: u64) {
        self.pass(at_ns);
        self.carried_ns += self.age_ns(at_ns);
        self.is_open = false;
    }

    fn age_ns(&self, at_ns: u64) -> i64 {
        let started = self.started_ns.iter().flatten();
        started.map(|started_ns| at_ns.saturating_sub(*started_ns) as i64).sum()
    }
}
