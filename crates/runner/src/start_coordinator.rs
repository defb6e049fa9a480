//! Who says when the threads of a trial begin: the process itself, or whoever leads several hosts.

use stormeter_datastore::RealClock;

use crate::workers::at_once;

/// Leads a trial up to its start.
pub trait StartCoordinator {
    /// The trial reads what it will read again; so many bytes so far.
    fn warmed_up(&mut self, _bytes: u64) {}

    /// Clients of a transfer are let in at this port.
    fn listens(&mut self, port: u16);

    /// All threads are ready: the moment of the start, by the clock that is given; `None` ends the trial.
    fn start(&mut self, clock: &mut RealClock) -> Option<u64>;
}

/// Starts as soon as all threads can have heard of it.
pub(crate) struct StartNow;

impl StartCoordinator for StartNow {
    fn listens(&mut self, _port: u16) {}

    fn start(&mut self, clock: &mut RealClock) -> Option<u64> {
        at_once(clock).ok()
    }
}
