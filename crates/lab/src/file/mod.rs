//! The lab file: YAML in, a [`Lab`] out, or every mistake with its position.
//!
//! `docs/lab.md` documents what each key means and its default. Only what labs really support is
//! accepted; for the other words of a rack the message says that they are not supported yet.

mod desktops;
mod host;
mod keys;
mod network;
mod part;
mod router;
mod routes;
mod services;
mod storage;
mod value;
mod vm;

use stormeter_yaml::{Diagnostics, Form, Place, Source, document};

use crate::model::{DesktopSet, Lab};

pub use keys::key_lists;
pub use stormeter_yaml::FileErrors as LabErrors;

/// How messages describe lab files.
const FORM: Form = Form {
    name: "a lab file",
    holds: "lab",
    levels: "five",
    empty: "the file is empty; write at least storage or vms, such as\n  \
            storage: {nas: {disks: {slow: {size: 1GiB, iops: 300}}, luns: {vm: slow}}}\n  \
            vms: {vm: {count: 2, disk: {datastore: nas.vm, size: 256MiB}}}",
    hint: |_| None,
};

const FILE: &str = "lab.yaml";
const MOST_ROUTERS: usize = 32;
const MOST_STORAGE: usize = 16;
const MOST_HOSTS: usize = 16;
const MOST_VMS: usize = 256;

/// Reads a lab file and fills in every default. Looks at nothing but the text.
pub fn parse_lab(text: &str) -> Result<Lab, LabErrors> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut diagnostics = Diagnostics::default();
    let lab = lab(text, &mut diagnostics);
    match lab {
        Some(lab) if diagnostics.is_empty() => Ok(lab),
        _ => Err(diagnostics.into_errors(&[Source { name: FILE, text }])),
    }
}

/// Reads the lab; if there were errors, the result must not be used.
fn lab(text: &str, diagnostics: &mut Diagnostics) -> Option<Lab> {
    let root = document(text, 0, &FORM, diagnostics)?;
    let section = part::open(&root, "a lab file", &keys::LAB, diagnostics)?;
    let mut lab = Lab {
        name: "a lab".into(),
        networks: vec![],
        routers: vec![],
        storage: vec![],
        hosts: vec![],
        vms: vec![],
        desktops: vec![],
        pools: vec![],
    };
    if let Some(name) = section.text("lab", diagnostics) {
        lab.name = name.into();
    }
    let mut entries = |key: &str, kind: &str, example: &str| {
        part::entries(section.get(key), kind, example, diagnostics)
    };
    let networks = entries("networks", "network", "lan: {rate: 1Gb}");
    let routers =
        entries("routers", "router", "pe1: {role: provider-edge, networks: [core, access]}");
    let storage =
        entries("storage", "storage guest", "nas: {disks: {slow: {size: 1GiB}}, luns: {vm: slow}}");
    let hosts = entries("hosts", "host", "esx1: {mounts: {vm: {datastore: nas.vm}}}");
    let vms = entries("vms", "VM", "vm: {count: 2}");
    let example = "nfs: {count: 12, disk: {datastore: nas.vm, size: 64MiB}}";
    let desktops = entries("desktops", "set of desktops", example);
    lab.networks = networks.iter().map(|entry| network::network(entry, diagnostics)).collect();
    let names: Vec<&str> = networks.iter().map(|entry| entry.name).collect();
    let read = routers.iter().map(|entry| router::router(entry, &names, diagnostics));
    // What could not be read has been reported.
    lab.routers = read.flatten().collect();
    if routers.len() > MOST_ROUTERS {
        diagnostics.error_at(
            section.place_of("routers"),
            format!("a lab has at most {MOST_ROUTERS} routers, not {}", routers.len()),
        );
    }
    lab.storage =
        storage.iter().map(|entry| storage::storage(entry, &names, diagnostics)).collect();
    if storage.len() > MOST_STORAGE {
        diagnostics.error_at(
            section.place_of("storage"),
            format!("a lab has at most {MOST_STORAGE} storage guests, not {}", storage.len()),
        );
    }
    for entry in &hosts {
        let before: Vec<String> = lab.names().map(str::to_owned).collect();
        let first = lab.hosts.len();
        host::hosts(entry, &mut lab, diagnostics);
        let new = lab.hosts[first..].iter().map(|host| host.name.as_str());
        named_once(&before, new, entry.place, "these hosts", diagnostics);
        if lab.hosts.len() > MOST_HOSTS {
            diagnostics.error_at(entry.place, format!("a lab has at most {MOST_HOSTS} hosts"));
            break;
        }
    }
    for entry in &vms {
        let before: Vec<String> = lab.names().map(str::to_owned).collect();
        let first = lab.vms.len();
        vm::vms(entry, &mut lab, diagnostics);
        let new = lab.vms[first..].iter().map(|vm| vm.name.as_str());
        named_once(&before, new, entry.place, "these VMs", diagnostics);
        if lab.vms.len() > MOST_VMS {
            diagnostics.error_at(entry.place, format!("a lab has at most {MOST_VMS} VMs"));
            break;
        }
    }
    for entry in &desktops {
        let before: Vec<String> = lab.names().map(str::to_owned).collect();
        desktops::desktops(entry, &mut lab, diagnostics);
        let new = lab.desktops.last().into_iter().flat_map(DesktopSet::all);
        named_once(
            &before,
            new.map(|vm| vm.name.as_str()),
            entry.place,
            "these desktops",
            diagnostics,
        );
    }
    for entry in &storage {
        let routers = lab.routers.iter().map(|router| router.name.clone()).collect::<Vec<_>>();
        named_once(&routers, [entry.name].into_iter(), entry.place, "this one", diagnostics);
    }
    // Guests that could not be read are at no network.
    if diagnostics.is_empty() {
        let places: Vec<Place> = networks.iter().map(|entry| entry.place).collect();
        routes::check(&lab, &places, diagnostics);
    }
    for (index, guest) in lab.storage.iter().enumerate() {
        let place = storage.get(index).map_or(section.place, |entry| entry.place);
        network::ports_fit(&lab, index, guest, place, diagnostics);
    }
    let parts = ["storage", "vms", "routers", "desktops"];
    if !parts.iter().any(|part| section.has(part)) {
        let example = keys::LAB.example("vms");
        diagnostics
            .error_at(section.place, format!("a lab has storage or vms; write vms: {example}"));
    }
    Some(lab)
}

/// Reports a name that two guests share.
fn named_once<'n>(
    taken: &[String],
    mut new: impl Iterator<Item = &'n str>,
    place: Place,
    whose: &str,
    diagnostics: &mut Diagnostics,
) {
    if let Some(twice) = new.find(|name| taken.iter().any(|taken| taken == name)) {
        diagnostics
            .error_at(place, format!("{twice} is the name of two guests; give {whose} another"));
    }
}

/// The committed JSON Schema (draft 2020-12) of a lab file. It is hand-written, because people and
/// editors read it; tests check it against the reader's keys.
pub fn lab_schema() -> &'static str {
    include_str!("../../../../docs/schema/lab.schema.json")
}
