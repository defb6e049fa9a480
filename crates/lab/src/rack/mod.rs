//! A running lab: started, inspected, ended. Everything that belongs to it is in one directory.

mod address;
mod array;
mod clone;
mod console;
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
mod restart;
mod secrets;
mod setup;
mod snapshot;
mod state;
mod status;
mod targets;
mod template;
mod up;

pub use console::console;
pub use down::{Ended, down};
pub use fault::Faults;
pub use plan::AcceleratorChoice;
pub use snapshot::Snapshots;
pub use status::{GuestAgent, GuestStatus, Status, agents, status, status_text};
pub use up::{Started, UpOptions, up};
