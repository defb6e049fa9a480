//! Servers from other projects, started for tests and benchmarks, and a proxy that injects faults.
//!
//! Testing a client against a server by the same author proves only that both share the same
//! beliefs. Here are independent ones: NFS-Ganesha, tgt, Prometheus, Chromium, and the tools of libnfs, libiscsi and
//! QEMU, each on the loopback device, in its own directory, and ended with the process that started
//! it. Between them and a client is [`Proxy`], which does to the stream what networks and faulty
//! servers do.
//!
//! For tests, benchmarks and the demonstration, which includes tgt if it is installed. It knows none
//! of the crates that it helps to test.

mod child;
mod chromium;
mod clients;
mod error;
mod ganesha;
mod port;
mod portmapper;
mod program;
mod prometheus;
mod proxy;
mod rpc;
mod tgt;

pub use chromium::{Chromium, Look};
pub use clients::{
    iscsi_inquiry, iscsi_list, iscsi_read, iscsi_verify_pattern, iscsi_write, iscsi_write_pattern,
    libnfs_list, libnfs_read, libnfs_url, libnfs_write,
};
pub use error::PeerError;
pub use ganesha::{Ganesha, GaneshaOptions, Storage};
pub use port::listeners;
pub use prometheus::{Prometheus, promtool_check};
pub use proxy::{Direction, Fault, Framing, Proxy, Recording, nfs_procedure};
pub use tgt::{Backing, Chap, Tgt, TgtOptions};
