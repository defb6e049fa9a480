//! Reads `datastores` and `client`: which hosts reach which storage, over which path.
//!
//! Whether the parts of a path fit together is checked here, where all of them are named.

use stormeter_yaml::{Diagnostics, Node, Place};

use super::keys;
use super::limits;
use super::part::{Part, THE_SITE, link};
use super::value::{self, At};
use crate::model::{
    Adapter, Client, Distribution, HostGroup, PathPolicy, Placement, PortKind, Protocol, Site,
    SiteDatastore, Target,
};

/// What a datastore can refer to. Clusters that could not be read have only a name.
pub(super) struct Known<'s> {
    /// Hosts, stacks, networks, controllers and groups, as far as they were read.
    pub(super) site: &'s Site,
    /// Names by section.
    pub(super) clusters: &'s [String],
    /// Whether all of that was read without errors: only then can compatibility be checked.
    pub(super) whole: bool,
}

fn names<T>(list: &[T], name: impl Fn(&T) -> &String) -> Vec<String> {
    list.iter().map(|item| name(item).clone()).collect()
}

/// One datastore.
pub(super) fn datastore(
    name: &str,
    place: Place,
    node: &Node,
    known: &Known<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<SiteDatastore> {
    let site = known.site;
    let part = Part::open(node, place, format!("datastore {name}"), &keys::DATASTORE, diagnostics)?;
    let hosts = hosts(&part, site, diagnostics);
    part.needed("stack", diagnostics);
    let stack =
        part.link("stack", "stack", THE_SITE, &names(&site.stacks, |s| &s.name), diagnostics);
    let policies = [("fixed", PathPolicy::Fixed), ("round-robin", PathPolicy::RoundRobin)];
    let policy = part.choice("policy", &policies, diagnostics).unwrap_or_default();
    let placements = [("spread", Placement::Spread), ("fill", Placement::Fill)];
    let placement = part.choice("placement", &placements, diagnostics).unwrap_or_default();
    let networks = networks(&part, site, diagnostics);
    let also = part.get("also", value::words, diagnostics).unwrap_or_default();
    let also = also.iter().filter_map(|node| node.text().map(str::to_owned)).collect();
    let target = target(&part, known, diagnostics);
    let adapter = match target {
        Some(Target::Group(_)) => {
            reject(&part, &["adapter", "networks", "policy"], "disks in the host", diagnostics);
            None
        }
        _ => {
            let node = target.and_then(|_| part.needed("adapter", diagnostics));
            node.and(adapter(&part, "adapter", hosts.map(|index| &site.hosts[index]), diagnostics))
        }
    };
    let datastore = SiteDatastore {
        name: name.into(),
        also,
        hosts: hosts?,
        stack: stack?,
        adapter,
        policy,
        networks,
        target: target?,
        placement,
    };
    if known.whole {
        check(&part, site, &datastore, diagnostics);
    }
    Some(datastore)
}

fn hosts(part: &Part<'_>, site: &Site, diagnostics: &mut Diagnostics) -> Option<usize> {
    part.needed("hosts", diagnostics);
    part.link("hosts", "host group", THE_SITE, &names(&site.hosts, |host| &host.name), diagnostics)
}

/// Resolves an adapter of those hosts; fails if the hosts could not be resolved.
fn adapter(
    part: &Part<'_>,
    key: &str,
    hosts: Option<&HostGroup>,
    diagnostics: &mut Diagnostics,
) -> Option<usize> {
    let hosts = hosts?;
    let names = names(&hosts.adapters, |adapter| &adapter.name);
    part.link(key, "adapter", &hosts.name, &names, diagnostics)
}

fn networks(part: &Part<'_>, site: &Site, diagnostics: &mut Diagnostics) -> Vec<usize> {
    let nodes = part.get("networks", value::words, diagnostics).unwrap_or_default();
    let names = names(&site.networks, |network| &network.name);
    nodes
        .iter()
        .filter_map(|node| link(node, &part.name, "network", THE_SITE, &names, diagnostics))
        .collect()
}

/// Rejects keys that have no meaning together with another.
fn reject(part: &Part<'_>, keys: &[&str], because: &str, diagnostics: &mut Diagnostics) {
    for key in keys {
        if part.node(key).is_some() {
            let name = &part.name;
            diagnostics.error_at(
                part.place_of(key),
                format!("{name} has {because} and no {key}; remove it"),
            );
        }
    }
}

fn target(part: &Part<'_>, known: &Known<'_>, diagnostics: &mut Diagnostics) -> Option<Target> {
    let site = known.site;
    let given: Vec<&'static str> = ["disks", "controller", "cluster"]
        .into_iter()
        .filter(|key| part.node(key).is_some())
        .collect();
    let [only] = given.as_slice() else {
        let message = match given.as_slice() {
            [] => format!(
                "{} has its bytes nowhere; write disks, controller with port, or cluster",
                part.name
            ),
            _ => format!(
                "{} has its bytes in more than one place ({}); keep one",
                part.name,
                given.join(", ")
            ),
        };
        diagnostics.error_at(given.last().map_or(part.place, |key| part.place_of(key)), message);
        return None;
    };
    if *only != "controller" {
        reject(part, &["port"], only, diagnostics);
    }
    if *only != "cluster" {
        reject(part, &["stripes", "replicas"], only, diagnostics);
    }
    match *only {
        "disks" => {
            let groups = names(&site.groups, |group| &group.name);
            part.link("disks", "disk group", THE_SITE, &groups, diagnostics).map(Target::Group)
        }
        "controller" => {
            let controllers = names(&site.controllers, |controller| &controller.name);
            let controller =
                part.link("controller", "controller", THE_SITE, &controllers, diagnostics)?;
            let found = &site.controllers[controller];
            if part.node("port").is_none() && found.ports.len() == 1 {
                return Some(Target::Controller { controller, port: 0 });
            }
            part.needed("port", diagnostics)?;
            let ports = names(&found.ports, |port| &port.name);
            let port = part.link("port", "port", &found.name, &ports, diagnostics)?;
            Some(Target::Controller { controller, port })
        }
        _ => {
            let cluster = part.link("cluster", "cluster", THE_SITE, known.clusters, diagnostics)?;
            let stripes = part.get("stripes", value::count, diagnostics).unwrap_or(1);
            let replicas = part.get("replicas", value::count, diagnostics).unwrap_or(2);
            Some(Target::Cluster { cluster, stripes, replicas })
        }
    }
}

/// Checks whether the parts of the path fit together.
fn check(part: &Part<'_>, site: &Site, datastore: &SiteDatastore, diagnostics: &mut Diagnostics) {
    let stack = &site.stacks[datastore.stack];
    let protocol = stack.protocol;
    let hosts = &site.hosts[datastore.hosts];
    let speaks = |key: &str, adapter: &Adapter, diagnostics: &mut Diagnostics| {
        if let Some((is, needs)) = misfit(protocol, adapter) {
            diagnostics.error_at(
                part.place_of(key),
                format!(
                    "{} speaks {} over {}, which is {is}; it needs {needs}",
                    part.name,
                    protocol.name(),
                    adapter.name
                ),
            );
        }
    };
    if let Some(adapter) = datastore.adapter {
        speaks("adapter", &hosts.adapters[adapter], diagnostics);
    }
    match datastore.target {
        Target::Group(_) if protocol != Protocol::Local => diagnostics.error_at(
            part.place_of("stack"),
            format!(
                "{} has disks in the host, and its stack {} speaks {}; write a stack whose \
                 protocol is local",
                part.name,
                stack.name,
                protocol.name()
            ),
        ),
        Target::Group(group) => {
            let at = (part.name.as_str(), part.place_of("disks"));
            limits::all_disks(at, (hosts.count, "hosts"), &site.groups[group], diagnostics);
        }
        Target::Controller { .. } if protocol == Protocol::Local => diagnostics.error_at(
            part.place_of("stack"),
            format!(
                "{} leads to a controller, and its stack {} is for disks in the host; write a \
                 stack whose protocol is nfs, iscsi or fc",
                part.name, stack.name
            ),
        ),
        Target::Controller { controller, port } => {
            let controller = &site.controllers[controller];
            speaks("port", &controller.ports[port], diagnostics);
            if let Some(adapter) = datastore.adapter {
                let port = &controller.ports[port];
                let there = format!("controllers.{}.ports.{}", controller.name, port.name);
                one_mtu(part, (hosts, &hosts.adapters[adapter]), (&there, port), diagnostics);
            }
            if controller.costs.iter().all(|(known, _)| *known != protocol) {
                diagnostics.error_at(
                    part.place_of("controller"),
                    format!(
                        "{} speaks {}, of which controller {} has no cost; write costs: {{{}: \
                         {{per-read: 40000 cycles, per-write: 60000 cycles}}}} there",
                        part.name,
                        protocol.name(),
                        controller.name,
                        protocol.name()
                    ),
                );
            }
        }
        Target::Cluster { cluster, stripes, replicas } => {
            let cluster = &site.clusters[cluster];
            if let Some(adapter) = datastore.adapter {
                let nodes = &site.hosts[cluster.nodes];
                let port = &nodes.adapters[cluster.adapter];
                let there = format!("hosts.{}.adapters.{}", nodes.name, port.name);
                one_mtu(part, (hosts, &hosts.adapters[adapter]), (&there, port), diagnostics);
            }
            let nodes = site.hosts[cluster.nodes].count;
            if replicas > nodes {
                diagnostics.error_at(
                    part.place_of("replicas"),
                    format!(
                        "{} has {replicas} replicas on {nodes} nodes, and no two are on the same; \
                         write at most {nodes}",
                        part.name
                    ),
                );
            }
            let devices = u64::from(nodes)
                * u64::from(cluster.groups_per_node)
                * u64::from(cluster.capacity_per_group);
            let each_its_own = cluster.distribution == Distribution::Even;
            if each_its_own
                && replicas <= nodes
                && u64::from(stripes) * u64::from(replicas) > devices
            {
                diagnostics.error_at(
                    part.place_of("stripes"),
                    format!(
                        "{} has {stripes} stripes of {replicas} replicas on {devices} capacity \
                         devices, and no two are on the same; write at most {}",
                        part.name,
                        (devices / u64::from(replicas)).max(1)
                    ),
                );
            }
        }
    }
}

/// Hosts and their storage are on one Ethernet, all of which must accept the largest frames that are
/// sent (VMware, "vSphere Storage", 6.5, "Using Jumbo Frames with iSCSI": end to end): frames that are
/// too large are dropped silently. A client of transfers may be behind a router, where TCP negotiates
/// the smaller size (RFC 9293, section 3.7.1), so its MTU is independent.
fn one_mtu(
    part: &Part<'_>,
    (hosts, adapter): (&HostGroup, &Adapter),
    (there, port): (&str, &Adapter),
    diagnostics: &mut Diagnostics,
) {
    let (PortKind::Ethernet { mtu_bytes: one }, PortKind::Ethernet { mtu_bytes: other }) =
        (adapter.kind, port.kind)
    else {
        return;
    };
    if one == other {
        return;
    }
    diagnostics.error_at(
        part.place_of("adapter"),
        format!(
            "{} has an MTU of {one} at hosts.{}.adapters.{} and of {other} at {there}, and an Ethernet \
             drops frames that one of its ports does not take; write one mtu at both, or name an \
             adapter and a port that have the same",
            part.name, hosts.name, adapter.name
        ),
    );
}

/// The kind of the adapter and the kind that the protocol needs, if they differ.
fn misfit(protocol: Protocol, adapter: &Adapter) -> Option<(&'static str, &'static str)> {
    let is_fibre_channel = matches!(adapter.kind, PortKind::FibreChannel { .. });
    match protocol {
        Protocol::Fc if !is_fibre_channel => {
            Some(("Ethernet", "Fibre Channel: a rate such as 4GFC"))
        }
        Protocol::Nfs | Protocol::Iscsi if is_fibre_channel => {
            Some(("Fibre Channel", "Ethernet: a rate such as 10GbE"))
        }
        _ => None,
    }
}

/// Rejects names that two datastores share.
pub(super) fn check_names(datastores: &[(&SiteDatastore, Place)], diagnostics: &mut Diagnostics) {
    let mut taken: Vec<(&str, &str)> =
        datastores.iter().map(|(d, _)| (d.name.as_str(), d.name.as_str())).collect();
    for (datastore, place) in datastores {
        for name in &datastore.also {
            if let Some((_, owner)) = taken.iter().find(|(known, _)| known == name) {
                diagnostics.error_at(
                    *place,
                    format!(
                        "datastore {} is also {name}, and so is datastore {owner}; a name stands \
                         for one",
                        datastore.name
                    ),
                );
            }
            taken.push((name, &datastore.name));
        }
    }
}

/// Reads the client of transfers.
pub(super) fn client(
    node: &Node,
    place: Place,
    site: &Site,
    diagnostics: &mut Diagnostics,
) -> Option<Client> {
    let part = Part::open(node, place, "the client", &keys::CLIENT, diagnostics)?;
    let hosts = hosts(&part, site, diagnostics);
    part.needed("adapter", diagnostics);
    let adapter = adapter(&part, "adapter", hosts.map(|index| &site.hosts[index]), diagnostics);
    part.needed("server-adapter", diagnostics);
    let server_adapter = server_adapter(&part, site, diagnostics);
    let networks = networks(&part, site, diagnostics);
    let clock_hz = part.get("clock", value::clock, diagnostics);
    let mut cost = |key| {
        let at: Option<At<'_, '_>> = part.at(key);
        at.and_then(|at| value::cost(at, clock_hz, diagnostics)).unwrap_or(0.0)
    };
    let (per_byte_cycles, per_message_cycles) = (cost("per-byte"), cost("per-message"));
    let memory_bytes_per_s = part.need("memory", value::rate, diagnostics);
    Some(Client {
        hosts: hosts?,
        adapter: adapter?,
        server_adapter: server_adapter?,
        networks,
        per_byte_cycles,
        per_message_cycles,
        memory_bytes_per_s: memory_bytes_per_s?,
    })
}

/// The adapter of the hosts in which VMs run. [`put_first`] has made it the first one of each, so
/// that one index applies to all.
fn server_adapter(part: &Part<'_>, site: &Site, diagnostics: &mut Diagnostics) -> Option<usize> {
    let datastores = site.datastores.iter();
    let hosts = datastores.map(|datastore| site.hosts.get(datastore.hosts));
    let found: Vec<Option<usize>> =
        hosts.map(|hosts| adapter(part, "server-adapter", hosts, diagnostics)).collect();
    found.into_iter().collect::<Option<Vec<usize>>>()?.first().copied()
}

/// Moves the adapter through which the client reaches servers to the front of its host's list; the
/// order has no other meaning.
pub(super) fn put_first(name: &str, hosts: &mut [HostGroup]) {
    for host in hosts {
        if let Some(at) = host.adapters.iter().position(|adapter| adapter.name == name) {
            host.adapters[..=at].rotate_right(1);
        }
    }
}
