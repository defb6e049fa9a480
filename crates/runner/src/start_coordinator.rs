//! Decides when the threads of a trial start: the process itself, or the controller of several hosts.

use stormeter_datastore::RealClock;

use crate::workers::at_once;

/// Coordinates the start of a trial.
pub trait StartCoordinator {
    /// Data that the trial will reread is being read for the first time: bytes so far.
    fn warmed_up(&mut self, _bytes: u64) {}

    /// Clients of a transfer may connect to this port.
    fn listens(&mut self, port: u16);

    /// All threads are ready: returns the time of the start, by the given clock; `None` ends the trial.
    fn start(&mut self, clock: &mut RealClock) -> Option<u64>;
}

/// Starts as soon as all threads can have learned of it.
pub(crate) struct StartNow;

impl StartCoordinator for StartNow {
    fn listens(&mut self, _port: u16) {}

    fn start(&mut self, clock: &mut RealClock) -> Option<u64> {
        at_once(clock).ok()
    }
}
