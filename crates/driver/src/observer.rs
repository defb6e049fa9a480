//! What the loop reports while it runs.

use stormeter_trial::Interval;

/// Callbacks during a trial. All of them are optional.
pub trait Observer {
    /// The ramp is over; counting starts.
    fn window_opened(&mut self) {}
    /// A row of the time plot is complete.
    fn interval(&mut self, _row: &Interval) {}
    /// The window is over; outstanding I/Os are still awaited.
    fn window_closed(&mut self) {}
    /// Whether the trial should stop. Called about twenty times a second.
    fn cancelled(&mut self) -> bool {
        false
    }
}

/// Without an observer.
impl Observer for () {}
