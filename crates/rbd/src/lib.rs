//! Ceph RBD images as virtual disks, through librados and librbd.
//!
//! A hypervisor reaches a Ceph cluster through these libraries, in user space and without root, so a measurement does the
//! same. They are loaded when a datastore needs them and not linked: the program builds and starts without them, and
//! says which package to install ([`LoadError`]).
//!
//! This crate is, besides `uring`, the only one that may contain `unsafe`. It keeps it to few places:
//! - [`Library`] has the functions of the two libraries with their C signatures (librados.h, librbd.h).
//! - A call that may wait for the cluster runs on a thread of its own and is waited for with a limit (`within`): the
//!   libraries can wait without end, this process must not.
//! - [`RbdDisks`] owns the memory that asynchronous I/O uses. What a callback needs is kept alive by the callback, so that
//!   a cluster that never answers costs memory and never validity.
//!
//! What a flush and a durable write mean here: an RBD write is acknowledged when all replicas that are up have it on
//! stable storage (BlueStore commits before it acknowledges), unless librbd's own cache is on
//! ([`ClusterSettings::cache`]). A flush waits for the writes that were submitted to the image before it, and empties that
//! cache. A durable write is, with the cache on, a write and then a flush of the image, because librbd takes no FUA that
//! reaches through its cache.

mod buffers;
mod cloning;
mod cluster;
mod connection;
mod disks;
mod error;
mod image;
mod landing;
mod library;
mod status;
mod within;

pub use cloning::CloneSource;
pub use cluster::{Cluster, ClusterSettings};
pub use disks::{RbdDisks, RbdMemory};
pub use error::{LoadError, RbdError};
pub use image::{Image, ImageInfo, ImageOptions};
pub use library::Library;
pub use status::{ClusterStatus, PoolFacts, PoolRoom};
