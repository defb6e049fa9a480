//! The parts of a site that people know by name, and what each had to do.

pub use stormeter_driver::{ComponentKind, ComponentUse};

/// A component while the machine runs.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) kind: ComponentKind,
    /// Its stations; disks have none.
    pub(crate) stations: Vec<u32>,
    /// Time that requests spent here, since the beginning.
    pub(crate) residence_ns: u64,
    /// Messages lost here, since the beginning.
    pub(crate) lost: u64,
}
