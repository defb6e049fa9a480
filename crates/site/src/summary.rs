//! A site in words: what a file says once every default is filled in and every `like` is expanded.
//!
//! The author of a site checks it by reading how it was interpreted: the path of each datastore,
//! the capacity of each disk group. Values are written as in a site file.

use std::fmt::{Result, Write};

use stormeter_units::{format_bytes, format_duration_ns};

use crate::file::SiteFile;
use crate::model::{
    Adapter, Aggregation, Client, Cluster, Controller, Device, DiskGroup, Distribution, HostGroup,
    Layout, Network, PathPolicy, Placement, PortKind, Raid, ReplicaReads, Site, SiteDatastore,
    Stack, Target, WriteCache,
};
use crate::unit::Quantity;

/// The contents of a site file, for people: hosts, networks, controllers, disks and the path of
/// each datastore.
pub fn site_text(file: &SiteFile) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write(file, &mut text);
    text
}

fn write(file: &SiteFile, out: &mut String) -> Result {
    let site = &file.site;
    writeln!(out, "{}", site.name)?;
    if let Some(number) = site.as_built {
        writeln!(
            out,
            "As built: hashes and places of pieces are the same in every block (number {number})."
        )?;
    }
    if site.fresh {
        writeln!(out, "Memories for writes start empty, or as empty as such a load begins.")?;
    }
    section(out, "Hosts", site.hosts.iter().map(|hosts| (&hosts.name, host(hosts))))?;
    section(out, "Stacks", site.stacks.iter().map(|own| (&own.name, stack(own))))?;
    section(out, "Networks", site.networks.iter().map(|own| (&own.name, network(own))))?;
    let controllers = site.controllers.iter().map(|own| (&own.name, controller(site, own)));
    section(out, "Controllers", controllers)?;
    section(out, "Disk groups", site.groups.iter().map(|own| (&own.name, group(own))))?;
    let clusters = site.clusters.iter().map(|own| (&own.name, cluster(site, own)));
    section(out, "Clusters", clusters)?;
    let datastores = site.datastores.iter().map(|own| (&own.name, datastore(site, own)));
    section(out, "Datastores", datastores)?;
    if let Some(own) = &site.client {
        writeln!(out, "\nClient of transfers\n  {}", client(site, own))?;
    }
    if !file.assumed.is_empty() {
        let paths = file.assumed.iter().map(|one| match one.is_default {
            true => format!("{} ({}, by default)", one.parameter, one.value),
            false => format!("{} ({})", one.parameter, one.value),
        });
        writeln!(out, "\nAssumed\n  {}", paths.collect::<Vec<_>>().join("\n  "))?;
    }
    if !file.fit.is_empty() || !file.calibration.is_empty() {
        let (fit, known) = (file.fit.len(), file.calibration.len());
        let (fit, known) = (counted(fit, "parameter"), counted(known, "finding"));
        writeln!(out, "\nFitted to {known}; a calibration may change {fit}.")?;
    }
    Ok(())
}

/// Entries under a title, each with its lines next to its name; nothing if there are none.
fn section<'a>(
    out: &mut String,
    title: &str,
    entries: impl Iterator<Item = (&'a String, Vec<String>)>,
) -> Result {
    let entries: Vec<_> = entries.collect();
    let width = entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    if !entries.is_empty() {
        writeln!(out, "\n{title}")?;
    }
    for (name, lines) in &entries {
        let mut name = name.as_str();
        for line in lines {
            writeln!(out, "  {name:width$}  {line}")?;
            name = "";
        }
    }
    Ok(())
}

fn host(hosts: &HostGroup) -> Vec<String> {
    let most = match hosts.vms_per_host {
        Some(most) => format!(", at most {} each", counted(most as usize, "VM")),
        None => String::new(),
    };
    let (count, clock) = (counted(hosts.count as usize, "host"), clock(hosts.clock_hz));
    let first = format!("{count} with {} at {clock}{most}", counted(hosts.cores as usize, "core"));
    let path = match hosts.vm_path_cycles {
        0.0 => None,
        cycles => Some(format!("requests of a VM one after the other, {cycles} cycles each")),
    };
    std::iter::once(first).chain(path).chain(hosts.adapters.iter().map(adapter)).collect()
}

fn adapter(own: &Adapter) -> String {
    let kind = match own.kind {
        PortKind::Ethernet { mtu_bytes } => format!("MTU {mtu_bytes}"),
        PortKind::FibreChannel { credits } => format!("{credits} credits"),
    };
    let aggregation = match (own.count, own.aggregation) {
        (1, _) => "",
        (_, Aggregation::ActiveBackup) => ", active-backup",
        (_, Aggregation::Hash) => ", hash",
        (_, Aggregation::RoundRobin) => ", round-robin",
        (_, Aggregation::ByHost) => ", by host",
    };
    let rate = rate(own.rate_bytes_per_s, own.kind);
    let batches = match own.coalescing.bytes {
        0 => String::new(),
        bytes => format!(", up to {} at once", size(bytes.into())),
    };
    let interrupts = match own.coalescing.moderation_ns {
        0.0 => String::new(),
        ns => format!(", interrupts {} apart", format_duration_ns(ns)),
    };
    format!("{}: {} × {rate}, {kind}{aggregation}{batches}{interrupts}", own.name, own.count)
}

fn stack(own: &Stack) -> Vec<String> {
    let cost = own.cost;
    let batch = match cost.per_batch_cycles {
        0.0 => String::new(),
        cycles => format!(", {cycles} a batch"),
    };
    vec![format!(
        "{}: {} cycles a read, {} a write, {} a byte, {} a packet{batch}",
        own.protocol.name(),
        cost.per_read_cycles,
        cost.per_write_cycles,
        cost.per_byte_cycles,
        cost.per_packet_cycles
    )]
}

fn network(own: &Network) -> Vec<String> {
    let what = match own.rate_bytes_per_s {
        Some(rate) => format!("a line of {}", bits(rate)),
        None => "a switch that does not block".into(),
    };
    let labels = match own.label_bytes {
        0 => String::new(),
        bytes => format!(", {bytes} bytes of labels a packet"),
    };
    vec![format!("{what}, {}{labels}", format_duration_ns(own.latency_ns))]
}

fn controller(site: &Site, own: &Controller) -> Vec<String> {
    let (count, clock) = (counted(own.count as usize, "controller"), clock(own.clock_hz));
    let first = format!("{count} with {} at {clock}", counted(own.cores as usize, "core"));
    let write = match own.cache.write {
        WriteCache::Through => "writes through".to_owned(),
        WriteCache::Back { bytes, battery: true, .. } => format!("{} for writes", size(bytes)),
        WriteCache::Back { bytes, .. } => format!("{} for writes, volatile", size(bytes)),
    };
    let layout = match own.cache.layout {
        Layout::InPlace => "in-place",
        Layout::WriteAnywhere => "write-anywhere",
    };
    let read = size(own.cache.read_bytes);
    let disks = &site.groups[own.group].name;
    let second = format!("cache: {read} for reads, {write}; {layout} on {disks} (behind each)");
    [first, second].into_iter().chain(own.ports.iter().map(adapter)).collect()
}

fn group(own: &DiskGroup) -> Vec<String> {
    let raid = match own.raid {
        Raid::Raid0 => "RAID 0",
        Raid::Raid1 => "RAID 1",
        Raid::Raid10 => "RAID 10",
        Raid::Raid5 => "RAID 5",
        Raid::Raid6 => "RAID 6",
    };
    let disks = own.disks as usize;
    let what = match (own.raid, disks) {
        (Raid::Raid0, 1) => format!("{} × a single disk", own.groups),
        _ => format!("{} × {raid} of {}", own.groups, counted(disks, "disk")),
    };
    let spares = match own.spares {
        0 => String::new(),
        spares => format!(", {}", counted(spares as usize, "spare")),
    };
    let usable = match own.usable_bytes() {
        Some(bytes) => format!("{} usable", size(bytes)),
        None => "of no known size".into(),
    };
    vec![format!("{what}{spares}; {}; {usable}", device(&own.device))]
}

fn device(own: &Device) -> String {
    match own {
        Device::Hdd(hdd) => format!("{} at {} rpm", size(hdd.capacity_bytes), hdd.rpm),
        Device::Ssd(ssd) => format!("{} of flash", size(ssd.capacity_bytes)),
        Device::Queue(queue) => format!("a queue of {}", counted(queue.servers as usize, "server")),
    }
}

fn cluster(site: &Site, own: &Cluster) -> Vec<String> {
    let nodes = &site.hosts[own.nodes];
    let adapter = &nodes.adapters[own.adapter].name;
    let (count, groups) = (nodes.count, counted(own.groups_per_node as usize, "disk group"));
    let capacity = counted(own.capacity_per_group as usize, "device");
    vec![
        format!("{count} nodes {} by {adapter}, {groups} each", nodes.name),
        format!("a group: {} before {capacity} of {}", device(&own.cache), device(&own.capacity)),
        format!(
            "cache: {} for reads, {} for writes",
            size(own.read_cache_bytes),
            size(own.write_buffer_bytes)
        ),
        match own.distribution {
            Distribution::Even => "pieces of disks: on the node and device with the fewest".into(),
            Distribution::Hash => "pieces of disks: where a hash puts them".into(),
        },
        match own.reads {
            ReplicaReads::All => "reads: from all replicas".into(),
            ReplicaReads::Primary => "reads: from the first replica".into(),
        },
    ]
}

/// The path from the hosts to the storage, then how it is used.
fn datastore(site: &Site, own: &SiteDatastore) -> Vec<String> {
    let hosts = &site.hosts[own.hosts];
    let mut way = match own.adapter {
        Some(adapter) => vec![format!("{}.{}", hosts.name, hosts.adapters[adapter].name)],
        None => vec![hosts.name.clone()],
    };
    way.extend(own.networks.iter().map(|network| site.networks[*network].name.clone()));
    match own.target {
        Target::Group(group) => way.push(site.groups[group].name.clone()),
        Target::Controller { controller, port } => {
            let own = &site.controllers[controller];
            way.push(format!("{}.{}", own.name, own.ports[port].name));
            way.push(site.groups[own.group].name.clone());
        }
        Target::Cluster { cluster, stripes, replicas } => {
            let (stripes, replicas) = (stripes as usize, replicas as usize);
            let copies = format!("{}, {}", counted(stripes, "stripe"), counted(replicas, "copy"));
            way.push(format!("{} ({copies})", site.clusters[cluster].name));
        }
    }
    let stack = &site.stacks[own.stack];
    let mut how = format!("{} ({})", stack.name, stack.protocol.name());
    if own.policy == PathPolicy::RoundRobin {
        how += ", round-robin";
    }
    if own.placement == Placement::Fill {
        how += ", hosts are filled one after the other";
    }
    if !own.also.is_empty() {
        how += &format!(", also called {}", own.also.join(", "));
    }
    vec![way.join(" → "), how]
}

fn client(site: &Site, own: &Client) -> String {
    let (hosts, server) = (&site.hosts[own.hosts], &site.hosts[site.datastores[0].hosts]);
    let mut way = vec![format!("{}.{}", hosts.name, hosts.adapters[own.adapter].name)];
    way.extend(own.networks.iter().map(|network| site.networks[*network].name.clone()));
    way.push(format!("{} of the VMs' hosts", server.adapters[own.server_adapter].name));
    way.join(" → ")
}

fn counted(count: usize, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "copy") => format!("{count} copies"),
        _ => format!("{count} {what}s"),
    }
}

/// Decimal if that is a round number, as disks are sold, and binary otherwise, as memory is.
fn size(bytes: u64) -> String {
    match bytes {
        0 => "none".into(),
        bytes if bytes % 1_000_000_000_000 == 0 => format!("{}TB", bytes / 1_000_000_000_000),
        bytes if bytes % 1_000_000_000 == 0 => format!("{}GB", bytes / 1_000_000_000),
        bytes => format_bytes(bytes),
    }
}

fn clock(hz: f64) -> String {
    format!("{}GHz", rounded(hz / 1e9))
}

/// As the port is sold: Fibre Channel by its generation, Ethernet in bits.
fn rate(bytes_per_s: f64, kind: PortKind) -> String {
    if let PortKind::FibreChannel { .. } = kind {
        let names = ["1GFC", "2GFC", "4GFC", "8GFC", "16GFC", "32GFC"];
        let is_this = |name: &&str| {
            let value = Quantity::parse(name).map_or(0.0, |read| read.value);
            (value - bytes_per_s).abs() < 1e-9 * value
        };
        let name = names.into_iter().find(is_this);
        return name.map_or_else(|| format!("{}MB/s", rounded(bytes_per_s / 1e6)), str::to_owned);
    }
    bits(bytes_per_s)
}

fn bits(bytes_per_s: f64) -> String {
    match bytes_per_s * 8.0 {
        bits if bits >= 1e9 => format!("{}Gb/s", rounded(bits / 1e9)),
        bits => format!("{}Mb/s", rounded(bits / 1e6)),
    }
}

/// To three decimals, without trailing zeros.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
