//! Checks that an interrupted or killed run is resumed on the same machine and storage, and records the resumption.
//!
//! Two halves of a run on different machines or storage cannot be compared with each other.

use std::path::Path;

use stormeter_conclude::Attempts;
use stormeter_results::{DatastoreDescription, Environment, Event, EventKind};

use crate::error::RunError;
use crate::journal::event;

/// The number of blocks from which on there is a verdict.
const READABLE: usize = 2;

/// The event of resuming a file with these trials.
pub(crate) fn resumption(attempts: &Attempts) -> Event {
    // However it ended: an interrupted run reports its findings, and the file of a killed one can be reported. To
    // continue is then a choice, and may depend on them.
    if attempts.readable_blocks() >= READABLE {
        return event(EventKind::ResumedAfterVerdict);
    }
    event(EventKind::Resumed)
}

/// Checks that the run is resumed on the machine on which it started.
pub(crate) fn check_machine(
    then: &Environment,
    now: &Environment,
    output: &Path,
) -> Result<(), RunError> {
    let machine = |environment: &Environment| {
        format!(
            "{} with kernel {} and {} CPUs",
            environment.hostname.as_deref().unwrap_or("a machine"),
            environment.kernel,
            environment.cpus
        )
    };
    if machine(then) == machine(now) {
        return Ok(());
    }
    let what = format!("machine ({}; this is {})", machine(then), machine(now));
    Err(RunError::OtherPlan { path: output.display().to_string(), what })
}

/// Checks that a datastore is still the same: if a mount is missing after a reboot, its path leads to the disk below.
pub(crate) fn check_storage(
    then: &DatastoreDescription,
    now: &DatastoreDescription,
    output: &Path,
) -> Result<(), RunError> {
    if place(then) == place(now) {
        return Ok(());
    }
    let what = format!("storage behind {} ({}; now {})", now.url, place(then), place(now));
    Err(RunError::OtherPlan { path: output.display().to_string(), what })
}

/// What identifies a datastore, apart from its name.
fn place(datastore: &DatastoreDescription) -> String {
    format!(
        "{} on {}, {}, {}",
        datastore.file_system.as_deref().unwrap_or(&datastore.kind),
        datastore.source.as_deref().unwrap_or("nothing"),
        if datastore.direct { "direct" } else { "buffered" },
        datastore.engine
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datastore(file_system: &str) -> DatastoreDescription {
        DatastoreDescription {
            url: "/mnt/nas".into(),
            kind: "directory".into(),
            file_system: Some(file_system.into()),
            source: Some("nas:/vm".into()),
            direct: true,
            engine: "io_uring".into(),
            ..Default::default()
        }
    }

    #[test]
    fn a_mount_that_is_missing_is_noticed() {
        let here = Environment { kernel: "6.1".into(), cpus: 2, ..Default::default() };
        let nas = [datastore("nfs4")];
        let check = |environment: &Environment, now: &[DatastoreDescription]| {
            let output = Path::new("x.db");
            check_machine(&here, environment, output)?;
            check_storage(&nas[0], &now[0], output)
        };
        assert!(check(&here, &nas).is_ok());
        let message = check(&here, &[datastore("ext4")]).unwrap_err().to_string();
        assert!(message.contains("nfs4 on nas:/vm") && message.contains("now ext4"), "{message}");
        let rebooted = Environment { kernel: "6.2".into(), ..here.clone() };
        let message = check(&rebooted, &nas).unwrap_err().to_string();
        assert!(message.contains("kernel 6.2"), "{message}");
    }
}
