//! A session in full feature phase: operations and commands in, PDUs out, and back.
//!
//! # Sending again what a broken connection left open
//!
//! At ErrorRecoveryLevel 0 nothing of a session survives its connection. The next login uses the
//! same ISID, which the target answers by ending what is left of the old session, its tasks
//! included, before it accepts the new one (RFC 7143 §6.3.5, session reinstatement). Only then is
//! everything that has no answer sent again, in the order in which it was submitted.
//!
//! That is safe because of what is sent: reads change nothing; writes carry whole blocks to fixed
//! addresses, so that a write which was carried out and is carried out again leaves the same bytes;
//! no old copy of one can arrive late and cover something newer, since the tasks that could do so
//! were ended; and nothing that awaits its completion was submitted by someone who relies on an
//! order among them.

mod closing;
mod command;
mod conclude;
mod coverage;
mod data_in;
mod dispatch;
mod error;
mod geometry;
mod inbound;
mod incidents;
mod keepalive;
mod machine;
mod operations;
mod options;
mod send;
mod sequence;
mod tasks;

pub use command::Command;
pub use error::{CommandError, Error};
pub use machine::Session;
pub use options::{Options, Timeouts};
