//! A host's set-up: its ports, then its mounts and services, as lines of a script that uses the commands of
//! `mounts.sh` in its image.

use super::on_disks::export_path;
use super::ports::{self, End, devices, start_fc};
use super::routed::{self, storage_address};
use super::secrets::Secrets;
use super::services;
use super::state::{target, target_of};
use crate::links::Node;
use crate::model::{Lab, Mount, Mounted};
use crate::wiring::{Carries, Channel, network};

/// The whole script for the lab's host with this index.
pub(super) fn script(lab: &Lab, index: usize, channels: &[Channel], secrets: &Secrets) -> String {
    let host = &lab.hosts[index];
    let mut lines = vec![". /mounts.sh".to_owned(), format!("hostname {}", host.name)];
    let of = || channels.iter().filter(|channel| channel.host == index);
    for channel in of() {
        lines.extend(ports::lines(channel, network(lab, channel.storage), End::Host));
        if channel.carries == Carries::Fc {
            lines.extend(devices(channel, End::Host).iter().flat_map(|name| start_fc(name)));
        }
    }
    lines.extend(routed::lines(lab, Node::Host(index)));
    lines.extend(services::names(lab, index));
    for mount in &host.mounts {
        if let Some(network) = mount.network {
            let address = storage_address(lab, mount.storage, network);
            lines.extend(address.map(|address| line(lab, mount, None, &address, secrets)));
            continue;
        }
        let carries = match mount.of {
            Mounted::Fc { .. } => Carries::Fc,
            _ => Carries::Ip { mtu: mount.mtu },
        };
        let mut ways = of().filter(|channel| channel.storage == mount.storage);
        if let Some(channel) = ways.find(|channel| channel.carries == carries) {
            lines.push(line(lab, mount, Some(channel), &channel.storage_address(), secrets));
        }
    }
    lines.extend(services::lines(host, secrets));
    lines.join("\n") + "\n"
}

fn line(
    lab: &Lab,
    mount: &Mount,
    channel: Option<&Channel>,
    address: &str,
    secrets: &Secrets,
) -> String {
    let (storage, name) = (&lab.storage[mount.storage], &mount.name);
    match &mount.of {
        Mounted::Nfs { export, version } => {
            let path = export_path(&storage.exports[*export].name);
            format!("mount_nfs {name} {address} {path} {}", version.name())
        }
        Mounted::Iscsi { lun, chap } => {
            let number = storage.lun_number(*lun);
            let target =
                if storage.is_open(*lun) { target(storage) } else { target_of(storage, *lun) };
            let login = chap.as_ref().map_or_else(String::new, |chap| {
                format!(" '{}' '{}'", chap.user, secrets.of(chap))
            });
            format!("mount_iscsi {name} {address} {target} {number}{login}")
        }
        Mounted::Fc { lun, paths, policy } => {
            let ports: String = (0..*paths as usize)
                .filter_map(|path| Some(format!(" {}", channel?.port_name(path, true))))
                .collect();
            format!("mount_fc {name} {} {}{ports}", storage.lun_number(*lun), policy.name())
        }
        Mounted::NvmeTcp { lun } => {
            format!("mount_nvme {name} {address} {}", target_of(storage, *lun))
        }
    }
}

/// Where a mount is on its host: a datastore of its agent.
pub(super) fn place(mount: &Mount) -> String {
    match mount.of {
        Mounted::Nfs { .. } => format!("/lab/{}", mount.name),
        _ => format!("/dev/lab/{}", mount.name),
    }
}

/// How it is connected, for people.
pub(super) fn way(lab: &Lab, mount: &Mount) -> String {
    let storage = &lab.storage[mount.storage];
    let (share, how) = match &mount.of {
        Mounted::Nfs { export, version } => {
            (&storage.exports[*export].name, format!("NFSv{}", version.name()))
        }
        Mounted::Iscsi { lun, chap } => {
            let how = if chap.is_some() { "iSCSI with CHAP" } else { "iSCSI" };
            (&storage.luns[*lun].name, how.into())
        }
        Mounted::Fc { lun, paths, policy } => {
            (&storage.luns[*lun].name, format!("FC, {paths} paths, {}", policy.name()))
        }
        Mounted::NvmeTcp { lun } => (&storage.luns[*lun].name, "NVMe/TCP".into()),
    };
    let mtu = match mount.of {
        Mounted::Fc { .. } => String::new(),
        _ => format!(", MTU {}", mount.mtu),
    };
    let through = mount.network.map(|network| &lab.networks[network].name);
    let through = through.map_or_else(String::new, |name| format!(", through routers to {name}"));
    format!("{}.{share} over {how}{mtu}{through}", storage.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;
    use crate::wiring::channels;

    const LAB: &str = "
storage:
  nas:
    disks: {a: {size: 64MiB}, b: {size: 64MiB}, c: {size: 64MiB}, d: {size: 64MiB}, e: {size: 64MiB}}
    exports: {a: a}
    luns: {b: b, c: {disks: c, protocol: fc}, d: {disks: d, protocol: nvme-tcp}, e: e}
hosts:
  esx:
    mounts:
      files: {datastore: nas.a, version: 4.2}
      block: {datastore: nas.e, mtu: 9000}
      fabric: {datastore: nas.c, paths: 2, policy: round-robin}
      express: {datastore: nas.d}
";

    #[test]
    fn what_is_mounted_is_reached_over_its_own_channel() {
        let lab = parse_lab(LAB).unwrap();
        let text = script(&lab, 0, &channels(&lab), &Secrets::default());
        for line in [
            "mount_nfs files 10.77.0.1 /export/a 4.2",
            "mount_iscsi block 10.77.1.1 iqn.2026-01.stormeter.lab:nas 1",
            "mount_fc fabric 0 round-robin 20:00:02:4c:00:01:02:00 20:00:02:4c:00:01:02:01",
            "mount_nvme express 10.77.0.1 iqn.2026-01.stormeter.lab:nas.d",
            "echo eth2 > /sys/module/libfcoe/parameters/create_vn2vn",
            "echo eth3 > /sys/module/libfcoe/parameters/create_vn2vn",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert_eq!(place(&lab.hosts[0].mounts[0]), "/lab/files");
        assert_eq!(way(&lab, &lab.hosts[0].mounts[1]), "nas.e over iSCSI, MTU 9000");
    }
}
