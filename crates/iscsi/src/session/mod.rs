//! A session in full feature phase: operations and commands in, PDUs out, and back.
//!
//! # Retrying after a broken connection
//!
//! At ErrorRecoveryLevel 0 nothing of a session survives its connection. The next login uses the
//! same ISID, upon which the target ends what is left of the old session, including its tasks,
//! before it accepts the new one (RFC 7143 §6.3.5, session reinstatement). Only then is everything
//! that has not been answered sent again, in the order of submission.
//!
//! That is safe because of what is sent: reads change nothing; writes carry whole blocks to fixed
//! addresses, so that a write that is executed twice leaves the same bytes; no old copy of one can
//! arrive late and overwrite something newer, since the tasks that could do so were ended; and no
//! submitter relies on an order among operations that are still outstanding. A flush covers what had
//! completed before; [`UnitCache`](crate::UnitCache) says what a restart of the target means for it.

mod action;
mod closing;
mod closing_stage;
mod command;
mod conclude;
mod coverage;
mod data_in;
mod dispatch;
mod durability;
mod error;
mod geometry;
mod inbound;
mod keepalive;
mod machine;
mod operations;
mod options;
mod send;
mod sequence;
mod tasks;
mod templates;

pub use command::Command;
pub use error::{CommandError, Error};
pub use machine::Session;
pub use options::{Options, Timeouts};
