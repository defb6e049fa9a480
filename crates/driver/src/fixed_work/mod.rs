//! The loops of trials that end when their work is done rather than when their time is up
//! ([`stormeter_trial::FixedWorkTrial`] describes them).

mod deployment;
mod file_test;
mod log;
mod payload;
mod permutation;
mod run;

pub use deployment::drive_deployment;
pub use file_test::drive_file_test;
pub use log::FixedWorkLog;
pub use payload::Payload;
