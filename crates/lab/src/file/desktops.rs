//! Reads `desktops`: places for machines that studies have made and taken apart.

use stormeter_yaml::Diagnostics;

use super::part::{Entry, needed, open};
use super::{keys, value, vm};
use crate::model::{DesktopSet, DiskFormat, Lab, Vm};

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
    let titles = (format!("the disk of {title}"), "disk");
    let disk =
        node.and_then(|node| vm::disk(node, (&titles.0, titles.1), &lab.storage, diagnostics));
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
