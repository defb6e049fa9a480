//! Every question of the findings is one that can be asked of a study with the same design.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_replicate::{Published, STUDIES, embedded};
use stormeter_study::parse_study;
use stormeter_study::question::{Change, Claim, Question, Relation, Vocabulary, parse};

/// The names of a study's small designs: all questions of a finding belong to one of them.
fn vocabularies(study: &str) -> Vec<Vocabulary> {
    let mut all = vec![vocabulary(study)];
    if study == "vsan" {
        let on_ceph = [
            include_str!("../../../studies/vsan/ceph.yaml"),
            include_str!("../../../studies/vsan/ceph-loss.yaml"),
            include_str!("../../../studies/vsan/desktops-ceph.yaml"),
        ];
        all.extend(on_ceph.map(|text| Vocabulary::of(&parse_study(text).unwrap())));
    }
    if study == "mpls-servers" {
        let in_the_lab = [
            include_str!("../../../studies/mpls-servers/lab-services.yaml"),
            include_str!("../../../studies/mpls-servers/lab-failover.yaml"),
            include_str!("../../../studies/mpls-servers/controllers.yaml"),
        ];
        all.extend(in_the_lab.map(|text| Vocabulary::of(&parse_study(text).unwrap())));
    }
    all
}

/// The names of the studies' `small.yaml`.
fn vocabulary(study: &str) -> Vocabulary {
    let (datastores, workloads, vms): (&[&str], &[&str], &[u32]) = match study {
        "nfs-datastore" => (
            &["local", "nfs"],
            &[
                "memory-write-100kb",
                "memory-read-100kb",
                "disk-write-100kb",
                "disk-read-100kb",
                "memory-write-1mb",
                "memory-read-1mb",
                "disk-write-1mb",
                "disk-read-1mb",
                "memory-write-10mb",
                "memory-read-10mb",
                "disk-write-10mb",
                "disk-read-10mb",
            ],
            &[1],
        ),
        "tr3808" => (&["local", "iscsi", "iscsi-2-paths", "nfs"], &["vm-4k", "vm-8k"], &[1, 3, 5]),
        "vsan" => (&["local", "nas", "san"], &["read-4k", "read-64k", "read-256k", "deploy"], &[1]),
        "virtual-physical" => (&["physical", "virtual"], &["seq-write-4k", "seq-write-32k"], &[1]),
        _ => (&["media-1", "media-2"], &["iozone-write", "iozone-read"], &[1]),
    };
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Vocabulary {
        datastores: owned(datastores),
        workloads: owned(workloads),
        vms: vms.to_vec(),
        outstanding: Vec::new(),
        metric: None,
    }
}

#[test]
fn every_question_can_be_asked() {
    let mut asked = 0;
    for name in ["nfs-datastore", "tr3808", "vsan", "virtual-physical", "mpls-servers"] {
        let study = Published::read(embedded(name).unwrap()).unwrap();
        for finding in &study.findings {
            let refused: Vec<String> = vocabularies(name)
                .iter()
                .filter_map(|names| {
                    let mut errors = finding.ask.iter().map(|question| {
                        parse(question, names).err().map(|error| format!("{question}: {error}"))
                    });
                    errors.find_map(|error| error)
                })
                .collect();
            assert!(
                refused.len() < vocabularies(name).len(),
                "{}: {}",
                finding.id,
                refused.join("; ")
            );
            asked += finding.ask.len();
        }
    }
    assert!(asked >= 45, "{asked} questions");
}

/// The plans at full scale; a study may have been several experiments.
fn plans(study: &str) -> Vec<Vocabulary> {
    let texts: &[&str] = match study {
        "nfs-datastore" => &[
            include_str!("../../../studies/nfs-datastore/study.yaml"),
            include_str!("../../../studies/nfs-datastore/rtt.yaml"),
        ],
        "tr3808" => &[include_str!("../../../studies/tr3808/study.yaml")],
        "vsan" => &[
            include_str!("../../../studies/vsan/study.yaml"),
            include_str!("../../../studies/vsan/networks.yaml"),
            include_str!("../../../studies/vsan/deploy.yaml"),
            include_str!("../../../studies/vsan/desktops-full.yaml"),
            include_str!("../../../studies/vsan/cache.yaml"),
            include_str!("../../../studies/vsan/drive.yaml"),
            include_str!("../../../studies/vsan/nodes.yaml"),
            include_str!("../../../studies/vsan/rates.yaml"),
        ],
        "virtual-physical" => &[
            include_str!("../../../studies/virtual-physical/study.yaml"),
            include_str!("../../../studies/virtual-physical/adapter.yaml"),
            include_str!("../../../studies/virtual-physical/cache.yaml"),
        ],
        _ => &[
            include_str!("../../../studies/mpls-servers/study.yaml"),
            include_str!("../../../studies/mpls-servers/adapters.yaml"),
            include_str!("../../../studies/mpls-servers/disks.yaml"),
            include_str!("../../../studies/mpls-servers/failover.yaml"),
            include_str!("../../../studies/mpls-servers/host.yaml"),
        ],
    };
    texts.iter().map(|text| Vocabulary::of(&parse_study(text).unwrap())).collect()
}

/// All questions of a finding belong to one plan: results come from one plan, and it agrees as a
/// whole.
#[test]
fn every_question_of_the_full_scale_can_be_asked_of_a_study_file() {
    let mut findings = 0;
    for (name, text) in STUDIES {
        let plans = plans(name);
        let study = Published::read(text).unwrap();
        for finding in &study.findings {
            if name == "tr3808" {
                // No name exists at both scales.
                assert!(finding.ask.is_empty() || !finding.ask_full.is_empty(), "{}", finding.id);
            }
            let refused: Vec<String> = plans
                .iter()
                .filter_map(|plan| {
                    let all = finding.ask_full.iter().chain(&finding.ask_direction);
                    let mut errors = all.map(|question| {
                        parse(question, plan).err().map(|error| format!("{question}: {error}"))
                    });
                    errors.find_map(|error| error)
                })
                .collect();
            assert!(refused.len() < plans.len(), "{}: {}", finding.id, refused.join("; "));
            findings += usize::from(!finding.ask_full.is_empty());
        }
    }
    assert!(findings >= 70, "{findings} findings are asked at full scale");
}

/// A claim about every configuration is not shown by a mean over them.
#[test]
fn what_is_claimed_of_every_configuration_is_asked_everywhere() {
    let study = Published::read(embedded("tr3808").unwrap()).unwrap();
    for id in ["1.1-a", "1.1-e", "2-a", "2.2-a", "2.2-c", "5.1-a", "5.3-a", "6.1-a", "6.3-a"] {
        let id = format!("tr3808-{id}");
        let finding = study.findings.iter().find(|finding| finding.id == id).unwrap();
        assert!(!finding.ask.is_empty(), "{id}");
        for question in finding.ask.iter().chain(&finding.ask_full) {
            assert!(question.ends_with(" everywhere"), "{id}: {question}");
        }
    }
}

/// The contrary of "A is more than B", if a question asks that.
fn contrary(question: &Question) -> Option<Question> {
    let mut contrary = question.clone();
    let Claim::Compared { relation: Relation::AtLeast { change, percent }, .. } =
        &mut contrary.claim
    else {
        return None;
    };
    *change = match change {
        Change::Faster => Change::Slower,
        Change::Slower => Change::Faster,
        Change::Lower => Change::Higher,
        Change::Higher => Change::Lower,
    };
    *percent = 0.0;
    Some(contrary)
}

/// Two findings about different test beds cannot both be asked of the same results.
#[test]
fn no_study_asks_contrary_things() {
    for name in ["nfs-datastore", "tr3808", "vsan", "virtual-physical", "mpls-servers"] {
        let study = Published::read(embedded(name).unwrap()).unwrap();
        let questions: Vec<(&str, Question)> = study
            .findings
            .iter()
            .flat_map(|finding| finding.ask.iter().map(|text| (finding.id.as_str(), text)))
            .map(|(id, text)| {
                let names = vocabularies(name);
                let question = names.iter().find_map(|names| parse(text, names).ok());
                (id, question.unwrap())
            })
            .collect();
        for (id, question) in &questions {
            let Some(contrary) = contrary(question) else { continue };
            let other = questions.iter().find(|(_, other)| *other == contrary);
            assert!(other.is_none(), "{id} asks the contrary of {}: {question}", other.unwrap().0);
        }
    }
}
