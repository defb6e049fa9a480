//! Servers for people without one, on this machine's loopback address only.
//!
//! [`DirectoryServer`] shares one directory over NFSv3, so that a comparison between a local disk
//! and NFS can be tried without setting up a server, and so that faults can be tested against a
//! server that tells the truth about what is stable. [`NullNfs`] and [`NullIscsi`] answer at once
//! from nothing: measured against them, an initiator shows its own cost.
//!
//! Nothing here uses the codecs of the clients: a mistake made on both sides would be seen by
//! neither.

mod directory;
mod error;
mod exchange;
mod listener;
mod nfs3;
mod null_iscsi;
mod null_nfs;
mod rpc;
mod send;
mod xdr;

pub use directory::DirectoryServer;
pub use error::ServerError;
pub use listener::{Running, Stopper};
pub use null_iscsi::NullIscsi;
pub use null_nfs::NullNfs;
