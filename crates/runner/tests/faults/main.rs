//! Comparisons of which one datastore lies behind a faulty network or server: each fault is mended
//! and told, or its trial fails with the reason; the rest goes on, nothing hangs, and no byte is
//! lost or misplaced.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod iscsi;
mod nfs;
