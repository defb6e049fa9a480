//! One of the paths of a host to its LUNs over FC: a cable, cut at both ends, so that both notice at once and
//! neither waits.
//!
//! Linux's FC target must have nothing outstanding when its port loses the link: it forgets the exchange of such a
//! request and never releases the request, and the initiator's next logoff waits for it forever, holding the locks of
//! the port and of all networks (`ft_recv_seq`, `ft_queue_status` and `ft_prlo` of tcm_fc, Linux 6.1). Under load,
//! every other cut ends like that. A path is therefore cut in two steps: commands are blocked until outstanding ones
//! have been answered, and then the cable is cut. For the host the path is dead from the first step on.
//!
//! Outstanding requests are counted: commands that arrived minus responses that left. A silent port proves nothing:
//! a request may wait for its disk for any length of time.

use crate::error::LabError;
use crate::model::{Lab, Mounted};
use crate::wiring::{Cable, Carries, channels};

/// A path between a host and a storage guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FcPath {
    pub(super) host: String,
    pub(super) storage: String,
    /// The ports at its ends, as indices among those of their guests.
    pub(super) cable: Cable,
    /// The port name of the storage guest's port.
    port_name: String,
    /// The host's mounts that it leads to.
    mounts: Vec<String>,
}

/// The path with this number, from 0, of the host's mount.
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
    let same_path = fc().filter(|(of, paths)| of.storage == found.storage && number < *paths);
    Ok(FcPath {
        host: host.into(),
        storage: lab.storage[found.storage].name.clone(),
        cable,
        port_name: channel.port_name(number, true),
        mounts: same_path.map(|(mount, _)| mount.name.clone()).collect(),
    })
}

/// Lines that count the commands that arrive at a storage guest's port (by its index) and the responses that leave
/// it. They must run before the host logs in.
pub(super) fn count(port: usize) -> [String; 3] {
    let device = device(port);
    let filter = |direction, unit, counter| {
        format!(
            "/sbin/tc filter add dev {device} {direction} prio 2 {unit} action pass index {counter}"
        )
    };
    let [commands, responses] = counters(port);
    [
        format!("/sbin/tc qdisc add dev {device} clsact"),
        filter("ingress", COMMAND, commands),
        filter("egress", RESPONSE, responses),
    ]
}

/// The handles of a port's counters. Each needs its own because the list does not distinguish filters: those of both
/// directions are in one table (cls_u32, Linux 6.1).
fn counters(port: usize) -> [usize; 2] {
    [2 * port + 2, 2 * port + 3]
}

/// Matches the information unit of an arriving command (R_CTL 06h, FC-FS-3; FCP_CMND, FCP-4), after the 14 bytes of
/// the header of FC over Ethernet (FC-BB-6).
const COMMAND: &str = "protocol 0x8906 u32 match u8 0x06 0xff at 14";
/// Matches a leaving response (R_CTL 07h, FCP_RSP): there the Ethernet header, of 14 bytes, counts too.
const RESPONSE: &str = "protocol 0x8906 u32 match u8 0x07 0xff at 28";

/// Lines after which no command reaches the storage guest over the path, and outstanding ones have been answered.
/// They fail if that takes longer than `patience_s`, and report how many are left.
pub(super) fn drain(path: &FcPath, patience_s: u64) -> String {
    let device = device(path.cable.storage);
    let [commands, responses] = counters(path.cable.storage);
    format!(
        "/sbin/tc filter del dev {device} ingress prio 1 2>/dev/null || :\n\
         /sbin/tc filter add dev {device} ingress prio 1 {COMMAND} action drop\n\
         seen() {{ /sbin/tc -s actions get action gact index $1 | \
         sed -n 's/.*Sent [0-9]* bytes \\([0-9]*\\) pkt.*/\\1/p'; }}\n\
         still=0 tries=0 last=\n\
         while :; do\n\
         come=$(seen {commands}) gone=$(seen {responses})\n\
         still=$((still + 1)); [ \"$come $gone\" = \"$last\" ] || still=0; last=\"$come $gone\"\n\
         [ $come != $gone ] || [ $still -lt {STILL} ] || break\n\
         [ $still -lt {GIVEN_UP} ] || break\n\
         tries=$((tries + 1))\n\
         [ $tries -lt {patience_s}0 ] || {{ echo \"{device} has $((come - gone)) requests left\"; exit 1; }}\n\
         usleep 100000\n\
         done\n"
    )
}

/// How many tenths of a second the counts must stay unchanged once everything was answered: a command may have been
/// in transit.
const STILL: u32 = 2;
/// How long to wait if they never become equal, because the host has aborted commands (ABTS,
/// FC-FS-3).
const GIVEN_UP: u32 = 300;

/// Lines after which commands reach the storage guest again, with the counters restarted.
pub(super) fn admit(path: &FcPath) -> String {
    let port = path.cable.storage;
    format!("/sbin/tc qdisc del dev {} clsact\n{}\n", device(port), count(port).join("\n"))
}

/// A storage guest's name for its port with this index; its first port leads to this machine.
fn device(port: usize) -> String {
    format!("eth{}", port + 1)
}

/// Lines with which a host waits until the path, whose ends are up, is in use again; they fail after `patience_s` by
/// the guest's clock, because its programs may be slow, and report what is missing.
///
/// The host's port must not be reset meanwhile, however long it takes: that is a logoff like any other, for which
/// the target waits as described above.
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
        // multipathd in the host tries failed paths every second.
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
        let (cut, joined) = (drain(&second, 60), admit(&second));
        assert!(cut.contains("tc filter add dev eth3 ") && joined.contains("del dev eth3 "));
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

    /// The patience was once a number of iterations, which took far too long where programs were slow.
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
