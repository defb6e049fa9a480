//! The parts of a site that a datastore uses: what its figures follow from.

use super::{
    Client, Cluster, Controller, DiskGroup, HostGroup, Network, Site, SiteDatastore, Stack, Target,
};

/// The parts that a datastore uses. Two sites on which they are equal are the same to it.
#[derive(Debug, PartialEq)]
pub struct UsedParts<'a> {
    datastore: &'a SiteDatastore,
    as_built: Option<u32>,
    fresh: bool,
    hosts: &'a HostGroup,
    stack: &'a Stack,
    /// All of them: indices refer to them.
    networks: &'a [Network],
    group: Option<&'a DiskGroup>,
    controller: Option<&'a Controller>,
    cluster: Option<(&'a Cluster, &'a HostGroup)>,
    client: Option<(&'a Client, &'a HostGroup)>,
}

impl Site {
    /// The parts that the datastore with this index uses.
    ///
    /// # Panics
    /// There is no such datastore.
    pub fn used_by(&self, datastore: usize) -> UsedParts<'_> {
        let own = &self.datastores[datastore];
        let controller = match own.target {
            Target::Controller { controller, .. } => Some(&self.controllers[controller]),
            Target::Group(_) | Target::Cluster { .. } => None,
        };
        let group = match own.target {
            Target::Group(group) => Some(group),
            _ => controller.map(|controller| controller.group),
        };
        let cluster = match own.target {
            Target::Cluster { cluster, .. } => Some(&self.clusters[cluster]),
            Target::Group(_) | Target::Controller { .. } => None,
        };
        UsedParts {
            datastore: own,
            as_built: self.as_built,
            fresh: self.fresh,
            hosts: &self.hosts[own.hosts],
            stack: &self.stacks[own.stack],
            networks: &self.networks,
            group: group.map(|group| &self.groups[group]),
            controller,
            cluster: cluster.map(|cluster| (cluster, &self.hosts[cluster.nodes])),
            client: self.client.as_ref().map(|client| (client, &self.hosts[client.hosts])),
        }
    }
}
