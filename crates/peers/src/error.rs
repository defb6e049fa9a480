//! What can go wrong with another project's server, in words that explain a failing test.
//!
//! The server's own log is part of the message: "not ready" alone would explain nothing.

use std::io;
use std::path::PathBuf;

/// A peer that could not be started or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// A program is not installed.
    #[error("{program} is not installed; run cargo xtask peers, or apt-get install {package}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// The Debian package.
        package: &'static str,
    },
    /// A program's plug-in is not installed.
    #[error("{file} is not there; run cargo xtask peers, or apt-get install {package}")]
    MissingFile {
        /// Where it should be, with `*` for the machine's architecture.
        file: &'static str,
        /// The Debian package.
        package: &'static str,
    },
    /// A file of the server cannot be created or read.
    #[error("{path}: {source}; is there space in the temporary directory?")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A program cannot be started.
    #[error("{program} cannot be started: {source}; try it by hand")]
    Start {
        /// Its name.
        program: String,
        /// The reason.
        source: io::Error,
    },
    /// A server ended while it was starting.
    #[error("{program} ended instead of serving; see the end of its log:\n{log}")]
    Ended {
        /// Its name.
        program: &'static str,
        /// The end of its log.
        log: String,
    },
    /// A server did not answer in time.
    #[error("{program} does not answer after {waited_s} s; see the end of its log:\n{log}")]
    NotReady {
        /// Its name.
        program: &'static str,
        /// The time limit, in seconds.
        waited_s: u64,
        /// The end of its log.
        log: String,
    },
    /// A server answers, but does not serve what it should.
    #[error("{program} does not serve {what}: is it there? See the end of its log:\n{log}")]
    NotServed {
        /// Its name.
        program: &'static str,
        /// What it should serve.
        what: String,
        /// The end of its log.
        log: String,
    },
    /// A command failed.
    #[error("{command}: {status}; it said:\n{said}")]
    Command {
        /// The command as it would be typed.
        command: String,
        /// How it ended.
        status: String,
        /// Its output.
        said: String,
    },
    /// No port in the range is free.
    #[error("no free port on 127.0.0.1 between {first} and {last}; end what occupies them")]
    NoPort {
        /// The first port of the range.
        first: u16,
        /// The last port of the range.
        last: u16,
    },
    /// The portmapper's port can be neither used nor bound.
    #[error("port 111 of {address} cannot be bound: {source}; run as root, or start rpcbind")]
    Portmapper {
        /// The address.
        address: std::net::IpAddr,
        /// The reason.
        source: io::Error,
    },
    /// A server's answer to a remote procedure call is invalid.
    #[error("no proper answer to an RPC call from {address}: {what}; see the server's log")]
    Rpc {
        /// The server's address.
        address: std::net::SocketAddr,
        /// What is wrong with it.
        what: String,
    },
    /// The proxy cannot get a socket.
    #[error("the proxy has no socket: {source}; are there file descriptors left?")]
    Proxy {
        /// The reason.
        source: io::Error,
    },
    /// A fault on whole messages, in a stream whose message format the proxy does not know.
    #[error("the proxy cannot inject {fault} with framing {framing}; start it with the other one")]
    Framing {
        /// The fault.
        fault: String,
        /// The framing that the proxy was started with.
        framing: String,
    },
}

/// Names the file in an error.
pub(crate) fn at(path: &std::path::Path) -> impl FnOnce(io::Error) -> PeerError {
    let path = path.to_path_buf();
    |source| PeerError::File { path, source }
}
