//! `stormeter durable check`.

use std::io::{Read, stdin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use stormeter_datastore::{
    Datastore, DatastoreError, DatastoreUrl, DiskSet, Location, OpenOptions, RealClock,
};
use stormeter_durable::{Header, JournalRead, Outcome, Verdict, judge, read_back};

use super::storage::{
    PATIENCE_NS, boot_id, is_elsewhere, memory, of_datastore, of_journal, parsed,
};
use super::words;
use crate::arguments_durable::DurableCheckOptions;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_tables};
use crate::signals::cancel_on_signals;

/// Reads at once.
const OUTSTANDING: u32 = 16;
/// How often to try whether the storage is back.
const RETRY: Duration = Duration::from_millis(500);

pub(super) fn run(options: &DurableCheckOptions) -> Result<Exit, Failure> {
    let url = parsed(&options.datastore)?;
    let journal = if is_elsewhere(&options.journal) {
        let mut bytes = Vec::new();
        stdin().read_to_end(&mut bytes).map_err(|error| Failure::File(error.to_string()))?;
        JournalRead::parse(&bytes, &options.journal)
    } else {
        JournalRead::open(&options.journal)
    };
    let journal = journal.map_err(of_journal)?;
    let cancel = cancel_on_signals();
    let (datastore, mut disks) = match opened_disk(&url, &journal.header, options.wait, &cancel) {
        Ok(opened) => opened,
        Err(failure) => {
            if options.json && is_missing(&failure) {
                let text = json!({
                    "verdict": null,
                    "journal": journal.header,
                    "last": journal.acknowledged.last(),
                    "ended": journal.ended,
                    "missing": true,
                });
                print(&format!("{text:#}\n"))?;
            }
            return Err(failure);
        }
    };
    let ring = journal.header.ring;
    let cancelled = || cancel.load(Ordering::Relaxed);
    let places =
        read_back(&mut disks, &mut RealClock::new(), &ring, OUTSTANDING, PATIENCE_NS, &cancelled);
    if cancelled() {
        return Ok(Exit::Interrupted);
    }
    let places = places.map_err(|error| Failure::File(error.to_string()))?;
    disks.finish(&|| true);
    drop(disks);
    let verdict = judge(&ring, &journal.acknowledged, &places)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let stays = if options.remove { datastore.remove() } else { None };
    let is_same_boot = is_local(&url) && is_this_boot(&journal.header);
    if options.json {
        let removed = options.remove && stays.is_none();
        print(&format!(
            "{:#}\n",
            json!({
                "verdict": verdict,
                "journal": journal.header,
                "last": journal.acknowledged.last(),
                "ended": journal.ended,
                "restarted": (is_local(&url)).then_some(!is_same_boot),
                "removed": removed,
            })
        ))?;
    } else {
        let told = words::Told { url: &url, journal: &journal, verdict: &verdict, is_same_boot };
        print_tables(&words::report(&told, options.remove))?;
        if stays.is_some() {
            eprintln!("Not everything could be removed from {url}");
        }
    }
    Ok(exit_of(&verdict))
}

/// A lost record is a broken promise, as a question with `must` that is answered no.
fn exit_of(verdict: &Verdict) -> Exit {
    match verdict.outcome {
        Outcome::Kept => Exit::Done,
        Outcome::Broken => Exit::NotAsWanted,
        Outcome::NothingToJudge => Exit::Inconclusive,
    }
}

/// Opens the run's datastore and its disk.
fn opened_disk(
    url: &DatastoreUrl,
    header: &Header,
    wait_ns: u64,
    cancel: &AtomicBool,
) -> Result<(Datastore, DiskSet), Failure> {
    let datastore = opened(url, header, wait_ns, cancel)?;
    let disks = datastore.disks(0..1, memory(OUTSTANDING, header.ring.block_bytes));
    let disks = disks.map_err(|error| match error {
        // The mark is one from before the disk was there: what was synced later is lost.
        DatastoreError::NotPrepared { .. } => {
            let (path, run_id) = (url.to_string().into(), header.ring.run.to_string());
            DatastoreError::NoDisks { path, run_id }
        }
        other => other,
    });
    Ok((datastore, disks.map_err(of_datastore(url))?))
}

/// Opens the run's datastore, trying again until the storage is back.
fn opened(
    url: &DatastoreUrl,
    header: &Header,
    wait_ns: u64,
    cancel: &AtomicBool,
) -> Result<Datastore, Failure> {
    let until = Instant::now() + Duration::from_nanos(wait_ns);
    loop {
        let options = OpenOptions {
            run_id: header.ring.run.to_string(),
            must_exist: true,
            ..OpenOptions::default()
        };
        match Datastore::open(url, options) {
            Ok(mut datastore) => {
                // Whatever happens from here on, the evidence stays.
                datastore.keep();
                return Ok(datastore);
            }
            Err(error) if Instant::now() < until && may_come_back(&error) => {
                if cancel.load(Ordering::Relaxed) {
                    return Err(Failure::Run(stormeter_runner::RunError::Interrupted));
                }
                std::thread::sleep(RETRY);
            }
            Err(error) => return Err(of_datastore(url)(error)),
        }
    }
}

/// Whether the storage is there and the run's disk is not: lost, or another storage.
fn is_missing(failure: &Failure) -> bool {
    let Failure::Run(stormeter_runner::RunError::Datastore { source, .. }) = failure else {
        return false;
    };
    matches!(source, DatastoreError::NoDisks { .. })
}

/// Whether waiting may help.
fn may_come_back(error: &DatastoreError) -> bool {
    !matches!(
        error,
        DatastoreError::Url(_)
            | DatastoreError::RunId { .. }
            | DatastoreError::Password { .. }
            | DatastoreError::NoPassword { .. }
            | DatastoreError::NoUring { .. }
    )
}

/// Whether the storage belongs to this machine, and loses its power with it.
fn is_local(url: &DatastoreUrl) -> bool {
    matches!(url.location, Location::Directory(_) | Location::Device(_))
}

fn is_this_boot(header: &Header) -> bool {
    !header.boot_id.is_empty() && header.boot_id == boot_id()
}
