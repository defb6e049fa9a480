//! Reads `hosts`.

use stormeter_yaml::{Diagnostics, Node, Section};

use super::network::{MTU, MTUS};
use super::part::{Entry, entries, link, needed, open};
use super::router::names;
use super::services::services as services_of;
use super::{keys, value};
use crate::image::is_suite;
use crate::model::{Chap, Host, Lab, Mount, Mounted, NfsVersion, PathPolicy, Protocol};
use crate::wiring::network;

/// Enough for the clients' modules and programs, the kernel, and the image twice while it is
/// unpacked.
const LEAST_MEMORY_MIB: u64 = 192;
/// The default.
const MEMORY_BYTES: u64 = 256 << 20;
/// The same for a host with services: their programs and libraries, the desktop, and files of the FTP server.
const LEAST_WITH_SERVICES_MIB: u64 = 320;
const WITH_SERVICES_BYTES: u64 = 384 << 20;
/// The most mounts a host may have.
const MOST_MOUNTS: usize = 16;

/// Reads the hosts of an entry and adds them to `lab` one by one.
pub(super) fn hosts(entry: &Entry<'_>, lab: &mut Lab, diagnostics: &mut Diagnostics) {
    let title = format!("host {}", entry.name);
    let Some(section) = open(entry.node, &title, &keys::HOST, diagnostics) else { return };
    let (least_mib, usual_bytes) = match section.has("services") {
        true => (LEAST_WITH_SERVICES_MIB, WITH_SERVICES_BYTES),
        false => (LEAST_MEMORY_MIB, MEMORY_BYTES),
    };
    let memory_bytes =
        value::size(&section, "memory", least_mib, 65536, diagnostics).unwrap_or(usual_bytes);
    let vcpus = value::number(&section, "vcpus", 1, 16, diagnostics).unwrap_or(1);
    let count = value::number(&section, "count", 1, 16, diagnostics);
    let suite = section.text("system", diagnostics).map(str::to_owned);
    if let Some(text) = suite.as_deref().filter(|text| !is_suite(text)) {
        diagnostics.error_at(
            section.place_of("system"),
            format!(
                "the system of {title} is a suite of Debian, not {text:?}; write system: trixie, or \
                 system: bookworm-backports"
            ),
        );
    }
    let known: Vec<&str> = lab.networks.iter().map(|network| network.name.as_str()).collect();
    let networks = names(&section, &title, &known, diagnostics);
    let services = section.get("services");
    let services =
        services.map(|node| services_of(node, &title, section.has("networks"), diagnostics));
    // What has a network may be there for its services only.
    if networks.is_empty() && services.is_none() {
        needed(&section, &title, entry.place, "mounts", &keys::HOST, diagnostics);
    }
    let named = entries(section.get("mounts"), "mount", "vm: {datastore: nas.vm}", diagnostics);
    if named.len() > MOST_MOUNTS {
        diagnostics.error_at(
            section.place_of("mounts"),
            format!("a host has at most {MOST_MOUNTS} mounts, not {}", named.len()),
        );
    }
    let mounts: Option<Vec<Mount>> =
        named.iter().map(|entry| mount(entry, &title, lab, diagnostics)).collect();
    // What could not be read has been reported.
    let Some(mounts) = mounts else { return };
    for number in 1..=count.unwrap_or(1) {
        let name = match count {
            Some(_) => format!("{}{number}", entry.name),
            None => entry.name.to_owned(),
        };
        lab.hosts.push(Host {
            name,
            memory_bytes,
            vcpus,
            suite: suite.clone(),
            networks: networks.clone(),
            mounts: mounts.clone(),
            services: services.clone().unwrap_or_default(),
        });
    }
}

fn mount(entry: &Entry<'_>, host: &str, lab: &Lab, diagnostics: &mut Diagnostics) -> Option<Mount> {
    let before = diagnostics.count();
    let title = format!("the mount {} of {host}", entry.name);
    let section = open(entry.node, &title, &keys::MOUNT, diagnostics)?;
    let node = needed(&section, &title, entry.place, "datastore", &keys::MOUNT, diagnostics)?;
    let (storage, found) = datastore(node, &title, lab, diagnostics)?;
    let of = settings(&section, found, diagnostics);
    let routed = section.get("network").and_then(|node| {
        let of = &lab.storage[storage];
        let names = of.networks.iter().map(|network| lab.networks[*network].name.as_str());
        let names: Vec<&str> = names.collect();
        let kind = format!("network of {}", of.name);
        link(node, &title, &kind, &names, diagnostics).map(|place| of.networks[place])
    });
    let usual = routed.map(|network| &lab.networks[network]).or_else(|| network(lab, storage));
    let usual = usual.map_or(MTU, |network| network.mtu);
    let mtu = value::number(&section, "mtu", MTUS.0, MTUS.1, diagnostics).unwrap_or(usual);
    if routed.is_some() && section.has("mtu") {
        diagnostics.error_at(
            section.place_of("mtu"),
            format!("{title} is reached through routers; set the mtu of their networks instead"),
        );
    }
    // Keys that do not belong here are reported, too.
    (diagnostics.count() == before).then(|| Mount {
        name: entry.name.into(),
        storage,
        network: routed,
        mtu,
        of,
    })
}

/// What is mounted, with the settings for its protocol; settings for another protocol are reported.
fn settings(section: &Section<'_>, found: Mounted, diagnostics: &mut Diagnostics) -> Mounted {
    let (protocol, own): (_, &[&str]) = match found {
        Mounted::Nfs { .. } => ("an export (NFS)", &["version", "mtu", "network"]),
        Mounted::Iscsi { .. } => ("a LUN over iSCSI", &["chap", "mtu", "network"]),
        Mounted::Fc { .. } => ("a LUN over FC", &["paths", "policy"]),
        Mounted::NvmeTcp { .. } => ("a LUN over NVMe/TCP", &["mtu", "network"]),
    };
    for key in ["version", "paths", "policy", "chap", "mtu", "network"] {
        if section.has(key) && !own.contains(&key) {
            diagnostics.error_at(
                section.place_of(key),
                format!("{protocol} has no {key}; remove it, or mount another datastore"),
            );
        }
    }
    match found {
        Mounted::Nfs { export, .. } => {
            let version = section.choice("version", &NfsVersion::WORDS, diagnostics);
            Mounted::Nfs { export, version: version.unwrap_or(NfsVersion::Three) }
        }
        Mounted::Iscsi { lun, chap: usual } => {
            let given = section.get("chap").map(|node| chap(node, diagnostics));
            Mounted::Iscsi { lun, chap: given.unwrap_or(usual) }
        }
        Mounted::Fc { lun, .. } => {
            let paths = value::number(section, "paths", 1, 4, diagnostics).unwrap_or(1);
            let policy = section.choice("policy", &PathPolicy::WORDS, diagnostics);
            Mounted::Fc { lun, paths, policy: policy.unwrap_or(PathPolicy::Fixed) }
        }
        other => other,
    }
}

/// The CHAP credentials of an initiator.
pub(super) fn chap(node: &Node, diagnostics: &mut Diagnostics) -> Option<Chap> {
    let section = open(node, "chap", &keys::CHAP, diagnostics)?;
    let mut text = |key| {
        needed(&section, "chap", node.place, key, &keys::CHAP, diagnostics)?;
        section.text(key, diagnostics)
    };
    let (user, file) = (text("user"), text("password-file"));
    let (user, file) = (user?, file?);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    if user.is_empty() || user.len() > 64 || !user.chars().all(plain) {
        diagnostics.error_at(
            section.place_of("user"),
            "the user of chap has 1 to 64 letters, digits and -_.:, such as esx1",
        );
    }
    Some(Chap { user: user.into(), password_file: file.into() })
}

/// Resolves `STORAGE.SHARE`.
fn datastore(
    node: &Node,
    title: &str,
    lab: &Lab,
    diagnostics: &mut Diagnostics,
) -> Option<(usize, Mounted)> {
    let (mut names, mut found) = (Vec::new(), Vec::new());
    for (index, guest) in lab.storage.iter().enumerate() {
        for (export, share) in guest.exports.iter().enumerate() {
            names.push(format!("{}.{}", guest.name, share.name));
            found.push((index, Mounted::Nfs { export, version: NfsVersion::Three }));
        }
        for (lun, share) in guest.luns.iter().enumerate() {
            names.push(format!("{}.{}", guest.name, share.name));
            let mounted = match share.protocol {
                Protocol::Iscsi => Mounted::Iscsi { lun, chap: share.chap.clone() },
                Protocol::Fc => Mounted::Fc { lun, paths: 1, policy: PathPolicy::Fixed },
                Protocol::NvmeTcp => Mounted::NvmeTcp { lun },
            };
            found.push((index, mounted));
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    link(node, title, "datastore", &names, diagnostics).map(|index| found[index].clone())
}
