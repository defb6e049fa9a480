//! Records when each request of an open loop was submitted, while the loop runs.

use stormeter_trial::IssueTimes;

/// Collects the times while the loop runs.
#[derive(Debug)]
pub(crate) struct IssueLog {
    /// When the request of each slot was submitted.
    issued_ns: Vec<u64>,
    times: IssueTimes,
    /// The last turn left a due request unissued, because no slot was free.
    is_full: bool,
    /// Requests due up to this time had to wait for a slot.
    held_until_ns: u64,
}

impl IssueLog {
    pub(crate) fn new(slots: u32) -> Box<Self> {
        let issued_ns = vec![0; slots as usize];
        Box::new(Self { issued_ns, times: IssueTimes::default(), is_full: false, held_until_ns: 0 })
    }

    /// A turn starts in which requests can be issued again.
    #[inline]
    pub(crate) fn turn(&mut self, now_ns: u64) {
        if std::mem::take(&mut self.is_full) {
            self.held_until_ns = now_ns;
        }
    }

    /// A request is due and no slot is free.
    pub(crate) fn full(&mut self) {
        self.is_full = true;
    }

    /// A due request leaves the queue, within the window.
    #[inline]
    pub(crate) fn leaves(&mut self, due_ns: u64) {
        self.times.held_operations += u64::from(due_ns < self.held_until_ns);
    }

    /// The slot's request is submitted.
    #[inline]
    pub(crate) fn issued(&mut self, slot: u32, now_ns: u64) {
        if let Some(issued_ns) = self.issued_ns.get_mut(slot as usize) {
            *issued_ns = now_ns;
        }
    }

    /// The slot's I/O, due at `due_ns`, ended in the window with all its bytes.
    #[inline]
    pub(crate) fn ended(&mut self, slot: u32, due_ns: u64, now_ns: u64) {
        let issued_ns = self.issued_ns.get(slot as usize).copied().unwrap_or(due_ns);
        self.times.lateness.record(issued_ns.saturating_sub(due_ns));
        self.times.service.record(now_ns.saturating_sub(issued_ns));
    }

    pub(crate) fn finish(self) -> IssueTimes {
        self.times
    }
}
