//! A run among others and over its interruptions: two at one time, trials that break, resumptions.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod again;
mod fixture;
#[path = "../request/mod.rs"]
mod request;
mod resumption;
mod together;
