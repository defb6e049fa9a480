//! Labs with guests that really boot, in one binary: built once, with two labs at a time on two cores, since a
//! lab mostly waits. Slow, and needs QEMU, packages and built stormeters: the step `lab` of `cargo xtask test`
//! runs this and says where these are; elsewhere each test reports that it was not run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod boot;
mod desktops;
mod desktops_ceph;
mod durable;
mod faults;
mod kernel_path;
mod place;
mod routers;
mod snapshot;
