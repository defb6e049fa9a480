//! Results generated from a seed, with every field set and every variant chosen by some seed.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_disk::{Acknowledged, DeviceError, Kind, Promise, PromiseEvidence};
use stormeter_results::{
    Attempt, Incident, Io, Phase, Sharing, StorageEvent, TrialOutcome, TrialRecord,
};
use stormeter_results::{DatastoreDescription, DatastoreFact, DatastoreNote, Environment, Header};
use stormeter_study::{ComparisonPlan, EqualLoad, Metric, StudyPlan, Timing};
use stormeter_trial::{
    Arrivals, BlockName, ComponentKind, ComponentUse, Content, Corruption, CpuUsage, DiskTotals,
    Distribution, Durations, Ended, ExpectedBlock, FoundBlock, Histogram, HostCpu, Interval,
    IntervalTotals, IoFailure, IoFailureOutcome, IssueTimes, KindTotals, Loss, MonitorRow,
    NoteFact, Pressure, Sample, SizeShare, StepTime, TargetUnknown, TrialFailure, Verified,
    Workload,
};

mod desktops;
mod guests;

use desktops::desktops;
use guests::guest;

pub(crate) struct Dice(SplitMix64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(SplitMix64::seed_from_u64(seed))
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }

    /// A count of any magnitude that SQLite can hold.
    fn count(&mut self) -> u64 {
        self.0.next_u64() >> (1 + self.below(63))
    }

    /// A float with a full mantissa.
    fn float(&mut self) -> f64 {
        self.0.next_u64() as f64 / self.below(1000).max(1) as f64 / 3.0
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 0).then(|| make(self))
    }

    fn text(&mut self) -> String {
        ["", "plain", "µs, \"quoted\" and 'single'", "line\nbreak; DROP TABLE trial", "雪"]
            [self.below(5) as usize]
            .into()
    }
}

fn totals(dice: &mut Dice) -> KindTotals {
    let mut histogram = Histogram::default();
    for _ in 0..dice.below(200) {
        histogram.record(dice.count());
    }
    KindTotals {
        operations: histogram.count(),
        bytes: dice.count(),
        latency_sum_ns: dice.count(),
        latency_min_ns: dice.count(),
        latency_max_ns: dice.count(),
        short_operations: dice.below(3),
        errors: dice.below(3),
        histogram,
    }
}

/// Totals that can be added to others and still fit into a column.
fn some_totals(dice: &mut Dice) -> KindTotals {
    let all = totals(dice);
    KindTotals { bytes: all.bytes >> 8, latency_sum_ns: all.latency_sum_ns >> 8, ..all }
}

fn interval_totals(dice: &mut Dice) -> IntervalTotals {
    IntervalTotals {
        operations: dice.count(),
        bytes: dice.count(),
        latency_sum_ns: dice.count(),
        latency_max_ns: dice.count(),
    }
}

fn sample(dice: &mut Dice) -> Sample {
    let intervals = (0..dice.below(12))
        .map(|_| Interval {
            start_ns: dice.count(),
            length_ns: dice.count(),
            reads: interval_totals(dice),
            writes: interval_totals(dice),
        })
        .collect();
    let disks = (0..dice.below(5))
        .map(|_| DiskTotals {
            disk: dice.below(1 << 32) as u32,
            operations: dice.count(),
            bytes: dice.count(),
            latency_sum_ns: dice.count(),
            latency_max_ns: dice.count(),
            latency_p50_ns: dice.float(),
            latency_p99_ns: dice.float(),
        })
        .collect();
    let io_failures = (0..dice.below(4))
        .map(|_| IoFailure {
            disk: dice.below(9) as u32,
            kind: Kind::ALL[dice.below(2) as usize],
            offset_bytes: dice.count(),
            length_bytes: dice.below(1 << 32) as u32,
            outcome: match dice.below(2) {
                0 => IoFailureOutcome::Failed(DeviceError(dice.below(133) as i32)),
                _ => IoFailureOutcome::Short(dice.below(1 << 32) as u32),
            },
        })
        .collect();
    Sample {
        window_ns: dice.count(),
        interval_ns: dice.count(),
        reads: totals(dice),
        writes: totals(dice),
        intervals,
        disks,
        outstanding_mean: dice.float(),
        carried_ns: -12_345,
        turn_wait_ns: None,
        durable: KindTotals::default(),
        flushes: KindTotals::default(),
        flush_wait_ns: 0,
        spun_ns: 0,
        issue: None,
        outstanding_configured: dice.maybe(Dice::count),
        offered_rate_per_s: dice.maybe(Dice::float),
        ramp_operations: dice.count(),
        due_operations: dice.count(),
        backlog_operations: dice.count(),
        io_failures,
        verified: dice.maybe(verified),
        steps: Vec::new(),
        disturbances: Vec::new(),
        settled_ns: 0,
        touched_bytes: None,
        updates: None,
        desktops: None,
        ended: match dice.below(6) {
            0 => Ended::Cancelled,
            1 => Ended::TooManyErrors,
            2 => Ended::Stalled { outstanding: dice.count() },
            3 => Ended::ClockStopped,
            4 => Ended::QueueBroken { reason: dice.text() },
            _ => Ended::Completed,
        },
    }
}

fn issue(dice: &mut Dice) -> IssueTimes {
    let mut times = || {
        let KindTotals { latency_sum_ns, latency_max_ns, histogram, .. } = totals(dice);
        Durations { sum_ns: latency_sum_ns, max_ns: latency_max_ns, histogram }
    };
    let (service, lateness) = (times(), times());
    IssueTimes { service, lateness, held_operations: dice.below(9) }
}

fn verified(dice: &mut Dice) -> Verified {
    let name = |dice: &mut Dice| BlockName {
        disk: dice.below(9) as u32,
        offset_bytes: dice.count(),
        generation: u64::MAX - dice.count(),
    };
    let corruptions = (0..dice.below(4))
        .map(|_| Corruption {
            expected: ExpectedBlock {
                disk: dice.below(1 << 32) as u32,
                offset_bytes: dice.count(),
                generations: (0..dice.below(3)).map(|_| u64::MAX - dice.count()).collect(),
            },
            found: match dice.below(5) {
                0 => FoundBlock::Zeros,
                1 => FoundBlock::OtherData,
                2 => FoundBlock::Damaged {
                    stored_checksum: dice.below(1 << 32) as u32,
                    checksum: dice.below(1 << 32) as u32,
                },
                3 => FoundBlock::Block(name(dice)),
                _ => FoundBlock::Foreign(name(dice)),
            },
            at_ns: dice.count(),
            covered: false,
        })
        .collect();
    Verified {
        blocks: dice.count(),
        unknown_blocks: dice.count(),
        wrong_blocks: dice.count(),
        covered_writes: 0,
        corruptions,
    }
}

fn cpu(dice: &mut Dice) -> CpuUsage {
    CpuUsage {
        threads_user_ns: dice.count(),
        threads_system_ns: dice.count(),
        process_ns: dice.count(),
        tool_ns: None,
        voluntary_switches: dice.count(),
        involuntary_switches: dice.count(),
        threads: 0,
        run_delay_ns: None,
        host: HostCpu {
            user_ns: dice.below(1 << 60),
            system_ns: dice.below(1 << 60),
            irq_ns: dice.below(1 << 60),
            softirq_ns: dice.below(1 << 60),
            iowait_ns: dice.count(),
            steal_ns: dice.count(),
            idle_ns: dice.count(),
            cpus: dice.below(512) as u32,
            ..HostCpu::default()
        },
        target_ns: dice.maybe(Dice::count),
        ..CpuUsage::default()
    }
}

/// The trial with that number as files of form 2 stored it; the same seed and number give the same
/// trial. `fixture/form-2.sql` contains some: what later forms added is drawn separately.
pub(crate) fn early_trial(seed: u64, id: u64) -> TrialRecord {
    let dice = &mut Dice::new(seed ^ id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let phase = [Phase::Main, Phase::Capacity, Phase::Ceiling][dice.below(3) as usize];
    let (block, position) = (dice.below(1 << 32) as u32, dice.below(9) as u32);
    let datastore = (phase != Phase::Ceiling).then(|| dice.below(2) as usize);
    TrialRecord {
        id,
        block,
        position,
        datastore,
        // As it is read now: the only load has a cell for each datastore.
        cell: Some(datastore.unwrap_or(0)),
        phase,
        started_unix_ms: dice.count(),
        elapsed_ns: dice.count(),
        seed: u64::MAX - dice.count(),
        outcome: match dice.below(4) {
            0 => {
                let (said, sample) = (dice.text(), dice.maybe(sample));
                let ended = sample.as_ref().is_some_and(|it| it.ended == Ended::Completed);
                let failure = TrialFailure::Early { said, by_storage: !ended };
                TrialOutcome::Failed { failure, sample }
            }
            _ => TrialOutcome::Measured {
                sample: sample(dice),
                cpu: cpu(dice),
                notes: (0..dice.below(3))
                    .map(|_| NoteFact::Early { said: dice.text() }.into())
                    .collect(),
            },
        },
        incidents: (0..dice.below(3))
            .map(|_| {
                let event = StorageEvent::Other { said: dice.text().into() };
                Incident { times: dice.below(1 << 32) as u32, ..Incident::new(event) }
            })
            .collect(),
        monitor: Vec::new(),
        guests: Vec::new(),
        components: Vec::new(),
        attempt: Attempt::default(),
    }
}

/// The trial with that number, with everything in the current form.
pub(crate) fn trial(seed: u64, id: u64) -> TrialRecord {
    let mut trial = early_trial(seed, id);
    let dice = &mut Dice::new(!seed ^ id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    trial.monitor = (0..dice.below(5)).map(|_| monitor_row(dice)).collect();
    trial.components = (0..dice.below(4)).map(|_| component(dice)).collect();
    let of_guests = &mut Dice::new(seed.rotate_left(16) ^ id);
    trial.guests = (0..of_guests.below(4)).map(|_| guest(of_guests)).collect();
    let of_incidents = &mut Dice::new(seed.wrapping_add(id));
    for incident in &mut trial.incidents {
        incident.host = of_incidents.maybe(Dice::text);
        incident.path = of_incidents.maybe(Dice::text);
        incident.event = event(of_incidents);
    }
    trial.attempt = Attempt {
        redo: Dice::new(seed ^ id).below(3) as u32,
        number: Dice::new(!id).below(3) as u32,
    };
    let steps = (0..dice.below(4)).map(|_| StepTime {
        name: dice.text(),
        times: dice.count(),
        total_ns: dice.count(),
        max_ns: dice.count(),
    });
    match &mut trial.outcome {
        TrialOutcome::Measured { sample, .. }
        | TrialOutcome::Failed { sample: Some(sample), .. } => {
            sample.steps = steps.collect();
            sample.settled_ns = dice.below(2) * dice.count();
            sample.touched_bytes = dice.maybe(|dice| dice.count());
            sample.updates = sample.touched_bytes.map(|bytes| bytes / 7);
            sample.turn_wait_ns = dice.maybe(Dice::count);
            let of_desktops = &mut Dice::new(seed.rotate_left(24) ^ id);
            sample.desktops = of_desktops.maybe(|dice| Box::new(desktops(dice)));
            sample.spun_ns = dice.below(9);
            sample.issue = dice.maybe(issue);
            let of_durability = &mut Dice::new(seed.rotate_left(32) ^ id);
            sample.durable = of_durability.maybe(some_totals).unwrap_or_default();
            sample.flushes = of_durability.maybe(some_totals).unwrap_or_default();
            sample.flush_wait_ns = of_durability.maybe(Dice::count).unwrap_or(0);
            for failure in &mut sample.io_failures {
                failure.kind = Kind::ALL[of_durability.below(4) as usize];
            }
            if let Some(verified) = &mut sample.verified {
                verified.covered_writes = of_durability.count();
                for corruption in &mut verified.corruptions {
                    corruption.covered = of_durability.below(2) == 0;
                }
            }
        }
        TrialOutcome::Failed { sample: None, .. } => {}
    }
    if let TrialOutcome::Failed { failure, sample } = &mut trial.outcome {
        *failure = failed(dice, sample.as_ref());
    }
    if let TrialOutcome::Measured { notes, .. } = &mut trial.outcome {
        for note in notes {
            note.host = of_incidents.maybe(Dice::text);
            note.of_clients = of_incidents.below(2) == 0;
            note.fact = match of_incidents.below(3) {
                0 => NoteFact::NotPinned,
                1 => NoteFact::LateStart { late_ns: of_incidents.count() },
                _ => {
                    let why = TargetUnknown::Proxy(of_incidents.text(), of_incidents.text());
                    NoteFact::TargetUnknown { why }
                }
            };
        }
    }
    if let TrialOutcome::Measured { cpu, .. } = &mut trial.outcome {
        cpu.threads = dice.below(9) as u32;
        cpu.run_delay_ns = dice.maybe(Dice::count);
        cpu.tool_ns = dice.maybe(Dice::count);
        cpu.host.capacity_ns = dice.below(2) * dice.count();
        cpu.host.background_ns = dice.maybe(Dice::count);
        cpu.pressure = Pressure {
            cpu_ns: dice.maybe(Dice::count),
            io_ns: dice.maybe(Dice::count),
            memory_ns: dice.maybe(Dice::count),
        };
        cpu.late_ns = dice.below(2) * dice.count();
    }
    trial
}

fn event(dice: &mut Dice) -> StorageEvent {
    let count = Dice::count;
    match dice.below(6) {
        0 => {
            let reason = dice.text().into();
            StorageEvent::ConnectionLost { outstanding: dice.below(1 << 32) as u32, reason }
        }
        1 => StorageEvent::Reconnected { after_ns: count(dice) },
        2 => StorageEvent::CacheNotFlushed { reason: dice.maybe(|dice| dice.text().into()) },
        3 => StorageEvent::Refused {
            io: Io {
                kind: Kind::Write,
                disk: dice.below(1 << 32) as u32,
                offset_bytes: count(dice),
                length_bytes: dice.below(1 << 32) as u32,
            },
            said: dice.text().into(),
        },
        4 => StorageEvent::OtherRun {
            run_id: dice.text(),
            pid: dice.below(1 << 32) as u32,
            machine: dice.maybe(Dice::text),
            sharing: Sharing::FileSystem,
        },
        _ => StorageEvent::TargetBusy,
    }
}

fn failed(dice: &mut Dice, sample: Option<&Sample>) -> TrialFailure {
    if let Some(failure) = sample.and_then(TrialFailure::of_ended) {
        return failure;
    }
    let said = dice.text();
    match dice.below(8) {
        0 => TrialFailure::Datastore { said },
        1 => TrialFailure::OnHost { host: dice.text(), said },
        2 => TrialFailure::Agent { host: dice.text(), said },
        3 => TrialFailure::Reset { said },
        4 => TrialFailure::Step { step: dice.text(), said },
        5 => TrialFailure::ClocksDisagree { share: dice.float() },
        6 => {
            let losses = vec![Loss::Early { said }, loss(dice)];
            let ended = Ended::Completed;
            TrialFailure::BytesLost { ended, first: None, losses }
        }
        _ => TrialFailure::Impossible { said },
    }
}

fn loss(dice: &mut Dice) -> Loss {
    Loss::NoReplica { storage: dice.text(), bytes: dice.count() }
}

fn component(dice: &mut Dice) -> ComponentUse {
    ComponentUse {
        name: dice.text(),
        kind: ComponentKind::ALL[dice.below(8) as usize],
        units: dice.below(1 << 32) as u32,
        utilisation: dice.float(),
        utilisation_most: dice.float(),
        busy_ns: dice.count(),
        queue_mean: dice.float(),
        visits: dice.count(),
        lost: dice.count(),
        response_share: dice.float(),
        series: (0..dice.below(5)).map(|_| dice.float()).collect(),
    }
}

fn monitor_row(dice: &mut Dice) -> MonitorRow {
    MonitorRow {
        at_ns: dice.count(),
        length_ns: dice.count(),
        cpu_busy: dice.float(),
        cores_busy: (0..dice.below(5)).map(|_| dice.float()).collect(),
        memory_used_bytes: dice.count(),
        network_receive_bytes_per_s: dice.float(),
        network_transmit_bytes_per_s: dice.float(),
        loopback_bytes_per_s: dice.float(),
        disk_read_bytes_per_s: dice.float(),
        disk_write_bytes_per_s: dice.float(),
    }
}

/// The trial of that number, of a cell of the study's plan; a ceiling is of the first load.
#[allow(dead_code, reason = "not every test is of studies")]
pub(crate) fn study_trial(seed: u64, id: u64) -> TrialRecord {
    let mut trial = trial(seed, id);
    let cells = study_header().plan.cells();
    if trial.phase != Phase::Ceiling {
        let cell = Dice::new(seed.rotate_left(7) ^ id).below(cells.len() as u64) as usize;
        trial.cell = Some(cell);
        trial.datastore = Some(cells[cell].datastore);
    }
    trial
}

/// The header of a study with every kind of workload: 4 × 2 loads on 2 datastores, but transfers have
/// no levels of `outstanding`.
#[allow(dead_code, reason = "not every test is of studies")]
pub(crate) fn study_header() -> Header {
    let comparison = comparison();
    // Plans come from files: JSON is the shortest way to say one.
    let plan = serde_json::json!({
        "study": "Which one?",
        "datastores": [
            {"name": "local", "url": "/srv/vm"},
            {"name": "nas", "url": "/mnt/nas"},
        ],
        "baseline": 1,
        "workloads": [
            {"name": "mixed", "disk_bytes": null, "kind": {
                "kind": "io", "name": "mixed", "sizes": [{"bytes": 4096, "share": 0.1 + 0.2}],
                "read_percent": 75.0, "random_percent": 100.0 / 3.0, "distribution": comparison.workload.distribution,
                "alignment_bytes": null, "arrivals": {"kind": "closed", "outstanding": 4},
                "burst": null, "content": comparison.workload.content,
                "durable": true, "flush": {"kind": "interval", "ns": 5_000_000_000u64},
            }},
            {"name": "reread", "disk_bytes": 1 << 20, "kind": {
                "kind": "file", "operation": "reread", "record_bytes": 4096, "outstanding": 1,
                "client_cache": true,
            }},
            {"name": "send", "disk_bytes": null, "kind": {
                "kind": "transfer", "message_bytes": 100_000, "direction": "write",
                "sink": "memory", "messages": 9,
            }},
            {"name": "desktops", "disk_bytes": null, "kind": {
                "kind": "deploy", "copy_bytes": 65_536, "outstanding": 4, "customise_writes": 5,
                "boot_reads": 0,
            }},
        ],
        "vms": [1, 16],
        "outstanding": [1, 8],
        "disk_bytes": 1 << 30,
        "prepare": "random",
        "timing": comparison.timing,
        "design": {
            "blocks": {"auto": {"min": 5, "max": 40}}, "precision": 0.02, "margin": 0.05,
            "level": 0.95, "metric": "iops", "order": "abba", "reset": {"command": "rollback"},
            "unit": "trial", "time_limit_ns": null,
        },
        "questions": ["nas is faster than local in iops"],
        "threads": 0,
        "verify": false,
        "seed": u64::MAX,
    });
    let mut datastores = header().datastores;
    datastores[0].promise =
        Some(Promise::new(Acknowledged::VolatileCache, PromiseEvidence::PageCache));
    Header { plan: serde_json::from_value(plan).expect("a plan"), datastores, ..header() }
}

/// A plan with fractions that decimal notation only meets with care.
fn comparison() -> ComparisonPlan {
    ComparisonPlan {
        datastores: vec!["/srv/vm".into(), "/mnt/nas".into()],
        baseline: 0,
        workload: Workload {
            name: "mixed".into(),
            sizes: vec![SizeShare { bytes: 4096, share: 0.1 + 0.2 }],
            read_percent: 75.0,
            random_percent: 100.0 / 3.0,
            distribution: Distribution::Zipf { exponent: 1.1 },
            alignment_bytes: None,
            arrivals: Arrivals::Poisson { rate_per_s: 1e4 / 7.0 },
            burst: None,
            content: Content::default(),
            durable: false,
            flush: None,
        },
        vms: 4,
        disk_bytes: 1 << 30,
        threads: 0,
        timing: Timing { ramp_ns: 1, duration_ns: 2_000_000_000, interval_ns: 100_000_000 },
        metric: Metric::LatencyP99,
        precision: 0.02,
        margin: 0.05,
        level: 0.95,
        min_blocks: 5,
        max_blocks: 100,
        time_limit_ns: 600_000_000_000,
        equal_load: Some(EqualLoad::Auto),
        seed: u64::MAX,
        verify: false,
    }
}

/// The header of a comparison.
fn note(said: &str) -> DatastoreNote {
    DatastoreFact::Early { said: said.into() }.into()
}

pub(crate) fn header() -> Header {
    Header {
        created_unix_ms: 1_790_000_000_123,
        run_id: "5f2c".into(),
        stormeter_version: "0.1.0".into(),
        command_line: ["stormeter", "compare", "/srv/vm", "/mnt/nas"].map(String::from).into(),
        plan: StudyPlan::from(&comparison()),
        environment: Environment {
            kernel: "Linux 6.1.0".into(),
            cpus: 2,
            memory_bytes: 4 << 30,
            load_average: Some([0.1, 0.07, 0.01]),
            ..Environment::default()
        },
        datastores: vec![
            DatastoreDescription {
                url: "/srv/vm".into(),
                kind: "directory".into(),
                ..DatastoreDescription::default()
            },
            DatastoreDescription {
                url: "/mnt/nas".into(),
                kind: "directory".into(),
                protocol: vec![("version".into(), "3".into())],
                notes: vec![note("O_DIRECT was refused")],
                ..DatastoreDescription::default()
            },
        ],
        prediction: None,
    }
}
