//! What is measured: few loads that differ in one thing at a time.
//!
//! Two request sizes separate the time of a request from that of a byte, reads and writes their directions, one and
//! 16 outstanding I/Os what a request takes alone from what all share; four VMs show whether a VM or the storage is
//! the limit, and together four outstanding I/Os, between the others. One mixture shows how much reads wait for
//! writes.

use stormeter_study::{
    Blocks, Design, Metric, NamedDatastore, Order, PlanError, Prepare, Reset, StudyPlan,
    StudyWorkload, Timing, Unit, WorkloadKind,
};
use stormeter_trial::{Arrivals, Content, Distribution, SizeShare, Workload};
use stormeter_units::format_duration_ns;

/// How long and how large the measurement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteMeasurement {
    /// Size of each VM's disk, in bytes.
    pub disk_bytes: u64,
    /// The timing of a trial.
    pub timing: Timing,
    /// How often each cell is measured.
    pub blocks: u32,
    /// I/O threads; 0: one per CPU, but no more than there are VMs.
    pub threads: u32,
    /// The seed of orders, offsets and contents.
    pub seed: u64,
}

const SMALL: u32 = 4 << 10;
const LARGE: u32 = 64 << 10;
/// The shortest window that a trial may have, as of a comparison.
const LEAST_DURATION_NS: u64 = 100_000_000;
/// The levels of VMs and of outstanding I/Os of each.
const VMS: [u32; 2] = [1, 4];
const OUTSTANDING: [u32; 2] = [1, 16];

/// Name, request size in bytes, percentages of reads and of random requests.
const WORKLOADS: [(&str, u32, f64, f64); 7] = [
    ("read-4k", SMALL, 100.0, 100.0),
    ("read-64k", LARGE, 100.0, 100.0),
    ("write-4k", SMALL, 0.0, 100.0),
    ("write-64k", LARGE, 0.0, 100.0),
    ("half-4k", SMALL, 50.0, 100.0),
    ("seq-read-64k", LARGE, 100.0, 0.0),
    ("seq-write-64k", LARGE, 0.0, 0.0),
];

/// The plan for these datastores.
///
/// # Errors
/// The disks have no room for the requests, or a trial is too short to be measured.
pub fn site_plan(
    datastores: Vec<NamedDatastore>,
    measurement: &SiteMeasurement,
) -> Result<StudyPlan, PlanError> {
    let duration_ns = measurement.timing.duration_ns;
    if duration_ns < LEAST_DURATION_NS {
        return Err(PlanError::Duration(format_duration_ns(duration_ns as f64)));
    }
    for workload in WORKLOADS.map(io) {
        workload.check(measurement.disk_bytes)?;
    }
    Ok(plan(datastores, measurement))
}

fn plan(datastores: Vec<NamedDatastore>, measurement: &SiteMeasurement) -> StudyPlan {
    StudyPlan {
        study: "The measurements that a site is made from".into(),
        datastores,
        hosts: Vec::new(),
        baseline: 0,
        workloads: WORKLOADS.map(io).into_iter().map(workload).collect(),
        vms: VMS.to_vec(),
        outstanding: OUTSTANDING.to_vec(),
        disk_bytes: measurement.disk_bytes,
        prepare: Prepare::Random,
        timing: measurement.timing,
        steps: Vec::new(),
        design: Design {
            blocks: Blocks::Fixed(measurement.blocks),
            precision: 0.02,
            margin: 0.05,
            level: 0.95,
            metric: Metric::LatencyMean,
            order: Order::Randomized,
            reset: Reset::None,
            unit: Unit::Trial,
            time_limit_ns: None,
            equal_load: None,
        },
        site_faults: Vec::new(),
        questions: Vec::new(),
        threads: measurement.threads,
        verify: false,
        seed: measurement.seed,
    }
}

fn workload(io: Workload) -> StudyWorkload {
    StudyWorkload { name: io.name.clone(), disk_bytes: None, kind: WorkloadKind::Io(io) }
}

fn io((name, bytes, read_percent, random_percent): (&str, u32, f64, f64)) -> Workload {
    Workload {
        name: name.into(),
        sizes: vec![SizeShare { bytes, share: 1.0 }],
        read_percent,
        random_percent,
        distribution: Distribution::Uniform,
        alignment_bytes: None,
        arrivals: Arrivals::Closed { outstanding: OUTSTANDING[0] },
        burst: None,
        content: Content::default(),
        durable: false,
        flush: None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A datastore of this name.
    pub(crate) fn named(name: &str) -> NamedDatastore {
        NamedDatastore {
            name: name.into(),
            url: format!("/{name}"),
            site_changes: Vec::new(),
            ceiling: None,
            hosts: Vec::new(),
        }
    }

    /// A measurement of the usual length.
    pub(crate) fn measurement() -> SiteMeasurement {
        SiteMeasurement {
            disk_bytes: 256 << 20,
            timing: Timing {
                ramp_ns: 250_000_000,
                duration_ns: 1_000_000_000,
                interval_ns: 100_000_000,
            },
            blocks: 3,
            threads: 0,
            seed: 1,
        }
    }

    #[test]
    fn every_cell_can_be_driven_and_the_whole_takes_less_than_three_minutes_a_datastore() {
        let measurement = measurement();
        let plan = site_plan(vec![named("a"), named("b")], &measurement).unwrap();
        for workload in &plan.workloads {
            workload.kind.io().unwrap().check(measurement.disk_bytes).unwrap();
        }
        let cells = plan.cells();
        let of_one = cells.iter().filter(|cell| cell.datastore == 0).count() as u64;
        assert_eq!((cells.len(), of_one), (56, 28));
        let timing = measurement.timing;
        let all_ns = of_one * u64::from(measurement.blocks) * (timing.ramp_ns + timing.duration_ns);
        assert!(all_ns < 150_000_000_000, "{all_ns}");
        assert!(!plan.is_from_options() && !plan.is_comparison());
    }

    #[test]
    fn each_direction_has_two_sizes_alone_and_in_a_queue() {
        let plan = site_plan(vec![named("a")], &measurement()).unwrap();
        for read in [100.0, 0.0] {
            for bytes in [SMALL, LARGE] {
                let is_it = |workload: &StudyWorkload| {
                    let io = workload.kind.io().unwrap();
                    io.read_percent == read
                        && io.random_percent == 100.0
                        && io.sizes[0].bytes == bytes
                };
                let workload = plan.workloads.iter().position(is_it).unwrap();
                for outstanding in [1, 16] {
                    let has = |cell: &stormeter_study::Cell| {
                        cell.workload == workload && cell.outstanding == Some(outstanding)
                    };
                    assert_eq!(plan.cells().iter().filter(|cell| has(cell)).count(), 2);
                }
            }
        }
    }

    #[test]
    fn disks_without_room_and_windows_without_time_are_refused() {
        let small = SiteMeasurement { disk_bytes: 32 << 10, ..measurement() };
        assert!(matches!(site_plan(vec![named("a")], &small), Err(PlanError::Workload(_))));
        let timing = Timing { duration_ns: 99_000_000, ..measurement().timing };
        let short = SiteMeasurement { timing, ..measurement() };
        assert!(matches!(site_plan(vec![named("a")], &short), Err(PlanError::Duration(_))));
    }
}
