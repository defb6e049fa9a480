//! Datastores behind a protocol, against servers that others wrote and against our own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bytes;
mod durability;
mod durable;
mod fixture;
mod survey;
