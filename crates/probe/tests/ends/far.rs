//! A listener in a thread, stopped when the test ends. Tests wait for the end of a connection, which
//! is reported after everything that belonged to it was removed.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use stormeter_probe::{Client, Ended, Key, Limits, Listener, ListenerOptions, ProbeError};

/// Longer than any wait that succeeds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The limit that a test waits for.
pub(crate) const SHORT: Duration = Duration::from_millis(300);

pub(crate) const LOOPBACK: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

pub(crate) fn key() -> Key {
    Key::from_text("a key for tests only").unwrap()
}

pub(crate) struct Far {
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    ended: Receiver<Ended>,
    thread: Option<JoinHandle<()>>,
}

impl Far {
    pub(crate) fn start(limits: Limits, directory: Option<&Path>) -> Self {
        let options = ListenerOptions {
            address: LOOPBACK,
            key: key(),
            directory: directory.map(Path::to_path_buf),
            limits,
        };
        let listener = Listener::bind(options).unwrap();
        let address = listener.address();
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, ended) = channel();
        let flag = stop.clone();
        let serve = move || listener.serve(&flag, &|end| tell.send(end).unwrap_or(()));
        Self { address, stop, ended, thread: Some(std::thread::spawn(serve)) }
    }

    pub(crate) fn client(&self) -> Client {
        self.client_with(key(), Limits::default())
    }

    pub(crate) fn client_with(&self, key: Key, limits: Limits) -> Client {
        Client::new(&self.address.to_string(), key, limits, Arc::default())
    }

    /// How the next connection ends.
    pub(crate) fn ended(&self) -> Result<(), ProbeError> {
        self.ended.recv_timeout(PATIENCE).expect("the connection should have ended").result
    }

    /// How a connection ended, if one did within this time.
    pub(crate) fn ended_within(&self, time: Duration) -> Option<Result<(), ProbeError>> {
        self.ended.recv_timeout(time).ok().map(|ended| ended.result)
    }

    /// Stops, and waits until all connections have ended.
    pub(crate) fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.stop();
    }
}
