//! One loss of power: records are written, guests lose their power, are started again, and the records are read back.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng;
use stormeter_agent::{Errand, ErrandEnd, ErrandError};
use stormeter_lab::{LabDatastore, Power};

use super::tally::Tally;
use crate::exit::Failure;

/// Small enough that the ring of records is gone through several times.
const DISK: &str = "8MiB";
/// By then the disk is written and the first records are acknowledged, or they never will be.
const FIRST_RECORDS: Duration = Duration::from_secs(120);
/// Records that are acknowledged before a cut may come: lines of the journal, its header included.
const LEAST_LINES: usize = 3;
/// A cut comes this long after them, at a random moment.
const SOONEST: Duration = Duration::from_millis(200);
const LATEST: Duration = Duration::from_millis(2500);
/// A guest that was started again serves, or it is not started; its clients may need a moment.
const BACK: &str = "5s";
/// Agents are of the same version.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const LOOK: Duration = Duration::from_millis(20);

/// What a round needs.
pub(super) struct Round<'a> {
    pub(super) power: &'a Power,
    pub(super) cancel: &'a AtomicBool,
}

/// What a writer left.
struct Written {
    journal: String,
    end: Result<ErrandEnd, ErrandError>,
}

impl Round<'_> {
    /// Carries it out on these datastores, whose guests all lose their power at the same moment.
    pub(super) fn carry_out(
        &self,
        of_turn: &mut [&mut (LabDatastore, Tally)],
        random: &mut SplitMix64,
    ) -> Result<(), Failure> {
        let mut cut: Vec<String> = of_turn.iter().map(|(it, _)| it.cut.clone()).collect();
        cut.sort_unstable();
        cut.dedup();
        let lines: Vec<AtomicUsize> = of_turn.iter().map(|_| AtomicUsize::new(0)).collect();
        let stop = AtomicBool::new(false);
        let mut names = (0..).map(|_| format!("{:016x}", random.next_u64()));
        let nonces: Vec<String> = of_turn.iter().filter_map(|_| names.next()).collect();
        let spread = (LATEST - SOONEST).as_millis() as u64;
        let delay = SOONEST + Duration::from_millis(random.next_u64() % spread);
        let written = thread::scope(|scope| {
            let writers: Vec<_> = of_turn
                .iter()
                .zip(lines.iter().zip(&nonces))
                .map(|((datastore, _), (lines, nonce))| {
                    let stop = &stop;
                    scope.spawn(move || write(datastore, nonce, lines, stop))
                })
                .collect();
            let is_over = || writers.iter().any(thread::ScopedJoinHandle::is_finished);
            let ready = self.wait(&lines, &is_over);
            if ready {
                thread::sleep(delay);
            }
            let result = if ready { self.power.cut(&cut) } else { Ok(()) };
            // A client on this machine would wait for storage that is gone.
            stop.store(true, Ordering::Relaxed);
            if !ready {
                // What hangs in a guest ends with it.
                let _ = self.power.cut(&cut);
            }
            let ended = writers.into_iter().map(|writer| writer.join());
            let written: Vec<Written> = ended.filter_map(Result::ok).collect();
            result.map(|()| (ready, written))
        });
        let (ready, written) = written?;
        if self.cancel.load(Ordering::Relaxed) {
            return Ok(());
        }
        if !ready {
            return Err(not_written(of_turn, &lines, &written));
        }
        self.power.restore(&cut, &mut || random.next_u64())?;
        for ((datastore, tally), written) in of_turn.iter_mut().map(|it| &mut **it).zip(&written) {
            let nonce = format!("{:016x}", random.next_u64());
            let text = check(datastore, &nonce, &written.journal, self.cancel)?;
            if self.cancel.load(Ordering::Relaxed) {
                return Ok(());
            }
            tally.add(&text).map_err(|reason| {
                Failure::File(format!(
                    "{}: the check printed something else: {reason}",
                    datastore.name
                ))
            })?;
        }
        Ok(())
    }

    /// Waits until every writer has acknowledged records; returns whether that is so.
    fn wait(&self, lines: &[AtomicUsize], is_over: &dyn Fn() -> bool) -> bool {
        let began = Instant::now();
        loop {
            if lines.iter().all(|lines| lines.load(Ordering::Relaxed) >= LEAST_LINES) {
                return true;
            }
            let is_late = began.elapsed() > FIRST_RECORDS;
            if is_late || is_over() || self.cancel.load(Ordering::Relaxed) {
                return false;
            }
            thread::sleep(LOOK);
        }
    }
}

fn write(datastore: &LabDatastore, nonce: &str, lines: &AtomicUsize, stop: &AtomicBool) -> Written {
    let mut arguments = vec!["durable", "write", &datastore.url, "--journal", "-", "--size", DISK];
    if datastore.is_blocks {
        // It was created for this.
        arguments.extend(["--destroy-data", &datastore.url]);
    }
    let mut journal = String::new();
    let mut keep = |line: String| {
        journal += &line;
        journal.push('\n');
        lines.fetch_add(1, Ordering::Relaxed);
        // It is kept: go on.
        Some("\n".to_owned())
    };
    let errand = Errand { arguments: owned(&arguments), input: String::new(), is_answered: true };
    let end = match &datastore.agent {
        Some(socket) => errand.send(socket, nonce, VERSION, &mut keep),
        None => errand.run(&mut keep, stop),
    };
    Written { journal, end }
}

/// Reads the records back; returns what the check printed.
fn check(
    datastore: &LabDatastore,
    nonce: &str,
    journal: &str,
    cancel: &AtomicBool,
) -> Result<String, Failure> {
    let arguments = [
        "durable",
        "check",
        &datastore.url,
        "--journal",
        "-",
        "--json",
        "--remove",
        "--wait",
        BACK,
    ];
    let errand = Errand { arguments: owned(&arguments), input: journal.into(), is_answered: false };
    let mut text = String::new();
    let mut keep = |line: String| {
        text += &line;
        text.push('\n');
        None
    };
    let end = match &datastore.agent {
        Some(socket) => errand.send(socket, nonce, VERSION, &mut keep),
        None => errand.run(&mut keep, cancel),
    };
    match end {
        // Whatever the verdict is, it was printed.
        Ok(_) if !text.is_empty() => Ok(text),
        Ok(end) => {
            Err(Failure::File(format!("{}: the check failed: {}", datastore.name, end.said)))
        }
        Err(error) => Err(Failure::File(format!("{}: the check failed: {error}", datastore.name))),
    }
}

fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

fn not_written(
    of_turn: &[&mut (LabDatastore, Tally)],
    lines: &[AtomicUsize],
    written: &[Written],
) -> Failure {
    // Those whose guests were ended, because another one failed, say nothing of why.
    let failed = written.iter().position(|it| !matches!(it.end, Err(ErrandError::Gone(_))));
    let late = lines.iter().position(|lines| lines.load(Ordering::Relaxed) < LEAST_LINES);
    let late = failed.or(late).unwrap_or(0);
    let name = of_turn.get(late).map_or("", |(datastore, _)| datastore.name.as_str());
    let said = match written.get(late).map(|written| &written.end) {
        Some(Ok(end)) if !end.said.is_empty() => end.said.clone(),
        Some(Err(error)) => error.to_string(),
        _ => format!("nothing within {} s", FIRST_RECORDS.as_secs()),
    };
    Failure::File(format!("{name}: no records are acknowledged: {said}"))
}
