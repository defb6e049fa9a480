//! The summary of a site file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_site::{DiskGroup, parse_site, site_text};

/// The lines of the text, without alignment spaces.
fn lines(site: &str) -> Vec<String> {
    let file = parse_site(site).unwrap_or_else(|errors| panic!("{errors}"));
    let text = site_text(&file);
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

const SITE: &str = "\
site: Two ways to one filer
hosts:
  esx:
    count: 4
    cores: 8
    clock: 2.53GHz
    vms-per-host: 20
    adapters: {hba: {rate: 4GFC, count: 2}, nic: {rate: 10GbE, mtu: 9000}, slow: {rate: 100Mb}}
stacks:
  fc: {protocol: fc, per-read: 60000 cycles, per-write: 70000 cycles}
  disk: {protocol: local, per-read: 20000 cycles}
networks: {fabric: {latency: 2us}, wan: {rate: 50Mb, latency: 5ms, labels: 2}}
disk-groups:
  aggregate: {raid: dp, disks: 16, groups: 2, spares: 1, device: {like: fc-15k-144gb}}
  own: {device: {kind: queue, servers: 4, read: 100us, write: 100us}}
controllers:
  filer:
    count: 2
    cores: 4
    clock: 2.6GHz
    ports: {f0: {rate: 4GFC, count: 2}}
    costs: {fc: {per-read: 40000 cycles, per-write: 60000 cycles}}
    cache: {read: 12GiB, write: 1GiB}
    layout: write-anywhere
    disks: aggregate
datastores:
  fc: {hosts: esx, stack: fc, adapter: hba, policy: round-robin, networks: [fabric, fabric], controller: filer, port: f0, also: [san]}
  local: {hosts: esx, stack: disk, disks: own}
";

#[test]
fn every_part_is_shown_with_what_was_filled_in() {
    let lines = lines(SITE);
    for line in [
        "Two ways to one filer",
        "esx 4 hosts with 8 cores at 2.53GHz, at most 20 VMs each",
        "hba: 2 × 4GFC, 16 credits, active-backup",
        "nic: 1 × 10Gb/s, MTU 9000",
        "slow: 1 × 100Mb/s, MTU 1500",
        "fc fc: 60000 cycles a read, 70000 a write, 0 a byte, 0 a packet",
        "fabric a switch that does not block, 2.00µs",
        "wan a line of 50Mb/s, 5.00ms, 8 bytes of labels a packet",
        "filer 2 controllers with 4 cores at 2.6GHz",
        "cache: 12GiB for reads, 1GiB for writes; write-anywhere on aggregate (behind each)",
        "own 1 × a single disk; a queue of 4 servers; of no known size",
        "fc esx.hba → fabric → fabric → filer.f0 → aggregate",
        "fc (fc), round-robin, also called san",
        "local esx → own",
    ] {
        assert!(lines.iter().any(|own| own == line), "{line}\n{lines:#?}");
    }
    let group = lines.iter().find(|line| line.starts_with("aggregate 2 × RAID 6 of 16 disks"));
    let group = group.unwrap();
    assert!(group.ends_with(", 1 spare; 144GB at 15000 rpm; 4032GB usable"), "{group}");
    assert!(!lines.iter().any(|line| line == "Clusters" || line == "Client of transfers"));
}

#[test]
fn parity_and_mirrors_hold_no_data() {
    let file = parse_site(SITE).unwrap();
    let own = &file.site.groups[0];
    let disk = DiskGroup { disks: 1, groups: 1, raid: stormeter_site::Raid::Raid0, ..own.clone() };
    let disk = disk.usable_bytes().unwrap();
    assert!(disk > 100_000_000_000, "{disk}");
    for (raid, data) in [("0", 16), ("1", 1), ("10", 8), ("5", 15), ("6", 14), ("dp", 14)] {
        let file = parse_site(&SITE.replace("raid: dp", &format!("raid: {raid}"))).unwrap();
        assert_eq!(file.site.groups[0].usable_bytes(), Some(2 * data * disk), "{raid}");
    }
    assert_eq!(file.site.groups[1].usable_bytes(), None);
}

#[test]
fn clusters_clients_and_fits_are_shown() {
    let site = "\
hosts:
  server: {count: 4, cores: 8, clock: 2GHz, adapters: {lan: {rate: 10GbE}}}
  desk: {cores: 2, clock: 2GHz, adapters: {nic: {rate: 1GbE}}}
stacks: {disk: {protocol: local, per-read: 20000 cycles}}
networks: {lan: {latency: 5us}}
clusters:
  vsan:
    nodes: server
    adapter: lan
    capacity-per-group: 2
    cache: {like: sata-ssd-480gb}
    capacity: {like: fc-15k-144gb}
    read-cache: 100GiB
    write-buffer: 50GiB
    costs: {per-read: 20000 cycles, per-write: 30000 cycles}
datastores:
  wide: {hosts: server, stack: disk, adapter: lan, networks: [lan], cluster: vsan, stripes: 3, placement: fill}
client: {hosts: desk, adapter: nic, server-adapter: lan, networks: [lan], memory: 1GB/s}
fit: [{parameter: stacks.disk.per-read, from: 1000 cycles, to: 90000 cycles}]
";
    let lines = lines(site);
    for line in [
        "vsan 4 nodes server by lan, 1 disk group each",
        "cache: 100GiB for reads, 50GiB for writes",
        "pieces of disks: on the node and device with the fewest",
        "reads: from all replicas",
        "wide server.lan → lan → vsan (3 stripes, 2 copies)",
        "disk (local), hosts are filled one after the other",
        "desk.nic → lan → lan of the VMs' hosts",
        "Fitted to 0 findings; a calibration may change 1 parameter.",
    ] {
        assert!(lines.iter().any(|own| own == line), "{line}\n{lines:#?}");
    }
}
