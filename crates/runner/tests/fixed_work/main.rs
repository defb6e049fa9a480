//! Trials of fixed work on real disks: in directories, and on an export of the embedded NFS server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod disks;
mod fixture;
mod transfer;
mod trouble;
