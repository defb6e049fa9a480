//! A study with steps in its trials.

use stormeter_report::{Disturbed, Report, StepMark};
use stormeter_study::{Step, StepAction};
use stormeter_trial::Recovery;

use super::{SECOND, Shape, made, usual};

/// A study whose trials had steps: all cells of the baseline recover, the others do not within the trial.
pub(crate) fn disturbed() -> Report {
    let shape = Shape {
        workloads: vec!["vm-4k"],
        vms: vec![4],
        datastores: vec!["local", "nas"],
        blocks: 4,
        ..usual()
    };
    let mut report = made(&shape, |_| {});
    let deeds = [
        (9_000_000_000, StepAction::Fault("link-down nas".parse().unwrap())),
        (
            12_200_000_000,
            StepAction::Command {
                run: "ssh nas1 'ip link set eth1 up'".into(),
                undo: Some("ssh nas1 'ip link set eth1 up'".into()),
            },
        ),
    ];
    let end_ns = report.plan().timing.ramp_ns + report.plan().timing.duration_ns;
    report.header.plan.steps =
        deeds.into_iter().map(|(at_ns, what)| Step { at_ns, what }).collect();
    let steps = report.header.plan.steps.clone();
    for trace in report.traces.iter_mut().filter(|trace| trace.is_representative) {
        let recovery = [
            Recovery::Overtaken,
            match trace.cell {
                0 => Recovery::After(1_300_000_000),
                _ => Recovery::NotWithin(end_ns.saturating_sub(12_200_000_000)),
            },
        ];
        let step = |(step, recovery): (&Step, Recovery)| StepMark {
            what: step.what.to_string(),
            at_ns: step.at_ns + 1_400_000,
            planned_ns: step.at_ns,
            took_ns: 12_345_678,
            recovery: Some(recovery),
        };
        trace.disturbed = Disturbed {
            steps: steps.iter().zip(recovery).map(step).collect(),
            before_iops: Some(trace.iops),
            dip_share: Some(0.042),
            outage_ns: Some(3_400_000_000),
            interval_ns: SECOND,
            failed_operations: if trace.cell == 0 { 0 } else { 17 },
        };
        for point in &mut trace.points {
            if (9_000_000_000..12_200_000_000).contains(&point.at_ns) {
                point.iops *= 0.042;
            }
        }
    }
    report
}
