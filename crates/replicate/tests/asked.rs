//! Every question of the findings is one that a study of the same design can be asked.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_replicate::{Published, embedded};
use stormeter_study::question::{Vocabulary, parse};

/// The names of the studies' small designs.
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
            for question in &finding.ask {
                let parsed = parse(question, &vocabulary(name));
                assert!(parsed.is_ok(), "{}: {question}: {}", finding.id, parsed.unwrap_err());
                asked += 1;
            }
        }
    }
    assert!(asked >= 45, "{asked} questions");
}
