//! What the loop tells while it runs.

use stormeter_trial::Interval;

/// What the surroundings of a trial want to know while it runs. All of it is optional.
pub trait Observer {
    /// The ramp is over; what is counted from here on counts.
    fn window_opened(&mut self) {}
    /// A row of the time plot is complete.
    fn interval(&mut self, _row: &Interval) {}
    /// The window is over; outstanding I/Os are still awaited.
    fn window_closed(&mut self) {}
    /// Whether the trial should stop. Asked some twenty times a second.
    fn cancelled(&mut self) -> bool {
        false
    }
}

/// Nobody watches.
impl Observer for () {}
