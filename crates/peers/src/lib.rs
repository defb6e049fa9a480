//! Servers that others wrote, started for tests and figures, and a proxy that injects faults.
//!
//! A client tested against a server of the same hand proves that both believe the same. Here are
//! the others: NFS-Ganesha, tgt, and the tools of libnfs, libiscsi and QEMU, each on the loopback
//! device, in a directory of its own, and gone with the process that started it. Between them and a
//! client stands [`Proxy`], which does to the stream what networks and bad servers do.
//!
//! For tests, figures and the demonstration, which takes tgt in where it is installed. It knows none
//! of the crates that it helps to test.

mod child;
mod clients;
mod error;
mod ganesha;
mod port;
mod portmapper;
mod program;
mod proxy;
mod rpc;
mod tgt;

pub use clients::{
    iscsi_inquiry, iscsi_list, iscsi_read, iscsi_verify_pattern, iscsi_write, iscsi_write_pattern,
    libnfs_list, libnfs_read, libnfs_url, libnfs_write,
};
pub use error::PeerError;
pub use ganesha::{Ganesha, GaneshaOptions, Storage};
pub use port::listeners;
pub use proxy::{Direction, Fault, Framing, Proxy, Recording, nfs_procedure};
pub use tgt::{Backing, Chap, Tgt, TgtOptions};
