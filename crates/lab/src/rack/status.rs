//! `lab status`: what runs, how much memory it uses, and how its storage is reached.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::json;
use stormeter_units::format_bytes;

use super::desktops::{DesktopPlaces, described};
use super::directory::{guest, started};
use super::mounts::{place, way};
use super::on_disks::export_path;
use super::reach::{expected, known};
use super::services;
use super::state::{target, target_of};
use super::vpn::router_id;
use crate::error::LabError;
use crate::links::{Node, links};
use crate::model::{DesktopSet, Lab, Protocol};

/// A lab as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Its name in the lab file.
    pub name: String,
    /// `kvm` or `tcg`, and the reason.
    pub accelerator: String,
    /// Routers first, then storage guests.
    pub guests: Vec<GuestStatus>,
}

/// A guest as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestStatus {
    /// Its name.
    pub name: String,
    /// `router`, `storage`, `host` or `vm`.
    pub kind: &'static str,
    /// QEMU's run state (`running`, `paused`, …); `gone` without a process.
    pub state: String,
    /// Its process id.
    pub pid: Option<i32>,
    /// Memory that is freed when it ends, in bytes.
    pub private_bytes: Option<u64>,
    /// URLs of what it serves; for a host or a VM, its mounts and disks as datastores of its agent, and the
    /// address of its network.
    pub urls: Vec<String>,
}

/// A guest with an agent that can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestAgent {
    /// The guest's name.
    pub name: String,
    /// This machine's end of the agent's port.
    pub socket: PathBuf,
    /// The accelerator that runs it, and the reason.
    pub accelerator: String,
    /// The address of its port for transfers, if it has a network.
    pub address: Option<SocketAddr>,
}

/// The agents of the lab in `directory`; empty if there is no lab.
///
/// # Errors
/// It belongs to another user.
pub fn agents(directory: &Path) -> Result<Vec<GuestAgent>, LabError> {
    let (path, state) = match started(directory) {
        Ok(found) => found,
        Err(LabError::NoLab { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let accelerator = format!("{} ({})", state.accelerator, state.why);
    let agent = |name: &String, address: Option<SocketAddr>| GuestAgent {
        name: name.clone(),
        socket: guest(&path, name).agent(),
        accelerator: accelerator.clone(),
        address,
    };
    let hosts = state.lab.hosts.iter().map(|host| agent(&host.name, None));
    let vms = state.lab.vms.iter().enumerate();
    Ok(hosts.chain(vms.map(|(index, vm)| agent(&vm.name, state.vm_address(index)))).collect())
}

/// Returns the status of the lab in `directory`.
///
/// # Errors
/// There is no lab, or it belongs to another user.
pub fn status(directory: &Path) -> Result<Status, LabError> {
    let (path, state) = started(directory)?;
    let mut guests = Vec::new();
    for (index, router) in state.lab.routers.iter().enumerate() {
        let lines = routing(&path, &state.lab, index);
        guests.push(of_guest(&path, &router.name, "router", lines));
    }
    for (storage, address) in state.lab.storage.iter().zip(&state.addresses) {
        let mut urls = Vec::new();
        for export in &storage.exports {
            let path = export_path(&export.name);
            urls.push(format!("nfs://{address}:2049{path}?mountport=20048"));
        }
        for (lun, of) in storage.luns.iter().enumerate() {
            let number = storage.lun_number(lun);
            match (of.protocol, &of.chap) {
                (Protocol::Iscsi, None) => {
                    urls.push(format!("iscsi://{address}/{}/{number}", target(storage)));
                }
                (Protocol::Iscsi, Some(chap)) => {
                    let (user, target) = (&chap.user, target_of(storage, lun));
                    urls.push(format!("iscsi://{user}@{address}/{target}/{number}"));
                }
                // This machine has no initiator for these.
                (Protocol::Fc | Protocol::NvmeTcp, _) => {}
            }
        }
        guests.push(of_guest(&path, &storage.name, "storage", urls));
    }
    for (index, host) in state.lab.hosts.iter().enumerate() {
        let mounts = host.mounts.iter();
        let places =
            mounts.map(|mount| format!("{} in it: {}", place(mount), way(&state.lab, mount)));
        let suite = host.suite.as_deref();
        let release = state.images.host_release(suite).unwrap_or_default();
        let kernel = suite.map(|suite| format!("Linux {release}, of {suite}"));
        let services = services::told(&path, &state.lab, index);
        let lines = kernel.into_iter().chain(places).chain(services).collect();
        guests.push(of_guest(&path, &host.name, "host", lines));
    }
    for (index, vm) in state.lab.vms.iter().enumerate() {
        let disks = vm.disks.iter().map(|disk| {
            let on = disk.datastore.name(&state.lab).unwrap_or_else(|| "this machine".into());
            let (size, controller) = (format_bytes(disk.size_bytes), disk.controller.name());
            format!("/dev/lab/{} in it: {size} on {on}, {controller}", disk.name)
        });
        let network = state.vm_address(index).map(|address| format!("{address} leads to it"));
        guests.push(of_guest(&path, &vm.name, "vm", disks.chain(network).collect()));
    }
    for set in &state.lab.desktops {
        guests.push(of_desktops(&path, &described(&state.lab, set), set));
    }
    let accelerator = format!("{} ({})", state.accelerator, state.why);
    Ok(Status { name: state.lab.name, accelerator, guests })
}

/// Places for desktops, and how many are there now: a set as one guest.
fn of_desktops(directory: &Path, of: &DesktopPlaces, set: &DesktopSet) -> GuestStatus {
    let processes = set.places.iter().filter_map(|vm| guest(directory, &vm.name).process());
    let private: Vec<u64> = processes.map(|it| it.private_bytes().unwrap_or(0)).collect();
    let url = format!(
        "lab:{} in a study: {} places for disks of {}, {}",
        of.name,
        of.places,
        format_bytes(of.disk_bytes),
        of.datastore
    );
    GuestStatus {
        name: of.name.clone(),
        kind: "places",
        state: format!("{} there", private.len()),
        pid: None,
        private_bytes: (!private.is_empty()).then(|| private.iter().sum()),
        urls: vec![url],
    }
}

/// What a router does and knows, and its ports.
fn routing(directory: &Path, lab: &Lab, index: usize) -> Vec<String> {
    let router = &lab.routers[index];
    let vpn = router.vpn.as_ref().map_or_else(String::new, |vpn| format!(" of VPN {vpn}"));
    let mut lines = vec![format!("{}{vpn}, {} to others", router.role.name(), router_id(index))];
    for link in links(lab) {
        let Some(side) = link.side(Node::Router(index)) else { continue };
        let other = link.ends[1 - side].node.name(lab);
        let network = &link.network(lab).name;
        lines.push(format!(
            "{network}: {} here, {} is {other}",
            link.address(side),
            link.address(1 - side)
        ));
    }
    if let Some(known) = known(directory, router) {
        let expected = expected(lab, index);
        let of =
            |name: &str, has: usize, of: usize| (of > 0).then(|| format!("{name} {has} of {of}"));
        let neighbours = [
            of("OSPF", known.ospf, expected.ospf),
            of("LDP", known.ldp, expected.ldp),
            of("BGP", known.bgp, expected.bgp),
        ];
        let neighbours: Vec<String> = neighbours.into_iter().flatten().collect();
        let (routes, labels) = (known.routes, known.labels);
        lines.push(format!(
            "neighbours: {}; {routes} routes, {labels} labels",
            neighbours.join(", ")
        ));
    }
    lines
}

fn of_guest(lab: &Path, name: &str, kind: &'static str, urls: Vec<String>) -> GuestStatus {
    let guest = guest(lab, name);
    let process = guest.process();
    let state = match &process {
        None => "gone".into(),
        Some(_) => guest
            .connect()
            .and_then(|mut qmp| qmp.run("query-status", json!({})))
            .ok()
            .and_then(|found| found["status"].as_str().map(str::to_owned))
            .unwrap_or_else(|| "does not answer".into()),
    };
    let private_bytes = process.as_ref().and_then(|process| process.private_bytes());
    let pid = process.map(|process| process.pid);
    GuestStatus { name: name.into(), kind, state, pid, private_bytes, urls }
}

/// As a table.
pub fn status_text(status: &Status) -> String {
    let mut text = format!("{}: guests run under {}\n", status.name, status.accelerator);
    let width = status.guests.iter().map(|guest| guest.name.chars().count()).max().unwrap_or(0);
    for guest in &status.guests {
        let pid = guest.pid.map_or_else(|| "-".into(), |pid| pid.to_string());
        // In whole mebibytes: the exact number changes all the time.
        let memory = guest
            .private_bytes
            .map_or_else(|| "-".into(), |bytes| format_bytes(bytes.next_multiple_of(1 << 20)));
        let line = format!(
            "{:<width$}  {:<7}  {:<8}  pid {pid:<8} private memory {memory}",
            guest.name, guest.kind, guest.state
        );
        text += line.trim_end();
        text.push('\n');
        for url in &guest.urls {
            text += &format!("{:width$}  {url}\n", "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_that_is_gone_is_shown_as_such() {
        let status = Status {
            name: "a rack".into(),
            accelerator: "tcg (as asked)".into(),
            guests: vec![
                GuestStatus {
                    name: "nas".into(),
                    kind: "storage",
                    state: "running".into(),
                    pid: Some(7),
                    private_bytes: Some((5 << 20) - 1),
                    urls: vec!["nfs://127.64.0.1:2049/export/vm".into()],
                },
                GuestStatus {
                    name: "vm1".into(),
                    kind: "vm",
                    state: "gone".into(),
                    pid: None,
                    private_bytes: None,
                    urls: vec![],
                },
            ],
        };
        let expected = "a rack: guests run under tcg (as asked)\n\
                        nas  storage  running   pid 7        private memory 5MiB\n     \
                        nfs://127.64.0.1:2049/export/vm\n\
                        vm1  vm       gone      pid -        private memory -\n";
        assert_eq!(status_text(&status), expected);
    }
}
