//! Changes from outside: paths, short words, and what they cannot do.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_site::*;

const WHOLE: &str = include_str!("good/everything.yaml");

fn changed(changes: &[&str]) -> Site {
    let changes: Vec<Override> =
        changes.iter().map(|text| Override::parse(text).unwrap()).collect();
    parse_site_with(WHOLE, &changes).unwrap_or_else(|errors| panic!("{errors}")).site
}

fn refused(change: &str) -> String {
    let change = Override::parse(change).unwrap();
    parse_site_with(WHOLE, &[change]).unwrap_err().to_string()
}

fn original() -> Site {
    parse_site(WHOLE).unwrap().site
}

#[test]
fn a_path_changes_one_parameter_and_nothing_else() {
    let mut expected = original();
    let nic = expected.hosts[0].adapters.iter_mut().find(|a| a.name == "nic-1g").unwrap();
    nic.rate_bytes_per_s = 5e9;
    assert_eq!(changed(&["hosts.esx.adapters.nic-1g.rate=40GbE"]), expected);
    let mut expected = original();
    expected.stacks[0].cost.per_read_cycles = 1.0;
    assert_eq!(changed(&["stacks.fc.per-read=1 cycles"]), expected);
    // The entries that are like the changed one were like it before the change.
    let mut expected = original();
    expected.datastores[3].networks = vec![1, 1];
    assert_eq!(changed(&["datastores.nfs.networks.1=lan"]), expected);
}

#[test]
fn a_path_may_bring_what_was_left_out() {
    assert_eq!(changed(&["hosts.server.vms-per-host=7"]).hosts[1].vms_per_host, Some(7));
    assert_eq!(
        changed(&["controllers.openfiler.layout=write-anywhere"]).controllers[1].cache.layout,
        Layout::WriteAnywhere
    );
    let site = changed(&["disk-groups.flash.spares=2", "disk-groups.flash.disks=3"]);
    assert_eq!((site.groups[2].spares, site.groups[2].disks), (2, 3));
}

#[test]
fn a_device_may_be_exchanged() {
    for change in [
        "disk-groups.aggregate.device={like: nvme-2tb}",
        "disk-groups.aggregate.device.like=nvme-2tb",
    ] {
        let Device::Ssd(ssd) = &changed(&[change]).groups[0].device else { panic!("{change}") };
        assert_eq!(ssd.capacity_bytes, 2_000_000_000_000, "{change}");
    }
    // The file defines what can be fitted, even if the new device lacks such a parameter.
    let site = changed(&["disk-groups.aggregate.device={kind: queue, read: 1ms, write: 2ms}"]);
    assert!(matches!(site.groups[0].device, Device::Queue(_)));
    let site = changed(&["disk-groups.aggregate.device={like: nvme-2tb, filled: 90%}"]);
    let Device::Ssd(ssd) = &site.groups[0].device else { panic!() };
    assert_eq!(ssd.filled_share, 0.9);
}

#[test]
fn every_word_changes_what_it_says() {
    let is_ethernet = |adapter: &&Adapter| matches!(adapter.kind, PortKind::Ethernet { .. });
    fn adapters(site: &Site) -> impl Iterator<Item = &Adapter> {
        let ports = site.controllers.iter().flat_map(|controller| &controller.ports);
        site.hosts.iter().flat_map(|hosts| &hosts.adapters).chain(ports)
    }
    let site = changed(&["nic=40GbE"]);
    assert!(adapters(&site).all(|a| (a.rate_bytes_per_s == 5e9) == is_ethernet(&a)));
    let site = changed(&["hba=8GFC"]);
    assert!(adapters(&site).all(|a| (a.rate_bytes_per_s == 850e6) != is_ethernet(&a)));
    let site = changed(&["hba=900MB/s"]);
    assert!(adapters(&site).all(|a| (a.rate_bytes_per_s == 900e6) != is_ethernet(&a)));
    let site = changed(&["mtu=1400"]);
    let mtus = adapters(&site).filter(is_ethernet).map(|adapter| adapter.kind);
    assert!(mtus.eq(vec![PortKind::Ethernet { mtu_bytes: 1400 }; 6]));
    let site = changed(&["nics=5"]);
    let hosts = site.hosts.iter().flat_map(|hosts| &hosts.adapters);
    assert!(hosts.clone().filter(is_ethernet).all(|adapter| adapter.count == 5));
    assert_eq!(site.controllers[0].ports[1].count, 2);
    assert!(changed(&["cores=12"]).hosts.iter().all(|hosts| hosts.cores == 12));
    assert!(changed(&["hosts=16"]).hosts.iter().all(|hosts| hosts.count == 16));
    assert!(changed(&["vms-per-host=3"]).hosts.iter().all(|hosts| hosts.vms_per_host == Some(3)));
    let counts: Vec<u32> = changed(&["nodes=6"]).hosts.iter().map(|hosts| hosts.count).collect();
    assert_eq!(counts, [8, 6, 1]);
    assert!(changed(&["controllers=4"]).controllers.iter().all(|c| c.count == 4));
    assert!(changed(&["disks=24"]).groups.iter().all(|group| group.disks == 24));
    assert!(changed(&["groups=10"]).groups.iter().all(|group| group.groups == 10));
    let site = changed(&["read-cache=64GiB"]);
    assert!(site.controllers.iter().all(|c| c.cache.read_bytes == 64 << 30));
    assert_eq!(site.clusters[0].read_cache_bytes, 64 << 30);
    let target = changed(&["stripes=6", "replicas=1"]).datastores[6].target;
    assert_eq!(target, Target::Cluster { cluster: 0, stripes: 6, replicas: 1 });
    assert!(!changed(&[]).fresh && changed(&["write-memory=fresh"]).fresh);
    // Every word is among these.
    assert_eq!(WORDS.len(), 15);
}

#[test]
fn later_changes_win_and_a_study_may_write_site_before_them() {
    let site = changed(&["cores=12", "hosts.esx.cores=4"]);
    assert_eq!((site.hosts[0].cores, site.hosts[1].cores), (4, 12));
    assert_eq!(Override::new("site.nics", "3"), Override::parse("nics=3"));
}

#[test]
fn a_mistake_in_a_change_is_shown_in_the_change() {
    assert_eq!(
        refused("nic=fast"),
        "change:1:5: rate cannot be \"fast\"; write it like 1GbE (1GbE, 100Mb and 1Gb count bits; \
         MB/s and GB/s bytes; 1, 2, 4, 8, 16 and 32GFC are Fibre Channel)\n\
         1 | nic=fast\n  |     ^^^^"
    );
    assert_eq!(
        refused("hosts.exs.cores=4"),
        "change:1:17: hosts has no exs; did you mean \
         esx? It has esx, server and pc\n1 | hosts.exs.cores=4\n  |                 ^"
    );
    let other = refused("hosts.esx.coers=4");
    assert!(other.contains("a host group has no key \"coers\"; did you mean cores?"), "{other}");
    let other = refused("disks=2");
    assert!(
        other.starts_with("change:1:7: disk group aggregate is a RAID-DP of 2 disks"),
        "{other}"
    );
    let other = refused("disk-groups.aggregate.device={like: nvme-3tb}");
    assert!(other.starts_with("change:1:37: no device is called nvme-3tb;"), "{other}");
    assert!(other.contains("did you mean nvme-2tb?"), "{other}");
    assert!(refused("stacks.fc={").contains("is not valid YAML"));
    assert!(refused("hosts.new={cores: 1}").contains("hosts has no new"));
}

#[test]
fn a_word_that_changes_nothing_is_refused() {
    let text = "hosts: {pc: {cores: 4, clock: 3GHz}}\n\
                stacks: {disk: {protocol: local, per-read: 20000 cycles}}\n\
                disk-groups: {ssd: {device: {like: sata-ssd-480gb}}}\n\
                datastores: {local: {hosts: pc, stack: disk, disks: ssd}}\n";
    parse_site(text).unwrap();
    for word in ["nic=1GbE", "hba=4GFC", "stripes=2", "nodes=4", "controllers=2", "read-cache=1GiB"]
    {
        let errors = parse_site_with(text, &[Override::parse(word).unwrap()]).unwrap_err();
        assert!(errors.to_string().contains("changes nothing"), "{word} {errors}");
    }
    for (text, says) in [
        ("nic", "changes nothing"),
        ("nic=", "changes nothing"),
        ("=3", "changes nothing"),
        ("nicks=3", "did you mean nics?"),
    ] {
        let error = Override::parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_parameter_is_read_in_its_base_unit() {
    for (path, value, unit) in [
        ("hosts.esx.cores", 8.0, Unit::Number),
        ("hosts.esx.clock", 2.5e9, Unit::Hertz),
        ("hosts.esx.adapters.hba.rate", 425e6, Unit::BytesPerSecond),
        // Written out with only its rate, which is all that identifies it as Fibre Channel.
        ("controllers.filer.ports.fc.rate", 425e6, Unit::BytesPerSecond),
        ("stacks.iscsi.per-read", 20_000.0, Unit::Nanoseconds),
        ("stacks.fc.per-read", 60_000.0, Unit::Cycles),
        ("disk-groups.aggregate.device.seek-average", 3.5e6, Unit::Nanoseconds),
        ("controllers.filer.cache.destage-from", 0.6, Unit::Share),
        ("controllers.filer.cache.write", 1_073_741_824.0, Unit::Bytes),
    ] {
        assert_eq!(quantity(WHOLE, path).unwrap(), Quantity { value, unit }, "{path}");
        // What is written back equals what was read.
        let same = Override::new(path, &unit.text(value)).unwrap();
        assert_eq!(parse_site_with(WHOLE, &[same]).unwrap().site, original(), "{path}");
    }
    for (path, says) in [
        ("hosts.esx.coers", "did you mean cores?"),
        ("hosts.esx", "is a mapping, which is not a number"),
        ("hosts.esx.cores.x", "has no parts"),
    ] {
        let error = quantity(WHOLE, path).unwrap_err().to_string();
        assert!(error.contains(says) && error.starts_with("parameter:1:1: "), "{error}");
    }
}

#[test]
fn a_name_may_have_dots() {
    let text = "hosts: {esx: {cores: 1, clock: 3GHz}, esx.6: {cores: 2, clock: 3GHz}}\n\
                stacks: {disk: {protocol: local}}\n\
                disk-groups: {ssd: {device: {like: sata-ssd-480gb}}}\n\
                datastores: {local: {hosts: esx, stack: disk, disks: ssd}}\n";
    assert_eq!(quantity(text, "hosts.esx.6.cores").unwrap().value, 2.0);
    let change = Override::parse("hosts.esx.6.cores=5").unwrap();
    let cores = |hosts: &HostGroup| hosts.cores;
    let site = parse_site_with(text, &[change]).unwrap().site;
    assert!(site.hosts.iter().map(cores).eq([1, 5]));
}

#[test]
fn a_free_parameter_is_changed_in_its_unit() {
    let file = parse_site(WHOLE).unwrap();
    let changes = [file.fit[0].at(123.25), file.fit[1].at(5e5)].concat();
    let site = parse_site_with(WHOLE, &changes).unwrap().site;
    assert_eq!(site.stacks[1].cost.per_packet_cycles, 123.25);
    let Device::Hdd(hdd) = &site.groups[0].device else { panic!() };
    assert_eq!(hdd.overhead_ns, 5e5);
}

#[test]
fn parameters_that_go_together_have_one_value() {
    let text = WHOLE.replace(
        "{parameter: stacks.iscsi.per-packet, from",
        "{parameter: stacks.iscsi.per-packet, with: [stacks.fc.per-packet], from",
    );
    let file = parse_site(&text).unwrap();
    assert_eq!(file.fit[0].with, ["stacks.fc.per-packet"]);
    let site = parse_site_with(&text, &file.fit[0].at(777.0)).unwrap().site;
    assert_eq!(site.stacks[1].cost.per_packet_cycles, 777.0);
    assert_eq!(site.stacks[0].cost.per_packet_cycles, 777.0);
    let wrong = text.replace("[stacks.fc.per-packet]", "[hosts.esx.cores]");
    let error = parse_site(&wrong).unwrap_err().to_string();
    assert!(error.contains("hosts.esx.cores is not a number of cycles"), "{error}");
}

#[test]
fn a_file_is_rewritten_with_everything_else_as_it_was() {
    let file = parse_site(WHOLE).unwrap();
    let changes = file.fit[0].at(4321.0);
    let written = rewritten(WHOLE, &changes).unwrap();
    let differing: Vec<(&str, &str)> =
        WHOLE.lines().zip(written.lines()).filter(|(before, after)| before != after).collect();
    assert_eq!(differing.len(), 1, "{differing:?}");
    assert_eq!(WHOLE.lines().count(), written.lines().count());
    assert!(differing[0].1.contains("4321 cycles"), "{differing:?}");
    // An entry that is like this one takes over what is written, but not what is changed.
    let (written, meant) =
        (parse_site(&written).unwrap().site, parse_site_with(WHOLE, &changes).unwrap().site);
    assert_eq!(written.stacks[1], meant.stacks[1]);
    // What comes from the library is not written here.
    let text = "hosts: {pc: {like: desktop-4}}\nstacks: {disk: {protocol: local}}\n\
                disk-groups: {ssd: {device: {like: sata-ssd-480gb}}}\n\
                datastores: {local: {hosts: pc, stack: disk, disks: ssd}}\n";
    let change = Override::parse("hosts.pc.cores=9").unwrap();
    let error = rewritten(text, &[change]).unwrap_err().to_string();
    assert!(error.contains("write it out where it is used"), "{error}");
}

#[test]
fn a_cache_without_a_battery_may_write_through() {
    // A study that turns write-back on and off says nothing of the battery, and there is none either way.
    let site = changed(&["controllers.openfiler.cache.battery=no"]);
    assert!(matches!(site.controllers[1].cache.write, WriteCache::Through));
    let battery = Override::parse("controllers.openfiler.cache.battery=yes").unwrap();
    let text = parse_site_with(WHOLE, &[battery]).unwrap_err().to_string();
    assert!(text.contains("a battery has nothing to keep"), "{text}");
}
