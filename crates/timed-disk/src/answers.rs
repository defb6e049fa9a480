//! Answers, each sent at its time.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// An answer and when it is due.
pub(crate) struct Due {
    pub(crate) at: Instant,
    pub(crate) answer: Box<dyn FnOnce() + Send>,
}

/// Sends each answer at its time, until the senders are gone. For as long as `awake` before an answer the thread does
/// not sleep, because a timer wakes a sleeper tens of microseconds late.
pub(crate) fn send(incoming: &Receiver<Due>, awake: Duration) {
    // By time, and by order of arrival among simultaneous ones.
    let mut waiting: BTreeMap<(Instant, Reverse<u64>), Due> = BTreeMap::new();
    let mut number = 0;
    loop {
        let next = waiting.first_key_value().map(|((at, _), _)| *at);
        let left = next.map(|at| at.saturating_duration_since(Instant::now()));
        let received = match left {
            None => incoming.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(left) if left > awake => incoming.recv_timeout(left - awake),
            // The thread that receives requests shares the CPU and must not be starved.
            Some(_) => {
                thread::yield_now();
                incoming.try_recv().map_err(|_| RecvTimeoutError::Timeout)
            }
        };
        match received {
            Ok(due) => {
                number += 1;
                waiting.insert((due.at, Reverse(number)), due);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        while let Some(entry) = waiting.first_entry()
            && entry.key().0 <= Instant::now()
        {
            (entry.remove().answer)();
        }
    }
}
