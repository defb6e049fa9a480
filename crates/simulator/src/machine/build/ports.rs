//! Ports and lines as stations.

/// Ports with the stations of each direction. Those of several hosts of a kind are consecutive.
#[derive(Debug, Clone, Copy)]
pub(in crate::machine) struct Ports {
    pub(in crate::machine) component: u32,
    /// First station of the sending ports.
    pub(in crate::machine) send: u32,
    /// First station of the receiving ports.
    pub(in crate::machine) receive: u32,
    /// First station for credits, if they are the limit.
    pub(in crate::machine) credit: Option<u32>,
}

/// A line of the site, both directions.
#[derive(Debug, Clone, Copy)]
pub(in crate::machine) struct Line {
    /// Index into the site's networks.
    pub(in crate::machine) network: usize,
    pub(in crate::machine) component: u32,
    /// The station towards the storage, if the line is shared.
    pub(in crate::machine) there: Option<u32>,
    /// The station of the other direction.
    pub(in crate::machine) back: Option<u32>,
}
