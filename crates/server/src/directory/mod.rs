//! An NFSv3 server of one directory (RFC 1813), for this machine only.
//!
//! It keeps the promises on which a measurement or a fault test rests. A WRITE that asks for
//! stability is answered when data and metadata are stable; an UNSTABLE one goes to the page cache
//! and COMMIT syncs it; every other change is stable before its answer. The write verifier is new
//! with every start, so that clients send again what a killed server had not committed, while file
//! handles stay good across a restart. Reads go through the page cache, as with a server in the
//! kernel.
//!
//! All clients act with the rights of the server's user, whatever they claim to be. Files can have
//! no other owner, there are no links, and nothing outside the directory can be reached.

mod attributes;
mod connection;
mod data;
mod handle;
mod listing;
mod names;
mod open_files;
mod service;
mod storage;
mod tree;

#[cfg(test)]
mod suite;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use service::Service;
use storage::Kernel;
use tree::Tree;

use crate::listener::Listener;
use crate::{Running, ServerError, Stopper};

/// The path under which the directory is mounted.
const EXPORT: &str = "/export";

/// A server of one directory, ready to serve.
///
/// Its URL is `nfs://127.0.0.1:PORT/export`; MOUNT and NFS are both on that port, and there is no
/// portmapper.
#[derive(Debug)]
pub struct DirectoryServer {
    listener: Listener,
    service: Service<Kernel>,
}

impl DirectoryServer {
    /// Opens the directory and listens on a port of 127.0.0.1; 0 takes a free one.
    ///
    /// # Errors
    /// The directory cannot be opened, or the port is taken.
    pub fn bind(directory: &Path, port: u16) -> Result<Self, ServerError> {
        let tree = Tree::open(directory)
            .map_err(|source| ServerError::Directory { path: directory.to_owned(), source })?;
        let service = Service::new(tree, Kernel, EXPORT, verifier());
        Ok(Self { listener: Listener::bind(port)?, service })
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.listener.port()
    }

    /// The path to be mounted.
    #[must_use]
    pub fn export(&self) -> &'static str {
        EXPORT
    }

    /// What stops the server, for another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.listener.stopper()
    }

    /// Serves until stopped.
    pub fn serve(self) {
        self.listener.serve(&|stream| connection::serve(&self.service, stream));
    }

    /// Serves on a thread of its own.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn spawn(self) -> Result<Running, ServerError> {
        let service = self.service;
        self.listener.spawn(move |stream| connection::serve(&service, stream))
    }
}

/// A number that no other start of a server has: the standard library's source of randomness for
/// hash maps is the operating system's.
fn verifier() -> u64 {
    RandomState::new().build_hasher().finish()
}
