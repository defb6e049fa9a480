//! Servers for users without one, on this machine's loopback address only.
//!
//! [`DirectoryServer`] shares one directory over NFSv3, so that a local disk can be compared with
//! NFS without setting up a server, and so that faults can be tested against a server that reports
//! truthfully what is stable. [`NullNfs`] and [`NullIscsi`] answer at once and store nothing:
//! measured against them, an initiator shows its own cost.
//!
//! Nothing here uses the clients' codecs: a mistake made on both sides would go unnoticed.

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
