//! Small studies with a known truth, whose questions are answered by the statistics: what their answers are in
//! words is the report's.

use stormeter_statistics::{Answer, CellTrial, Surroundings, analyse};
use stormeter_study::{
    Blocks, Design, Metric, NamedDatastore, Order, Prepare, Reset, StudyPlan, StudyWorkload,
    Timing, Unit, WorkloadKind, profile,
};
use stormeter_testkit::{interval, sample};
use stormeter_trial::{CpuUsage, DiskTotals, Histogram, Interval, KindTotals, Sample};

/// `datastores` × `workloads` × `vms`, at 95 %, with a margin of 5 %.
pub(crate) fn plan(datastores: &[&str], workloads: &[&str], vms: &[u32]) -> StudyPlan {
    let io = || WorkloadKind::Io(profile("vm-4k").unwrap().workload);
    let datastore = |name: &&str| NamedDatastore {
        name: (*name).into(),
        url: format!("/srv/{name}"),
        site_changes: vec![],
        ceiling: None,
        hosts: vec![],
    };
    StudyPlan {
        study: "Which is it?".into(),
        datastores: datastores.iter().map(datastore).collect(),
        hosts: Vec::new(),
        baseline: 0,
        workloads: workloads
            .iter()
            .map(|name| StudyWorkload { name: (*name).into(), disk_bytes: None, kind: io() })
            .collect(),
        vms: vms.to_vec(),
        outstanding: Vec::new(),
        disk_bytes: 1 << 30,
        prepare: Prepare::Random,
        steps: vec![],
        timing: Timing {
            ramp_ns: 1_000_000_000,
            duration_ns: 10_000_000_000,
            interval_ns: 1_000_000_000,
        },
        design: Design {
            blocks: Blocks::Fixed(6),
            precision: 0.02,
            margin: 0.05,
            level: 0.95,
            metric: Metric::Iops,
            order: Order::Randomized,
            reset: Reset::None,
            unit: Unit::Trial,
            time_limit_ns: None,
            equal_load: None,
        },
        site_faults: Vec::new(),
        questions: Vec::new(),
        threads: 1,
        verify: false,
        seed: 1,
    }
}

/// A trial of these rows, with 4 I/Os outstanding.
fn of_rows(rows: Vec<Interval>, interval_ns: u64, operations: u64) -> Sample {
    let window_ns = rows.len() as u64 * interval_ns;
    let mut whole = sample(1000.0);
    let latency_sum_ns = 4 * window_ns;
    let mut histogram = Histogram::default();
    (0..operations).for_each(|_| histogram.record(latency_sum_ns / operations));
    let latency_ns = latency_sum_ns / operations;
    whole.reads = KindTotals {
        operations,
        bytes: operations * 4096,
        latency_sum_ns,
        latency_min_ns: latency_ns,
        latency_max_ns: latency_ns + 1,
        histogram,
        ..KindTotals::default()
    };
    whole.disks = vec![DiskTotals { operations, ..DiskTotals::default() }];
    Sample { window_ns, interval_ns, intervals: rows, ..whole }
}

/// A trial of a study: its block, its cell, and what was measured.
struct Trial {
    block: u32,
    cell: usize,
    sample: Sample,
    cpu: CpuUsage,
}

/// A study's trials.
pub(crate) struct Trials(Vec<Trial>);

impl Trials {
    /// One trial for each cell and block, with the IOPS that `iops` gives.
    pub(crate) fn of(
        plan: &StudyPlan,
        blocks: u32,
        mut iops: impl FnMut(u32, usize) -> f64,
    ) -> Self {
        let cells = plan.cells().len();
        let cpu = CpuUsage { process_ns: 1_000_000, ..CpuUsage::default() };
        let places = (0..blocks).flat_map(|block| (0..cells).map(move |cell| (block, cell)));
        let trial = |(block, cell)| Trial { block, cell, sample: sample(iops(block, cell)), cpu };
        Self(places.map(trial).collect())
    }

    /// Trials whose IOPS are 8100 × exp of `effect` of the cell, a part that the block's trials share
    /// (SD 10 %), and noise of its own with this SD.
    pub(crate) fn noisy(
        plan: &StudyPlan,
        blocks: u32,
        sd: f64,
        seed: u64,
        effect: impl Fn(usize) -> f64,
    ) -> Self {
        let mut noise = Noise(seed);
        let common: Vec<f64> = (0..blocks).map(|_| noise.normal(0.1)).collect();
        Self::of(plan, blocks, |block, cell| {
            8100.0 * (effect(cell) + common[block as usize] + noise.normal(sd)).exp()
        })
    }

    /// One run of each cell of 400 intervals, with this autocorrelation and a difference of 1 %.
    pub(crate) fn one_run(plan: &StudyPlan, correlation: f64) -> Self {
        const SECOND: u64 = 1_000_000_000;
        let mut noise = Noise(21);
        let mut trials = Self::of(plan, 1, |_, _| 1000.0);
        for trial in &mut trials.0 {
            let mut state = 0.0;
            let rows = (0..400).map(|row| {
                state =
                    correlation * state + noise.normal((1.0 - correlation * correlation).sqrt());
                let mean = if trial.cell % 2 == 1 { 1010.0 } else { 1000.0 };
                interval(row * SECOND, SECOND, (mean + 50.0 * state) as u64)
            });
            let rows: Vec<Interval> = rows.collect();
            let operations = rows.iter().map(|row| row.reads.operations).sum();
            trial.sample = of_rows(rows, SECOND, operations);
        }
        trials
    }

    /// Without these trials, as if they had failed.
    pub(crate) fn without(mut self, gone: impl Fn(u32, usize) -> bool) -> Self {
        self.0.retain(|trial| !gone(trial.block, trial.cell));
        self
    }

    /// With I/Os of a cell that failed.
    pub(crate) fn with_errors(mut self, cell: usize) -> Self {
        for trial in self.0.iter_mut().filter(|trial| trial.cell == cell) {
            trial.sample.reads.errors = 2;
        }
        self
    }

    fn views<'a>(&'a self) -> Vec<CellTrial<'a>> {
        let view = |trial: &'a Trial| {
            let Trial { block, cell, sample, cpu } = trial;
            CellTrial { block: *block, cell: *cell, sample, cpu }
        };
        self.0.iter().map(view).collect()
    }

    /// The answers to questions; one that is not understood has its answer too.
    pub(crate) fn ask(&self, plan: &StudyPlan, questions: &[&str]) -> Vec<Answer> {
        self.analysed(plan, questions, false)
    }

    /// The answers to questions about trials of a model.
    pub(crate) fn ask_model(&self, plan: &StudyPlan, questions: &[&str]) -> Vec<Answer> {
        self.analysed(plan, questions, true)
    }

    fn analysed(&self, plan: &StudyPlan, questions: &[&str], is_predicted: bool) -> Vec<Answer> {
        let questions = questions.iter().map(|text| (*text).into()).collect();
        let plan = StudyPlan { questions, ..plan.clone() };
        let around = Surroundings { is_predicted, ..Surroundings::default() };
        analyse(&plan, &self.views(), &around).answers
    }
}

/// Normal numbers from a seed (Box and Muller).
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    /// One with mean 0 and this SD.
    pub(crate) fn normal(&mut self, sd: f64) -> f64 {
        let (radius, angle) = (self.uniform(), self.uniform());
        sd * (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// One between 0 and 1 (SplitMix64).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        ((x >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}
