//! The files of `studies/` are valid, keep to the published design, and can be replicated.
//!
//! A file that is never read becomes outdated; these are read here as `stormeter run` reads them, and
//! the names in the questions of published findings are checked against them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use stormeter_study::question::{Claim, Relation, Vocabulary, parse};
use stormeter_study::{Blocks, Order, Reset, StudyPlan, Unit, WorkloadKind, parse_study};

const STUDIES: [&str; 5] = ["nfs-datastore", "tr3808", "vsan", "virtual-physical", "mpls-servers"];
const MINUTE_NS: u64 = 60_000_000_000;

fn directory(study: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../studies").join(study)
}

fn plan(study: &str, file: &str) -> StudyPlan {
    let path = directory(study).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    parse_study(&text).unwrap_or_else(|e| panic!("{study}/{file}: {e}"))
}

/// Every study file of a study: all except the published facts and relations, the sites and the labs.
fn files(study: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory(study)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| {
            name.ends_with(".yaml")
                && !name.ends_with("lab.yaml")
                && !["published.yaml", "relations.yaml", "site.yaml", "ceph-site.yaml"]
                    .contains(&name.as_str())
        })
        .collect()
}

fn names(plan: &StudyPlan) -> (Vec<&str>, Vec<&str>) {
    (
        plan.datastores.iter().map(|datastore| datastore.name.as_str()).collect(),
        plan.workloads.iter().map(|workload| workload.name.as_str()).collect(),
    )
}

#[test]
fn every_study_has_both_scales_and_every_file_is_a_study() {
    for study in STUDIES {
        let files = files(study);
        for needed in ["study.yaml", "small.yaml"] {
            assert!(files.contains(needed), "{study} has no {needed}");
        }
        for file in &files {
            let plan = plan(study, file);
            assert!((5..=12).contains(&plan.questions.len()), "{study}/{file}");
        }
        assert!(directory(study).join("README.md").is_file(), "{study} has no README.md");
    }
}

#[test]
fn small_studies_need_nothing_but_this_machine_and_some_minutes() {
    for study in STUDIES {
        let plan = plan(study, "small.yaml");
        for datastore in &plan.datastores {
            assert!(datastore.url.starts_with("embedded:"), "{study}: {}", datastore.url);
        }
        let estimate = plan.estimate();
        assert!(estimate.most_ns <= 4 * MINUTE_NS, "{study}: {} ns", estimate.most_ns);
        let space_bytes: u64 = estimate.space_bytes.iter().sum();
        assert!(space_bytes <= 1 << 30, "{study}: {space_bytes} bytes");
        assert!(!matches!(plan.design.reset, Reset::Command(_)), "{study}");
    }
}

#[test]
fn findings_are_asked_by_these_names() {
    let sizes = ["100kb", "1mb", "10mb"];
    let transfers: Vec<String> = sizes
        .iter()
        .flat_map(|size| {
            ["memory-write", "memory-read", "disk-write", "disk-read"]
                .map(|t| format!("{t}-{size}"))
        })
        .collect();
    let transfers: Vec<&str> = transfers.iter().map(String::as_str).collect();
    let iozone = [
        "iozone-write",
        "iozone-rewrite",
        "iozone-read",
        "iozone-reread",
        "iozone-random-read",
        "iozone-random-write",
    ];
    let vsan = [
        "read-4k",
        "read-64k",
        "read-256k",
        "bst",
        "st",
        "rt",
        "wt",
        "ht",
        "sht",
        "aft",
        "srt",
        "swt",
        "deploy",
    ];
    let expected: [(&str, &[&str], &[&str]); 5] = [
        ("nfs-datastore", &["local", "nfs"], &transfers),
        ("tr3808", &["local", "iscsi", "iscsi-2-paths", "nfs"], &["vm-4k", "vm-8k"]),
        ("vsan", &["local", "nas", "san"], &vsan),
        ("virtual-physical", &["physical", "virtual"], &["seq-write-4k", "seq-write-32k"]),
        ("mpls-servers", &["media-1", "media-2"], &iozone),
    ];
    for (study, datastores, workloads) in expected {
        let plan = plan(study, "small.yaml");
        let (has_datastores, has_workloads) = names(&plan);
        assert_eq!(has_datastores, datastores, "{study}");
        for workload in workloads {
            assert!(has_workloads.contains(workload), "{study} has no {workload}");
        }
    }
    assert_eq!(plan("tr3808", "small.yaml").vms, [1, 3, 5]);
}

#[test]
fn full_scale_is_the_published_one() {
    let tr3808 = plan("tr3808", "study.yaml");
    let outstanding: Vec<u32> = tr3808.vms.iter().map(|vms| vms * tr3808.outstanding[0]).collect();
    assert_eq!(outstanding, [128, 384, 640]);
    assert_eq!((tr3808.datastores.len(), tr3808.cells().len()), (13, 78));
    assert!(matches!(tr3808.design.reset, Reset::Command(_)));

    let physical = plan("virtual-physical", "study.yaml");
    assert_eq!(physical.timing.duration_ns / physical.timing.interval_ns, 500);
    assert_eq!((physical.design.unit, physical.design.level), (Unit::Interval, 0.99));
    assert_eq!(
        (physical.design.blocks, physical.design.order),
        (Blocks::Fixed(1), Order::AsWritten)
    );

    let transfers = plan("nfs-datastore", "study.yaml");
    assert_eq!((transfers.workloads.len(), transfers.design.blocks), (16, Blocks::Fixed(10)));
    for workload in &transfers.workloads {
        assert!(matches!(&workload.kind, WorkloadKind::Transfer(t) if t.messages == 100));
    }

    let networks = plan("vsan", "networks.yaml");
    assert_eq!(names(&networks).1, ["bst", "st", "rt", "wt", "ht", "sht", "aft", "srt", "swt"]);
    assert_eq!(plan("vsan", "deploy.yaml").vms, [60]);

    let mpls = plan("mpls-servers", "study.yaml");
    assert_eq!(mpls.vms, [1, 5]);
    for (place, workload) in mpls.workloads.iter().enumerate() {
        match &workload.kind {
            WorkloadKind::File(test) => {
                assert_eq!((test.record_bytes, mpls.disk_bytes_of(place)), (4096, 100 << 20));
            }
            WorkloadKind::Transfer(transfer) => {
                let bytes = transfer.message_bytes * u64::from(transfer.messages);
                assert!([7_000_000_000, 20_000_000_000].contains(&bytes), "{}", workload.name);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The studies are also the examples of the grammar: every form should occur somewhere.
#[test]
fn every_form_of_question_is_asked_somewhere() {
    let mut forms = BTreeSet::new();
    let mut musts = 0;
    for study in STUDIES {
        for file in files(study) {
            let plan = plan(study, &file);
            for text in &plan.questions {
                let question = parse(text, &Vocabulary::of(&plan)).unwrap();
                musts += u32::from(question.must);
                forms.insert(match &question.claim {
                    Claim::Compared { relation: Relation::Differs, .. } => "differs",
                    Claim::Compared { relation: Relation::Equal, .. } => "equal",
                    Claim::Compared { relation: Relation::Within { .. }, .. } => "within",
                    Claim::Compared { relation: Relation::AtLeast { .. }, .. } => "at least",
                    Claim::Compared { relation: Relation::AtMost { .. }, .. } => "at most",
                    Claim::Depends { depends: false, .. } => "does not depend",
                    Claim::Depends { interaction: true, .. } => "interaction",
                    Claim::Depends { .. } => "depends",
                    Claim::Trend { grows: true, .. } => "grows",
                    Claim::Trend { grows: false, .. } => "falls",
                    Claim::Bounded { .. } => "bounded",
                });
                if question.scope.everywhere {
                    forms.insert("everywhere");
                }
                if !question.scope.vms.is_empty() && !question.scope.outstanding.is_empty() {
                    forms.insert("at vms with outstanding");
                }
            }
        }
    }
    assert_eq!(forms.len(), 13, "{forms:?}");
    assert!((1..=5).contains(&musts), "`must` ends a run with 3; {musts} are not sparing");
}
