//! A running lab: started, inspected, ended. Everything that belongs to it is in one directory.

mod address;
mod array;
mod clone;
mod console;
mod datastores;
mod directory;
mod down;
mod fault;
mod groups;
mod link;
mod mark;
mod mounts;
mod on_disks;
mod path;
mod plan;
mod ports;
mod power;
mod restart;
mod secrets;
mod setup;
mod snapshot;
mod state;
mod status;
mod targets;
mod template;
mod up;
mod write_logs;

pub use console::console;
pub use datastores::{LabDatastore, datastores};
pub use down::{Ended, down};
pub use fault::Faults;
pub use plan::AcceleratorChoice;
pub use power::Power;
pub use snapshot::Snapshots;
pub use status::{GuestAgent, GuestStatus, Status, agents, status, status_text};
pub use up::{Started, UpOptions, up};
