//! What a storage guest serves as block devices, as lines of its set-up: the kernel's targets are
//! configured through configfs (Linux, Documentation/target/scripts.rst and
//! drivers/nvme/target/configfs.c).

use super::path;
use super::ports::{End, devices, start_fc};
use super::secrets::Secrets;
use super::state::{target, target_of};
use crate::model::{Chap, Lab, Lun, Protocol, WriteCache};
use crate::wiring::{Carries, Channel};

const SETTINGS: &str = "/sys/kernel/config/target";
const NVMET: &str = "/sys/kernel/config/nvmet";

/// Lines that serve the LUNs of a storage guest. `groups` are the devices of its disk groups.
pub(super) fn lines(
    lab: &Lab,
    index: usize,
    groups: &[String],
    channels: &[Channel],
    secrets: &Secrets,
) -> Vec<String> {
    let storage = &lab.storage[index];
    let mut lines = Vec::new();
    for lun in storage.luns.iter().filter(|lun| lun.protocol != Protocol::NvmeTcp) {
        let (store, device) = (store(lun), &groups[lun.group]);
        lines.push(format!("mkdir -p {store}"));
        lines.push(match lun.write_cache {
            None => format!("echo udev_path={device} > {store}/control"),
            Some(WriteCache::Off) => format!("echo fd_dev_name={device} > {store}/control"),
            // In the page cache of the guest; the kernel then reports WCE.
            Some(WriteCache::On) => {
                format!("echo fd_dev_name={device},fd_buffered_io=1 > {store}/control")
            }
        });
        lines.push(format!("echo 1 > {store}/enable"));
        // Distinguishes two LUNs for an initiator.
        lines.push(format!("echo {}-{} > {store}/wwn/vpd_unit_serial", storage.name, lun.name));
    }
    let open: Vec<&Lun> = (0..storage.luns.len())
        .filter(|lun| storage.is_open(*lun))
        .map(|lun| &storage.luns[lun])
        .collect();
    if !open.is_empty() {
        iscsi(&target(storage), &open, None, &mut lines);
    }
    for (number, lun) in storage.luns.iter().enumerate() {
        if let Some(chap) = &lun.chap {
            let login = Some((chap, secrets.of(chap)));
            iscsi(&target_of(storage, number), &[lun], login, &mut lines);
        }
    }
    let of = channels.iter().filter(|channel| channel.storage == index);
    for channel in of.filter(|channel| channel.carries == Carries::Fc) {
        fc(lab, channel, &mut lines);
    }
    nvme(lab, index, groups, &mut lines);
    lines
}

/// The back store of a LUN: the device itself, or the device as a file, which can be cached.
fn store(lun: &Lun) -> String {
    let kind = if lun.write_cache.is_some() { "fileio" } else { "iblock" };
    format!("{SETTINGS}/core/{kind}_0/{}", lun.name)
}

fn iscsi(target: &str, luns: &[&Lun], login: Option<(&Chap, &str)>, lines: &mut Vec<String>) {
    let group = format!("{SETTINGS}/iscsi/{target}/tpgt_1");
    lines.push(format!("mkdir -p {group}"));
    serve(&group, luns, lines);
    for (name, value) in [
        ("authentication", u8::from(login.is_some())),
        ("generate_node_acls", 1),
        ("cache_dynamic_acls", 1),
        ("demo_mode_write_protect", 0),
    ] {
        lines.push(format!("echo {value} > {group}/attrib/{name}"));
    }
    if let Some((chap, password)) = login {
        lines.push(format!("echo -n '{}' > {group}/auth/userid", chap.user));
        lines.push(format!("echo -n '{password}' > {group}/auth/password"));
    }
    lines.push(format!("mkdir {group}/np/0.0.0.0:3260"));
    lines.push(format!("echo 1 > {group}/enable"));
}

/// Adds LUNs to a port group.
fn serve(group: &str, luns: &[&Lun], lines: &mut Vec<String>) {
    for (number, lun) in luns.iter().enumerate() {
        lines.push(format!("mkdir {group}/lun/lun_{number}"));
        lines.push(format!("ln -s {} {group}/lun/lun_{number}/store", store(lun)));
    }
}

/// A port to which the port at the other end may log in. The target must exist before it does.
fn fc(lab: &Lab, channel: &Channel, lines: &mut Vec<String>) {
    let storage = &lab.storage[channel.storage];
    let fc = storage.luns.iter().filter(|lun| lun.protocol == Protocol::Fc);
    let luns: Vec<&Lun> = fc.collect();
    for (number, device) in devices(channel, End::Storage).iter().enumerate() {
        let group = format!("{SETTINGS}/fc/{}/tpgt_1", channel.port_name(number, true));
        lines.push(format!("mkdir -p {group}"));
        serve(&group, &luns, lines);
        let initiator = format!("{group}/acls/{}", channel.port_name(number, false));
        lines.push(format!("mkdir {initiator}"));
        for lun in 0..luns.len() {
            lines.push(format!("mkdir {initiator}/lun_{lun}"));
            lines.push(format!("ln -s {group}/lun/lun_{lun} {initiator}/lun_{lun}/lun"));
        }
        lines.extend(path::count(channel.cables[number].storage));
        lines.extend(start_fc(device));
    }
}

fn nvme(lab: &Lab, index: usize, groups: &[String], lines: &mut Vec<String>) {
    let storage = &lab.storage[index];
    let port = format!("{NVMET}/ports/1");
    let mut has_port = false;
    for (number, lun) in storage.luns.iter().enumerate() {
        if lun.protocol != Protocol::NvmeTcp {
            continue;
        }
        if !has_port {
            has_port = true;
            lines.push(format!("mkdir -p {port}"));
            for (name, value) in
                [("adrfam", "ipv4"), ("trtype", "tcp"), ("traddr", "0.0.0.0"), ("trsvcid", "4420")]
            {
                lines.push(format!("echo {value} > {port}/addr_{name}"));
            }
        }
        let subsystem = format!("{NVMET}/subsystems/{}", target_of(storage, number));
        lines.push(format!("mkdir -p {subsystem}/namespaces/1"));
        lines.push(format!("echo 1 > {subsystem}/attr_allow_any_host"));
        let device = &groups[lun.group];
        lines.push(format!("echo -n {device} > {subsystem}/namespaces/1/device_path"));
        // Hosts recognize it by this after the guest was restarted: with another one it would be a
        // different disk.
        lines.push(format!(
            "echo 4c616200-0000-4000-8000-{index:04x}{number:08x} > {subsystem}/namespaces/1/device_uuid"
        ));
        lines.push(format!("echo 1 > {subsystem}/namespaces/1/enable"));
        lines.push(format!("ln -s {subsystem} {port}/subsystems/"));
    }
}
