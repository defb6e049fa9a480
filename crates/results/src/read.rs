//! Rows back into values. A file may come from anywhere: whatever this program could not have
//! written is an error, never a panic.
//!
//! A study has thousands of trials with hundreds of rows each: queries are prepared once, and tables
//! of many rows are read by the columns' places, because looking up a name costs more than the value.

use rusqlite::{Connection, OptionalExtension, Row};
use serde::de::DeserializeOwned;
use stormeter_disk::{DeviceError, Kind};
use stormeter_trial::{
    CpuUsage, DiskTotals, Ended, Histogram, HostCpu, Interval, IntervalTotals, IoFailure,
    IoFailureOutcome, KindTotals, Pressure, Sample, TrialFailure,
};

use crate::column::{count, histogram_of, json, number, optional_count, strange, word};
use crate::finished::{Event, EventKind};
use crate::header::Header;
use crate::trial::{Attempt, Phase, TrialOutcome, TrialRecord};
use crate::{
    component, desktop, disturbance, early, fact, guest, incident, issue, monitor, note, settled,
    step, verified,
};

type Result<T> = rusqlite::Result<T>;

pub(crate) fn meta<T: DeserializeOwned>(connection: &Connection, key: &str) -> Result<Option<T>> {
    connection
        .query_row("SELECT value FROM meta WHERE key = ?", [key], |row| json(row, "value"))
        .optional()
}

/// The header, with the plan that files of this form have.
pub(crate) fn header<P: DeserializeOwned>(connection: &Connection) -> Result<Option<Header<P>>> {
    if format(connection)? >= early::FORM_OF_FACTS {
        return meta(connection, "header");
    }
    let header = meta(connection, "header")?.map(early::with_facts).map(serde_json::from_value);
    header.transpose().map_err(|error| strange(format!("value: {error}")))
}

pub(crate) fn events(connection: &Connection) -> Result<Vec<Event>> {
    let form = format(connection)?;
    let mut select = connection.prepare("SELECT * FROM event ORDER BY id")?;
    let events = select.query_map([], |row| {
        let what = word(row, "what")?;
        let kind = match form {
            // As in upgrade-6.sql.
            ..6 => EventKind::of_early_sentence(what),
            // As in upgrade-8.sql.
            6 | 7 => {
                let name = word(row, "kind")?;
                EventKind::of_named(&name, what)
                    .ok_or_else(|| strange(format!("the kind of event {name:?}")))?
            }
            _ => serde_json::from_str(&what)
                .map_err(|error| strange(format!("the event {what:?}: {error}")))?,
        };
        Ok(Event { at_unix_ms: count(row, "at_unix_ms")?, kind })
    })?;
    events.collect()
}

pub(crate) fn has_trial(connection: &Connection, id: u64) -> Result<bool> {
    // A number beyond SQLite's range is in no file.
    let Ok(id) = i64::try_from(id) else { return Ok(false) };
    let mut select = connection.prepare("SELECT 1 FROM trial WHERE id = ?")?;
    select.exists([id])
}

pub(crate) fn next_trial_id(connection: &Connection) -> Result<u64> {
    connection
        .query_row("SELECT coalesce(max(id), -1) + 1 AS id FROM trial", [], |row| count(row, "id"))
}

pub(crate) fn trials(connection: &Connection) -> Result<Vec<TrialRecord>> {
    /// More than the number of queries below.
    const QUERIES: usize = 32;
    connection.set_prepared_statement_cache_capacity(QUERIES);
    // One consistent state of the file for all queries, even while a run adds trials to it.
    let transaction = connection.unchecked_transaction()?;
    let file = File {
        form: format(&transaction)?,
        verified: verified::has_tables(&transaction)?,
        issue: issue::has_table(&transaction)?,
        guests: guest::has_tables(&transaction)?,
        desktops: desktop::has_tables(&transaction)?,
    };
    let mut select = transaction.prepare("SELECT * FROM trial ORDER BY id")?;
    let trials = select.query_map([], |row| trial(&transaction, file, row))?;
    trials.collect()
}

/// The tables that a file has.
#[derive(Clone, Copy)]
struct File {
    /// See [`crate::FORMAT_VERSION`].
    form: i32,
    /// Whether it has the tables of verification.
    verified: bool,
    /// Whether it has the table of service times and lateness.
    issue: bool,
    /// Whether it has the tables of guests.
    guests: bool,
    /// Whether it has the tables of desktops.
    desktops: bool,
}

impl File {
    /// Form 6: a figure of a trial by name.
    fn fact(self, connection: &Connection, id: i64, name: &str) -> Result<Option<u64>> {
        if self.form >= 6 { fact::read(connection, id, name) } else { Ok(None) }
    }

    /// Form 2: the target's CPU time, incidents.
    fn has_targets(self) -> bool {
        self.form >= 2
    }

    /// Form 3: cells of studies, steps of trials of fixed work, host activity.
    fn has_studies(self) -> bool {
        self.form >= 3
    }

    /// Form 5: what was done to the storage during trials.
    fn has_disturbances(self) -> bool {
        self.form >= 5
    }

    /// Form 6: how long it took until written data was on storage.
    fn has_settled(self) -> bool {
        self.form >= 6
    }

    /// Form 7: why a trial failed, as facts.
    fn has_failures(self) -> bool {
        self.form >= 7
    }

    /// Form 8: incidents and notes as facts; every run is a study.
    fn has_events(self) -> bool {
        self.form >= 8
    }

    /// Form 4: the parts of predicted sites, and what speeding each up would gain.
    fn has_components(self) -> bool {
        self.form >= 4
    }
}

fn trial(connection: &Connection, file: File, row: &Row) -> Result<TrialRecord> {
    let id: i64 = row.get("id")?;
    let sample = sample(connection, file, id)?;
    let outcome = match word(row, "outcome")?.as_str() {
        "measured" => TrialOutcome::Measured {
            sample: sample.ok_or_else(|| strange("a measured trial without a sample"))?,
            cpu: cpu(connection, file, id)?,
            notes: note::read(connection, file.has_events(), id)?,
        },
        "failed" => TrialOutcome::Failed { failure: failure(file, row, sample.as_ref())?, sample },
        other => return Err(strange(format!("the outcome {other:?}"))),
    };
    let phase = word(row, "phase")?;
    let phase = Phase::from_name(&phase).ok_or_else(|| strange(format!("the phase {phase:?}")))?;
    let cell = match file.has_studies() {
        true => optional_count(row, "cell")?.map(|index| index as usize),
        false => None,
    };
    // Up to form 7 the trials of a comparison had none.
    if cell.is_none() && phase == Phase::Main && file.has_events() {
        return Err(strange("a trial of a block without a cell"));
    }
    let seed = word(row, "seed")?;
    Ok(TrialRecord {
        id: count(row, "id")?,
        block: row.get("block")?,
        position: row.get("position")?,
        datastore: optional_count(row, "datastore")?.map(|index| index as usize),
        cell,
        phase,
        started_unix_ms: count(row, "started_unix_ms")?,
        elapsed_ns: count(row, "elapsed_ns")?,
        seed: seed.parse().map_err(|_| strange(format!("the seed {seed:?}")))?,
        outcome,
        incidents: match file.has_targets() {
            true => incident::read(connection, file.has_events(), id)?,
            false => Vec::new(),
        },
        monitor: match file.has_studies() {
            true => monitor::read(connection, id)?,
            false => Vec::new(),
        },
        guests: match file.guests {
            true => guest::read(connection, id)?,
            false => Vec::new(),
        },
        components: match file.has_components() {
            true => component::read(connection, id)?,
            false => Vec::new(),
        },
        attempt: Attempt {
            redo: file.fact(connection, id, fact::REDO_NUMBER)?.unwrap_or(0) as u32,
            number: file.fact(connection, id, fact::ATTEMPT_NUMBER)?.unwrap_or(0) as u32,
        },
    })
}

fn failure(file: File, row: &Row, sample: Option<&Sample>) -> Result<TrialFailure> {
    if file.has_failures() {
        let text = word(row, "failure")?;
        let read = match file.has_events() {
            true => serde_json::from_str(&text),
            false => {
                serde_json::from_str(&text).map(early::with_losses).and_then(serde_json::from_value)
            }
        };
        return read.map_err(|error| strange(format!("the failure {text:?}: {error}")));
    }
    // As in upgrade-7.sql.
    let said = word(row, "reason")?;
    let ours = ["the agent on host", "the reset command", "the rollback to the snapshot"];
    let ended = sample.is_some_and(|sample| sample.ended == Ended::Completed);
    let by_storage = !ended && !ours.iter().any(|begin| said.starts_with(begin));
    Ok(TrialFailure::Early { said, by_storage })
}

fn sample(connection: &Connection, file: File, id: i64) -> Result<Option<Sample>> {
    let mut select = connection.prepare_cached("SELECT * FROM sample WHERE trial_id = ?")?;
    select
        .query_row([id], |row| {
            Ok(Sample {
                window_ns: count(row, "window_ns")?,
                interval_ns: count(row, "interval_ns")?,
                reads: needed(totals(connection, id, Kind::Read)?, Kind::Read)?,
                writes: needed(totals(connection, id, Kind::Write)?, Kind::Write)?,
                durable: totals(connection, id, Kind::DurableWrite)?.unwrap_or_default(),
                flushes: totals(connection, id, Kind::Flush)?.unwrap_or_default(),
                flush_wait_ns: file.fact(connection, id, fact::FLUSH_WAIT_NS)?.unwrap_or(0),
                intervals: intervals(connection, id)?,
                disks: disks(connection, id)?,
                outstanding_mean: number(row, "outstanding_mean")?,
                outstanding_configured: optional_count(row, "outstanding_configured")?,
                carried_ns: row.get("carried_ns")?,
                spun_ns: file.fact(connection, id, fact::SPUN_NS)?.unwrap_or(0),
                issue: match file.issue {
                    true => issue::read(connection, id)?,
                    false => None,
                },
                turn_wait_ns: file.fact(connection, id, fact::TURN_WAIT_NS)?,
                offered_rate_per_s: row.get("offered_rate_per_s")?,
                ramp_operations: count(row, "ramp_operations")?,
                due_operations: count(row, "due_operations")?,
                backlog_operations: count(row, "backlog_operations")?,
                io_failures: io_failures(connection, id)?,
                verified: match file.verified {
                    true => {
                        let covered = file.fact(connection, id, fact::COVERED_WRITES)?;
                        verified::read(connection, id, covered)?
                    }
                    false => None,
                },
                steps: match file.has_studies() {
                    true => step::read(connection, id)?,
                    false => Vec::new(),
                },
                disturbances: match file.has_disturbances() {
                    true => disturbance::read(connection, id)?,
                    false => Vec::new(),
                },
                touched_bytes: file.fact(connection, id, fact::TOUCHED_BYTES)?,
                desktops: match file.desktops {
                    true => desktop::read(connection, id)?,
                    false => None,
                },
                updates: file.fact(connection, id, fact::UPDATES)?,
                settled_ns: match file.has_settled() {
                    true => settled::read(connection, id)?,
                    false => 0,
                },
                ended: json::<Ended>(row, "ended")?,
            })
        })
        .optional()
}

/// The totals of a kind; `None` where none was written, as of flushes in most trials.
fn totals(connection: &Connection, id: i64, kind: Kind) -> Result<Option<KindTotals>> {
    let mut select =
        connection.prepare_cached("SELECT * FROM total WHERE trial_id = ? AND kind = ?")?;
    let totals = select.query_row((id, kind.name()), |row| {
        Ok(KindTotals {
            operations: count(row, "operations")?,
            bytes: count(row, "bytes")?,
            latency_sum_ns: count(row, "latency_sum_ns")?,
            latency_min_ns: count(row, "latency_min_ns")?,
            latency_max_ns: count(row, "latency_max_ns")?,
            short_operations: count(row, "short_operations")?,
            errors: count(row, "errors")?,
            histogram: histogram(connection, id, kind)?,
        })
    });
    totals.optional()
}

fn needed(totals: Option<KindTotals>, kind: Kind) -> Result<KindTotals> {
    totals.ok_or_else(|| strange(format!("a sample without its {kind}s")))
}

fn histogram(connection: &Connection, id: i64, kind: Kind) -> Result<Histogram> {
    let select = "SELECT bucket, low_ns, high_ns, count FROM histogram WHERE trial_id = ? AND kind = ? \
                  ORDER BY bucket";
    histogram_of(connection, select, id, kind.name())
}

fn intervals(connection: &Connection, id: i64) -> Result<Vec<Interval>> {
    // 'read' sorts before 'write': each interval is a row of reads and a row of writes.
    let mut select = connection.prepare_cached(
        "SELECT kind, start_ns, length_ns, operations, bytes, latency_sum_ns, latency_max_ns \
         FROM interval WHERE trial_id = ? ORDER BY number, kind",
    )?;
    let mut rows = select.query([id])?;
    let mut intervals = Vec::new();
    while let Some(row) = rows.next()? {
        let mut interval = Interval {
            start_ns: count(row, 1)?,
            length_ns: count(row, 2)?,
            reads: interval_totals(row, Kind::Read)?,
            ..Interval::default()
        };
        let row = rows.next()?.ok_or_else(|| strange("an interval without its writes"))?;
        interval.writes = interval_totals(row, Kind::Write)?;
        intervals.push(interval);
    }
    Ok(intervals)
}

fn interval_totals(row: &Row, expected: Kind) -> Result<IntervalTotals> {
    if row.get_ref(0)?.as_str()? != expected.name() {
        return Err(strange("intervals that are not pairs of reads and writes"));
    }
    Ok(IntervalTotals {
        operations: count(row, 3)?,
        bytes: count(row, 4)?,
        latency_sum_ns: count(row, 5)?,
        latency_max_ns: count(row, 6)?,
    })
}

fn disks(connection: &Connection, id: i64) -> Result<Vec<DiskTotals>> {
    let mut select = connection.prepare_cached(
        "SELECT disk, operations, bytes, latency_sum_ns, latency_max_ns, latency_p50_ns, \
         latency_p99_ns FROM disk WHERE trial_id = ? ORDER BY number",
    )?;
    let disks = select.query_map([id], |row| {
        Ok(DiskTotals {
            disk: row.get(0)?,
            operations: count(row, 1)?,
            bytes: count(row, 2)?,
            latency_sum_ns: count(row, 3)?,
            latency_max_ns: count(row, 4)?,
            latency_p50_ns: number(row, 5)?,
            latency_p99_ns: number(row, 6)?,
        })
    })?;
    disks.collect()
}

fn io_failures(connection: &Connection, id: i64) -> Result<Vec<IoFailure>> {
    let mut select =
        connection.prepare_cached("SELECT * FROM fault WHERE trial_id = ? ORDER BY number")?;
    let failures = select.query_map([id], |row| {
        let outcome = match (row.get("errno")?, row.get("moved_bytes")?) {
            (Some(errno), None) => IoFailureOutcome::Failed(DeviceError(errno)),
            (None, Some(bytes)) => IoFailureOutcome::Short(bytes),
            _ => return Err(strange("a fault that is neither an error nor short")),
        };
        Ok(IoFailure {
            disk: row.get("disk")?,
            kind: kind(row)?,
            offset_bytes: count(row, "offset_bytes")?,
            length_bytes: row.get("length_bytes")?,
            outcome,
        })
    })?;
    failures.collect()
}

fn cpu(connection: &Connection, file: File, id: i64) -> Result<CpuUsage> {
    let mut select = connection.prepare_cached("SELECT * FROM cpu WHERE trial_id = ?")?;
    let fact = |name| file.fact(connection, id, name);
    select.query_row([id], |row| {
        Ok(CpuUsage {
            threads_user_ns: count(row, "threads_user_ns")?,
            threads_system_ns: count(row, "threads_system_ns")?,
            process_ns: count(row, "process_ns")?,
            tool_ns: fact(fact::TOOL_NS)?,
            voluntary_switches: count(row, "voluntary_switches")?,
            involuntary_switches: count(row, "involuntary_switches")?,
            threads: fact(fact::DRIVING_THREADS)?.unwrap_or(0) as u32,
            run_delay_ns: fact(fact::RUN_DELAY_NS)?,
            host: HostCpu {
                user_ns: count(row, "host_user_ns")?,
                system_ns: count(row, "host_system_ns")?,
                irq_ns: count(row, "host_irq_ns")?,
                softirq_ns: count(row, "host_softirq_ns")?,
                iowait_ns: count(row, "host_iowait_ns")?,
                steal_ns: count(row, "host_steal_ns")?,
                idle_ns: count(row, "host_idle_ns")?,
                cpus: row.get("host_cpus")?,
                capacity_ns: fact(fact::HOST_CAPACITY_NS)?.unwrap_or(0),
                background_ns: fact(fact::HOST_BACKGROUND_NS)?,
            },
            pressure: Pressure {
                cpu_ns: fact(fact::PRESSURE_CPU_NS)?,
                io_ns: fact(fact::PRESSURE_IO_NS)?,
                memory_ns: fact(fact::PRESSURE_MEMORY_NS)?,
            },
            late_ns: fact(fact::CPU_LATE_NS)?.unwrap_or(0),
            target_ns: match file.has_targets() {
                true => optional_count(row, "target_ns")?,
                false => None,
            },
        })
    })
}

/// The form of the tables; see [`crate::FORMAT_VERSION`].
pub(crate) fn format(connection: &Connection) -> Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn kind(row: &Row) -> Result<Kind> {
    let name = word(row, "kind")?;
    Kind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| strange(format!("the kind {name:?}")))
}
