//! A results file of this program as a run.

use stormeter_conclude::Conclusion;
use stormeter_disk::Acknowledged;
use stormeter_results::Environment;
use stormeter_study::{StudyPlan, workloads_text};
use stormeter_units::{format_bytes, format_duration_ns};

use crate::run::{Aspect, GateCell, GateRun};

/// The run of a results file.
pub fn of_results(source: &str, conclusion: &Conclusion) -> GateRun {
    let Conclusion { header, analysis, .. } = conclusion;
    let plan = &header.plan;
    let cells = plan.cells().into_iter().zip(&analysis.cells).filter(|(_, cell)| cell.trials > 0);
    let cells = cells.map(|(cell, summary)| {
        let workload = &plan.workloads[cell.workload];
        let mut load = workload.name.clone();
        if plan.vms.len() > 1 {
            load += &format!(", {} VMs", cell.vms);
        }
        if let (Some(outstanding), true) = (cell.outstanding, plan.outstanding.len() > 1) {
            load += &format!(", {outstanding} outstanding");
        }
        let mut made_with = vec![(Aspect::Load, load_of(plan, cell.workload, cell.vms))];
        if let Some(promise) = &header.datastores[cell.datastore].promise {
            let promised = promised(promise.acknowledged).to_owned();
            made_with.push((Aspect::Durability, vec![promised]));
        }
        GateCell {
            datastore: plan.datastores[cell.datastore].name.clone(),
            load,
            made_with,
            values: summary.values.iter().map(|value| (value.metric, value.value)).collect(),
            within: summary
                .values
                .iter()
                .filter_map(|value| Some((value.metric, value.interval?)))
                .collect(),
        }
    });
    GateRun {
        source: source.to_owned(),
        began_s: Some(header.created_unix_ms as f64 / 1e3),
        made_with: vec![
            (
                Aspect::Generator,
                vec![match &header.prediction {
                    Some(prediction) => format!("a prediction for {}", prediction.site),
                    None => "stormeter".to_owned(),
                }],
            ),
            (Aspect::Version, vec![header.stormeter_version.clone()]),
            (Aspect::Machine, machine(&header.environment)),
        ],
        cells: cells.collect(),
        invalid: analysis
            .is_invalid()
            .then(|| "a law is broken in it; stormeter report says which".to_owned()),
    }
}

/// Everything that a workload and its disks are, in the words of study files.
fn load_of(plan: &StudyPlan, workload: usize, vms: u32) -> Vec<String> {
    let workload = &plan.workloads[workload];
    let disk = workload.disk_bytes.unwrap_or(plan.disk_bytes);
    let machines = if vms == 1 { "1 VM".to_owned() } else { format!("{vms} VMs") };
    let mut parts = vec![
        machines,
        format!("disks of {}", format_bytes(disk)),
        format!("windows of {}", format_duration_ns(plan.timing.duration_ns as f64)),
    ];
    let text = workloads_text(std::slice::from_ref(workload));
    parts.extend(text.lines().map(|line| line.trim().to_owned()));
    parts
}

fn promised(acknowledged: Acknowledged) -> &'static str {
    match acknowledged {
        Acknowledged::Stable => "on stable storage",
        Acknowledged::VolatileCache => "in a volatile cache",
        Acknowledged::Memory => "in memory",
        Acknowledged::Unknown => "not known",
    }
}

/// The hardware; a kernel or a load average is what a gate may be there to judge.
fn machine(environment: &Environment) -> Vec<String> {
    let gib = (environment.memory_bytes as f64 / (1u64 << 30) as f64).round();
    vec![
        environment.architecture.clone(),
        format!("{} CPUs", environment.cpus),
        environment.cpu_model.clone().unwrap_or_else(|| "CPU not known".to_owned()),
        format!("{gib} GiB of memory"),
    ]
}
