//! Labs of guests that are booted for real, in one binary: built once, and two labs at a time where there are two
//! cores, since a lab mostly waits. Slow, and in need of QEMU, packages and built stormeters: the step `lab` of
//! `cargo xtask test` runs this and says where these are; anywhere else each test says that it was not run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod boot;
mod faults;
mod kernel_path;
mod place;
mod snapshot;
