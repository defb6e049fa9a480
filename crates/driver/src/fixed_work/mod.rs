//! The loops of trials that end when their work is done rather than when their time is up
//! ([`stormeter_trial::FixedWorkTrial`] describes them).

mod deployment;
mod file_test;
mod log;
mod message_store;
mod payload;
mod permutation;
mod run;

pub use deployment::drive_deployment;
pub use file_test::drive_file_test;
pub use log::FixedWorkLog;
pub use message_store::{MessageDisk, MessageStore};
pub use payload::Payload;
