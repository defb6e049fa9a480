//! From the names in a fault to the parts of a site.
//!
//! A fault names a guest of a lab and a part of it, or a part of a site. If a site describes a lab, the names
//! are the same: a storage guest is the controller of that name and its group of disks the disk group; a
//! network is a network, a host a group of hosts, a mount a datastore. What belongs to one storage only (its
//! link, the paths to it) does not affect a datastore on another storage, although both may use the same
//! ports.

use stormeter_fault::{FaultKind, FaultSpec};
use stormeter_site::{Adapter, Site, SiteDatastore, Target};

use super::plan::Broken;

/// Why a fault does not fit a site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultNameError {
    /// The model has no such fault.
    #[error("a site has no model of {kind}; what can be done there is {known}")]
    Kind {
        /// The kind of fault.
        kind: &'static str,
        /// The kinds that it has.
        known: String,
    },
    /// A name that the site does not have.
    #[error("the site has no {what} {name:?}; it has {known}")]
    Unknown {
        /// The kind of part.
        what: &'static str,
        /// The name as written.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// Hosts that keep no data.
    #[error(
        "{name:?} are no nodes: only hosts that keep the data of a distributed datastore are; {known}"
    )]
    NoNodes {
        /// The name as written.
        name: String,
        /// What to write instead.
        known: String,
    },
    /// Nodes without a valid number.
    #[error("{name} are {count} hosts, counted from 0; name one of them: {kind} {name}.{last}")]
    WhichNode {
        /// The kind of fault.
        kind: &'static str,
        /// The group of hosts.
        name: String,
        /// The number of hosts.
        count: u32,
        /// The highest number.
        last: u32,
    },
    /// A device of a distributed datastore.
    #[error(
        "{name} is a distributed datastore, which copies what a disk had to others and waits for no new \
         one; leave {} out", FaultKind::DiskReplace.name()
    )]
    NoReplacement {
        /// The datastore.
        name: String,
    },
}

/// The kinds of faults that a site has a model of.
const KINDS: [FaultKind; 10] = [
    FaultKind::DiskFail,
    FaultKind::DiskReplace,
    FaultKind::DiskSlow,
    FaultKind::LinkDown,
    FaultKind::LinkUp,
    FaultKind::LinkFlap,
    FaultKind::PathDown,
    FaultKind::PathUp,
    FaultKind::Kill,
    FaultKind::Restart,
];

impl Broken {
    /// The parts of a site that a fault breaks, for one of its datastores; empty if they belong to another
    /// storage. What ends a fault names the same parts as the fault.
    ///
    /// # Errors
    /// The site has no such part; the error lists those that it has.
    pub fn by(
        fault: &FaultSpec,
        site: &Site,
        datastore: usize,
    ) -> Result<Vec<Broken>, FaultNameError> {
        let datastore = &site.datastores[datastore];
        match fault.kind {
            FaultKind::DiskFail | FaultKind::DiskReplace | FaultKind::DiskSlow => {
                Ok(vec![disk(fault, site)?])
            }
            FaultKind::LinkDown | FaultKind::LinkUp | FaultKind::LinkFlap => {
                let networks = links(fault, site, datastore)?;
                Ok(networks.into_iter().map(|network| Broken::LinkDown { network }).collect())
            }
            FaultKind::PathDown | FaultKind::PathUp => path(fault, site, datastore),
            FaultKind::Kill | FaultKind::Restart => Ok(vec![node(fault, site)?]),
            FaultKind::Pause | FaultKind::Resume | FaultKind::LinkLoss => {
                let known = KINDS.map(FaultKind::name).join(", ");
                Err(FaultNameError::Kind { kind: fault.kind.name(), known })
            }
        }
    }
}

/// `[OWNER.]DISKS`: a disk group or a distributed datastore, and its owner.
fn disk(fault: &FaultSpec, site: &Site) -> Result<Broken, FaultNameError> {
    let groups = site.groups.iter().map(|group| group.name.as_str());
    let all: Vec<&str> =
        groups.chain(site.clusters.iter().map(|cluster| cluster.name.as_str())).collect();
    let place = match &fault.part {
        None => named("disk group", &fault.target, all.iter().copied())?,
        Some(disks) => {
            let owned = owners(site);
            let name = |&(owner, place): &(&str, usize)| format!("{owner}.{}", all[place]);
            let asked = format!("{}.{disks}", fault.target);
            let found = owned.iter().find(|&owned| name(owned) == asked);
            let (_, place) = found.ok_or_else(|| {
                let known: Vec<String> = owned.iter().map(name).collect();
                unknown("disk group", &asked, known.iter().map(String::as_str))
            })?;
            *place
        }
    };
    let (disk, times) = (fault.number, fault.amount);
    let cluster = place.checked_sub(site.groups.len());
    Ok(match (fault.kind, cluster) {
        (FaultKind::DiskSlow, None) => Broken::DiskSlow { group: place, disk, times },
        (FaultKind::DiskSlow, Some(cluster)) => Broken::CapacitySlow { cluster, disk, times },
        (FaultKind::DiskReplace, None) => Broken::DiskReplaced { group: place, disk },
        (FaultKind::DiskReplace, Some(_)) => {
            return Err(FaultNameError::NoReplacement { name: all[place].to_owned() });
        }
        (_, None) => Broken::DiskLost { group: place, disk },
        (_, Some(cluster)) => Broken::CapacityLost { cluster, disk },
    })
}

/// Controllers and hosts with the disks that they have: places among all groups and, behind these, all
/// clusters.
fn owners(site: &Site) -> Vec<(&str, usize)> {
    let controllers = site.controllers.iter().map(|one| (one.name.as_str(), one.group));
    let local = site.datastores.iter().filter_map(|datastore| match datastore.target {
        Target::Group(group) => Some((site.hosts[datastore.hosts].name.as_str(), group)),
        _ => None,
    });
    let nodes = (site.groups.len()..).zip(&site.clusters);
    let nodes = nodes.map(|(place, cluster)| (site.hosts[cluster.nodes].name.as_str(), place));
    let mut owners: Vec<(&str, usize)> = Vec::new();
    for owner in controllers.chain(local).chain(nodes) {
        if !owners.contains(&owner) {
            owners.push(owner);
        }
    }
    owners
}

/// `NETWORK`, `STORAGE` (all networks on the way to it) or `STORAGE.NETWORK`.
fn links(
    fault: &FaultSpec,
    site: &Site,
    datastore: &SiteDatastore,
) -> Result<Vec<usize>, FaultNameError> {
    let networks = site.networks.iter().map(|network| network.name.as_str());
    let controllers = site.controllers.iter().map(|controller| controller.name.as_str());
    let storage = match &fault.part {
        None => {
            let all = networks.clone().chain(controllers);
            let place = named("network or controller", &fault.target, all)?;
            match place.checked_sub(site.networks.len()) {
                None => return Ok(vec![place]),
                Some(controller) => controller,
            }
        }
        Some(_) => named("controller", &fault.target, controllers)?,
    };
    let reaches = |datastore: &SiteDatastore| match datastore.target {
        Target::Controller { controller, .. } => controller == storage,
        _ => false,
    };
    let on_the_way = |number: &usize| {
        let reaching = site.datastores.iter().filter(|&datastore| reaches(datastore));
        reaching.flat_map(|datastore| &datastore.networks).any(|network| network == number)
    };
    let asked: Vec<usize> = match &fault.part {
        None => (0..site.networks.len()).filter(on_the_way).collect(),
        Some(name) => {
            let is_it = |number: &usize| site.networks[*number].name == *name;
            let own = (0..site.networks.len()).filter(on_the_way);
            vec![own.clone().find(is_it).ok_or_else(|| {
                let known = own.map(|number| site.networks[number].name.as_str());
                unknown("network on the way to this controller", name, known)
            })?]
        }
    };
    let met = |network: &usize| reaches(datastore) && datastore.networks.contains(network);
    Ok(asked.into_iter().filter(met).collect())
}

/// `OWNER.ADAPTER` of hosts or a controller, or `HOSTS.DATASTORE`: the adapter over which these hosts reach
/// it.
fn path(
    fault: &FaultSpec,
    site: &Site,
    datastore: &SiteDatastore,
) -> Result<Vec<Broken>, FaultNameError> {
    let hosts = site.hosts.iter().map(|group| group.name.as_str());
    let controllers = site.controllers.iter().map(|controller| controller.name.as_str());
    let owner = named("hosts or controller", &fault.target, hosts.chain(controllers))?;
    let (name, port) = (fault.part.as_deref().unwrap_or_default(), fault.number);
    let place = |adapters: &[Adapter]| adapters.iter().position(|adapter| adapter.name == name);
    if let Some(controller) = owner.checked_sub(site.hosts.len()) {
        let ports = &site.controllers[controller].ports;
        return match place(ports) {
            Some(adapter) => Ok(vec![Broken::ControllerPathDown { controller, adapter, port }]),
            None => Err(unknown("adapter", name, ports.iter().map(|port| port.name.as_str()))),
        };
    }
    let adapters = &site.hosts[owner].adapters;
    if let Some(adapter) = place(adapters) {
        return Ok(vec![Broken::HostPathDown { hosts: owner, adapter, port }]);
    }
    let mounts = || site.datastores.iter().filter(|mount| mount.hosts == owner);
    let is_it =
        |mount: &&SiteDatastore| mount.name == name || mount.also.iter().any(|it| it == name);
    match mounts().find(is_it).and_then(|mount| Some((mount, mount.adapter?))) {
        Some((mount, _)) if storage_of(mount) != storage_of(datastore) => Ok(Vec::new()),
        Some((_, adapter)) => Ok(vec![Broken::HostPathDown { hosts: owner, adapter, port }]),
        None => {
            let reached = mounts().filter(|mount| mount.adapter.is_some());
            let adapters = adapters.iter().map(|adapter| adapter.name.as_str());
            let known = adapters.chain(reached.map(|mount| mount.name.as_str()));
            Err(unknown("adapter", name, known))
        }
    }
}

/// What distinguishes one storage from another.
fn storage_of(datastore: &SiteDatastore) -> (u8, usize) {
    match datastore.target {
        Target::Group(group) => (0, group),
        Target::Controller { controller, .. } => (1, controller),
        Target::Cluster { cluster, .. } => (2, cluster),
    }
}

/// `HOSTS[.NUMBER]` of hosts that are nodes.
fn node(fault: &FaultSpec, site: &Site) -> Result<Broken, FaultNameError> {
    let (kind, name) = (fault.kind.name(), fault.target.clone());
    let names = site.hosts.iter().map(|group| group.name.as_str());
    let hosts = named("group of hosts", &name, names)?;
    if !site.clusters.iter().any(|cluster| cluster.nodes == hosts) {
        return Err(FaultNameError::NoNodes { name, known: nodes_of(site, kind) });
    }
    let count = site.hosts[hosts].count;
    let node = match &fault.part {
        None => Some(0).filter(|_| count == 1),
        Some(number) => number.parse().ok(),
    };
    let last = count.saturating_sub(1);
    let node = node.ok_or(FaultNameError::WhichNode { kind, name, count, last })?;
    Ok(Broken::NodeLost { hosts, node })
}

fn nodes_of(site: &Site, kind: &str) -> String {
    let mut known: Vec<&str> =
        site.clusters.iter().map(|cluster| site.hosts[cluster.nodes].name.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    if known.is_empty() {
        return format!(
            "the site has none, so leave {kind} out; what hosts that run VMs can lose are paths: \
             path-down HOSTS.ADAPTER 0"
        );
    }
    format!("name one of {}", known.join(", "))
}

/// The place of a name among those that there are.
fn named<'a>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, FaultNameError> {
    let mut all = known.clone();
    all.position(|other| other == name).ok_or_else(|| unknown(what, name, known))
}

fn unknown<'a>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> FaultNameError {
    let known: Vec<&str> = known.collect();
    let known = if known.is_empty() { "none".into() } else { known.join(", ") };
    FaultNameError::Unknown { what, name: name.to_owned(), known }
}
