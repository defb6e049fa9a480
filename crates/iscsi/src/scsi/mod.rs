//! The SCSI that a virtual disk needs (SPC-4, SBC-3): command blocks, and readers for what comes
//! back. All readers take bytes from outside and answer `None` or an error to what is none.

mod capacity;
pub mod cdb;
mod inquiry;
mod luns;
mod mode;
mod provisioning;
mod sense;
mod status;

pub use capacity::{Capacity, capacity_10, capacity_16};
pub use inquiry::{
    BlockLimits, Designator, Inquiry, LogicalProvisioning, block_limits, designators, inquiry,
    logical_provisioning, serial_number, supported_pages,
};
pub use luns::{Lun, luns};
pub use mode::{ModeSense, mode_sense_6, mode_sense_10};
pub use provisioning::{Range, unmap_parameters};
pub use sense::{Advice, Sense};
pub use status::Status;
