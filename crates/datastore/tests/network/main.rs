//! Datastores behind a protocol, against servers that others wrote and against our own.

#![allow(clippy::unwrap_used)] // A test's assertion.

mod bytes;
mod fixture;
