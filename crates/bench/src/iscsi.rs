//! iSCSI: reads and writes with our initiator and with libiscsi, on a target that answers at once
//! and on a real one.
//!
//! The limits apply to the comparison with libiscsi in QEMU, which like ours is a whole load
//! generator; the library alone is shown for information.

use stormeter_peers::{Tgt, TgtOptions};

use crate::arguments::Arguments;
use crate::drive::Drive;
use crate::failure::Failure;
use crate::library::{LIBISCSI, Program, ReferenceTool};
use crate::line::{Bound, Line};
use crate::network::{DISK_BYTES, GATE_PAIRS, Sides, pin_server, server_cpu};
use crate::null_server::{NullServer, Protocol};
use crate::ours;

/// The null server's target and unit.
const NULL_UNIT: &str = "iqn.2026-01.org.stormeter:null/0";
/// A unit's first MiB does not belong to the first disk: our header is there.
const BASE_BYTES: u64 = 1 << 20;

/// Outstanding reads of the null target with the limit on IOPS.
const NULL_IOPS: [(u32, f64); 2] = [(16, 2.0), (32, 3.0)];
/// The queue depth for counting instructions, and for the real target.
const OUTSTANDING: u32 = 16;
const INSTRUCTIONS: f64 = 0.25;
/// For IOPS and CPU time.
const REAL: [Bound; 2] = [Bound::Least(0.95), Bound::Most(0.8)];

/// The percentage of reads, and its name.
const READS: (u32, &str) = (100, "read");
const WRITES: (u32, &str) = (0, "write");

pub(crate) fn measure(arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    let libiscsi = LIBISCSI.build()?;
    let mut lines = null(arguments, &libiscsi)?;
    if !arguments.short {
        lines.extend(real(arguments, &libiscsi)?);
    }
    Ok(lines)
}

fn null(arguments: &Arguments, libiscsi: &Program) -> Result<Vec<Line>, Failure> {
    let server = NullServer::start(Protocol::Iscsi, 0, &server_cpu())?;
    let url = format!("iscsi://127.0.0.1:{}/{NULL_UNIT}", server.port());
    let alone = |what, outstanding| sides("null target", &url, libiscsi, what, outstanding);
    let qemu = |what, outstanding| Sides {
        reference: LIBISCSI.in_qemu(&url, what == WRITES, outstanding),
        ..alone(what, outstanding)
    };
    let mut lines = Vec::new();
    for what in [READS, WRITES] {
        let bound = Bound::Most(INSTRUCTIONS);
        lines.push(qemu(what, OUTSTANDING).instructions(GATE_PAIRS, bound)?);
        if !arguments.short {
            lines.push(alone(what, OUTSTANDING).instructions(GATE_PAIRS, Bound::Shown)?);
        }
    }
    if !arguments.short {
        for (outstanding, least) in NULL_IOPS {
            lines.push(qemu(READS, outstanding).iops(arguments.pairs(), Bound::Least(least))?);
            lines.push(alone(READS, outstanding).iops(arguments.pairs(), Bound::Shown)?);
        }
    }
    Ok(lines)
}

fn real(arguments: &Arguments, libiscsi: &Program) -> Result<Vec<Line>, Failure> {
    let options =
        TgtOptions { units_bytes: vec![BASE_BYTES + DISK_BYTES + (1 << 20)], ..Default::default() };
    let server = Tgt::start(&options).map_err(|error| error.to_string())?;
    pin_server(server.pid())?;
    let url = server.url(1);
    let mut lines = Vec::new();
    for what in [READS, WRITES] {
        let alone = sides("tgtd", &url, libiscsi, what, OUTSTANDING);
        // Writes the disk if it is not written yet.
        ours::prepare(&alone.drive)?;
        let qemu = Sides {
            what: alone.what.clone(),
            drive: alone.drive.clone(),
            reference: LIBISCSI.in_qemu(&url, what == WRITES, OUTSTANDING),
        };
        lines.extend(qemu.iops_and_cpu(arguments.pairs(), REAL)?);
        lines.extend(alone.iops_and_cpu(arguments.pairs(), [Bound::Shown; 2])?);
    }
    Ok(lines)
}

fn sides(
    server: &str,
    url: &str,
    libiscsi: &Program,
    (read_percent, what): (u32, &str),
    outstanding: u32,
) -> Sides {
    let reference: ReferenceTool = libiscsi.reference(&[
        what,
        url,
        &BASE_BYTES.to_string(),
        &DISK_BYTES.to_string(),
        &outstanding.to_string(),
    ]);
    Sides {
        what: format!("iSCSI, {server}, {outstanding} {what}s outstanding"),
        drive: Drive {
            url: Some(url.into()),
            disk_bytes: DISK_BYTES,
            outstanding,
            read_percent,
            ..Drive::default()
        },
        reference,
    }
}
