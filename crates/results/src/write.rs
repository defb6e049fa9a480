//! Values into rows. The caller holds the transaction.

use rusqlite::{Connection, params};
use serde::Serialize;
use stormeter_disk::Kind;
use stormeter_study::StudyPlan;
use stormeter_trial::{
    CpuUsage, HostCpu, IntervalTotals, IoFailureOutcome, KindTotals, Sample, TrialFailure,
};

use crate::column::{int, to_json, write_histogram};
use crate::finished::Event;
use crate::header::Header;
use crate::trial::{TrialOutcome, TrialRecord};
use crate::{
    component, desktop, disturbance, fact, guest, incident, issue, monitor, note, settled, step,
    verified,
};

type Result<T> = rusqlite::Result<T>;

pub(crate) fn header(connection: &Connection, header: &Header) -> Result<()> {
    meta(connection, "header", header)?;
    // By itself as well, where a version that cannot read the rest still finds it.
    meta(connection, "stormeter_version", &header.stormeter_version)?;
    for (id, datastore) in header.datastores.iter().enumerate() {
        connection.execute(
            "INSERT INTO datastore VALUES (?, ?, ?, ?)",
            params![int(id as u64)?, datastore.url, datastore.kind, id == header.plan.baseline],
        )?;
    }
    cells(connection, &header.plan)
}

/// The cells by their names and levels. For people: the plan in the header says the same.
pub(crate) fn cells(connection: &Connection, plan: &StudyPlan) -> Result<()> {
    let mut insert = connection.prepare("INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?)")?;
    for (id, cell) in (0i64..).zip(plan.cells()) {
        insert.execute(params![
            id,
            int(cell.datastore as u64)?,
            plan.datastores.get(cell.datastore).map(|datastore| &datastore.name),
            plan.workloads.get(cell.workload).map(|workload| &workload.name),
            cell.vms,
            cell.outstanding,
        ])?;
    }
    Ok(())
}

pub(crate) fn meta<T: Serialize>(connection: &Connection, key: &str, value: &T) -> Result<()> {
    connection
        .execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", params![key, to_json(value)?])?;
    Ok(())
}

pub(crate) fn clear_meta(connection: &Connection, key: &str) -> Result<()> {
    connection.execute("DELETE FROM meta WHERE key = ?", [key])?;
    Ok(())
}

pub(crate) fn event(connection: &Connection, event: &Event) -> Result<()> {
    connection.execute(
        "INSERT INTO event (at_unix_ms, what, kind) VALUES (?, ?, ?)",
        params![int(event.at_unix_ms)?, to_json(&event.kind)?, event.kind.name()],
    )?;
    Ok(())
}

pub(crate) fn trial(connection: &Connection, trial: &TrialRecord) -> Result<()> {
    let (outcome, failure) = match &trial.outcome {
        TrialOutcome::Measured { .. } => ("measured", None),
        TrialOutcome::Failed { failure, .. } => ("failed", Some(failure)),
    };
    connection.execute(
        "INSERT INTO trial (id, block, position, datastore, phase, started_unix_ms, elapsed_ns, \
         seed, outcome, reason, cell, failure) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            int(trial.id)?,
            trial.block,
            trial.position,
            trial.datastore.map(|index| int(index as u64)).transpose()?,
            trial.phase.name(),
            int(trial.started_unix_ms)?,
            int(trial.elapsed_ns)?,
            trial.seed.to_string(),
            outcome,
            failure.map(TrialFailure::to_string),
            trial.cell.map(|index| int(index as u64)).transpose()?,
            failure.map(to_json).transpose()?,
        ],
    )?;
    for (name, number) in
        [(fact::REDO_NUMBER, trial.attempt.redo), (fact::ATTEMPT_NUMBER, trial.attempt.number)]
    {
        let again = (number > 0).then_some(u64::from(number));
        fact::write(connection, int(trial.id)?, name, again)?;
    }
    if let Some(sample) = trial.sample() {
        self::sample(connection, trial.id, sample)?;
        headline(connection, trial.id, sample, trial.cpu())?;
    }
    if let TrialOutcome::Measured { cpu, notes, .. } = &trial.outcome {
        self::cpu(connection, trial.id, cpu)?;
        note::write(connection, trial.id, notes)?;
    }
    incident::write(connection, trial.id, &trial.incidents)?;
    monitor::write(connection, trial.id, &trial.monitor)?;
    guest::write(connection, trial.id, &trial.guests)?;
    component::write(connection, trial.id, &trial.components)
}

/// The figures that are needed most, so that they need not be derived from histograms in SQL.
fn headline(
    connection: &Connection,
    id: u64,
    sample: &Sample,
    cpu: Option<&CpuUsage>,
) -> Result<()> {
    let total = sample.total();
    let percentile = |fraction| total.histogram.percentile_ns(fraction);
    let per_io = |ns: u64| (total.operations > 0).then(|| ns as f64 / total.operations as f64);
    connection.execute(
        "UPDATE trial SET operations = ?, bytes = ?, iops = ?, bytes_per_s = ?, \
         latency_mean_ns = ?, latency_p50_ns = ?, latency_p95_ns = ?, latency_p99_ns = ?, \
         latency_p999_ns = ?, latency_max_ns = ?, cpu_per_io_ns = ?, host_cpu_per_io_ns = ?, \
         target_cpu_per_io_ns = ?, host_cpu = ?, work_ns = ? WHERE id = ?",
        params![
            int(total.operations)?,
            int(total.bytes)?,
            sample.iops(),
            sample.bytes_per_s(),
            total.latency_mean_ns(),
            percentile(0.5),
            percentile(0.95),
            percentile(0.99),
            percentile(0.999),
            int(total.latency_max_ns)?,
            cpu.and_then(|cpu| per_io(cpu.initiator_ns())),
            cpu.and_then(|cpu| per_io(cpu.host_ns())),
            cpu.and_then(|cpu| per_io(cpu.target_ns?)),
            cpu.and_then(|cpu| busy_share(&cpu.host)),
            (!sample.steps.is_empty()).then(|| int(sample.window_ns)).transpose()?,
            int(id)?,
        ],
    )?;
    Ok(())
}

/// The metrics of flushes and durable writes, for the view of observations; computed from the histograms and not read
/// back.
fn durability_headline(connection: &Connection, id: i64, sample: &Sample) -> Result<()> {
    let Sample { flushes, durable, .. } = sample;
    let whole = |ns: Option<f64>| ns.map(|ns| ns.round() as u64);
    let flush_at = |fraction| whole(flushes.histogram.percentile_ns(fraction));
    let durable_at = |fraction| whole(durable.histogram.percentile_ns(fraction));
    let facts = [
        ("flush_mean_ns", whole(flushes.latency_mean_ns())),
        ("flush_p50_ns", flush_at(0.5)),
        ("flush_p95_ns", flush_at(0.95)),
        ("flush_p99_ns", flush_at(0.99)),
        ("flush_p999_ns", flush_at(0.999)),
        ("durable_write_p50_ns", durable_at(0.5)),
        ("durable_write_p95_ns", durable_at(0.95)),
        ("durable_write_p99_ns", durable_at(0.99)),
        ("durable_write_p999_ns", durable_at(0.999)),
    ];
    facts.into_iter().try_for_each(|(name, value)| fact::write(connection, id, name, value))
}

/// Busy time as a share of all time that was not stolen; `None` if the system reported no times.
pub(crate) fn busy_share(host: &HostCpu) -> Option<f64> {
    // As floats: the sum of counts from elsewhere may overflow.
    let busy_ns = host.busy_ns() as f64;
    let all_ns = busy_ns + host.idle_ns as f64 + host.iowait_ns as f64;
    (all_ns > 0.0).then(|| busy_ns / all_ns)
}

fn sample(connection: &Connection, id: u64, sample: &Sample) -> Result<()> {
    let id = int(id)?;
    connection.execute(
        "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            id,
            int(sample.window_ns)?,
            int(sample.interval_ns)?,
            sample.outstanding_mean,
            sample.outstanding_configured.map(int).transpose()?,
            sample.carried_ns,
            sample.offered_rate_per_s,
            int(sample.ramp_operations)?,
            int(sample.due_operations)?,
            int(sample.backlog_operations)?,
            to_json(&sample.ended)?,
        ],
    )?;
    for kind in Kind::ALL {
        let totals = sample.kind(kind);
        let is_of_all_trials = match kind {
            Kind::Read | Kind::Write => true,
            Kind::DurableWrite | Kind::Flush => false,
        };
        if !is_of_all_trials && *totals == KindTotals::default() {
            continue;
        }
        connection.execute(
            "INSERT INTO total VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                id,
                kind.name(),
                int(totals.operations)?,
                int(totals.bytes)?,
                int(totals.latency_sum_ns)?,
                int(totals.latency_min_ns)?,
                int(totals.latency_max_ns)?,
                int(totals.short_operations)?,
                int(totals.errors)?,
            ],
        )?;
        let insert = "INSERT INTO histogram VALUES (?, ?, ?, ?, ?, ?)";
        write_histogram(connection, insert, (id, kind.name()), &totals.histogram)?;
    }
    fact::write(connection, id, fact::TURN_WAIT_NS, sample.turn_wait_ns)?;
    let some = |ns: u64| (ns > 0).then_some(ns);
    fact::write(connection, id, fact::FLUSH_WAIT_NS, some(sample.flush_wait_ns))?;
    fact::write(connection, id, fact::SPUN_NS, some(sample.spun_ns))?;
    durability_headline(connection, id, sample)?;
    if let Some(issue) = &sample.issue {
        issue::write(connection, id, issue)?;
    }
    fact::write(connection, id, fact::TOUCHED_BYTES, sample.touched_bytes)?;
    fact::write(connection, id, fact::UPDATES, sample.updates)?;
    intervals(connection, id, sample)?;
    disks(connection, id, sample)?;
    io_failures(connection, id, sample)?;
    step::write(connection, id, &sample.steps)?;
    disturbance::write(connection, id, sample)?;
    settled::write(connection, id, sample.settled_ns)?;
    if let Some(desktops) = &sample.desktops {
        desktop::write(connection, id, desktops)?;
    }
    match &sample.verified {
        Some(verified) => verified::write(connection, id, verified),
        None => Ok(()),
    }
}

fn intervals(connection: &Connection, id: i64, sample: &Sample) -> Result<()> {
    let mut insert =
        connection.prepare("INSERT INTO interval VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (number, row) in (0i64..).zip(&sample.intervals) {
        for (kind, totals) in [(Kind::Read, &row.reads), (Kind::Write, &row.writes)] {
            let IntervalTotals { operations, bytes, latency_sum_ns, latency_max_ns } = *totals;
            insert.execute(params![
                id,
                number,
                kind.name(),
                int(row.start_ns)?,
                int(row.length_ns)?,
                int(operations)?,
                int(bytes)?,
                int(latency_sum_ns)?,
                int(latency_max_ns)?,
            ])?;
        }
    }
    Ok(())
}

fn disks(connection: &Connection, id: i64, sample: &Sample) -> Result<()> {
    let mut insert = connection.prepare("INSERT INTO disk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (number, row) in (0i64..).zip(&sample.disks) {
        insert.execute(params![
            id,
            number,
            row.disk,
            int(row.operations)?,
            int(row.bytes)?,
            int(row.latency_sum_ns)?,
            int(row.latency_max_ns)?,
            row.latency_p50_ns,
            row.latency_p99_ns,
        ])?;
    }
    Ok(())
}

fn io_failures(connection: &Connection, id: i64, sample: &Sample) -> Result<()> {
    for (number, failure) in (0i64..).zip(&sample.io_failures) {
        let (errno, moved_bytes) = match failure.outcome {
            IoFailureOutcome::Failed(error) => (Some(error.0), None),
            IoFailureOutcome::Short(bytes) => (None, Some(bytes)),
        };
        connection.execute(
            "INSERT INTO fault VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                id,
                number,
                failure.disk,
                failure.kind.name(),
                int(failure.offset_bytes)?,
                failure.length_bytes,
                errno,
                moved_bytes,
            ],
        )?;
    }
    Ok(())
}

fn cpu(connection: &Connection, id: u64, cpu: &CpuUsage) -> Result<()> {
    let host = &cpu.host;
    connection.execute(
        "INSERT INTO cpu VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            int(id)?,
            int(cpu.threads_user_ns)?,
            int(cpu.threads_system_ns)?,
            int(cpu.process_ns)?,
            int(cpu.voluntary_switches)?,
            int(cpu.involuntary_switches)?,
            int(host.user_ns)?,
            int(host.system_ns)?,
            int(host.irq_ns)?,
            int(host.softirq_ns)?,
            int(host.iowait_ns)?,
            int(host.steal_ns)?,
            int(host.idle_ns)?,
            host.cpus,
            cpu.target_ns.map(int).transpose()?,
        ],
    )?;
    let id = int(id)?;
    let threads = (cpu.threads > 0).then_some(u64::from(cpu.threads));
    fact::write(connection, id, fact::DRIVING_THREADS, threads)?;
    let some = |ns: u64| (ns > 0).then_some(ns);
    let facts = [
        (fact::RUN_DELAY_NS, cpu.run_delay_ns),
        (fact::TOOL_NS, cpu.tool_ns),
        (fact::HOST_CAPACITY_NS, some(host.capacity_ns)),
        (fact::HOST_BACKGROUND_NS, host.background_ns),
        (fact::PRESSURE_CPU_NS, cpu.pressure.cpu_ns),
        (fact::PRESSURE_IO_NS, cpu.pressure.io_ns),
        (fact::PRESSURE_MEMORY_NS, cpu.pressure.memory_ns),
        (fact::CPU_LATE_NS, some(cpu.late_ns)),
    ];
    facts.into_iter().try_for_each(|(name, value)| fact::write(connection, id, name, value))
}
