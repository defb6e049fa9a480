//! What the loop reports while it runs.

use stormeter_trial::{Interval, LatencyBands};

/// Callbacks during a trial. All of them are optional.
pub trait Observer {
    /// The ramp is over; counting starts.
    fn window_opened(&mut self) {}
    /// A row of the time plot is complete.
    fn interval(&mut self, _row: &Interval) {}
    /// Whether the latencies since the last such question are wanted; asked after each row. Collecting them takes
    /// microseconds.
    fn wants_latencies(&mut self, _row: &Interval) -> bool {
        false
    }
    /// The latencies that were wanted.
    fn latencies(&mut self, _bands: LatencyBands) {}
    /// The window is over; outstanding I/Os are still awaited.
    fn window_closed(&mut self) {}
    /// Whether the trial should stop. Called about twenty times a second.
    fn cancelled(&mut self) -> bool {
        false
    }
}

/// Without an observer.
impl Observer for () {}
