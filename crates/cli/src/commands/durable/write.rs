//! `stormeter durable write`.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{stdin, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use stormeter_datastore::{
    Datastore, DatastoreUrl, DiskSet, DiskSpec, Durability, OpenOptions, Preparation, RealClock,
};
use stormeter_disk::{Clock, StorageEvent};
use stormeter_durable::{
    Acknowledged, Ended, Header, Journal, JournalError, Moment, Ring, RunId, Speed, WriteError,
    fill, write,
};

use super::storage::{
    PATIENCE_NS, boot_id, is_elsewhere, memory, of_datastore, of_journal, parsed,
};
use super::words;
use crate::arguments_durable::DurableWriteOptions;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_tables};
use crate::signals::cancel_on_signals_of;

/// The default of outstanding writes is at most this.
const MOST_OUTSTANDING: u32 = 32;

pub(super) fn run(options: &DurableWriteOptions) -> Result<Exit, Failure> {
    let url = parsed(&options.datastore)?;
    let ring = ring(options)?;
    if !is_elsewhere(&options.journal) && options.journal.exists() {
        return Err(of_journal(JournalError::Exists { path: options.journal.clone() }));
    }
    let cancel = cancel_on_signals_of(&[url.to_string()]);
    let failed = of_datastore(&url);
    let mut datastore = opened(options, &url, &ring)?;
    let header = Header {
        url: url.to_string(),
        ring,
        durable: options.durable,
        promise: datastore.description().promise,
        started_unix_ms: unix_ms(),
        boot_id: boot_id(),
    };
    let journal = if is_elsewhere(&options.journal) {
        let (to, from) = (Box::new(stdout()), Box::new(stdin().lock()));
        Journal::kept_elsewhere(to, from, &header)
    } else {
        Journal::create(&options.journal, &header)
    };
    let journal = journal.map_err(of_journal)?;
    let outstanding = options.outstanding.unwrap_or(options.flush.min(MOST_OUTSTANDING));
    eprintln!(
        "{}",
        words::line(&format!("Preparing a disk of {} on {url}", words::bytes(ring.disk_bytes)))
    );
    let prepared = prepare(&mut datastore, &ring, &cancel).and_then(|()| {
        let asked = Durability { flushes: !options.durable, durable_writes: options.durable };
        datastore.check_flush(asked, &|| cancel.load(Ordering::Relaxed))?;
        datastore.keep_for_check()?;
        datastore.disks(0..1, memory(outstanding, ring.block_bytes))
    });
    let mut disks = prepared.map_err(|error| {
        // It is evidence of nothing. That it stays if it cannot be removed harms nobody.
        let _ = std::fs::remove_file(&options.journal);
        failed(error)
    })?;
    eprintln!("Writing records: cut the power at any moment");
    let speed = Speed { outstanding, durable: options.durable, patience_ns: PATIENCE_NS };
    let mut writing = Writing { journal, clock: RealClock::new(), last: None };
    let ended = writing.run(&mut disks, &ring, speed, options.time, &cancel);
    let result = writing.close(ended, &mut disks, &cancel);
    // The disk stays, also when this failed: what was acknowledged is to be checked.
    tell(options, &url, &writing, result)
}

fn ring(options: &DurableWriteOptions) -> Result<Ring, Failure> {
    // Drawn: the state of a hasher is random.
    let run = RunId(RandomState::new().build_hasher().finish());
    let block_bytes = u32::try_from(options.block).unwrap_or(u32::MAX);
    let ring = Ring { run, disk_bytes: options.size, block_bytes, group: options.flush };
    ring.check().map_err(|error| Failure::Usage(format!("{error} (--size, --block, --flush)")))?;
    if options.outstanding == Some(0) {
        return Err(Failure::Usage(
            "with no outstanding write nothing is written: --outstanding 1".into(),
        ));
    }
    Ok(ring)
}

/// Opens the datastore, and refuses a journal on it before anything is written.
fn opened(
    options: &DurableWriteOptions,
    url: &DatastoreUrl,
    ring: &Ring,
) -> Result<Datastore, Failure> {
    let open = OpenOptions {
        run_id: ring.run.to_string(),
        destroy_data: options.destroy_data.clone(),
        ..OpenOptions::default()
    };
    let failed = of_datastore(url);
    let datastore = Datastore::open(url, open).map_err(&failed)?;
    if !is_elsewhere(&options.journal) && datastore.holds(&options.journal) {
        return Err(Failure::Usage(format!(
            "the journal {} would lie on the storage under test and be cut off with it: give --journal a \
             file on another disk or machine",
            options.journal.display()
        )));
    }
    datastore.check(&spec(ring)).map_err(&failed)?;
    Ok(datastore)
}

fn spec(ring: &Ring) -> DiskSpec {
    DiskSpec { count: 1, size_bytes: ring.disk_bytes, granularity_bytes: ring.block_bytes }
}

/// Marks every place as empty, on stable storage.
fn prepare(
    datastore: &mut Datastore,
    ring: &Ring,
    cancel: &AtomicBool,
) -> Result<(), stormeter_datastore::DatastoreError> {
    let block_bytes = ring.block_bytes as usize;
    datastore
        .prepare(Preparation {
            disks: spec(ring),
            content_id: ring.run.0,
            fill: &|_, offset, bytes| {
                for (block, at) in
                    bytes.chunks_mut(block_bytes).zip((offset..).step_by(block_bytes))
                {
                    fill(block, ring.run, 0, at);
                }
            },
            progress: &mut |_, _| {},
            cancelled: &|| cancel.load(Ordering::Relaxed),
        })
        .map(drop)
}

/// What keeps the acknowledged numbers.
struct Writing {
    journal: Journal,
    clock: RealClock,
    last: Option<Acknowledged>,
}

/// Why a number was not kept.
#[derive(Debug)]
enum NotKept {
    Journal(JournalError),
    /// What was written before a restart would be overwritten after it.
    Connection(String),
}

impl std::fmt::Display for NotKept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Journal(error) => error.fmt(f),
            Self::Connection(what) => write!(f, "{what}, so writing ends here"),
        }
    }
}

impl Writing {
    fn moment(&mut self) -> Moment {
        Moment { unix_ms: unix_ms(), monotonic_ns: self.clock.now_ns() }
    }

    fn run(
        &mut self,
        disks: &mut DiskSet,
        ring: &Ring,
        speed: Speed,
        time_ns: Option<u64>,
        cancel: &AtomicBool,
    ) -> Result<u64, WriteError<NotKept>> {
        let mut clock = RealClock::new();
        let end_ns = time_ns.map(|time| clock.now_ns().saturating_add(time));
        let mut stop = |now| cancel.load(Ordering::Relaxed) || end_ns.is_some_and(|end| now >= end);
        let mut acknowledged = |disks: &mut DiskSet, up_to| {
            let lost = disks
                .take_incidents()
                .into_iter()
                .find_map(|incident| interruption(&incident.event));
            if let Some(what) = lost {
                return Err(NotKept::Connection(what));
            }
            let line = Acknowledged { up_to, at: self.moment() };
            self.journal.acknowledged(line).map_err(NotKept::Journal)?;
            self.last = Some(line);
            Ok(())
        };
        write(disks, &mut clock, ring, speed, &mut stop, &mut acknowledged)
    }

    /// Keeps why it ended; a failure is handed on.
    fn close(
        &mut self,
        ended: Result<u64, WriteError<NotKept>>,
        disks: &mut DiskSet,
        cancel: &AtomicBool,
    ) -> Result<Exit, Failure> {
        let at = self.moment();
        let (reason, result) = match ended {
            Ok(_) => {
                // To log out. All that was written has been flushed.
                disks.finish(&|| true);
                match cancel.load(Ordering::Relaxed) {
                    true => ("stopped by a signal".into(), Ok(Exit::Interrupted)),
                    false => ("the time was over".into(), Ok(Exit::Done)),
                }
            }
            Err(error) => (error.to_string(), Err(Failure::File(error.to_string()))),
        };
        // Where the journal is what failed, there is no more to keep.
        let _ = self.journal.ended(Ended { reason, at });
        result
    }
}

/// What breaks the connection to storage, in words.
fn interruption(event: &StorageEvent) -> Option<String> {
    match event {
        StorageEvent::ConnectionLost { reason, .. } => {
            Some(format!("the connection was lost ({})", reason.as_str()))
        }
        StorageEvent::ServerRestarted { .. } => Some("the server restarted".into()),
        _ => None,
    }
}

fn tell(
    options: &DurableWriteOptions,
    url: &DatastoreUrl,
    writing: &Writing,
    result: Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    if is_elsewhere(&options.journal) {
        return result;
    }
    let up_to = writing.last.map_or(0, |last| last.up_to);
    let check = format!(
        "stormeter durable check {} --journal {}",
        words::word(&url.to_string()),
        words::word(&options.journal.display().to_string())
    );
    if options.json {
        let error = result.as_ref().err().map(ToString::to_string);
        print(&format!(
            "{:#}\n",
            json!({ "acknowledged": writing.last, "error": error, "check": check })
        ))?;
        return result;
    }
    print_tables(&format!(
        "{up_to} records were acknowledged as {}{}.\nAfter the storage lost its power and is back:\n  {check}\n",
        if options.durable { "durable" } else { "flushed" },
        writing
            .last
            .map(|last| format!(", the last at {}", words::time(last.at.unix_ms)))
            .unwrap_or_default(),
    ))?;
    result
}

fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}
