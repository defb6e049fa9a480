//! What the tests of several crates share. A dev-dependency only: nothing that is shipped uses it.
//!
//! - [`BadFiles`]: wrong files and the messages that they get, for the crates that read YAML.
//! - [`violations`], [`undescribed`], [`as_json`], [`examples`], [`assert_same_keys`]: JSON Schemas, checked
//!   against what is read and what is printed.
//! - [`assert_golden`]: a text, compared with a committed file.
//! - [`Emulator`]: what a terminal shows of what is written to it.
//! - [`workload`]: an ordinary workload, to be changed where a test depends on it.
//! - [`sample`], [`interval`]: a trial that obeys the laws, and a row of one, to be changed likewise.
//!
//! It stays low in the order of the layers, so that the tests of nearly every crate can use it. What needs the
//! types of one crate only belongs into the tests of that crate. A crate below this one (`trial`, `yaml`) can
//! use it in `tests/`, not in unit tests: there, its own types would be compiled twice.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_files;
mod emulator;
mod ftp_server;
mod golden;
mod json_schema;
mod sample;
mod workload;
mod written_schema;

pub use bad_files::{BadFiles, below, mutated};
pub use emulator::Emulator;
pub use ftp_server::{FTP_PASSWORD, FtpFiles, FtpManner, serve_ftp};
pub use golden::assert_golden;
pub use json_schema::{undescribed, violations};
pub use sample::{interval, sample};
pub use workload::workload;
pub use written_schema::{as_json, assert_same_keys, examples};
