//! Disks on a pool of a Ceph cluster: images of ours, driven through librbd.

mod anchor;
mod error;
mod store;
mod trouble;

pub use store::RbdDisks;
pub(crate) use store::{LOGICAL_BLOCK_BYTES, RbdStore};
