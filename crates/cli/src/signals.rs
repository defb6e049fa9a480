//! Ctrl-C and its like: the first request ends the run in order and keeps what is finished, a second one
//! ends the process at once.
//!
//! What arrives shortly after the first signal is the same request: `timeout` and many a supervisor
//! signal the process and then its group, which reaches the process twice within microseconds, and a
//! terminal that closes sends SIGHUP along with whatever its shell sends. Whether a signal is a second
//! request is decided on a thread and not in the handler: a handler may read no clock of ours and print
//! nothing.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use stormeter_datastore::{DatastoreUrl, stays_of_this_process};

use crate::exit::Exit;

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Signals within this time of the first are one request: pressing Ctrl-C, reading what happens and
/// pressing it again takes longer.
const SAME_REQUEST: Duration = Duration::from_millis(500);

/// A flag that the first request sets. A second request ends the process at once.
pub(crate) fn cancel_on_signals() -> Arc<AtomicBool> {
    cancel_on_signals_of(&[])
}

/// Like [`cancel_on_signals`], for a run on these datastores: if it is ended at once, it reports what it left
/// there.
pub(crate) fn cancel_on_signals_of(datastores: &[String]) -> Arc<AtomicBool> {
    let cancel = Arc::new(AtomicBool::new(false));
    let is_ending = Arc::new(AtomicBool::new(false));
    let code = Exit::Interrupted as i32;
    for signal in SIGNALS {
        // While the last words are printed, which a terminal may delay, any signal ends it. A signal that
        // cannot be caught ends the process as usual.
        let _ =
            signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&is_ending));
        let _ = signal_hook::flag::register(signal, Arc::clone(&cancel));
    }
    let datastores = datastores.to_vec();
    let watched = watch(move || {
        is_ending.store(true, Ordering::Relaxed);
        let _ = std::io::stderr().write_all(last_words(&datastores).as_bytes());
        signal_hook::low_level::exit(code);
    });
    if watched.is_err() {
        // Without a pipe or a thread a second signal ends it as it comes.
        for signal in SIGNALS {
            let second = Arc::clone(&cancel);
            let _ = signal_hook::flag::register_conditional_shutdown(signal, code, second);
        }
    }
    cancel
}

/// Calls `second` on a thread of its own at the second request.
fn watch(second: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let (mut heard, handlers) = UnixStream::pair()?;
    for signal in SIGNALS {
        signal_hook::low_level::pipe::register(signal, handlers.try_clone()?)?;
    }
    let listen = move || {
        let mut requests = Requests::default();
        let mut byte = [0];
        while heard.read_exact(&mut byte).is_ok() {
            if requests.is_second(Instant::now()) {
                return second();
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(listen).map(drop)
}

/// Signals counted as requests.
#[derive(Debug, Default)]
struct Requests {
    first: Option<Instant>,
}

impl Requests {
    /// Takes a signal that arrived `at` into account; whether it is a second request.
    fn is_second(&mut self, at: Instant) -> bool {
        let first = *self.first.get_or_insert(at);
        at.duration_since(first) >= SAME_REQUEST
    }
}

fn last_words(datastores: &[String]) -> String {
    let urls = datastores.iter().filter_map(|name| DatastoreUrl::parse(name).ok());
    let mut left: Vec<String> = urls.flat_map(|url| stays_of_this_process(&url)).collect();
    left.sort();
    left.dedup();
    if left.is_empty() {
        return "\nEnded at once.\n".into();
    }
    format!(
        "\nEnded at once, without cleaning up. Left behind: {}. The next run there removes it.\n",
        left.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_at_once_is_the_same_request_and_what_comes_later_a_second_one() {
        let first = Instant::now();
        let mut requests = Requests::default();
        assert!(!requests.is_second(first));
        assert!(!requests.is_second(first));
        assert!(!requests.is_second(first + Duration::from_millis(499)));
        assert!(requests.is_second(first + Duration::from_millis(500)));
        assert!(requests.is_second(first + Duration::from_secs(9)));
    }

    #[test]
    fn what_cannot_be_named_is_not_left_behind() {
        assert!(last_words(&[]).contains("Ended at once."));
        let directory = tempfile::tempdir().unwrap();
        let empty = directory.path().display().to_string();
        assert!(!last_words(&[empty, "null:".into()]).contains("Left behind"));
    }
}
