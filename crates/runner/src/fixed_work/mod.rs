//! Fixed work on real threads: a trial that ends when its work is done.
//!
//! File tests and deployments are driven on disks like timed trials; a transfer is a client and a server of our own with
//! a TCP connection between them, for each VM. Both ends are here, or this host has only the servers, to which the
//! clients of another machine connect through a listener.

mod before;
mod client;
mod disks;
mod listener;
mod order;
mod pair;
mod run;
mod server;
mod stream;
mod transfer;

pub(crate) use before::{Before, before};
pub(crate) use listener::TransferListener;
pub use listener::{ListenOrder, TransferClient};
pub use order::FixedWorkRun;
pub use run::{ClientStart, run_clients, run_fixed_work};
pub(crate) use run::{run_fixed_work_from, run_servers};
