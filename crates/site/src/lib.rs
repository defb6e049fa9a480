//! The description of a site that may not exist yet: hosts, networks, storage, datastores.
//!
//! A site is a plain value; the simulator builds a machine from it and knows nothing of files.

mod model;

pub use model::*;
