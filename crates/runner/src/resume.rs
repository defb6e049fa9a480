//! Whether a run that was interrupted or killed is resumed on what it was started on, and what is noted about that.
//!
//! Half a run is worth nothing next to another half of something else: it is resumed only on the machine and the
//! storage that it was started with.

use std::path::Path;

use stormeter_conclude::Attempts;
use stormeter_results::{DatastoreDescription, Environment, Event, EventKind};

use crate::error::RunError;
use crate::journal::event;

/// From so many blocks on there is a verdict.
const READABLE: usize = 2;

/// What to note about going on with a file that holds these trials.
pub(crate) fn resumption(attempts: &Attempts) -> Event {
    // However it ended: one that was interrupted says what it has found, and of one that was killed the file
    // can be reported. Going on from there is a choice, and may have been made on it.
    if attempts.readable_blocks() >= READABLE {
        return event(EventKind::ResumedAfterVerdict);
    }
    event(EventKind::Resumed)
}

/// Whether the run goes on where it was begun.
pub(crate) fn check_machine(
    begun: &Environment,
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
    if machine(begun) == machine(now) {
        return Ok(());
    }
    let what = format!("machine ({}; this is {})", machine(begun), machine(now));
    Err(RunError::OtherPlan { path: output.display().to_string(), what })
}

/// Whether a datastore is still what it was: a mount that is missing after a reboot would otherwise lend its name to the
/// disk below it.
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

/// What a datastore is, apart from its name.
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
