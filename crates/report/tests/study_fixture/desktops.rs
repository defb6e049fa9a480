//! A study of desktops on demand, without and with a pool.

use stormeter_report::{DesktopTrace, Report, StudyDesktopCell, StudyDesktopStep};
use stormeter_statistics::{Fact, LawFinding, MetricSummary, Relative, SeenIn};
use stormeter_study::{Metric, StudyWorkload, WorkloadKind, profile};
use stormeter_trial::{
    BrokerRules, DesktopCopy, DesktopDeployment, DesktopLoad, DesktopRow, DesktopSession,
    DesktopStep, Resources, UserClass,
};

use super::planned::header;
use super::{SECOND, Shape, made_of, usual};

/// Two datastores, a pool of none and of three desktops. Making a desktop takes longer on the second, for its copy.
pub(crate) fn desktops() -> Report {
    let shape = Shape {
        datastores: vec!["local", "nas"],
        workloads: vec!["vm-4k", "vm-8k"],
        vms: vec![8],
        blocks: 4,
        ..usual()
    };
    let mut header = header(&shape);
    header.plan.workloads = [0, 3].map(workload).into();
    header.plan.design.metric = Metric::LatencyP95;
    header.plan.questions.clear();
    let (mut desktops, mut traces) = (Vec::new(), Vec::new());
    let mut report = made_of(header, &shape, |analysis| {
        for (cell, summary) in analysis.cells.iter_mut().enumerate() {
            // In the order of the plan: workloads, then datastores.
            let (pool, is_nas) = (cell / 2, cell % 2 == 1);
            let copy_ns = if is_nas { 2.4e9 } else { 1.0e9 };
            let steps = [
                (Metric::CopyTime, copy_ns),
                (Metric::SettingTime, 0.2e9),
                (Metric::DeploymentTime, 0.31e9),
                (Metric::ConfigureTime, 0.12e9),
                (Metric::WorkP99, 4e6),
            ];
            summary.values.extend(steps.map(|(metric, value)| MetricSummary {
                metric,
                value,
                interval: None,
                n: 4,
            }));
            if is_nas {
                let (metric, ratio, comparison) = (Metric::CopyTime, 2.4, None);
                summary.relative.push(Relative { metric, ratio, comparison });
            }
            desktops.push(of_cell(cell, pool == 1, [copy_ns, 0.2e9, 0.31e9, 0.12e9]));
            traces.push(trace(cell, pool == 1));
        }
        let fact = Fact::UsersUnserved { came: 17, refused: 0, gone: 1, waiting: 1 };
        let seen_in = Some(SeenIn { trials: 3, of: 4 });
        analysis.findings = vec![(Some(1), LawFinding { seen_in, ..LawFinding::warning(fact) })];
    });
    // The generator's ceiling, in IOPS, is measured with I/O alone.
    report.ceilings.clear();
    (report.desktops, report.desktop_traces) = (desktops, traces);
    report
}

fn workload(pool: u32) -> StudyWorkload {
    let io = profile("vm-4k").expect("it is built in").workload;
    let each = Resources { cpus: 1, memory_bytes: 1 << 30, storage_bytes: 16 << 20 };
    let load = DesktopLoad {
        arrivals_per_s: 0.5,
        users: None,
        class: Some(UserClass { users: 6, at_ns: 20 * SECOND }),
        broker: BrokerRules {
            pool,
            deploying_most: 4,
            waiting_most: None,
            patience_ns: Some(30 * SECOND),
            deploy_most_ns: 60 * SECOND,
            idle_ns: 5 * SECOND,
            capacity: Resources { cpus: 8, memory_bytes: 8 << 30, storage_bytes: 128 << 20 },
            desktop: each,
        },
        deployment: DesktopDeployment {
            copy: DesktopCopy::Full,
            copy_bytes: 1 << 20,
            outstanding: 4,
            setting_ns: SECOND / 5,
            boot_reads: 200,
            configure_writes: 50,
        },
        session: DesktopSession {
            log_on_requests: 100,
            log_on: io.clone(),
            work: io,
            length_ns: 8 * SECOND,
            idle_percent: 30.0,
        },
    };
    StudyWorkload {
        name: format!("portal-pool-{pool}"),
        disk_bytes: None,
        kind: WorkloadKind::Desktops(Box::new(load)),
    }
}

/// What became of users and desktops of a cell; in the order of the plan the second of two datastores is the slower one.
fn of_cell(cell: usize, has_pool: bool, steps_ns: [f64; 4]) -> StudyDesktopCell {
    let is_nas = cell % 2 == 1;
    let steps = DesktopStep::ALL.into_iter().zip(steps_ns);
    let total_ns: f64 = steps_ns.iter().sum();
    StudyDesktopCell {
        cell,
        came: 17.25,
        served: 15.5,
        at_once: if has_pool { 9.0 } else { 0.0 },
        refused: 0.0,
        gone: 0.75,
        waiting: 1.0,
        replaced: 0.0,
        wait_p50_ns: Some(if has_pool { 0.4e9 } else { 1.9e9 }),
        wait_p95_ns: Some(if is_nas { 9.4e9 } else { 5.1e9 }),
        deployed: 16.0,
        failed: 0.25,
        died: 0.0,
        idled_out: 4.0,
        storage_most_bytes: 128 << 20,
        steps: steps
            .map(|(step, ns)| StudyDesktopStep { name: step.name().into(), mean_ns: Some(ns) })
            .collect(),
        total_ns: Some(total_ns),
        total_ratio: is_nas.then_some(total_ns / 1.63e9),
    }
}

fn trace(cell: usize, has_pool: bool) -> DesktopTrace {
    let (class, is_nas) = (if has_pool { 3.0 } else { 6.0 }, cell % 2 == 1);
    let row = |second: u64| {
        let after = second.saturating_sub(20) as f64;
        let is_after = if second >= 20 { 1.0 } else { 0.0 };
        let waiting = is_after * (class - after * if is_nas { 0.4 } else { 0.9 }).max(0.0);
        DesktopRow {
            start_ns: second * SECOND,
            length_ns: SECOND,
            waiting,
            deploying: waiting.min(4.0) + 0.3,
            ready: if has_pool { 3.0 - is_after * waiting.min(3.0) } else { 0.0 },
            used: 1.5 + is_after * (6.0 - waiting).min(3.0),
            idle: 0.6,
            leaving: 0.1,
        }
    };
    DesktopTrace { cell, rows: (0..40).map(row).collect() }
}
