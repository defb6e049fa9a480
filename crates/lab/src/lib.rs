//! A rack of storage and virtual machines in guests on one machine.
//!
//! A lab file ([`parse_lab`]) describes storage guests, networks, hosts and VMs. [`Cache::build`] makes kernel
//! and images from Debian packages; [`up`] starts the guests with QEMU; [`status`], [`console`] and [`down`]
//! work on a running lab. Everything that belongs to a lab is in one directory. In a worker guest this same
//! program is init ([`guest`]).

mod desktop_guest;
mod error;
mod file;
pub mod guest;
mod image;
mod links;
mod model;
mod qemu;
mod rack;
mod services;
mod storage_disks;
mod wiring;

pub use desktop_guest::{DesktopError, DesktopOrder, DesktopWork, desktop};
pub use error::{LabDirectory, LabError};
pub use file::{LabErrors, key_lists, lab_schema, parse_lab};
pub use image::{Cache, Images};
pub use model::*;
pub use rack::{
    AcceleratorChoice, ClosedDesktops, Counters, DesktopPlaces, Ended, Faults, GuestAgent,
    GuestPart, GuestStatus, LabDatastore, Power, RackDesktops, Snapshots, Started, Status,
    UpOptions, Watch, agents, console, datastores, desktop_places, down, prepare_template, status,
    status_text, up,
};
pub use services::{Ftp, Services, Vnc};
