//! A lab to begin with: two hosts whose kernels are the clients, and a storage server.

use std::fmt::Write;

use stormeter_lab::parse_lab;

use super::place::{Kind, Place};
use super::words::{key, text as quoted};
use crate::exit::Failure;

/// A way from a host to the server.
struct Way {
    name: String,
    is_lun: bool,
}

/// The lab in which the datastores are ways to one server.
///
/// # Errors
/// A datastore that a lab has nothing like.
pub(super) fn text(places: &[Place]) -> Result<String, Failure> {
    let ways = places.iter().map(way).collect::<Result<Vec<_>, _>>()?;
    let usual =
        [("nfs", false), ("iscsi", true)].map(|(name, is_lun)| Way { name: name.into(), is_lun });
    let text = written(if ways.is_empty() { &usual } else { &ways });
    match parse_lab(&text) {
        Ok(_) => Ok(text),
        Err(errors) => Err(Failure::Usage(errors.to_string())),
    }
}

fn way(place: &Place) -> Result<Way, Failure> {
    let is_lun = match place.kind {
        Kind::Nfs => false,
        Kind::Iscsi => true,
        _ => {
            return Err(Failure::Usage(format!(
                "{} is neither an NFS export nor an iSCSI LUN, which a lab's server has; leave it out, and give \
                 the VMs of the lab local disks (docs/lab.md)",
                place.url
            )));
        }
    };
    Ok(Way { name: place.name.to_ascii_lowercase().replace('_', "-"), is_lun })
}

fn written(ways: &[Way]) -> String {
    let mut text = String::from(
        "\
# A lab: two hosts and a storage server as guests of QEMU on this machine. It is complete; change what does not fit.
#
#   stormeter lab build                 kernel and images of Debian's packages, once
#   stormeter lab up FILE               start it; no root
#   stormeter lab status                what is running, and the URLs of its storage
#   stormeter lab down                  stop it, and leave nothing behind
#
# docs/lab.md explains every key. Each mount is a datastore of studies whose hosts are {host1: \"lab:host1\"}: a directory
# /lab/NAME for an export, a device /dev/lab/NAME for a LUN.
lab: Two hosts and a server

networks:
  # Slower than the emulation, so that the network is what is measured. A delay is of each direction.
  lan: {rate: 1Gb, delay: 100us}
  # wan: {rate: 100Mb, delay: 5ms}

storage:
  server:
    network: lan
    # A disk for each way, far slower than the emulation.
    disks:
",
    );
    for way in ways {
        let _ = writeln!(
            text,
            "      {}: {{size: 256MiB, iops: 300, latency: 5ms}}",
            quoted(&way.disk())
        );
    }
    text.push_str("      # pair: {size: 256MiB, count: 2, raid: 1, iops: 150, latency: 5ms}\n");
    for (title, is_lun) in [("exports", false), ("luns", true)] {
        let of: Vec<&Way> = ways.iter().filter(|way| way.is_lun == is_lun).collect();
        if !of.is_empty() {
            let _ = writeln!(text, "    {title}:");
        }
        for way in of {
            let _ = writeln!(text, "      {}: {}", key(&way.name), quoted(&way.disk()));
        }
    }
    text.push_str("\nhosts:\n");
    // Two hosts see the same export. A LUN belongs to one of them at a time, which no file system on it guards.
    for (host, note) in
        [("host1", ""), ("host2", "  # its LUNs are those of host1: use one host at a time")]
    {
        let _ = writeln!(text, "  {host}:{note}\n    mounts:");
        for way in ways {
            let _ = writeln!(text, "      {}: {{datastore: server.{}}}", key(&way.name), way.name);
        }
    }
    text
}

impl Way {
    fn disk(&self) -> String {
        format!("{}-disk", self.name)
    }
}
