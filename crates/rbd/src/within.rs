//! A call that may never return, waited for with a limit.
//!
//! The libraries wait for the cluster, and some of those waits have no limit that can be set. Such a call runs on a thread
//! of its own. After the limit nobody waits for it any more; the thread keeps what it was given alive until it returns, or
//! until the process ends.

use std::sync::mpsc;
use std::time::Duration;

/// Carries out `call` on another thread. `None` if it has not returned after `limit`, or if no thread could be started.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    call: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let spawned = std::thread::Builder::new().name("rbd-call".into()).spawn(move || {
        // Nobody may be waiting any more.
        let _ = sender.send(call());
    });
    spawned.ok()?;
    receiver.recv_timeout(limit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_arrives_and_a_silent_call_is_given_up() {
        assert_eq!(within(Duration::from_secs(60), || 7), Some(7));
        let (_keep, never) = mpsc::channel::<()>();
        assert_eq!(within(Duration::from_millis(10), move || never.recv().is_ok()), None);
    }
}
