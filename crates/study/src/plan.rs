//! The plan of a comparison: a plain value that is stored before the first trial and from which a
//! killed run resumes.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stormeter_trial::{DesktopStep, Start, Workload};

use crate::plan_error::PlanError;
use crate::server_url::is_server;

/// What is compared, how it is measured and when it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonPlan {
    /// The datastores' URLs, as the user gave them. At least two; the same one twice is an A/A
    /// test.
    pub datastores: Vec<String>,
    /// Index of the datastore that the others are relative to.
    pub baseline: usize,
    /// The I/O of each VM.
    pub workload: Workload,
    /// Virtual disks (VMs) on each datastore.
    pub vms: u32,
    /// Size of each.
    pub disk_bytes: u64,
    /// I/O threads; 0: one per CPU, but no more than there are VMs.
    pub threads: u32,
    /// The timing of a trial.
    pub timing: Timing,
    /// The metric that carries the verdict.
    pub metric: Metric,
    /// The target half-width of the interval on the ratio (0.02 = 2 %).
    pub precision: f64,
    /// Differences within this are called equivalent (0.05 = 5 %).
    pub margin: f64,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Blocks before the precision is first checked.
    pub min_blocks: u32,
    /// Blocks at which the comparison ends in any case.
    pub max_blocks: u32,
    /// The comparison ends if the next block would exceed this, in nanoseconds.
    pub time_limit_ns: u64,
    /// Drive all datastores at one rate.
    pub equal_load: Option<EqualLoad>,
    /// The seed of orders, offsets and contents.
    pub seed: u64,
    /// Verify every read against what was written. Files from before this was possible lack it.
    #[serde(default)]
    pub verify: bool,
}

/// The timing of a trial, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Load before the window opens.
    pub ramp_ns: u64,
    /// The measured window.
    pub duration_ns: u64,
    /// One row of the time plot.
    pub interval_ns: u64,
}

/// The rate at which all datastores are driven.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum EqualLoad {
    /// This many I/Os per second on each datastore, all its VMs together.
    Rate {
        /// I/Os per second.
        rate_per_s: f64,
    },
    /// 70 % of the capacity of the slowest datastore, which is measured first.
    Auto,
}

/// The quantity that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// Mean latency.
    LatencyMean,
    /// Median latency.
    LatencyP50,
    /// 95th percentile.
    LatencyP95,
    /// 99th percentile.
    LatencyP99,
    /// 99.9th percentile.
    LatencyP999,
    /// Longest latency.
    LatencyMax,
    /// Mean service time: from when a request was issued. This and the next five are for open loops only,
    /// whose latency counts from when a request was due.
    ServiceMean,
    /// Median service time.
    ServiceP50,
    /// 95th percentile of service time.
    ServiceP95,
    /// 99th percentile of service time.
    ServiceP99,
    /// 99.9th percentile of service time.
    ServiceP999,
    /// 99th percentile of lateness, by which requests were issued late.
    LatenessP99,
    /// Mean latency of flushes. This and the next four are for workloads that flush: no read's or write's latency
    /// contains them.
    FlushMean,
    /// Median latency of flushes.
    FlushP50,
    /// 95th percentile of flushes.
    FlushP95,
    /// 99th percentile of flushes.
    FlushP99,
    /// 99.9th percentile of flushes.
    FlushP999,
    /// Median latency of durable writes. This and the next three are for workloads whose writes are durable: the
    /// same writes are also part of the latencies above.
    DurableWriteP50,
    /// 95th percentile of durable writes.
    DurableWriteP95,
    /// 99th percentile of durable writes.
    DurableWriteP99,
    /// 99.9th percentile of durable writes.
    DurableWriteP999,
    /// CPU time of the initiator (this process) per I/O.
    CpuPerIo,
    /// CPU time of the target (the server processes on this machine) per I/O.
    TargetCpuPerIo,
    /// Busy time of the whole host per I/O, minus what it spends without load.
    HostCpuPerIo,
    /// Busy share of the whole host, all CPUs together. For studies only.
    HostCpu,
    /// Elapsed time of a trial of fixed work (a file test, transfers, a deployment). For studies
    /// only.
    Elapsed,
    /// How long until throughput has recovered after a step. For studies with steps only.
    Recovery,
    /// The longest time in which nothing moved. For studies with steps only.
    Outage,
    /// Updates of their screens that viewers saw, per second, all viewers together. For studies of desktops only.
    Updates,
    /// Mean time of *copy*, a step of making a desktop. This and the next four are for desktops on demand only.
    CopyTime,
    /// Mean time of *setting*.
    SettingTime,
    /// Mean time of *deployment*.
    DeploymentTime,
    /// Mean time of *configure*.
    ConfigureTime,
    /// 99th percentile of the latency of the work of users who came one by one: what a class does to them.
    WorkP99,
}

impl Metric {
    /// Those that datastores are compared in under one load, in the order of tables.
    pub const FOR_COMPARISONS: [Metric; 26] = match Metric::ALL.first_chunk() {
        Some(first) => *first,
        None => panic!("there are fewer metrics than comparisons have"),
    };

    /// All, in the order of tables.
    pub const ALL: [Metric; 36] = [
        Metric::Iops,
        Metric::Throughput,
        Metric::LatencyMean,
        Metric::LatencyP50,
        Metric::LatencyP95,
        Metric::LatencyP99,
        Metric::LatencyP999,
        Metric::LatencyMax,
        Metric::ServiceMean,
        Metric::ServiceP50,
        Metric::ServiceP95,
        Metric::ServiceP99,
        Metric::ServiceP999,
        Metric::LatenessP99,
        Metric::FlushMean,
        Metric::FlushP50,
        Metric::FlushP95,
        Metric::FlushP99,
        Metric::FlushP999,
        Metric::DurableWriteP50,
        Metric::DurableWriteP95,
        Metric::DurableWriteP99,
        Metric::DurableWriteP999,
        Metric::CpuPerIo,
        Metric::TargetCpuPerIo,
        Metric::HostCpuPerIo,
        Metric::HostCpu,
        Metric::Elapsed,
        Metric::Recovery,
        Metric::Outage,
        Metric::Updates,
        Metric::CopyTime,
        Metric::SettingTime,
        Metric::DeploymentTime,
        Metric::ConfigureTime,
        Metric::WorkP99,
    ];

    /// Whether it is CPU time per I/O.
    pub fn is_of_cpu_per_io(self) -> bool {
        matches!(self, Metric::CpuPerIo | Metric::TargetCpuPerIo | Metric::HostCpuPerIo)
    }

    /// The step of making a desktop whose time it is.
    pub fn desktop_step(self) -> Option<DesktopStep> {
        match self {
            Metric::CopyTime => Some(DesktopStep::Copy),
            Metric::SettingTime => Some(DesktopStep::Setting),
            Metric::DeploymentTime => Some(DesktopStep::Deployment),
            Metric::ConfigureTime => Some(DesktopStep::Configure),
            _ => None,
        }
    }

    /// Whether only desktops on demand have it.
    pub fn is_of_desktops(self) -> bool {
        self.desktop_step().is_some() || self == Metric::WorkP99
    }

    /// Whether only a trial with steps has it.
    pub fn is_of_steps(self) -> bool {
        matches!(self, Metric::Recovery | Metric::Outage)
    }

    /// Whether it is defined only for open loops. In a closed loop service time is latency, and nothing
    /// is late.
    pub fn is_of_open_loops(self) -> bool {
        use Metric::{LatenessP99, ServiceMean, ServiceP50, ServiceP95, ServiceP99, ServiceP999};
        matches!(
            self,
            ServiceMean | ServiceP50 | ServiceP95 | ServiceP99 | ServiceP999 | LatenessP99
        )
    }

    /// Whether it is a latency of flushes.
    pub fn is_of_flushes(self) -> bool {
        use Metric::{FlushMean, FlushP50, FlushP95, FlushP99, FlushP999};
        matches!(self, FlushMean | FlushP50 | FlushP95 | FlushP99 | FlushP999)
    }

    /// Whether it is a latency of durable writes alone.
    pub fn is_of_durable_writes(self) -> bool {
        use Metric::{DurableWriteP50, DurableWriteP95, DurableWriteP99, DurableWriteP999};
        matches!(self, DurableWriteP50 | DurableWriteP95 | DurableWriteP99 | DurableWriteP999)
    }

    /// The name used on the command line, in JSON and in the results file.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Iops => "iops",
            Metric::Throughput => "throughput",
            Metric::LatencyMean => "latency-mean",
            Metric::LatencyP50 => "latency-p50",
            Metric::LatencyP95 => "latency-p95",
            Metric::LatencyP99 => "latency-p99",
            Metric::LatencyP999 => "latency-p999",
            Metric::LatencyMax => "latency-max",
            Metric::ServiceMean => "service-mean",
            Metric::ServiceP50 => "service-p50",
            Metric::ServiceP95 => "service-p95",
            Metric::ServiceP99 => "service-p99",
            Metric::ServiceP999 => "service-p999",
            Metric::LatenessP99 => "lateness-p99",
            Metric::FlushMean => "flush-mean",
            Metric::FlushP50 => "flush-p50",
            Metric::FlushP95 => "flush-p95",
            Metric::FlushP99 => "flush-p99",
            Metric::FlushP999 => "flush-p999",
            Metric::DurableWriteP50 => "durable-write-p50",
            Metric::DurableWriteP95 => "durable-write-p95",
            Metric::DurableWriteP99 => "durable-write-p99",
            Metric::DurableWriteP999 => "durable-write-p999",
            Metric::CpuPerIo => "cpu-per-io",
            Metric::TargetCpuPerIo => "target-cpu-per-io",
            Metric::HostCpuPerIo => "host-cpu-per-io",
            Metric::HostCpu => "host-cpu",
            Metric::Elapsed => "elapsed",
            Metric::Recovery => "recovery",
            Metric::Outage => "outage",
            Metric::Updates => "updates",
            Metric::CopyTime => "copy-time",
            Metric::SettingTime => "setting-time",
            Metric::DeploymentTime => "deployment-time",
            Metric::ConfigureTime => "configure-time",
            Metric::WorkP99 => "work-p99",
        }
    }

    /// The metric with this name.
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Its title in tables.
    pub fn title(self) -> &'static str {
        match self {
            Metric::Iops => "IOPS",
            Metric::Throughput => "throughput",
            Metric::LatencyMean => "mean latency",
            Metric::LatencyP50 => "p50 latency",
            Metric::LatencyP95 => "p95 latency",
            Metric::LatencyP99 => "p99 latency",
            Metric::LatencyP999 => "p99.9 latency",
            Metric::LatencyMax => "maximum latency",
            Metric::ServiceMean => "mean service time",
            Metric::ServiceP50 => "p50 service time",
            Metric::ServiceP95 => "p95 service time",
            Metric::ServiceP99 => "p99 service time",
            Metric::ServiceP999 => "p99.9 service time",
            Metric::LatenessP99 => "p99 lateness",
            Metric::FlushMean => "mean flush latency",
            Metric::FlushP50 => "p50 flush latency",
            Metric::FlushP95 => "p95 flush latency",
            Metric::FlushP99 => "p99 flush latency",
            Metric::FlushP999 => "p99.9 flush latency",
            Metric::DurableWriteP50 => "p50 durable write latency",
            Metric::DurableWriteP95 => "p95 durable write latency",
            Metric::DurableWriteP99 => "p99 durable write latency",
            Metric::DurableWriteP999 => "p99.9 durable write latency",
            Metric::CpuPerIo => "initiator CPU per I/O",
            Metric::TargetCpuPerIo => "target CPU per I/O",
            Metric::HostCpuPerIo => "host CPU per I/O",
            Metric::HostCpu => "host CPU",
            Metric::Elapsed => "elapsed time",
            Metric::Recovery => "recovery time",
            Metric::Outage => "outage",
            Metric::Updates => "updates",
            Metric::CopyTime => "copy time",
            Metric::SettingTime => "setting time",
            Metric::DeploymentTime => "deployment time",
            Metric::ConfigureTime => "configure time",
            Metric::WorkP99 => "p99 latency of work",
        }
    }

    /// Whether higher is better (IOPS) or lower (latency, CPU).
    pub fn higher_is_better(self) -> bool {
        matches!(self, Metric::Iops | Metric::Throughput | Metric::Updates)
    }
}

impl ComparisonPlan {
    /// Whether the plan can be executed, as far as that can be checked without touching anything.
    pub fn check(&self) -> Result<(), PlanError> {
        use stormeter_units::format_duration_ns;
        if self.datastores.len() < 2 {
            return Err(PlanError::TooFewDatastores(self.datastores.len()));
        }
        if let Some(server) = self.datastores.iter().find(|url| is_server(url)) {
            return Err(PlanError::Server(server.clone()));
        }
        if self.baseline >= self.datastores.len() {
            return Err(PlanError::Baseline(self.baseline.to_string(), self.datastores.join(", ")));
        }
        if !(self.precision > 0.0 && self.precision <= 1.0) {
            return Err(PlanError::Precision(self.precision * 100.0));
        }
        if !(self.margin > 0.0 && self.margin < 1.0) {
            return Err(PlanError::Margin(self.margin * 100.0));
        }
        if self.max_blocks < self.min_blocks {
            return Err(PlanError::Blocks { most: self.max_blocks, least: self.min_blocks });
        }
        if self.vms == 0 {
            return Err(PlanError::NoVms);
        }
        let Timing { duration_ns, interval_ns, .. } = self.timing;
        if duration_ns < 100_000_000 {
            return Err(PlanError::Duration(format_duration_ns(duration_ns as f64)));
        }
        if interval_ns == 0 || interval_ns > duration_ns {
            return Err(PlanError::Interval {
                interval: format_duration_ns(interval_ns as f64),
                duration: format_duration_ns(duration_ns as f64),
            });
        }
        if let Some(EqualLoad::Rate { rate_per_s }) = self.equal_load
            && !(rate_per_s > 0.0 && rate_per_s.is_finite())
        {
            return Err(PlanError::Rate(rate_per_s));
        }
        self.workload.check(self.disk_bytes)?;
        if self.verify {
            self.workload.check_verify(self.disk_bytes)?;
        }
        let open = self.equal_load.is_some() || self.workload.arrivals.rate_per_s().is_some();
        if open && matches!(self.metric, Metric::Iops | Metric::Throughput) {
            return Err(PlanError::FixedByRate(self.metric.title()));
        }
        if !open && self.metric.is_of_open_loops() {
            return Err(PlanError::ClosedLoop(self.metric.title()));
        }
        if self.metric.is_of_flushes() && self.workload.flush.is_none() {
            return Err(PlanError::NoFlushes(self.metric.title()));
        }
        if self.metric.is_of_durable_writes() && !self.workload.durable {
            return Err(PlanError::NoDurableWrites(self.metric.title()));
        }
        Ok(())
    }

    /// Whether the same datastore was given twice, so that no difference is expected.
    pub fn is_a_a_test(&self) -> bool {
        (1..self.datastores.len()).any(|i| self.datastores[..i].contains(&self.datastores[i]))
    }
}

/// The order of the datastores in a block: a random permutation of `0..datastores` that follows
/// from the seed and the block's number alone, so that a resumed run repeats the order of an
/// interrupted block.
pub fn block_order(seed: u64, block: u32, datastores: usize) -> Vec<usize> {
    shuffled(mix(seed, 0x0b10_c0de ^ u64::from(block)), datastores)
}

/// A random permutation of `0..count`.
fn shuffled(seed: u64, count: usize) -> Vec<usize> {
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..count).collect();
    // Fisher-Yates from the end; the modulo bias of 2^64 over a handful of datastores is
    // negligible.
    for last in (1..count).rev() {
        order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
    order
}

/// The order in which the disks of a run's stores are written in round `round`: a random permutation of
/// `0..stores` that follows from the seed, so that no store's disks are always written last because of its
/// place in the list.
pub fn fill_order(seed: u64, round: u32, stores: usize) -> Vec<usize> {
    shuffled(mix(seed, 0xf1_110d ^ (u64::from(round) << 32)), stores)
}

/// The seed of a trial's operations. All datastores of a block get the same operations, so that the
/// difference between them is theirs and not chance.
pub fn trial_seed(seed: u64, block: u32) -> u64 {
    mix(seed, 0x7_12a1 ^ (u64::from(block) << 32))
}

/// Where the sequential streams start in trial number `number` of those that use the same disks. As
/// with [`trial_seed`], all datastores of a block get the same.
pub fn trial_start(seed: u64, number: u64) -> Start {
    Start(mix(seed, 0x57a2_7000)).of_trial(number)
}

/// The seed of what a trial writes: different for each datastore and each trial `number`, so that
/// deduplicating storage finds nothing that it already has. [`fill_seed`] is that of the prepared
/// disks.
pub fn content_seed(seed: u64, datastore: usize, number: u64) -> u64 {
    mix(mix(seed, 0xc0_7e17 ^ ((datastore as u64 + 1) << 32)), number)
}

/// The seed of the contents of a store's prepared disks, before any trial writes to them.
pub fn fill_seed(seed: u64, store: usize) -> u64 {
    mix(seed, 0xf1_11ed ^ ((store as u64 + 1) << 32))
}

fn mix(seed: u64, stream: u64) -> u64 {
    SplitMix64::seed_from_u64(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next_u64()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A valid plan.
    pub(crate) fn plan() -> ComparisonPlan {
        ComparisonPlan {
            datastores: vec!["/a".into(), "/b".into()],
            baseline: 0,
            workload: crate::profile("vm-4k").unwrap().workload,
            vms: 1,
            disk_bytes: 1 << 30,
            threads: 0,
            timing: Timing {
                ramp_ns: 500_000_000,
                duration_ns: 2_000_000_000,
                interval_ns: 100_000_000,
            },
            metric: Metric::Iops,
            precision: 0.02,
            margin: 0.05,
            level: 0.95,
            min_blocks: 5,
            max_blocks: 100,
            time_limit_ns: 600_000_000_000,
            equal_load: None,
            seed: 1,
            verify: false,
        }
    }

    #[test]
    fn a_sound_plan_passes_and_each_mistake_is_named() {
        type Change = fn(&mut ComparisonPlan);
        assert_eq!(plan().check(), Ok(()));
        let changes: [(Change, &str); 13] = [
            (|p| p.datastores.truncate(1), "at least two"),
            (|p| p.baseline = 2, "baseline"),
            (|p| p.precision = 0.0, "precision of 0%"),
            (|p| p.precision = 1.01, "precision of 101%"),
            (|p| p.margin = 0.0, "margin"),
            (|p| p.max_blocks = 4, "allow 5"),
            (|p| p.vms = 0, "0 VMs"),
            (|p| p.timing.duration_ns = 1, "too short"),
            (|p| p.timing.interval_ns = 0, "interval"),
            (|p| p.metric = Metric::ServiceP99, "its service time is its latency"),
            (|p| p.metric = Metric::FlushP99, "never flushes, so it has no p99 flush latency"),
            (|p| p.metric = Metric::DurableWriteP50, "has no p50 durable write latency"),
            (|p| p.equal_load = Some(EqualLoad::Rate { rate_per_s: 0.0 }), "generates no load"),
        ];
        for (change, words) in changes {
            let mut plan = plan();
            change(&mut plan);
            let message = plan.check().expect_err(words).to_string();
            assert!(message.contains(words), "{message:?} should say {words:?}");
        }
    }

    #[test]
    fn every_datastore_has_one_turn_a_block_and_goes_first_equally_often() {
        let mut first = [0u32; 3];
        for block in 0..3000 {
            let order = block_order(7, block, 3);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
            first[order[0]] += 1;
        }
        // 1000 each; five standard deviations of a binomial are 129.
        assert!(first.iter().all(|&n| (871..=1129).contains(&n)), "{first:?}");
    }

    #[test]
    fn order_and_operations_follow_from_the_seed() {
        let orders = |seed| (0..64).map(|b| block_order(seed, b, 2)).collect::<Vec<_>>();
        assert_eq!(orders(7), orders(7));
        assert_ne!(orders(7), orders(8));
        assert_ne!(trial_seed(7, 0), trial_seed(7, 1));
        assert_ne!(trial_seed(7, 0), trial_seed(8, 0));
        assert_ne!(trial_start(7, 0), trial_start(8, 0));
        let seeds = [7, 8].into_iter().flat_map(|seed| {
            let trials = (0..9).map(move |n| content_seed(seed, n % 3, n as u64 / 3));
            trials.chain((0..3).map(move |store| fill_seed(seed, store)))
        });
        let seeds: std::collections::HashSet<_> = seeds.collect();
        assert_eq!(seeds.len(), 24, "no two trials or stores have the same content");
    }

    #[test]
    fn a_metric_is_found_by_its_name() {
        for metric in Metric::ALL {
            assert_eq!(Metric::from_name(metric.name()), Some(metric));
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(json, format!("{:?}", metric.name()));
        }
    }

    #[test]
    fn an_a_a_test_is_recognised() {
        let mut plan = plan();
        assert!(!plan.is_a_a_test());
        plan.datastores[1] = "/a".into();
        assert!(plan.is_a_a_test());
    }
}
