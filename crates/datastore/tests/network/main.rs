//! Datastores behind a protocol, against servers that others wrote and against our own.

mod bytes;
mod fixture;
