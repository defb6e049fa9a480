//! An iSCSI target that stores nothing and answers at once (RFC 7143).
//!
//! Measured against it, an initiator shows its own cost. There is one target with one unit, a disk
//! of 64 GiB of zeros; written data is discarded. A READ is answered with data and status in one
//! message, a WRITE as soon as its data has arrived. No digests, one connection per session, no
//! error recovery.

mod login;
mod pdu;
mod scsi;
mod session;

use std::net::TcpStream;

use scsi::Cache;
use session::Session;

use crate::exchange::exchange;
use crate::listener::Listener;
use crate::{Running, ServerError, Stopper};

/// The target's name.
const TARGET: &str = "iqn.2026-01.org.stormeter:null";

/// An iSCSI target that answers at once, ready to serve.
///
/// Its URL is `iscsi://127.0.0.1:PORT/iqn.2026-01.org.stormeter:null/0`.
#[derive(Debug)]
pub struct NullIscsi {
    listener: Listener,
    cache: Cache,
}

impl NullIscsi {
    /// Listens on a port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    /// The port is in use.
    pub fn bind(port: u16) -> Result<Self, ServerError> {
        Ok(Self { listener: Listener::bind(port)?, cache: Cache::None })
    }

    /// Its unit reports a volatile cache and refuses to flush it: SYNCHRONIZE CACHE is unknown to it, FUA is not
    /// supported.
    #[must_use]
    pub fn never_flushed(self) -> Self {
        Self { cache: Cache::NeverFlushed, ..self }
    }

    /// The port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.listener.port()
    }

    /// The name of the target; its unit is number 0.
    #[must_use]
    pub fn target(&self) -> &'static str {
        TARGET
    }

    /// A handle for stopping the server from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.listener.stopper()
    }

    /// Serves until stopped.
    pub fn serve(self) {
        let port = self.port();
        let cache = self.cache;
        self.listener.serve(&|stream| connection(port, cache, stream));
    }

    /// Serves on a separate thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn spawn(self) -> Result<Running, ServerError> {
        let port = self.port();
        let cache = self.cache;
        self.listener.spawn(move |stream| connection(port, cache, stream))
    }
}

fn connection(port: u16, cache: Cache, stream: &TcpStream) {
    let mut session = Session::new(TARGET, port, cache);
    exchange(stream, |bytes, answers| session.take(bytes, answers));
}
