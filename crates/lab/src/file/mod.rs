//! The lab file: YAML in, a [`Lab`] out, or every mistake with its place.
//!
//! What a key means and what it is when left out is told in `docs/lab.md`. Only what labs really have
//! is accepted; of the rest of a rack's words it is said that it is not there yet.

mod keys;
mod part;
mod storage;
mod value;
mod vm;

use stormeter_yaml::{Faults, Form, Source, document};

use crate::model::Lab;

pub use keys::key_lists;
pub use stormeter_yaml::FileErrors as LabErrors;

/// What messages say of lab files.
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
const MOST_STORAGE: usize = 16;
const MOST_VMS: usize = 256;

/// Reads a lab file, every default filled in. Touches nothing but the text.
pub fn parse_lab(text: &str) -> Result<Lab, LabErrors> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut faults = Faults::default();
    let lab = lab(text, &mut faults);
    match lab {
        Some(lab) if faults.is_empty() => Ok(lab),
        _ => Err(faults.into_errors(&[Source { name: FILE, text }])),
    }
}

/// The lab; what comes with faults is not to be used.
fn lab(text: &str, faults: &mut Faults) -> Option<Lab> {
    let root = document(text, 0, &FORM, faults)?;
    let section = part::open(&root, "a lab file", &keys::LAB, faults)?;
    let mut lab = Lab { name: "a lab".into(), networks: vec![], storage: vec![], vms: vec![] };
    if let Some(name) = section.text("lab", faults) {
        lab.name = name.into();
    }
    let mut entries = |key: &str, kind: &str, example: &str| {
        part::entries(section.get(key), kind, example, faults)
    };
    let networks = entries("networks", "network", "lan: {rate: 1Gb}");
    let storage =
        entries("storage", "storage guest", "nas: {disks: {slow: {size: 1GiB}}, luns: {vm: slow}}");
    let vms = entries("vms", "VM", "vm: {count: 2}");
    lab.networks = networks.iter().map(|entry| storage::network(entry, faults)).collect();
    let names: Vec<&str> = networks.iter().map(|entry| entry.name).collect();
    lab.storage = storage.iter().map(|entry| storage::storage(entry, &names, faults)).collect();
    if storage.len() > MOST_STORAGE {
        faults.at(
            section.place_of("storage"),
            format!("a lab has at most {MOST_STORAGE} storage guests, not {}", storage.len()),
        );
    }
    for entry in &vms {
        let before: Vec<String> = lab.vms.iter().map(|vm| vm.name.clone()).collect();
        vm::vms(entry, &mut lab, faults);
        let mut taken = before.iter().chain(lab.storage.iter().map(|storage| &storage.name));
        let new = &lab.vms[before.len()..];
        if let Some(twice) = taken.find(|name| new.iter().any(|vm| vm.name == **name)) {
            faults.at(
                entry.place,
                format!("{twice} is the name of two guests; give these VMs another"),
            );
        }
        if lab.vms.len() > MOST_VMS {
            faults.at(entry.place, format!("a lab has at most {MOST_VMS} VMs"));
            break;
        }
    }
    if !section.has("storage") && !section.has("vms") {
        let example = keys::LAB.example("vms");
        faults.at(section.place, format!("a lab has storage or vms; write vms: {example}"));
    }
    Some(lab)
}

/// The JSON Schema (draft 2020-12) of a lab file, as it is committed. It is written by hand, because it
/// is read by people and by editors; tests hold it against the reader's keys.
pub fn lab_schema() -> &'static str {
    include_str!("../../../../docs/schema/lab.schema.json")
}
