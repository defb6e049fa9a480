//! A cable between two guests: a Unix socket on this machine, so that no privilege is needed.
//!
//! One end listens, and listens again when the other end disconnects. The other end connects only once:
//! QEMU does not retry, and a port cannot be given another socket. At that end, therefore, the port is
//! attached to a hub with two sides, the other of which is unplugged and plugged in again when the
//! listening guest has been restarted (QEMU QMP Reference Manual, `netdev_add`, `NetdevHubPortOptions`,
//! `NetdevStreamOptions`).

use std::path::{Path, PathBuf};

use serde_json::json;

use super::hardware::Plug;
use super::qmp::Qmp;
use crate::error::LabError;

/// QEMU's id of a port to another guest.
pub(crate) fn port(index: usize) -> String {
    format!("nic{index}")
}

/// QEMU's id of one end of a cable: the network device's counterpart.
pub(crate) fn cable_end(index: usize) -> String {
    format!("cable{index}")
}

/// QEMU's id of the socket behind the hub.
fn wire(index: usize) -> String {
    format!("wire{index}")
}

/// QEMU's id of the side of the hub with the socket.
fn plug(index: usize) -> String {
    format!("plug{index}")
}

/// The values of `-netdev` for a port, in order; `name` maps a socket's path to the one that QEMU
/// uses.
pub(super) fn arguments(index: usize, end: &Plug, name: &dyn Fn(&Path) -> PathBuf) -> Vec<String> {
    let stream = |id: &str, path: &Path, server| {
        let path = name(path).to_string_lossy().replace(',', ",,");
        format!("stream,id={id},server={server},addr.type=unix,addr.path={path}")
    };
    let (cable, wire, plug) = (cable_end(index), wire(index), plug(index));
    let hub = format!("hubport,id={cable},hubid={index}");
    match end {
        Plug::Blank => vec![hub],
        Plug::Listens(path) => vec![stream(&cable, path, "on")],
        Plug::Connects(path) => vec![
            stream(&wire, path, "off"),
            format!("hubport,id={plug},hubid={index},netdev={wire}"),
            hub,
        ],
    }
}

/// Removes the socket from the end that connects. Does nothing if it has already been removed.
pub(crate) fn unplug(qmp: &mut Qmp, index: usize) -> Result<(), LabError> {
    for id in [plug(index), wire(index)] {
        match qmp.run("netdev_del", json!({"id": id})) {
            // An error means that there is no such device.
            Ok(_) | Err(LabError::Qmp { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Connects this end to the other, which listens at `path` (as QEMU refers to it).
pub(crate) fn plug_in(qmp: &mut Qmp, index: usize, path: &Path) -> Result<(), LabError> {
    let wire = wire(index);
    let address = json!({"type": "unix", "path": path.to_string_lossy()});
    let socket = json!({"type": "stream", "id": &wire, "server": false, "addr": address});
    qmp.run("netdev_add", socket)?;
    let side = json!({"type": "hubport", "id": plug(index), "hubid": index, "netdev": wire});
    qmp.run("netdev_add", side)?;
    // What the guest has sent meanwhile is queued in the unconnected hub, and only resuming the guest
    // flushes it.
    if qmp.run("query-status", json!({}))?["running"] == true {
        qmp.run("stop", json!({}))?;
        qmp.run("cont", json!({}))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_that_looks_for_the_other_has_a_hub_between() {
        let ends = |end: Plug| arguments(3, &end, &Path::to_owned);
        assert_eq!(ends(Plug::Blank), ["hubport,id=cable3,hubid=3"]);
        let path = "/lab/guests/a,b/cable3";
        let socket = "addr.type=unix,addr.path=/lab/guests/a,,b/cable3";
        let listens = format!("stream,id=cable3,server=on,{socket}");
        assert_eq!(ends(Plug::Listens(path.into())), [listens]);
        let connects = ends(Plug::Connects(path.into()));
        assert_eq!(connects[0], format!("stream,id=wire3,server=off,{socket}"));
        // A device must be defined before it is referred to.
        assert_eq!(connects[1], "hubport,id=plug3,hubid=3,netdev=wire3");
        assert_eq!(connects[2], "hubport,id=cable3,hubid=3", "as the frozen guest has it");
    }
}
