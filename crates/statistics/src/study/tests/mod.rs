//! Studies with a known truth: plans, trials with given values, and noise from a seed.

mod comparison;
mod decisions;
mod errors;
mod figures;
mod predicted;
mod promises;
mod recovery;
mod replies;
mod supposed;
mod whole;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_study::question::{Bound, Factor, LoadFactor, Vocabulary, parse};
use stormeter_study::{
    Blocks, Design, Metric, NamedDatastore, Order, Prepare, Reset, StudyPlan, StudyWorkload,
    Timing, Unit, WorkloadKind, profile,
};
use stormeter_testkit::{interval, sample};
use stormeter_trial::{CpuUsage, Sample};

use super::answer::answer_of;
use super::answered::{Answer, Grounds, NumberGrounds, Outlook, TestedLoads};
use super::conclusion::CellTrial;
use super::load::{Load, LoadedDatastore};
use super::measured::Measured;
use super::observations::Observations;
use super::remark::AnswerRemark;
use super::reply::Reply;
use super::test_used::{TTest, TestUsed, VarianceTest};
use super::unanswered::Unanswered;

/// `datastores` × `workloads` × `vms`, at 95 %, with a margin of 5 %.
pub(super) fn plan(datastores: &[&str], workloads: &[&str], vms: &[u32]) -> StudyPlan {
    let io = || WorkloadKind::Io(profile("vm-4k").unwrap().workload);
    StudyPlan {
        study: "Which is it?".into(),
        datastores: datastores
            .iter()
            .map(|name| NamedDatastore {
                name: (*name).into(),
                url: format!("/srv/{name}"),
                site_changes: vec![],
                ceiling: None,
                hosts: vec![],
            })
            .collect(),
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

/// What every trial here costs: 1 ms for 200 I/Os.
pub(super) const CPU_NS: u64 = 1_000_000;

/// A study's trials, owned.
pub(super) struct Trials(Vec<(u32, usize, Sample, CpuUsage)>);

impl Trials {
    /// One trial for each cell and block, with the IOPS that `iops` gives.
    pub(super) fn of(
        plan: &StudyPlan,
        blocks: u32,
        mut iops: impl FnMut(u32, usize) -> f64,
    ) -> Self {
        let cells = plan.cells().len();
        let cpu = CpuUsage { process_ns: CPU_NS, ..CpuUsage::default() };
        let places = (0..blocks).flat_map(|block| (0..cells).map(move |cell| (block, cell)));
        Self(places.map(|(block, cell)| (block, cell, sample(iops(block, cell)), cpu)).collect())
    }

    /// Gives every trial other IOPS, without the cost of making it again: the histograms stay.
    pub(super) fn refill(&mut self, mut iops: impl FnMut(u32, usize) -> f64) {
        for (block, cell, sample, _) in &mut self.0 {
            sample.window_ns = (200e9 / iops(*block, *cell)).round() as u64;
            sample.reads.latency_sum_ns = 4 * sample.window_ns;
        }
    }

    /// A trial to change.
    pub(super) fn at(&mut self, block: u32, cell: usize) -> (&mut Sample, &mut CpuUsage) {
        let place = self.0.iter().position(|own| (own.0, own.1) == (block, cell)).unwrap();
        let (_, _, sample, cpu) = &mut self.0[place];
        (sample, cpu)
    }

    /// Takes a trial away, as if it had failed.
    pub(super) fn without(mut self, gone: impl Fn(u32, usize) -> bool) -> Self {
        self.0.retain(|(block, cell, _, _)| !gone(*block, *cell));
        self
    }

    /// As the analysis wants them.
    pub(super) fn views(&self) -> Vec<CellTrial<'_>> {
        self.0
            .iter()
            .map(|(block, cell, sample, cpu)| CellTrial { block: *block, cell: *cell, sample, cpu })
            .collect()
    }

    /// The answer to a question, without checking the laws.
    pub(super) fn ask(&self, plan: &StudyPlan, text: &str) -> Answer {
        let question = parse(text, &Vocabulary::of(plan)).unwrap();
        let views = self.views();
        answer_of(&Measured::new(plan, &views), &question, text.into())
    }
}

/// The grounds of an answer about one number.
#[track_caller]
pub(super) fn number(answer: &Answer) -> &NumberGrounds {
    match &answer.grounds {
        Grounds::Number(grounds) => grounds,
        _ => panic!("not about a number: {answer:?}"),
    }
}

/// Why a question is not answered.
#[track_caller]
pub(super) fn unanswered(answer: &Answer) -> &Unanswered {
    assert_eq!(answer.reply, Reply::NotAnswered, "{answer:?}");
    assert_eq!((&answer.test, answer.p_value), (&None, None), "{answer:?}");
    match &answer.grounds {
        Grounds::Unanswered(why) => why,
        _ => panic!("answered: {answer:?}"),
    }
}

/// The t test of an answer.
#[track_caller]
pub(super) fn t_test(answer: &Answer) -> TTest {
    match answer.test {
        Some(TestUsed::T(test)) => test,
        _ => panic!("no t test: {answer:?}"),
    }
}

/// The analysis of variance of an answer.
#[track_caller]
pub(super) fn variance_test(answer: &Answer) -> &VarianceTest {
    match &answer.test {
        Some(TestUsed::Variance(test)) => test,
        _ => panic!("no analysis of variance: {answer:?}"),
    }
}

/// The load of a workload with this many VMs, in a study of several.
pub(super) fn load(workload: &str, vms: u32) -> Load {
    Load { workload: workload.into(), vms: Some(vms), outstanding: None }
}

/// A datastore under such a load.
pub(super) fn loaded(datastore: &str, workload: &str, vms: u32) -> LoadedDatastore {
    LoadedDatastore { datastore: datastore.into(), load: load(workload, vms) }
}

/// Normal numbers from a seed (Box and Muller, *Annals of Mathematical Statistics* 29 (1958)
/// 610-611).
pub(super) struct Noise(Xoshiro256PlusPlus);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// One with mean 0 and this SD.
    pub(super) fn normal(&mut self, sd: f64) -> f64 {
        let mut uniform = || ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let (radius, angle) = (uniform(), uniform());
        sd * (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}

/// Log IOPS of 9 + `effect` of the cell + an effect that the block's trials share (SD 0.1) + noise of each trial
/// (SD `sd`), as IOPS.
pub(super) fn iops_of(
    blocks: u32,
    sd: f64,
    seed: u64,
    effect: impl Fn(usize) -> f64,
) -> impl FnMut(u32, usize) -> f64 {
    let mut noise = Noise::new(seed);
    let common: Vec<f64> = (0..blocks).map(|_| noise.normal(0.1)).collect();
    move |block, cell| (9.0 + effect(cell) + common[block as usize] + noise.normal(sd)).exp()
}

/// Trials with such IOPS.
pub(super) fn noisy(
    plan: &StudyPlan,
    blocks: u32,
    sd: f64,
    seed: u64,
    effect: impl Fn(usize) -> f64,
) -> Trials {
    Trials::of(plan, blocks, iops_of(blocks, sd, seed, effect))
}
