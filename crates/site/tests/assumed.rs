//! What a site file assumes: the values that it names, and the defaults that it leaves open.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_site::*;

const SITE: &str = "
hosts: {pc: {cores: 4, clock: 3GHz, adapters: {nic: {rate: 1GbE}}}}
stacks:
  disk: {protocol: local, per-read: 20000 cycles}
  nfs: {protocol: nfs, per-read: 20000 cycles}
disk-groups:
  flash: {device: {kind: ssd, channels: 16, page: 8KiB, read: 60us, program: 600us, erase: 3ms, pages-per-block: 256, capacity: 480GB, interface: 500MB/s}}
  raid: {raid: 5, disks: 4, device: {like: sas-10k-600gb}}
controllers:
  filer: {cores: 1, clock: 1GHz, ports: {e0: {rate: 1GbE}}, costs: {nfs: {per-read: 1 cycles}}, cache: {write: 1GiB}, disks: raid}
  plain: {cores: 1, clock: 1GHz, ports: {e0: {rate: 1GbE}}, costs: {nfs: {per-read: 1 cycles}}, cache: {write: through}, disks: raid}
datastores:
  local: {hosts: pc, stack: disk, disks: flash}
  nas: {hosts: pc, stack: nfs, adapter: nic, controller: filer, port: e0}
assumed:
  - {parameter: stacks.disk.per-read, with: [stacks.nfs.per-read], plausible: [10000 cycles, 40000 cycles]}
  - {parameter: disk-groups.raid.device.write-cache, plausible: [yes]}
";

fn assumed(changes: &[&str]) -> Vec<Assumption> {
    let changes: Vec<Override> =
        changes.iter().map(|change| Override::parse(change).unwrap()).collect();
    parse_site_with(SITE, &changes).unwrap_or_else(|errors| panic!("{errors}")).assumed
}

fn parameters(changes: &[&str]) -> Vec<String> {
    assumed(changes).into_iter().map(|one| one.parameter).collect()
}

const NAMED: [&str; 2] = ["stacks.disk.per-read", "disk-groups.raid.device.write-cache"];
const DEFAULTS: [&str; 3] = [
    "controllers.filer.cache.destage-depth",
    "controllers.filer.cache.destage-from",
    "disk-groups.flash.device.filled",
];

#[test]
fn what_the_file_names_and_the_defaults_that_apply_are_assumed() {
    let all = assumed(&[]);
    let paths: Vec<&str> = all.iter().map(|one| one.parameter.as_str()).collect();
    assert_eq!(paths, [&NAMED[..], &DEFAULTS].concat());
    let defaults: Vec<bool> = all.iter().map(|one| one.is_default).collect();
    assert_eq!(defaults, [false, false, true, true, true]);
    assert_eq!((all[0].value.as_str(), all[1].value.as_str()), ("20000 cycles", "no"));
}

/// What is listed as a default has to be the one that the reader fills in.
#[test]
fn the_defaults_are_those_of_the_reader() {
    let plain = parse_site(SITE).unwrap().site;
    for one in assumed(&[]) {
        let changes = |value: &str| one.changed_to(value);
        let with = |value: &str| parse_site_with(SITE, &changes(value)).unwrap().site;
        assert_eq!(with(&one.value), plain, "{}", one.parameter);
        for other in &one.others {
            assert_ne!(with(other), plain, "{} {other}", one.parameter);
        }
    }
}

#[test]
fn a_value_that_a_change_sets_is_not_assumed_any_more() {
    assert_eq!(parameters(&["stacks.disk.per-read=5 cycles"]), [&NAMED[1..], &DEFAULTS].concat());
    let depth = "controllers.filer.cache.destage-depth=4";
    assert_eq!(parameters(&[depth]), [&NAMED[..], &DEFAULTS[1..]].concat());
    // A device that was exchanged may have no such value.
    let flash = "disk-groups.raid.device={like: sata-ssd-480gb}";
    assert!(!parameters(&[flash]).contains(&NAMED[1].to_owned()));
}

#[test]
fn linked_values_change_together() {
    let one = &assumed(&[])[0];
    let site = parse_site_with(SITE, &one.changed_to(&one.others[1])).unwrap().site;
    assert_eq!([0, 1].map(|stack| site.stacks[stack].cost.per_read_cycles), [40000.0; 2]);
}

#[test]
fn a_datastore_uses_its_own_parts_and_no_others() {
    let plain = parse_site(SITE).unwrap().site;
    let changed = |change: &str| {
        let site = parse_site_with(SITE, &[Override::parse(change).unwrap()]).unwrap().site;
        [0, 1].map(|datastore| site.used_by(datastore) != plain.used_by(datastore))
    };
    assert_eq!(changed("disk-groups.flash.device.filled=10%"), [true, false]);
    assert_eq!(changed("disk-groups.raid.disks=5"), [false, true]);
    assert_eq!(changed("controllers.filer.cores=5"), [false, true]);
    assert_eq!(changed("controllers.plain.cores=5"), [false, false]);
    assert_eq!(changed("hosts.pc.cores=5"), [true, true]);
    assert_eq!(changed("stacks.nfs.per-byte=5 cycles"), [false, true]);
}
