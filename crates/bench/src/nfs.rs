//! NFS: reads with our client and with libnfs, from a server that answers at once and from a real
//! one.
//!
//! The limits apply to the comparison with libnfs in QEMU, which like ours is a whole load
//! generator; the library alone is shown for information.

use std::path::Path;

use stormeter_peers::{Ganesha, GaneshaOptions, libnfs_url};

use crate::arguments::Arguments;
use crate::drive::{Drive, disk_path};
use crate::failure::Failure;
use crate::library::{LIBNFS, Program, ReferenceTool};
use crate::line::{Bound, Line};
use crate::network::{DISK_BYTES, GATE_PAIRS, Sides, pin_server, server_cpu};
use crate::null_server::{NullServer, Protocol};
use crate::ours;

/// The export of the null server: all of its files are alike.
const NULL_EXPORT: &str = "/null";
const NULL_FILE: &str = "/disk";
/// Where NFS clients without a port option ask for the port.
const PORTMAP_PORT: u16 = 111;

/// Outstanding reads of the null server with the limit on IOPS.
const NULL_IOPS: [(u32, f64); 2] = [(16, 1.5), (32, 2.0)];
/// The queue depth for counting instructions.
const COUNTED_OUTSTANDING: u32 = 16;
const INSTRUCTIONS: f64 = 0.15;
/// Outstanding reads of the real server, and the limits on IOPS and CPU time for all of them.
const REAL_OUTSTANDING: [u32; 3] = [1, 16, 32];
const REAL: [Bound; 2] = [Bound::Least(1.0), Bound::Most(0.7)];

pub(crate) fn measure(arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    let libnfs = LIBNFS.build()?;
    let mut lines = null(arguments, &libnfs)?;
    if !arguments.short {
        lines.extend(real(arguments, &libnfs)?);
    }
    Ok(lines)
}

fn null(arguments: &Arguments, libnfs: &Program) -> Result<Vec<Line>, Failure> {
    let server = NullServer::start(Protocol::Nfs, PORTMAP_PORT, &server_cpu())?;
    let address = ([127, 0, 0, 1], server.port()).into();
    let their_url = libnfs_url(address, server.port(), Path::new(NULL_EXPORT));
    let qemu_url = format!("nfs://127.0.0.1{NULL_EXPORT}{NULL_FILE}");
    let drive = Drive { url: Some(format!("nfs://{address}{NULL_EXPORT}")), ..reads() };
    let against = |reference: ReferenceTool, outstanding| Sides {
        what: format!("NFS, null server, {outstanding} reads outstanding"),
        drive: Drive { outstanding, ..drive.clone() },
        reference,
    };
    let qemu = |outstanding| against(LIBNFS.in_qemu(&qemu_url, false, outstanding), outstanding);
    let alone =
        |outstanding| against(reference(libnfs, &their_url, NULL_FILE, outstanding), outstanding);
    let bound = Bound::Most(INSTRUCTIONS);
    if arguments.short {
        return Ok(vec![qemu(COUNTED_OUTSTANDING).instructions(GATE_PAIRS, bound)?]);
    }
    let mut lines = vec![
        qemu(COUNTED_OUTSTANDING).instructions(GATE_PAIRS, bound)?,
        alone(COUNTED_OUTSTANDING).instructions(GATE_PAIRS, Bound::Shown)?,
    ];
    for (outstanding, least) in NULL_IOPS {
        lines.push(qemu(outstanding).iops(arguments.pairs(), Bound::Least(least))?);
        lines.push(alone(outstanding).iops(arguments.pairs(), Bound::Shown)?);
    }
    Ok(lines)
}

fn real(arguments: &Arguments, libnfs: &Program) -> Result<Vec<Line>, Failure> {
    let server = Ganesha::start(&GaneshaOptions::default()).map_err(|error| error.to_string())?;
    pin_server(server.pid())?;
    let drive = Drive { url: Some(server.url()), ..reads() };
    // Writes the disk, which all of them then read.
    ours::prepare(&drive)?;
    let file = disk_path(Path::new("/"), drive.number, 0).display().to_string();
    let qemu_url = format!("nfs://127.0.0.1{}{file}", server.export_path().display());
    let mut lines = Vec::new();
    for outstanding in REAL_OUTSTANDING {
        let qemu = LIBNFS.in_qemu(&qemu_url, false, outstanding);
        let alone = reference(libnfs, &server.libnfs_url(""), &file, outstanding);
        for (reference, bounds) in [(qemu, REAL), (alone, [Bound::Shown; 2])] {
            let sides = Sides {
                what: format!("NFS, Ganesha, {outstanding} reads outstanding"),
                drive: Drive { outstanding, ..drive.clone() },
                reference,
            };
            lines.extend(sides.iops_and_cpu(arguments.pairs(), bounds)?);
        }
    }
    Ok(lines)
}

fn reads() -> Drive {
    Drive { disk_bytes: DISK_BYTES, read_percent: 100, ..Drive::default() }
}

fn reference(libnfs: &Program, url: &str, file: &str, outstanding: u32) -> ReferenceTool {
    libnfs.reference(&[url, file, &DISK_BYTES.to_string(), &outstanding.to_string()])
}
