//! An NFSv3 server of one directory (RFC 1813), for this machine only.
//!
//! It keeps the promises on which a measurement or a fault test relies. A WRITE that asks for
//! stability is answered when data and metadata are stable; an UNSTABLE one goes to the page cache
//! and COMMIT syncs it; every other change is stable before its answer. The write verifier is new
//! at each start, so that clients send again what a killed server had not committed, while file
//! handles remain valid across a restart. Reads go through the page cache, as in a kernel server.
//!
//! All clients have the rights of the server's user, whatever they claim to be. Files cannot have
//! another owner, there are no links, and nothing outside the directory can be reached.

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

/// The path to mount.
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
    /// Opens the directory and listens on a port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    /// The directory cannot be opened, or the port is in use.
    pub fn bind(directory: &Path, port: u16) -> Result<Self, ServerError> {
        let tree = Tree::open(directory)
            .map_err(|source| ServerError::Directory { path: directory.to_owned(), source })?;
        let service = Service::new(tree, Kernel, EXPORT, verifier());
        Ok(Self { listener: Listener::bind(port)?, service })
    }

    /// The port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.listener.port()
    }

    /// The path to mount.
    #[must_use]
    pub fn export(&self) -> &'static str {
        EXPORT
    }

    /// A handle for stopping the server from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.listener.stopper()
    }

    /// Serves until stopped.
    pub fn serve(self) {
        self.listener.serve(&|stream| connection::serve(&self.service, stream));
    }

    /// Serves on a separate thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn spawn(self) -> Result<Running, ServerError> {
        let service = self.service;
        self.listener.spawn(move |stream| connection::serve(&service, stream))
    }
}

/// A number that differs between starts of the server: the standard library seeds hash maps from
/// the operating system's randomness.
fn verifier() -> u64 {
    RandomState::new().build_hasher().finish()
}
