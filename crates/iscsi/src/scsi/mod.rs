//! The SCSI that a virtual disk needs (SPC-4, SBC-3): command blocks, and parsers for the results.
//! All parsers take untrusted bytes and return `None` or an error if they are invalid.

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
    BlockLimits, Inquiry, LogicalProvisioning, block_limits, inquiry, logical_provisioning,
    serial_number,
};
pub use luns::Lun;
pub use mode::{ModeSense, mode_sense_6};
pub use provisioning::{Range, unmap_parameters};
pub use sense::{Advice, Sense};
pub use status::Status;
