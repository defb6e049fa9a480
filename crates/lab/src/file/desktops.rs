//! Reads `desktops`: places for machines that studies have made and taken apart.

use stormeter_datastore::{DatastoreUrl, Location};
use stormeter_yaml::{Diagnostics, Node};

use super::part::{Entry, needed, open};
use super::{keys, value, vm};
use crate::model::{Datastore, DesktopSet, DiskFormat, Lab, Vm};

/// Each is a process, and its disk a file or a part of a LUN.
const MOST: u32 = 256;

/// Reads an entry and adds its desktops to `lab`.
pub(super) fn desktops(entry: &Entry<'_>, lab: &mut Lab, diagnostics: &mut Diagnostics) {
    let title = format!("desktops {}", entry.name);
    let Some(section) = open(entry.node, &title, &keys::DESKTOPS, diagnostics) else { return };
    let memory_bytes = value::size(&section, "memory", vm::LEAST_MEMORY_MIB, 65536, diagnostics)
        .unwrap_or(vm::MEMORY_BYTES);
    let vcpus = value::number(&section, "vcpus", 1, 16, diagnostics).unwrap_or(1);
    let count = value::number(&section, "count", 1, MOST, diagnostics).unwrap_or(1);
    let node = needed(&section, &title, entry.place, "disk", &keys::DESKTOPS, diagnostics);
    let of_disk = format!("the disk of {title}");
    let mut find = |node: &Node, to: &mut Diagnostics| match pool(node, to) {
        Some(url) => {
            lab.pools.push(url?);
            Some(Datastore::Pool { pool: lab.pools.len() - 1 })
        }
        None => vm::datastore(node, &of_disk, &lab.storage, to),
    };
    let disk = node.and_then(|node| vm::disk(node, (&of_disk, "disk"), &mut find, diagnostics));
    let Some(disk) = disk else { return };
    if disk.format != DiskFormat::Raw {
        diagnostics.error_at(
            section.place_of("disk"),
            format!("{title} get their format from the way in which a study has them made; leave format out"),
        );
        return;
    }
    let machine = |name: String| Vm { name, memory_bytes, vcpus, network: None, disks: Vec::new() };
    let template = machine(format!("{}-template", entry.name));
    let at = lab.desktops.len();
    lab.desktops.push(DesktopSet { name: entry.name.into(), template, places: Vec::new() });
    // One by one: each is placed behind the existing ones.
    let first = vm::put(&disk, (&title, entry.place), lab, diagnostics);
    lab.desktops[at].template.disks.extend(first);
    for number in 1..=count {
        // One message is enough.
        if diagnostics.count() > 0 {
            return;
        }
        let own = vm::put(&disk, (&title, entry.place), lab, diagnostics);
        let mut desktop = machine(format!("{}-{number}", entry.name));
        desktop.disks.extend(own);
        lab.desktops[at].places.push(desktop);
    }
}

/// The URL of a pool of a Ceph cluster; `None` if the text is no such URL, `Some(None)` if it is a wrong one, which is
/// reported.
fn pool(node: &Node, diagnostics: &mut Diagnostics) -> Option<Option<String>> {
    let text = node.text()?.trim();
    if !text.starts_with("rbd:") {
        return None;
    }
    match DatastoreUrl::parse(text).map(|url| url.location) {
        Ok(Location::Rbd(pool)) if pool.conf.as_ref().is_some_and(|conf| !conf.is_absolute()) => {
            diagnostics.error_at(
                node.place,
                "the path in conf= begins with /, because a lab is used from other directories, too",
            );
            Some(None)
        }
        Ok(Location::Rbd(_)) => Some(Some(text.to_owned())),
        Ok(_) => None,
        Err(error) => {
            diagnostics.error_at(node.place, error.to_string());
            Some(None)
        }
    }
}
