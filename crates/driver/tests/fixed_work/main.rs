//! Trials of fixed work over simulated disks in virtual time, against what arithmetic says they must take, and over
//! disks in memory, against what must stand there afterwards.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod deployment;
mod file_test;
mod setting;
mod trouble;
