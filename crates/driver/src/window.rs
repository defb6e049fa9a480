//! The window of a trial whose operations have no schedule of their own: its ramp, its rows and its end, in order.

use stormeter_trial::Sample;

/// A boundary that has been passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// The ramp is over, at this time.
    Opened {
        /// By the clock.
        at_ns: u64,
    },
    /// A row of the time plot is over.
    Row {
        /// By the clock.
        at_ns: u64,
        /// Start, since the window opened.
        start_ns: u64,
        length_ns: u64,
    },
    /// The last row is over, and was reported before this.
    Closed {
        /// By the clock.
        at_ns: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Ramp,
    Window,
    /// The last row is over.
    Ending,
    Over,
}

/// Where a trial is.
#[derive(Debug)]
pub(crate) struct Window {
    phase: Phase,
    start_ns: u64,
    row_start_ns: u64,
    duration_ns: u64,
    interval_ns: u64,
}

impl Window {
    /// One that has not started.
    pub(crate) fn new(duration_ns: u64, interval_ns: u64) -> Self {
        let interval_ns = interval_ns.max(1);
        Self { phase: Phase::Ramp, start_ns: u64::MAX, row_start_ns: 0, duration_ns, interval_ns }
    }

    /// The load begins; the window opens at `start_ns`.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        (self.start_ns, self.row_start_ns) = (start_ns, start_ns);
    }

    /// Whether it is open.
    pub(crate) fn is_open(&self) -> bool {
        self.phase == Phase::Window
    }

    /// Whether it is still to open.
    pub(crate) fn is_ahead(&self) -> bool {
        self.phase == Phase::Ramp
    }

    /// Whether it has closed.
    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// When it opens, by the clock.
    pub(crate) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns)
    }

    /// The time of the next boundary.
    pub(crate) fn next_ns(&self) -> u64 {
        match self.phase {
            Phase::Ramp => self.start_ns,
            _ => self.row_start_ns.saturating_add(self.interval_ns).min(self.end_ns()),
        }
    }

    /// The next boundary, if time has come to it; to be called until there is none.
    pub(crate) fn passed(&mut self, now_ns: u64) -> Option<Boundary> {
        let at_ns = self.next_ns();
        match self.phase {
            Phase::Ramp if now_ns >= at_ns => {
                self.phase = Phase::Window;
                Some(Boundary::Opened { at_ns })
            }
            Phase::Window if now_ns >= at_ns => {
                if at_ns == self.end_ns() {
                    self.phase = Phase::Ending;
                }
                Some(self.row(at_ns))
            }
            Phase::Ending => {
                self.phase = Phase::Over;
                Some(Boundary::Closed { at_ns: self.end_ns() })
            }
            _ => None,
        }
    }

    /// The trial ends early, at `now_ns`: what has happened since the last whole row counts, too. `None` if the window is
    /// not open.
    pub(crate) fn cut(&mut self, now_ns: u64) -> Option<Boundary> {
        self.is_open().then(|| {
            self.duration_ns = now_ns.saturating_sub(self.start_ns).max(1);
            self.phase = Phase::Ending;
            self.row(self.end_ns().max(self.row_start_ns))
        })
    }

    /// The length of what was measured.
    pub(crate) fn length_ns(&self) -> u64 {
        match self.phase {
            Phase::Ramp => 0,
            _ => self.duration_ns,
        }
    }

    fn row(&mut self, at_ns: u64) -> Boundary {
        let row_start_ns = std::mem::replace(&mut self.row_start_ns, at_ns);
        let start_ns = row_start_ns - self.start_ns;
        Boundary::Row { at_ns, start_ns, length_ns: at_ns - row_start_ns }
    }
}

/// A sample of operations that are no I/Os of disks: nothing is verified, flushed or durable, and no rate is offered.
pub(crate) fn sample_of(
    recorded: crate::recorder::Recorded,
    window_ns: u64,
    interval_ns: u64,
    ended: stormeter_trial::Ended,
) -> Sample {
    Sample {
        window_ns,
        interval_ns,
        reads: recorded.reads,
        writes: recorded.writes,
        durable: Default::default(),
        flushes: Default::default(),
        intervals: recorded.intervals,
        disks: recorded.disks,
        outstanding_mean: 0.0,
        // Users pause, and workers finish one by one: no number is kept outstanding.
        outstanding_configured: None,
        carried_ns: 0,
        turn_wait_ns: Some(0),
        flush_wait_ns: 0,
        spun_ns: 0,
        issue: None,
        offered_rate_per_s: None,
        ramp_operations: 0,
        due_operations: 0,
        backlog_operations: 0,
        io_failures: recorded.io_failures,
        verified: None,
        steps: Vec::new(),
        disturbances: Vec::new(),
        settled_ns: 0,
        touched_bytes: None,
        updates: None,
        desktops: None,
        ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(window: &mut Window, now_ns: u64) -> Vec<Boundary> {
        std::iter::from_fn(|| window.passed(now_ns)).collect()
    }

    #[test]
    fn boundaries_come_in_order_however_late_they_are_seen() {
        let mut window = Window::new(25, 10);
        window.begin(100);
        assert_eq!(all(&mut window, 99), []);
        let row = |at_ns, start_ns, length_ns| Boundary::Row { at_ns, start_ns, length_ns };
        assert_eq!(
            all(&mut window, 500),
            [
                Boundary::Opened { at_ns: 100 },
                row(110, 0, 10),
                row(120, 10, 10),
                row(125, 20, 5),
                Boundary::Closed { at_ns: 125 },
            ]
        );
        assert!(window.is_over() && window.length_ns() == 25);
    }

    #[test]
    fn a_window_that_is_cut_ends_with_a_short_row() {
        let mut window = Window::new(25, 10);
        assert_eq!(window.cut(5), None);
        window.begin(100);
        all(&mut window, 112);
        assert_eq!(window.cut(117), Some(Boundary::Row { at_ns: 117, start_ns: 10, length_ns: 7 }));
        assert_eq!(all(&mut window, 117), [Boundary::Closed { at_ns: 117 }]);
        assert_eq!(window.length_ns(), 17);
    }
}
