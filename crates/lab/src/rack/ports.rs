//! The ends of cables in guests: hardware addresses, packet sizes, aggregation, rate, delay and loss, as
//! lines of a guest's set-up.
//!
//! Each end shapes what it sends, so both directions are shaped, and each port separately: that is what a
//! link does.

use crate::model::Network;
use crate::wiring::{Carries, Channel, FC_MTU};

/// The end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Host,
    Storage,
}

/// Lines that set up the ports of a channel at one end.
pub(super) fn lines(channel: &Channel, network: Option<&Network>, end: End) -> Vec<String> {
    let is_storage = end == End::Storage;
    let (mtu, bond) = match channel.carries {
        // A separate fabric: it does not use the storage guest's network settings, and must not
        // lose frames.
        Carries::Fc => (FC_MTU, None),
        Carries::Ip { mtu } => (mtu, network.and_then(|network| network.aggregation)),
    };
    let netem = match channel.carries {
        Carries::Fc => None,
        Carries::Ip { .. } => network.and_then(netem),
    };
    let joint = format!("bond{}", channel.number + 1);
    let mut lines = Vec::new();
    if let Some(bond) = bond {
        let hash = if bond.mode.name() == "802.3ad" {
            " xmit_hash_policy layer3+4 lacp_rate fast"
        } else {
            ""
        };
        lines.push(format!(
            "/bin/ip link add {joint} mtu {mtu} type bond mode {} miimon 100{hash}",
            bond.mode.name()
        ));
    }
    for (number, device) in devices(channel, end).iter().enumerate() {
        let address = channel.hardware_address(number, is_storage);
        lines.push(format!("/bin/ip link set {device} address {address} mtu {mtu}"));
        if let Some(netem) = &netem {
            lines.push(format!("/sbin/tc qdisc replace dev {device} root {netem}"));
        }
        if bond.is_some() {
            lines.push(format!("/bin/ip link set {device} master {joint}"));
        }
        // FC ports are brought up when their frames can be received ([`start_fc`]).
        if channel.carries != Carries::Fc {
            lines.push(format!("/bin/ip link set {device} up"));
        }
    }
    if matches!(channel.carries, Carries::Ip { .. }) {
        let device = if bond.is_some() { joint } else { devices(channel, end).swap_remove(0) };
        let address = if is_storage { channel.storage_address() } else { channel.host_address() };
        lines.push(format!("/bin/ip addr add {address}/24 dev {device}"));
        lines.push(format!("/bin/ip link set {device} up"));
    }
    lines
}

/// Lines that make a port talk to the port at the other end without a switch (VN2VN, FC-BB-6).
///
/// In this order: Linux accepts frames for a port before it has created the objects for them, and a frame in
/// between, which the other end may send at any time, crashes the kernel.
pub(super) fn start_fc(device: &str) -> [String; 2] {
    [
        format!("echo {device} > /sys/module/libfcoe/parameters/create_vn2vn"),
        format!("/bin/ip link set {device} up"),
    ]
}

/// The guest's names for its ports of a channel. A storage guest's first port leads to this
/// machine.
pub(super) fn devices(channel: &Channel, end: End) -> Vec<String> {
    let cables = channel.cables.iter();
    match end {
        End::Host => cables.map(|cable| format!("eth{}", cable.host)).collect(),
        End::Storage => cables.map(|cable| format!("eth{}", cable.storage + 1)).collect(),
    }
}

/// Delay, loss and rate of a port (tc-netem(8)); `None` if it is as fast as the emulation.
pub(super) fn netem(network: &Network) -> Option<String> {
    if network.rate_bits_per_s.is_none() && network.delay_ns == 0 && network.loss_ppm == 0 {
        return None;
    }
    // In packets: more than a second's worth at one gigabit, so that waiting packets are never
    // dropped.
    let mut netem = String::from("netem limit 100000");
    if network.delay_ns > 0 {
        netem += &format!(" delay {}us", network.delay_ns / 1000);
    }
    if network.loss_ppm > 0 {
        let ppm = network.loss_ppm;
        netem += &format!(" loss random {}.{:04}%", ppm / 10_000, ppm % 10_000);
    }
    if let Some(rate) = network.rate_bits_per_s {
        netem += &format!(" rate {rate}bit");
    }
    Some(netem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;
    use crate::rack::on_disks::Disks;
    use crate::rack::secrets::Secrets;
    use crate::wiring::channels;

    const LAB: &str = "
networks: {lan: {rate: 100Mb, delay: 1ms, loss: 0.1%, aggregation: {ports: 2}}}
storage: {nas: {network: lan, disks: {a: {size: 64MiB}}, exports: {a: a}}}
hosts: {esx: {mounts: {a: {datastore: nas.a, mtu: 9000}}}}
";

    #[test]
    fn no_frame_comes_to_an_fc_port_that_is_not_made_yet() {
        let lab = parse_lab(
            "storage: {nas: {disks: {a: {size: 64MiB}}, luns: {a: {disks: a, protocol: fc}}}}\n\
             hosts: {esx: {mounts: {a: {datastore: nas.a}}}}\n",
        )
        .unwrap();
        let channels = channels(&lab);
        for script in [
            crate::rack::mounts::script(&lab, 0, &channels, &Secrets::default()),
            crate::rack::setup::script(&lab, 0, Disks::New, &channels, &Secrets::default()),
        ] {
            let lines: Vec<&str> = script.lines().collect();
            let made = lines.iter().position(|line| line.contains("create_vn2vn")).unwrap();
            let device = lines[made].split(' ').nth(1).unwrap();
            let up = format!("/bin/ip link set {device} up");
            let ups: Vec<usize> = (0..lines.len()).filter(|&at| lines[at] == up).collect();
            assert_eq!(ups, [made + 1], "{script}");
        }
    }

    #[test]
    fn each_end_shapes_each_port_and_joins_them() {
        let lab = parse_lab(LAB).unwrap();
        let channels = channels(&lab);
        for (end, first, address) in
            [(End::Host, "eth0", "10.77.0.2"), (End::Storage, "eth1", "10.77.0.1")]
        {
            let text = lines(&channels[0], lab.networks.first(), end).join("\n");
            assert!(text.contains(&format!(
                "dev {first} root netem limit 100000 delay 1000us loss random 0.1000% rate \
                 100000000bit"
            )));
            assert!(text.contains("type bond mode 802.3ad"), "{text}");
            assert!(text.contains(&format!("{address}/24 dev bond1")), "{text}");
            assert_eq!(text.matches("mtu 9000").count(), 3, "{text}");
            assert_eq!(text.matches("master bond1").count(), 2, "{text}");
        }
    }
}
