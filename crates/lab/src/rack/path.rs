//! One of the paths of a host to its LUNs over FC: a cable, cut at both ends, so that both see at once that there
//! is nothing to wait for.
//!
//! Linux's FC target must have nothing under way when its port loses the link: it forgets the exchange of such a
//! request and never lets go of the request, and the next logoff of the initiator waits for it for ever, with the locks
//! of the port and of all networks held (`ft_recv_seq`, `ft_queue_status` and `ft_prlo` of tcm_fc, Linux 6.1). Under a
//! load that is what every other cut ends in. So a path is cut in two steps: commands no longer arrive, what is under
//! way is answered, and then the cable is cut. To the host the path is dead from the first step on.

use crate::error::LabError;
use crate::model::{Lab, Mounted};
use crate::wiring::{Cable, Carries, channels};

/// A path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FcPath {
    pub(super) host: String,
    pub(super) storage: String,
    /// The ports of its ends, by their places among those of their guests.
    pub(super) cable: Cable,
    /// The name of the storage guest's port.
    port_name: String,
    /// The mounts of the host that it leads to.
    mounts: Vec<String>,
}

/// The path of this number, from 0, of the host's mount.
pub(super) fn find(lab: &Lab, host: &str, mount: &str, number: usize) -> Result<FcPath, LabError> {
    let Some(place) = lab.hosts.iter().position(|of| of.name == host) else {
        let known: Vec<&str> = lab.hosts.iter().map(|host| host.name.as_str()).collect();
        return Err(LabError::NoHost {
            name: host.into(),
            known: if known.is_empty() { "none".into() } else { known.join(", ") },
        });
    };
    let fc = || {
        lab.hosts[place].mounts.iter().filter_map(|mount| match mount.of {
            Mounted::Fc { paths, .. } => Some((mount, paths as usize)),
            _ => None,
        })
    };
    let no_part = |part: String, what, known: String| LabError::NoPart {
        guest: host.into(),
        part,
        what,
        known: if known.is_empty() { "none".into() } else { known },
    };
    let Some((found, paths)) = fc().find(|(of, _)| of.name == mount) else {
        let known: Vec<&str> = fc().map(|(mount, _)| mount.name.as_str()).collect();
        return Err(no_part(mount.into(), "mount over FC", known.join(", ")));
    };
    let channel = channels(lab).into_iter().find(|channel| {
        (channel.host, channel.storage, channel.carries) == (place, found.storage, Carries::Fc)
    });
    let cable = channel.as_ref().and_then(|channel| channel.cables[..paths].get(number).copied());
    let (Some(channel), Some(cable)) = (channel, cable) else {
        let known = format!("{mount} 0 to {}", paths - 1);
        return Err(no_part(format!("{mount} {number}"), "path", known));
    };
    let beside = fc().filter(|(of, paths)| of.storage == found.storage && number < *paths);
    Ok(FcPath {
        host: host.into(),
        storage: lab.storage[found.storage].name.clone(),
        cable,
        port_name: channel.port_name(number, true),
        mounts: beside.map(|(mount, _)| mount.name.clone()).collect(),
    })
}

/// Lines after which no command arrives at the storage guest over the path, and what was under way has ended.
pub(super) fn drain(path: &FcPath) -> String {
    let device = device(path);
    // The information unit of a command (FC-FS-3, R_CTL 06h; FCP-4, FCP_CMND), behind the 14 bytes of the header
    // of FC over Ethernet (FC-BB-6).
    let command = "protocol 0x8906 u32 match u8 0x06 0xff at 14";
    format!(
        "/sbin/tc qdisc show dev {device} | grep -q ingress || \
         /sbin/tc qdisc add dev {device} handle ffff: ingress\n\
         /sbin/tc filter replace dev {device} parent ffff: prio 1 handle 800::1 {command} action drop\n\
         sent= still=0 tries=0\n\
         while [ $still -lt {STILL} ] && [ $tries -lt {TRIES} ]; do\n\
         usleep 100000; tries=$((tries + 1)); still=$((still + 1))\n\
         now=$(cat /sys/class/net/{device}/statistics/tx_packets)\n\
         [ \"$now\" = \"$sent\" ] || still=0; sent=$now\n\
         done\n"
    )
}

/// How many tenths of a second a port that answers nothing more has been still: longer than a request waits at a disk.
const STILL: u32 = 10;
/// And how many it is waited for.
const TRIES: u32 = 100;

/// Lines after which commands arrive at the storage guest again.
pub(super) fn admit(path: &FcPath) -> String {
    let device = device(path);
    format!(
        "! /sbin/tc qdisc show dev {device} | grep -q ingress || /sbin/tc qdisc del dev {device} ingress\n"
    )
}

/// What the storage guest calls its end.
fn device(path: &FcPath) -> String {
    format!("eth{}", path.cable.storage + 1)
}

/// Lines with which a host waits until the path, whose ends are up, is used again; they fail after `patience_s` by the
/// guest's clock, whose programs may be slow, and say what is missing.
///
/// The host's port must not be reset meanwhile, however long it takes: that is a logoff like any other, which the
/// target waits for as said above.
pub(super) fn back(path: &FcPath, patience_s: u64) -> String {
    let port = path.port_name.replace(':', "");
    let mut lines = format!(
        "now() {{ read -r up rest < /proc/uptime; echo ${{up%.*}}; }}\n\
         begin=$(now)\n\
         patience() {{ [ $(($(now) - begin)) -lt {patience_s} ] || {{ echo \"$1\"; exit 1; }}; usleep 100000; }}\n\
         state() {{ for port in /sys/class/fc_remote_ports/rport-*; do\n\
         [ \"$(cat $port/port_name)\" != 0x{port} ] || cat $port/port_state; done 2>/dev/null; }}\n\
         until [ \"$(state)\" = Online ]; do\n\
         patience \"the port 0x{port} does not come back ($(state))\"; done\n"
    );
    for mount in &path.mounts {
        // Somebody in the host tries failed paths each second.
        lines += &format!(
            "while /sbin/dmsetup status fc-{mount} | grep -q '[0-9]*:[0-9]* F'; do\n\
             patience 'a path of {mount} stays failed'; done\n"
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;

    const LAB: &str = "storage: {san: {disks: {a: {size: 64MiB}, b: {size: 64MiB}, c: {size: 64MiB}}, luns: \
         {a: {disks: a, protocol: fc}, b: {disks: b, protocol: fc}, c: c}}}\n\
         hosts: {esx: {mounts: {ip: {datastore: san.c}, two: {datastore: san.a, paths: 2}, \
         one: {datastore: san.b, paths: 1}}}}\n";

    #[test]
    fn a_path_is_a_cable_with_two_ends_and_what_it_leads_to() {
        let lab = parse_lab(LAB).unwrap();
        let first = find(&lab, "esx", "two", 0).unwrap();
        assert_eq!((first.cable.host, first.cable.storage), (1, 1));
        assert_eq!((first.storage.as_str(), first.mounts.len()), ("san", 2));
        let second = find(&lab, "esx", "two", 1).unwrap();
        assert_eq!((second.cable.host, second.mounts.as_slice()), (2, &["two".to_owned()][..]));
        let (cut, joined) = (drain(&second), admit(&second));
        assert!(cut.contains("tc filter replace dev eth3 ") && joined.contains("del dev eth3 "));
        let lines = back(&second, 60);
        assert!(lines.contains("0x2000024c00010101") && lines.contains("fc-two"), "{lines}");
        for (host, mount, number, said) in [
            ("san", "two", 0, "it has esx"),
            ("esx", "ip", 0, "it has two, one"),
            ("esx", "two", 2, "it has two 0 to 1"),
            ("esx", "one", 1, "it has one 0 to 0"),
        ] {
            let message = find(&lab, host, mount, number).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }

    /// Once its patience was a number of turns, which took longer than anybody waited where programs were slow.
    #[test]
    fn a_slow_host_says_in_time_what_is_missing() {
        let path = find(&parse_lab(LAB).unwrap(), "esx", "two", 1).unwrap();
        let slow = "usleep() { sleep 0.5; echo turn >&2; }\n";
        let ended = std::process::Command::new("sh")
            .args(["-ec", &format!("{slow}{}", back(&path, 2))])
            .output()
            .unwrap();
        let said = String::from_utf8(ended.stdout).unwrap();
        assert_eq!(said, "the port 0x2000024c00010101 does not come back ()\n");
        let turns = String::from_utf8(ended.stderr).unwrap();
        assert!(turns.lines().count() <= 5, "{turns}");
        assert_eq!(ended.status.code(), Some(1));
    }
}
