//! Trials of fixed work over simulated disks in virtual time, checked against computed durations, and over disks in
//! memory, checked against the expected contents.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod deployment;
mod file_test;
mod setting;
mod trouble;
