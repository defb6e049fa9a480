//! Studies as real runs would leave them, made up by rule so that they are the same on every machine:
//! three datastores under two workloads and three loads, and generated ones of any size.

#![allow(dead_code, reason = "each test program takes what it needs")]

mod answers;
mod desktops;
mod disturbed;
mod planned;
mod rack;

#[allow(unused_imports, reason = "each test program takes what it needs")]
pub(crate) use answers::{answers, attack, failed_trials};
#[allow(unused_imports, reason = "each test program takes what it needs")]
pub(crate) use desktops::desktops;
#[allow(unused_imports, reason = "each test program takes what it needs")]
pub(crate) use disturbed::disturbed;
use planned::header;
#[allow(unused_imports, reason = "each test program takes what it needs")]
pub(crate) use rack::on_guests;

use stormeter_report::{Parts, Report, TrialParts, assemble, study_key};
use stormeter_results::{
    Event, EventKind, FinishReason, Header, Incident, OtherValue, StorageEvent,
};
use stormeter_statistics::metrics::{direction_of, value_of};
use stormeter_statistics::{
    Analysis, BlockPair, CeilingKind, CellSummary, Comparison, ComparisonInput, Dependence,
    Estimate, Fact, LawFinding, Looks, MeasuredCeiling, MetricSummary, PowerStatement, Relative,
    Reply, SeenIn, Summary,
};
use stormeter_study::{Blocks, Cell, Metric, Reset, StudyPlan, Unit};
use stormeter_trial::{
    CpuUsage, Histogram, HostCpu, Interval as Row, IntervalTotals, KindTotals, MonitorRow,
    NoteFact, Sample, StepTime, TrialNote,
};

const SECOND: u64 = 1_000_000_000;

/// How large a made-up study is.
pub(crate) struct Shape {
    pub(crate) datastores: Vec<&'static str>,
    pub(crate) workloads: Vec<&'static str>,
    pub(crate) vms: Vec<u32>,
    pub(crate) outstanding: Vec<u32>,
    pub(crate) blocks: u32,
    /// Seconds of the measured window, each a row.
    pub(crate) seconds: u64,
    pub(crate) cores: usize,
}

/// Three datastores, two workloads, three loads, ten blocks: what the golden files show.
pub(crate) fn usual() -> Shape {
    Shape {
        datastores: vec!["local", "nas", "san"],
        workloads: vec!["vm-4k", "vm-8k"],
        vms: vec![1, 4, 16],
        outstanding: vec![4],
        blocks: 10,
        seconds: 40,
        cores: 8,
    }
}

/// The study with everything that a report can show.
pub(crate) fn study() -> Report {
    made(&usual(), |analysis| analysis.answers = answers())
}

/// A study of that shape; `conclude` adds what is concluded beyond the cells.
pub(crate) fn made(shape: &Shape, conclude: impl FnOnce(&mut Analysis)) -> Report {
    made_of(header(shape), shape, conclude)
}

fn made_of(header: Header, shape: &Shape, conclude: impl FnOnce(&mut Analysis)) -> Report {
    let cells = header.plan.cells();
    let trials: Vec<Made> = (0..shape.blocks)
        .flat_map(|block| (0..cells.len()).map(move |turn| (block, turn)))
        .map(|(block, turn)| {
            // Another order in each block, without a seed to look up.
            let cell = (turn * 7 + block as usize * 5) % cells.len();
            Made::of(shape, &cells[cell], cell, block, turn, cells.len())
        })
        .collect();
    let mut analysis = analysis(shape, &header.plan, &cells, &trials);
    conclude(&mut analysis);
    let parts: Vec<TrialParts<'_>> = trials.iter().map(Made::trial).collect();
    let mut ceilings: Vec<MeasuredCeiling> = [(None, 8_640_000.0), (Some(0), 210_000.0)]
        .map(|(datastore, iops)| {
            let kind = match datastore {
                None => CeilingKind::Generator,
                Some(_) => CeilingKind::NullServer,
            };
            MeasuredCeiling { kind, datastore, workload: 0, iops }
        })
        .into();
    ceilings.retain(|_| shape.blocks > 0);
    assemble(Parts {
        header,
        trials: &parts,
        events: &[Event {
            at_unix_ms: 1_790_000_050_000,
            kind: EventKind::Note { said: "the run was killed after block 2 and resumed".into() },
        }],
        finished: Some(FinishReason::MaxBlocks),
        analysis,
        ceilings: &ceilings,
        host_shares: (&[], &[]),
        guests: &[],
        elasticities: &[],
        assumed: &[],
        supposed: &[],
        repeat_command: "stormeter run farm.yaml --output again.db".into(),
        names: study_key,
    })
}

/// A comparison: one load, no questions, and blocks until it is precise.
pub(crate) fn comparison() -> Report {
    comparison_with(|_| {}, |_| {})
}

/// The same with what is changed beforehand and added to the conclusions.
pub(crate) fn comparison_with(
    change: impl FnOnce(&mut Header),
    conclude: impl FnOnce(&mut Analysis),
) -> Report {
    let shape = Shape {
        datastores: vec!["local", "nas"],
        workloads: vec!["vm-4k"],
        vms: vec![4],
        blocks: 12,
        ..usual()
    };
    let mut header = header(&shape);
    let plan = &mut header.plan;
    plan.questions.clear();
    plan.design.blocks = Blocks::Auto { min: 5, max: 50 };
    plan.design.reset = Reset::None;
    change(&mut header);
    made_of(header, &shape, conclude)
}

/// A study of fixed work: elapsed time is all there is.
pub(crate) fn fixed_work() -> Report {
    let shape = Shape { workloads: vec!["deploy"], vms: vec![8], ..usual() };
    made(&shape, |analysis| {
        for cell in &mut analysis.cells {
            cell.values.retain(|value| value.metric == Metric::Elapsed);
            cell.relative.retain(|relative| relative.metric == Metric::Elapsed);
        }
    })
}

struct Made {
    cell: usize,
    block: u32,
    started_unix_ms: u64,
    sample: Sample,
    cpu: CpuUsage,
    monitor: Vec<MonitorRow>,
    is_failed: bool,
    notes: Vec<TrialNote>,
    incidents: Vec<Incident>,
}

impl Made {
    fn of(shape: &Shape, place: &Cell, cell: usize, block: u32, turn: usize, cells: usize) -> Self {
        let seed = cell as u64 * 1000 + u64::from(block);
        let datastore = place.datastore as f64;
        let load = f64::from(place.vms * place.outstanding.unwrap_or(1));
        let is_fixed_work = shape.workloads[place.workload] == "deploy";
        // Capacity with a knee: more load gives more I/Os until the datastore is full.
        const SPEEDS: [f64; 5] = [1.0, 0.62, 1.015, 1.6, 0.85];
        let speed = SPEEDS[place.datastore % SPEEDS.len()];
        let capacity = 90_000.0 * speed / (1.0 + place.workload as f64 * 0.4);
        let service = 1.0 + 0.3 * datastore;
        let base =
            capacity * load / (load + 10.0 * service.sqrt()) * (1.0 + 0.025 * noise(seed, 1, 1));
        let step = if is_fixed_work {
            (SECOND as f64 * service * (1.0 + 0.02 * noise(seed, 1, 7))) as u64
        } else {
            SECOND
        };
        let rows: Vec<Row> = (0..shape.seconds)
            .map(|second| {
                let operations = (base * (1.0 + 0.06 * noise(seed, second, 2))) as u64;
                let latency = load / base * 1e9;
                Row {
                    start_ns: second * step,
                    length_ns: step,
                    reads: IntervalTotals {
                        operations,
                        bytes: operations * 4096,
                        latency_sum_ns: (operations as f64 * latency) as u64,
                        latency_max_ns: (latency * 9.0) as u64,
                    },
                    writes: IntervalTotals::default(),
                }
            })
            .collect();
        let operations: u64 = rows.iter().map(|row| row.reads.operations).sum();
        let latency = load / base * 1e9;
        let mut histogram = Histogram::default();
        for draw in 0..400 {
            let tail = if noise(seed, draw, 4) > 0.94 { 4.0 } else { 1.0 };
            histogram.record((latency * (1.0 + 0.5 * noise(seed, draw, 3)) * tail) as u64);
        }
        let steps = match is_fixed_work {
            true => ["copy", "customise", "boot"]
                .map(|name| StepTime {
                    name: name.into(),
                    times: 8,
                    total_ns: (8.0 * 3e9 * service) as u64,
                    max_ns: (4e9 * service) as u64,
                })
                .to_vec(),
            false => vec![],
        };
        let sample = Sample {
            window_ns: shape.seconds * step,
            interval_ns: step,
            reads: KindTotals {
                operations,
                bytes: operations * 4096,
                latency_sum_ns: (operations as f64 * latency) as u64,
                latency_min_ns: (latency * 0.4) as u64,
                latency_max_ns: (latency * 9.0) as u64,
                histogram,
                ..KindTotals::default()
            },
            writes: KindTotals::default(),
            intervals: rows,
            disks: vec![],
            outstanding_mean: load,
            outstanding_configured: Some(load as u64),
            steps,
            ..stormeter_testkit::sample(1.0)
        };
        let busy = (operations as f64
            * (7_000.0 + 4_000.0 * datastore)
            * (1.0 + 0.03 * noise(seed, 2, 8))) as u64;
        let cpu = CpuUsage {
            threads_user_ns: busy / 12,
            threads_system_ns: busy / 3,
            process_ns: busy / 2,
            host: HostCpu {
                user_ns: busy / 8,
                system_ns: busy / 2,
                softirq_ns: busy / 4,
                idle_ns: (shape.seconds * step * shape.cores as u64).saturating_sub(busy),
                cpus: shape.cores as u32,
                ..HostCpu::default()
            },
            target_ns: (place.datastore == 1).then_some(busy / 6),
            ..CpuUsage::default()
        };
        Self {
            cell,
            block,
            started_unix_ms: 1_790_000_000_000
                + (u64::from(block) * cells as u64 + turn as u64) * (shape.seconds + 6) * 1000,
            monitor: monitor(shape, seed, base, datastore),
            sample,
            cpu,
            is_failed: cell == 4 && block == 2,
            incidents: match cell == 7 && block < 2 {
                true => {
                    let said = "the connection was lost and made again".into();
                    vec![Incident { times: 3, ..Incident::new(StorageEvent::Other { said }) }]
                }
                false => vec![],
            },
            notes: match place.datastore {
                1 => {
                    let said = "the server answers one request at a time".into();
                    vec![NoteFact::Early { said }.into()]
                }
                _ => vec![],
            },
        }
    }

    fn trial(&self) -> TrialParts<'_> {
        TrialParts {
            cell: self.cell,
            block: self.block,
            started_unix_ms: self.started_unix_ms,
            elapsed_ns: self.sample.window_ns + 6 * SECOND,
            measured: (!self.is_failed).then_some((&self.sample, &self.cpu)),
            notes: &self.notes,
            incidents: &self.incidents,
            monitor: &self.monitor,
            components: &[],
        }
    }

    fn value(&self, metric: Metric) -> Option<f64> {
        value_of(metric, &self.sample, &self.cpu).filter(|_| !self.is_failed)
    }
}

fn monitor(shape: &Shape, seed: u64, base: f64, datastore: f64) -> Vec<MonitorRow> {
    (0..shape.seconds + 5)
        .map(|second| {
            let ramp = if second < 5 { 0.6 } else { 1.0 };
            let wave = ramp * (1.0 + 0.12 * noise(seed, second, 5));
            let busy = (base / 90_000.0 * 0.7 * wave).min(1.0);
            let remote = if datastore > 0.0 { base * 4096.0 * wave } else { 20_000.0 };
            let core = |core: usize| (busy * (0.5 + noise(seed, core as u64, 6).abs())).min(1.0);
            MonitorRow {
                at_ns: second * SECOND,
                length_ns: SECOND,
                cpu_busy: busy,
                cores_busy: (0..shape.cores).map(core).collect(),
                memory_used_bytes: (3 << 30) + second * (4 << 20),
                network_receive_bytes_per_s: remote * 0.75,
                network_transmit_bytes_per_s: remote * 0.25,
                loopback_bytes_per_s: 1_000.0,
                disk_read_bytes_per_s: if datastore > 0.0 { 0.0 } else { base * 3072.0 * wave },
                disk_write_bytes_per_s: if datastore > 0.0 { 8_192.0 } else { base * 1024.0 },
            }
        })
        .collect()
}

/// A number between -1 and 1 that looks random and is the same everywhere.
fn noise(a: u64, b: u64, c: u64) -> f64 {
    let mut x =
        a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x85eb_ca6b) ^ c.wrapping_mul(0xc2b2_ae35);
    for _ in 0..3 {
        x ^= x >> 15;
        x = x.wrapping_mul(0x2c1b_3c6d_2545_f491);
    }
    (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn analysis(shape: &Shape, plan: &StudyPlan, cells: &[Cell], trials: &[Made]) -> Analysis {
    let of = |cell: usize| trials.iter().filter(move |trial| trial.cell == cell);
    let primary = plan.design.metric;
    let summaries = (0..cells.len())
        .map(|cell| {
            let measured: Vec<&Made> = of(cell).filter(|trial| !trial.is_failed).collect();
            let failed = of(cell).filter(|trial| trial.is_failed).count() as u32;
            let values = |metric: Metric| -> Vec<f64> {
                measured.iter().filter_map(|trial| trial.value(metric)).collect()
            };
            let mut latencies = Histogram::default();
            let mut cpu = CpuUsage { target_ns: Some(0), ..CpuUsage::default() };
            for trial in &measured {
                latencies.merge(&trial.sample.reads.histogram);
                cpu.add_later(&trial.cpu);
            }
            let relative = plan.baseline_of(cell).map(|baseline| {
                let metrics = Metric::ALL.into_iter();
                metrics.filter_map(|m| relative(plan, m, of(baseline), of(cell))).collect()
            });
            CellSummary {
                trials: measured.len() as u32,
                failed: (failed > 0)
                    .then(|| failed_trials(failed, "nas1: connection reset by peer")),
                values: Metric::ALL
                    .into_iter()
                    .filter_map(|metric| {
                        let values = values(metric);
                        let estimate = Estimate::of_mean(&values, 0.95);
                        let value = Summary::of(&values)?.mean;
                        let interval = estimate.map(|e| e.interval);
                        Some(MetricSummary { metric, value, interval, n: values.len() })
                    })
                    .collect(),
                relative: relative.unwrap_or_default(),
                observations: values(primary),
                spread: Summary::of(&values(primary)),
                dependence: (cell == 0).then_some(Dependence {
                    n: 10,
                    lag1: 0.31,
                    effective_n: 5.3,
                }),
                latencies,
                issue: None,
                cpu,
                operations: measured.iter().map(|trial| trial.sample.operations()).sum(),
                verified: None,
                touched: None,
                steps: measured.first().map(|trial| trial.sample.steps.clone()).unwrap_or_default(),
            }
        })
        .collect();
    Analysis {
        complete_blocks: shape.blocks.saturating_sub(1),
        unit: Unit::Trial,
        cells: summaries,
        answers: vec![],
        findings: vec![(
            Some(1),
            LawFinding::warning(Fact::Drift {
                seen_in: SeenIn { trials: 3, of: 10 },
                most: -0.041,
            }),
        )],
        power: Some(PowerStatement {
            blocks: shape.blocks.saturating_sub(1),
            log_ratio_sd: 0.018,
            detectable: 0.019,
            blocks_for_margin: Some(4),
        }),
    }
}

fn relative<'a>(
    plan: &StudyPlan,
    metric: Metric,
    baseline: impl Iterator<Item = &'a Made>,
    candidate: impl Iterator<Item = &'a Made>,
) -> Option<Relative> {
    let blocks = baseline
        .zip(candidate)
        .filter_map(|(baseline, candidate)| {
            let (baseline, candidate) = (baseline.value(metric)?, candidate.value(metric)?);
            Some(BlockPair { baseline, candidate })
        })
        .collect();
    let input = ComparisonInput {
        baseline: "baseline".into(),
        candidate: "candidate".into(),
        metric,
        direction: direction_of(metric),
        blocks,
        margin: plan.design.margin,
        looks: Looks { precision: 0.0, min_blocks: 2, level: plan.design.level, resolution: 0.0 },
    };
    let comparison = Comparison::of(&input, 1).ok()?;
    Some(Relative { metric, ratio: comparison.ratio, comparison: Some(comparison) })
}

/// The study as a prediction: the first cell's reasons are known.
#[allow(dead_code, reason = "not every test is of predictions")]
pub(crate) fn predicted() -> Report {
    use stormeter_results::{AssumedEffect, Elasticity, ModelError, Prediction};
    use stormeter_trial::{ComponentKind, ComponentUse};
    let mut report = study();
    report.header.prediction = Some(Box::new(Prediction {
        site: "two filers <next year>".into(),
        file: "site.yaml".into(),
        text: "site: two filers".into(),
        what_if: vec!["nic=40GbE".into()],
        faults: vec![],
        shortened_from: Some((report.header.plan.timing, Blocks::Auto { min: 5, max: 100 })),
        model_errors: vec![
            ModelError { rate: 1.31, latency: 1.42, cpu: 1.2 };
            report.header.plan.datastores.len()
        ],
    }));
    let component = |name: &str, kind, busy: f64, response_share| ComponentUse {
        name: name.into(),
        kind,
        units: 4,
        utilisation: busy * 0.9,
        utilisation_most: busy,
        busy_ns: 1_000_000,
        queue_mean: 3.25,
        visits: 1000,
        lost: 0,
        response_share,
        series: vec![],
    };
    let uses = [
        component("esx cpu", ComponentKind::HostCpu, 0.2, 0.1),
        component("esx nic", ComponentKind::HostPort, 0.97, 0.65),
        component("aggregate & spares", ComponentKind::Disks, 0.5, 0.25),
    ];
    let mut sample = stormeter_trial::Sample {
        window_ns: SECOND,
        reads: Default::default(),
        outstanding_mean: 8.0,
        ..stormeter_testkit::sample(1.0)
    };
    sample.reads.operations = 8000;
    sample.reads.latency_sum_ns = 8 * SECOND;
    let why = stormeter_statistics::bottleneck::why(&[stormeter_statistics::bottleneck::Seen {
        sample: &sample,
        components: &uses,
        drained: 1.0,
    }])
    .expect("components");
    let gain = |component: &str, kind, ratio| Elasticity {
        cell: 0,
        component: component.into(),
        kind,
        factor: 1.1,
        metric: Metric::Iops,
        ratio,
    };
    report.reasons = (0..3)
        .map(|cell| stormeter_report::CellReasons {
            cell,
            why: why.clone(),
            elasticities: vec![
                gain("esx nic", ComponentKind::HostPort, 1.094),
                gain("esx cpu", ComponentKind::HostCpu, 1.001),
            ],
            assumed: [("2", 0.41), ("32", 1.2)][..2 - cell.min(2)]
                .iter()
                .map(|(other, ratio)| AssumedEffect {
                    cell,
                    of: destage_depth(other),
                    metric: Metric::Iops,
                    ratio: *ratio,
                })
                .collect(),
        })
        .collect();
    let mut answer = report.analysis.answers[0].clone();
    answer.reply = Reply::No;
    if let Some(estimate) = &mut answer.estimate {
        (estimate.value, estimate.interval) = (0.21, None);
    }
    report.assumed =
        vec![stormeter_report::AssumedAnswer { question: 0, of: destage_depth("2"), answer }];
    report
}

/// A default of the site, and another value.
fn destage_depth(other: &str) -> OtherValue {
    OtherValue {
        parameter: "controllers.filer.cache.destage-depth".into(),
        value: "16".into(),
        other: other.into(),
        is_default: true,
    }
}
