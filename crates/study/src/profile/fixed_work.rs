//! Profiles of fixed work: file tests, transfers, a deployment.

use stormeter_trial::{
    Deployment, FileOperation, FileTest, Transfer, TransferDirection, TransferSink,
};

use super::StudyProfile;
use crate::study_plan::{StudyWorkload, WorkloadKind};

const IOZONE: &str = "iozone (Norcott & Capps) as the MPLS servers study (2012) ran it: 4 KB \
                      records, 100 MB a process";
const TRANSFERS: &str =
    "the NFS datastore study (2017): 100 messages a run into a server's memory or onto its disk";
const DEPLOY: &str = "vSAN study (2021): desktops deployed from a template by copy, customisation \
                      and first boot; the amounts of each step are ours";

/// All of them, in the order of tables.
pub(super) fn all() -> Vec<StudyProfile> {
    let mut all: Vec<StudyProfile> = FileOperation::ALL.map(file_test).into();
    for sink in [TransferSink::Memory, TransferSink::Disk] {
        for direction in [TransferDirection::Write, TransferDirection::Read] {
            // Decimal, as the study has them.
            for (size, message_bytes) in [
                ("100kb", 100_000),
                ("1mb", 1_000_000),
                ("10mb", 10_000_000),
                ("100mb", 100_000_000),
            ] {
                all.push(transfer(sink, direction, size, message_bytes));
            }
        }
    }
    all.push(StudyProfile {
        workload: StudyWorkload {
            name: "deploy".into(),
            disk_bytes: None,
            kind: WorkloadKind::Deploy(DEPLOYMENT),
        },
        summary: "VMs deployed from a template, all at once".into(),
        source: DEPLOY,
    });
    all
}

/// The default steps of a deployment.
pub(crate) const DEPLOYMENT: Deployment = Deployment {
    copy_bytes: 1 << 20,
    clone: false,
    outstanding: 4,
    customise_writes: 1000,
    boot_reads: 2000,
};

fn file_test(operation: FileOperation) -> StudyProfile {
    let record_bytes = 4096;
    StudyProfile {
        workload: StudyWorkload {
            name: format!("iozone-{}", operation.name()),
            disk_bytes: Some(100 << 20),
            kind: WorkloadKind::File(FileTest {
                operation,
                record_bytes,
                outstanding: 1,
                client_cache: false,
                flush_at_end: false,
            }),
        },
        summary: format!("file test: {}", operation.name().replace('-', " ")),
        source: IOZONE,
    }
}

fn transfer(
    sink: TransferSink,
    direction: TransferDirection,
    size: &str,
    message_bytes: u64,
) -> StudyProfile {
    let (sink_name, place) = match sink {
        TransferSink::Memory => ("memory", "memory"),
        TransferSink::Disk => ("disk", "disk"),
    };
    let (direction_name, way) = match direction {
        TransferDirection::Write if sink == TransferSink::Disk => ("write", "onto"),
        TransferDirection::Write => ("write", "into"),
        TransferDirection::Read => ("read", "from"),
    };
    StudyProfile {
        workload: StudyWorkload {
            name: format!("{sink_name}-{direction_name}-{size}"),
            disk_bytes: None,
            kind: WorkloadKind::Transfer(Transfer {
                message_bytes,
                direction,
                sink,
                messages: 100,
            }),
        },
        summary: format!(
            "{} {way} a server's {place}",
            size.to_uppercase().replace("KB", " kB").replace("MB", " MB")
        ),
        source: TRANSFERS,
    }
}
