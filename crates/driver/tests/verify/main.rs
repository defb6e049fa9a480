//! Verifying reads over disks in memory: every lie is detected and identified, and an honest disk
//! is never accused, whatever the load.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod honest;
mod lies;
mod memory;
mod setting;
