//! Comparisons with one datastore behind a faulty network or server: each fault is overcome and reported, or its trial
//! fails with the reason; the rest continues, nothing hangs, and no byte is lost or misplaced.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod iscsi;
mod nfs;
