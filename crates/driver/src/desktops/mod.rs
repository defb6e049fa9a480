//! The loop of trials of desktops on demand: users come, the broker decides, desktops are made, used and taken apart.
//!
//! The order of a turn is that of the loop of sessions: wait for events, read the clock once for all of them, pass
//! boundaries, record, do what is due. The loop does not know what a desktop is: machines of a lab, disks of a datastore
//! and disks of a model are the same to it.

mod broker;
mod course;
mod gauges;
mod on_disks;

pub use broker::{Broker, BrokerAction, BrokerCounts, BrokerPassed};
pub use course::drive_desktops;
pub use on_disks::DiskDesktops;
