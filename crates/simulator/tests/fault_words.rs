//! The table of faults in the documentation: every example in it must parse.

mod common;

use std::collections::BTreeSet;

use common::single::{machine, site_fault};
use stormeter_fault::ScheduledFault;
use stormeter_simulator::Broken;
use stormeter_site::*;

const PAGE: &str = include_str!("../../../docs/simulator.md");

/// A site with the names in the table: a filer over Fibre Channel; and a cluster.
fn site() -> Site {
    let mut site = common::fibre_channel();
    site.hosts[0].name = "esx".into();
    site.hosts[0].adapters[0].name = "hba".into();
    site.groups[0].name = "aggregate".into();
    site.networks[0].name = "wan".into();
    site.controllers[0].name = "filer".into();
    site.controllers[0].ports[0].name = "fc".into();
    site.hosts.push(HostGroup { name: "server".into(), count: 4, ..site.hosts[0].clone() });
    site.clusters = vec![Cluster {
        nodes: 1,
        capacity_per_group: 2,
        cache: site.groups[0].device.clone(),
        capacity: site.groups[0].device.clone(),
        hits: Hits::Share(0.0),
        ..common::cluster::bare_cluster(site.stacks[0].cost)
    }];
    site
}

/// Forms and examples in the table, from its first two columns.
fn rows() -> Vec<(&'static str, &'static str)> {
    let section = PAGE.split("### Faults").nth(1).expect("a section");
    let section = section.split("\n#").next().expect("its text");
    let code = |cell: &'static str| cell.trim().strip_prefix('`')?.strip_suffix('`');
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let mut cells = row.split('|').skip(1).map(code);
        let mut next = || cells.next().flatten().unwrap_or_else(|| panic!("{row}"));
        (next(), next())
    })
    .collect()
}

#[test]
fn every_example_is_read_and_every_kind_of_fault_has_one() {
    let site = site();
    let (mut machine, mut kinds) = (machine(&site, 1), BTreeSet::new());
    for (form, example) in rows() {
        let fault = site_fault(example, &site).unwrap_or_else(|why| panic!("{example}: {why}"));
        machine.schedule(&[fault]).unwrap_or_else(|why| panic!("{example}: {why}"));
        kinds.insert(match fault.broken {
            Broken::DiskLost { .. } => 0,
            Broken::DiskSlow { .. } => 1,
            Broken::CapacityLost { .. } => 2,
            Broken::CapacitySlow { .. } => 3,
            Broken::HostPathDown { .. } => 4,
            Broken::ControllerPathDown { .. } => 5,
            Broken::LinkDown { .. } => 6,
            Broken::NodeLost { .. } => 7,
            Broken::DiskReplaced { .. } => 8,
        });
        // Words in small letters are the form's own: the example has them.
        let word = |text: &'static str| text.split(' ').next().unwrap_or_default();
        assert_eq!(word(form), word(example));
        assert!(form.contains("[for TIME]") || fault.for_ns.is_none(), "{form}: {example}");
        // If the form has an optional end, it may be given.
        let ends = format!("{} for 1s", example.split(" for ").next().unwrap_or_default());
        let may_end = ends.parse::<ScheduledFault>().is_ok() && {
            let ending = site_fault(&ends, &site).expect("known");
            machine.schedule(&[ending]).is_ok()
        };
        assert_eq!(may_end, form.contains("[for TIME]"), "{form}");
    }
    assert_eq!(kinds.len(), 9, "{kinds:?}");
}
