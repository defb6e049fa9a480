//! Checks without a guest: the faults for which a lab has the parts, and what is recorded.

use super::*;
use crate::file::parse_lab;
use crate::image::Images;
use crate::rack::state::VERSION;

const LAB: &str = "networks: {lan: {delay: 1ms}}\n\
                   storage: {nas: {network: lan, disks: {data: {size: 64MiB, count: 2, raid: 1}}, \
                   luns: {vm: data}}}\n\
                   vms: {vm: {disk: {datastore: nas.vm, size: 32MiB}}}\n";

fn faults(directory: &Path) -> Faults {
    faults_of(LAB, directory)
}

fn faults_of(lab_file: &str, directory: &Path) -> Faults {
    let lab = Directory::claim(directory).unwrap();
    let nowhere = || PathBuf::from("/nonexistent");
    let state = State {
        version: VERSION,
        lab: parse_lab(lab_file).unwrap(),
        accelerator: "tcg".into(),
        why: "a test".into(),
        addresses: vec!["127.64.0.1".into()],
        vm_addresses: vec![None],
        logs_writes: false,
        images: Images {
            system: nowhere(),
            kernel: nowhere(),
            storage: nowhere(),
            router: nowhere(),
            worker: nowhere(),
            host: nowhere(),
            server: nowhere(),
            others: Default::default(),
        },
    };
    state.write(&lab.path).unwrap();
    drop(lab);
    Faults::open(directory).unwrap()
}

fn fault(text: &str) -> FaultSpec {
    text.parse().unwrap()
}

#[test]
fn what_the_lab_has_not_is_refused_and_what_it_has_is_listed() {
    let parent = tempfile::tempdir().unwrap();
    let faults = faults(&parent.path().join("lab"));
    for text in [
        "pause nas",
        "kill vm",
        "link-down nas",
        "link-up nas.lan",
        "link-loss nas 5%",
        "link-flap nas.lan 200ms",
        "disk-fail nas.data 1",
        "disk-replace nas.data 0",
    ] {
        faults.check(&fault(text)).unwrap();
    }
    for (text, said) in [
        ("pause san", "it has nas, vm"),
        ("link-down nas.wan", "it has lan"),
        ("link-down vm", "vm has no network of its own"),
        ("disk-fail nas.data 2", "data 0 to 1"),
        ("disk-fail nas.date 0", "it has data"),
        ("disk-fail vm.data 0", "vm has no array"),
        ("path-down nas.vm 0", "no host nas"),
        ("disk-fail nas 1", "nas has arrays that can lose a disk: data"),
        ("disk-fail aggregate 1", "it has nas, vm"),
        ("disk-slow nas.data 1 10x", "a lab cannot do disk-slow nas.data 1 10x"),
        ("kill nas.1", "nas has no node called 1"),
        ("restart vm.0", "vm has no node called 0"),
    ] {
        let message = faults.check(&fault(text)).unwrap_err().to_string();
        assert!(message.contains(said), "{text}: {message}");
    }
}

/// The same study is predicted in `predict/tests/steps.rs`.
#[test]
fn the_lab_of_the_example_has_what_its_study_lets_fail() {
    const LAB: &str = include_str!("../../../../../examples/faults/lab.yaml");
    const STUDY: &str = include_str!("../../../../../examples/faults/study.yaml");
    let parent = tempfile::tempdir().unwrap();
    let faults = faults_of(LAB, &parent.path().join("lab"));
    let steps = STUDY.lines().filter_map(|line| line.split_once("do: ")?.1.strip_suffix('}'));
    let steps: Vec<FaultSpec> = steps.map(fault).collect();
    assert_eq!(steps.len(), 4);
    for step in &steps {
        faults.check(step).unwrap_or_else(|error| panic!("{step}: {error}"));
    }
}

#[test]
fn what_a_study_does_is_noted_before_it_is_done_and_what_is_done_by_hand_is_not() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("lab");
    let mut faults = faults(&path);
    // No guest runs, so nothing can be done.
    let pause = fault("pause nas");
    let message = faults.by_hand(&pause).unwrap_err().to_string();
    assert!(message.contains("pause nas was not done: nas does not run"), "{message}");
    assert!(faults.noted().unwrap().is_empty());
    faults.apply(&pause).unwrap_err();
    faults.apply(&fault("link-down san")).unwrap_err();
    assert_eq!(faults.noted().unwrap(), std::slice::from_ref(&pause));
    // The next run finds it; without images the guest does not come up, so it stays recorded.
    let mut next = Faults::open(&path).unwrap();
    next.restore().unwrap_err();
    assert_eq!(next.noted().unwrap(), [pause]);
    next.note(&[]).unwrap();
    next.restore().unwrap();
    assert!(!path.join(FAULTS).exists());
}
