//! What a made-up study was planned as, and where it ran.

use stormeter_results::{DatastoreDescription, Environment, Header};
use stormeter_study::{
    Blocks, Design, Metric, NamedDatastore, Order, Prepare, Reset, StudyPlan, StudyWorkload,
    Timing, Unit, WorkloadKind, profile,
};
use stormeter_trial::{FileOperation, FileTest};

use super::{SECOND, Shape, answers};

pub(super) fn header(shape: &Shape) -> Header {
    let datastores = shape.datastores.iter().enumerate();
    let (named, descriptions) = datastores.map(|(index, name)| datastore(index, name)).unzip();
    Header {
        created_unix_ms: 1_790_000_000_000,
        run_id: "7c3f0a".into(),
        stormeter_version: "0.1.0".into(),
        command_line: ["stormeter", "run", "farm.yaml", "--output", "farm.db"]
            .map(String::from)
            .into(),
        plan: StudyPlan {
            study: "Which datastore for the build farm?".into(),
            datastores: named,
            hosts: Vec::new(),
            baseline: 0,
            workloads: shape.workloads.iter().map(|name| workload(name)).collect(),
            vms: shape.vms.clone(),
            outstanding: shape.outstanding.clone(),
            disk_bytes: 10 << 30,
            prepare: Prepare::Random,
            steps: vec![],
            timing: Timing {
                ramp_ns: 5 * SECOND,
                duration_ns: shape.seconds * SECOND,
                interval_ns: SECOND,
            },
            design: Design {
                blocks: Blocks::Fixed(shape.blocks),
                precision: 0.02,
                margin: 0.05,
                level: 0.95,
                metric: if shape.workloads[0] == "deploy" { Metric::Elapsed } else { Metric::Iops },
                order: Order::Randomized,
                reset: Reset::Recreate,
                unit: Unit::Trial,
                time_limit_ns: Some(7200 * SECOND),
                equal_load: None,
            },
            site_faults: Vec::new(),
            questions: answers().into_iter().map(|answer| answer.question).collect(),
            threads: 0,
            verify: false,
            seed: 20_260_921,
        },
        environment: Environment {
            hostname: Some("build-07".into()),
            kernel: "Linux 6.1.0-28-amd64".into(),
            architecture: "x86_64".into(),
            cpu_model: Some("AMD EPYC 7443P 24-Core Processor".into()),
            cpus: shape.cores as u32,
            memory_bytes: 32 << 30,
            governor: Some("performance".into()),
            engine: Some("io_uring".into()),
            ..Environment::default()
        },
        datastores: descriptions,
        prediction: None,
    }
}

fn datastore(index: usize, name: &str) -> (NamedDatastore, DatastoreDescription) {
    let url = match index {
        0 => "/srv/vm".to_string(),
        1 => format!("nfs://{name}1/export/vm"),
        _ => format!("iscsi://{name}1/iqn.2026-01.example:vm/0"),
    };
    let protocol: &[(&str, &str)] = match index {
        0 => &[],
        1 => {
            &[("version", "3"), ("rsize", "1048576"), ("wsize", "1048576"), ("writes", "FILE_SYNC")]
        }
        _ => &[
            ("MaxBurstLength", "262144"),
            ("FirstBurstLength", "65536"),
            ("ImmediateData", "Yes"),
            ("InitialR2T", "No"),
            ("HeaderDigest", "None"),
        ],
    };
    let description = DatastoreDescription {
        url: url.clone(),
        kind: ["directory", "nfs", "iscsi"][index.min(2)].into(),
        file_system: (index == 0).then(|| "ext4".into()),
        source: (index == 0).then(|| "/dev/nvme0n1p2".into()),
        mount_options: (index == 0).then(|| "rw,relatime".into()),
        logical_block_bytes: Some(512),
        direct: true,
        engine: "io_uring".into(),
        protocol: protocol.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        promise: None,
        memories: vec![],
        notes: vec![],
    };
    (
        NamedDatastore {
            name: name.into(),
            url,
            site_changes: vec![],
            ceiling: None,
            hosts: vec![],
        },
        description,
    )
}

fn workload(name: &str) -> StudyWorkload {
    let kind = match profile(name) {
        Ok(profile) => WorkloadKind::Io(profile.workload),
        Err(_) if name == "deploy" => WorkloadKind::Deploy(stormeter_trial::Deployment {
            clone: false,
            copy_bytes: 1 << 20,
            outstanding: 4,
            customise_writes: 200,
            boot_reads: 1000,
        }),
        Err(_) => WorkloadKind::File(FileTest {
            operation: FileOperation::Rewrite,
            record_bytes: 4096,
            outstanding: 1,
            client_cache: false,
            flush_at_end: false,
        }),
    };
    StudyWorkload { name: name.into(), disk_bytes: None, kind }
}
