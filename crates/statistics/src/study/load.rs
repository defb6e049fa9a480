//! The loads that answers are about.

use serde::{Deserialize, Serialize};

/// A load: its workload, and the levels that tell it from the study's other loads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// The workload's name; where workloads are compared, the datastore's.
    pub workload: String,
    /// VMs at once; `None` where the study has one level only, or the claim is about all levels.
    pub vms: Option<u32>,
    /// Outstanding I/Os per VM; `None` where the workload sets them, or the claim is about all levels.
    pub outstanding: Option<u32>,
}

/// A datastore under a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedDatastore {
    /// The datastore's name.
    pub datastore: String,
    /// The load.
    pub load: Load,
}
