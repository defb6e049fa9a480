//! A site to begin with: a plausible host and storage for each datastore, and what of it is assumed.

use std::fmt::Write;

use stormeter_site::parse_site;

use super::place::{Kind, Place};
use super::words::{comment, key};
use crate::exit::Failure;

/// The clock of a host whose own is not known.
const USUAL_HZ: f64 = 2.5e9;

/// The site with these datastores, for hosts like this machine. Without datastores, a disk and an export.
///
/// # Errors
/// A datastore that sites have nothing like.
pub(super) fn text(
    places: &[Place],
    cores: usize,
    clock_hz: Option<f64>,
) -> Result<String, Failure> {
    let usual = [("local", Kind::Directory), ("nas", Kind::Nfs)].map(|(name, kind)| Place {
        name: name.into(),
        url: String::new(),
        kind,
        remark: None,
        had_password: false,
    });
    let places = if places.is_empty() { &usual } else { places };
    if let Some(place) = places.iter().find(|place| place.kind == Kind::Other) {
        return Err(Failure::Usage(format!(
            "a site has nothing like {}; name a directory, device, export, LUN or pool",
            place.url
        )));
    }
    let text = written(places, cores, clock_hz.unwrap_or(USUAL_HZ));
    match parse_site(&text) {
        Ok(_) => Ok(text),
        Err(errors) => Err(Failure::Usage(errors.to_string())),
    }
}

fn written(places: &[Place], cores: usize, clock_hz: f64) -> String {
    let has = |kinds: &[Kind]| places.iter().any(|place| kinds.contains(&place.kind));
    let is_networked = has(&[Kind::Nfs, Kind::Iscsi, Kind::Rbd]);
    let mut text = String::from(
        "\
# A site: the hardware on which studies are predicted. It is complete, and its figures are assumed: take them from data
# sheets, or measure (`stormeter measure-site DATASTORE… --write FILE` writes a site of this form in two minutes a
# datastore).
#
#   stormeter site check FILE                    print it with all defaults, or every error
#   stormeter predict STUDY --site FILE          a study on it; `stormeter init study` writes one with the same names
#   stormeter predict STUDY --site FILE --what-if nic=40GbE
#
# docs/site-file.md explains every key; `stormeter site library` lists the hardware for `like`.
site: A site to begin with

hosts:
  # The machine that wrote this; `count` for several.
",
    );
    let clock = format!("{:.2}GHz", clock_hz / 1e9);
    let _ = write!(text, "  host: {{cores: {cores}, clock: {clock}");
    let nic = if is_networked { ", adapters: {nic: {like: 10gbe}}" } else { "" };
    let _ = writeln!(text, "{nic}}}");
    if has(&[Kind::Rbd]) {
        text.push_str(
            "  # The nodes of the cluster.\n  node: {count: 3, cores: 16, clock: 2.50GHz, adapters: {nic: {like: 10gbe}}}\n",
        );
    }
    stacks(&mut text, &has);
    if is_networked {
        text.push_str(
            "\nnetworks:\n  # One direction, without queueing.\n  lan: {latency: 20us}\n",
        );
    }
    disks(&mut text, places);
    controllers(&mut text, places);
    clusters(&mut text, places);
    datastores(&mut text, places);
    assumed(&mut text, places);
    text
}

fn stacks(text: &mut String, has: &impl Fn(&[Kind]) -> bool) {
    text.push_str("\nstacks:\n  # CPU of the host for a request, all layers together.\n");
    for (kinds, line) in [
        (
            [Kind::Directory, Kind::Device].as_slice(),
            "disk: {protocol: local, per-read: 20000 cycles, per-write: 20000 cycles}",
        ),
        (
            &[Kind::Nfs],
            "nfs: {protocol: nfs, per-read: 50000 cycles, per-write: 60000 cycles, per-byte: 0.5 cycles}",
        ),
        (
            &[Kind::Iscsi],
            "iscsi: {protocol: iscsi, per-read: 50000 cycles, per-write: 60000 cycles, per-byte: 0.5 cycles}",
        ),
        (
            &[Kind::Rbd],
            "rbd: {protocol: local, per-read: 100000 cycles, per-write: 150000 cycles, per-byte: 0.5 cycles}",
        ),
    ] {
        if has(kinds) {
            let _ = writeln!(text, "  {line}");
        }
    }
}

fn disks(text: &mut String, places: &[Place]) {
    let groups: Vec<&Place> = places.iter().filter(|place| place.kind != Kind::Rbd).collect();
    if groups.is_empty() {
        return;
    }
    text.push_str("\ndisk-groups:\n");
    for place in groups {
        let line = match place.kind {
            Kind::Nfs | Kind::Iscsi => "{raid: 6, disks: 8, device: {like: sata-ssd-480gb}}",
            _ => "{device: {like: sata-ssd-480gb}}",
        };
        let _ = writeln!(text, "  {}-disks: {line}", place.name);
    }
}

fn controllers(text: &mut String, places: &[Place]) {
    let mut is_first = true;
    for place in places.iter().filter(|place| matches!(place.kind, Kind::Nfs | Kind::Iscsi)) {
        let protocol = if place.kind == Kind::Nfs { "nfs" } else { "iscsi" };
        if std::mem::take(&mut is_first) {
            text.push_str("\ncontrollers:\n");
        }
        let _ = write!(
            text,
            "  {name}:
    cores: 8
    clock: 2.50GHz
    ports: {{front: {{like: 10gbe}}}}
    costs: {{{protocol}: {{per-read: 50000 cycles, per-write: 70000 cycles, per-byte: 0.5 cycles}}}}
    cache: {{read: 8GiB, write: 1GiB}}
    disks: {name}-disks
",
            name = place.name
        );
    }
}

fn clusters(text: &mut String, places: &[Place]) {
    let mut is_first = true;
    for place in places.iter().filter(|place| place.kind == Kind::Rbd) {
        if std::mem::take(&mut is_first) {
            text.push_str("\nclusters:\n");
        }
        let _ = write!(
            text,
            "  {}:
    nodes: node
    adapter: nic
    capacity-per-group: 2
    cache: {{like: sata-ssd-480gb}}
    capacity: {{like: sata-ssd-480gb}}
    costs: {{per-read: 150000 cycles, per-write: 250000 cycles, per-byte: 0.5 cycles}}
    stripe: 4MiB
    distribution: hash
    reads: primary
",
            place.name
        );
    }
}

fn datastores(text: &mut String, places: &[Place]) {
    text.push_str(
        "\n# A study's datastore is predicted with the one of the same name.\ndatastores:\n",
    );
    for place in places {
        let name = &place.name;
        let way = match place.kind {
            Kind::Nfs | Kind::Iscsi => {
                let stack = if place.kind == Kind::Nfs { "nfs" } else { "iscsi" };
                format!(
                    "stack: {stack}, adapter: nic, networks: [lan], controller: {name}, port: front"
                )
            }
            Kind::Rbd => {
                format!("stack: rbd, adapter: nic, networks: [lan], cluster: {name}, replicas: 3")
            }
            Kind::Directory | Kind::Device | Kind::Other => {
                format!("stack: disk, disks: {name}-disks")
            }
        };
        if !place.url.is_empty() {
            let _ = writeln!(text, "  # {}", comment(&place.url));
        }
        let _ = writeln!(text, "  {}: {{hosts: host, {way}}}", key(name));
    }
}

fn assumed(text: &mut String, places: &[Place]) {
    text.push_str(
        "
# What nobody has measured yet, with other plausible values: a prediction is repeated with each of them, and says which
# answers would change.
assumed:
",
    );
    let mut rows: Vec<(String, &str)> = Vec::new();
    if places.iter().any(|place| matches!(place.kind, Kind::Nfs | Kind::Iscsi | Kind::Rbd)) {
        rows.push(("networks.lan.latency".into(), "[5us, 200us]"));
    }
    for place in places {
        let name = &place.name;
        match place.kind {
            Kind::Nfs | Kind::Iscsi => {
                rows.push((format!("controllers.{name}.cache.write"), "[128MiB, 8GiB]"));
                rows.push((format!("disk-groups.{name}-disks.disks"), "[4, 16]"));
            }
            Kind::Rbd => rows.push((format!("clusters.{name}.capacity-per-group"), "[1, 8]")),
            Kind::Directory | Kind::Device | Kind::Other => {
                rows.push((format!("disk-groups.{name}-disks.device.filled"), "[10%, 90%]"));
            }
        }
    }
    for (parameter, plausible) in rows {
        let _ = writeln!(text, "  - {{parameter: {parameter}, plausible: {plausible}}}");
    }
}
