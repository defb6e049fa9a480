//! The storage under test and the journal, as both commands name them.

use std::fs;
use std::path::Path;

use stormeter_datastore::{DatastoreError, DatastoreUrl, Location, OpenDisks};
use stormeter_durable::JournalError;
use stormeter_runner::RunError;

use crate::exit::Failure;
use crate::secrets::apart;

/// Storage that answers nothing for this long, when there is no more to wait for, is given up.
pub(super) const PATIENCE_NS: u64 = 30_000_000_000;

/// The storage under test, with its password.
pub(super) fn parsed(datastore: &str) -> Result<DatastoreUrl, Failure> {
    let (name, secret) = apart(datastore);
    let mut url = DatastoreUrl::parse(&name).map_err(RunError::Url)?;
    if url.location == Location::Null {
        return Err(Failure::Usage(
            "null: keeps nothing, so there is nothing to check; give a directory, a device, an NFS \
             export or a LUN"
                .into(),
        ));
    }
    if let Some(secret) = secret {
        url.set_secret(secret);
    }
    Ok(url)
}

pub(super) fn of_datastore(url: &DatastoreUrl) -> impl Fn(DatastoreError) -> Failure {
    let url = url.to_string();
    move |source| Failure::Run(RunError::Datastore { url: url.clone(), source })
}

/// What was typed wrongly is distinguished from what failed.
pub(super) fn of_journal(error: JournalError) -> Failure {
    match error {
        JournalError::Exists { .. } | JournalError::NotAJournal { .. } => {
            Failure::Usage(error.to_string())
        }
        JournalError::Io { ref source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            Failure::Usage(error.to_string())
        }
        _ => Failure::File(error.to_string()),
    }
}

/// Whether the journal is kept by another program, to which its lines are printed.
pub(super) fn is_elsewhere(journal: &Path) -> bool {
    journal == Path::new("-")
}

/// Memory for this many operations on blocks.
pub(super) fn memory(outstanding: u32, block_bytes: u32) -> OpenDisks {
    OpenDisks { buffers: outstanding, buffer_bytes: block_bytes, in_flight: outstanding + 1 }
}

/// The boot of this machine; empty if it is unknown.
pub(super) fn boot_id() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map(|id| id.trim().to_owned()).unwrap_or_default()
}
