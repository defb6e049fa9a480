//! The files that `init` writes are complete: every command that reads them takes them as they are.

use crate::place::{Outcome, Place};

/// One of each kind, with names and paths that have to be quoted somewhere.
const ALL: [&str; 7] = [
    "a",
    "nas=nfs://nas1/export/vm?sync=unstable",
    "iscsi://vm%hunter2@san1/iqn.2026-01.example:vm/1",
    "rbd:vms",
    "is=/srv/it's \"here\": #1",
    "no=nfs://nas2/vm",
    "dev=/dev/sdx",
];

/// Runs `init` with arguments that may have blanks in them.
fn init(place: &Place, what: &str, datastores: &[&str], more: &[&str]) -> Outcome {
    let mut command = place.command(&format!("init {what}"));
    command.args(datastores).args(more);
    place.spawn(command).wait()
}

#[test]
fn a_study_of_every_kind_of_datastore_is_a_study() {
    let place = Place::new();
    let written = init(&place, "study", &ALL, &[]).expect(&[0]);
    assert!(written.stderr.contains("stormeter run study.yaml --plan"), "{written:?}");
    let text = std::fs::read_to_string(place.path("study.yaml")).unwrap();
    assert!(!text.contains("hunter2") && text.contains("password-file"), "{text}");
    let plan = place.run("run study.yaml --plan").expect(&[0]).stdout;
    for words in ["it's \"here\": #1", "nfs://nas1/export/vm?sync=unstable", "/dev/sdx", "rbd:vms"]
    {
        assert!(plan.contains(words), "{words} is not in {plan}");
    }
    // What is in comments is valid, too.
    let alternative = |line: &str, key: &str| line.starts_with(&format!("# {key}: "));
    for key in ["workloads", "load", "measure", "design"] {
        let lines = text.lines().filter(|line| alternative(line, key));
        let mut count = 0;
        for line in lines {
            count += 1;
            let used = line.trim_start_matches("# ");
            let start = format!("{key}: ");
            let others = text.lines().filter(|line| !line.starts_with(&start));
            let other = format!("{}\n{used}\n", others.collect::<Vec<_>>().join("\n"));
            std::fs::write(place.path("other.yaml"), other).unwrap();
            place.run("run other.yaml --plan").expect(&[0]);
        }
        assert!(count > 0, "{key} has no alternative");
    }
    let asked: String = text.replace("  # - ", "  - ");
    std::fs::write(place.path("asked.yaml"), asked).unwrap();
    place.run("run asked.yaml --plan").expect(&[0]);
}

#[test]
fn the_other_forms_of_datastores_are_valid_without_their_comment_sign() {
    let place = Place::new();
    let text = init(&place, "study", &["a"], &["-o", "-"]).expect(&[0]).stdout;
    let forms = ["nas", "san", "disk", "ceph"];
    let mut used = text;
    for name in forms {
        let commented = format!("  # {name}: ");
        assert!(used.contains(&commented), "{name} is not in {used}");
        used = used.replace(&commented, &format!("  {name}: "));
    }
    std::fs::write(place.path("used.yaml"), used).unwrap();
    let plan = place.run("run used.yaml --plan").expect(&[0]).stdout;
    assert!(forms.iter().all(|name| plan.contains(name)), "{plan}");
}

#[test]
fn a_file_that_exists_is_left_as_it_is_and_a_dash_prints() {
    let place = Place::new();
    for what in ["study", "site", "lab"] {
        let name = format!("{what}.yaml");
        std::fs::write(place.path(&name), "mine").unwrap();
        let refused = init(&place, what, &[], &[]).expect(&[2]);
        assert!(refused.stderr.contains("exists"), "{refused:?}");
        assert_eq!(std::fs::read_to_string(place.path(&name)).unwrap(), "mine");
        let printed = init(&place, what, &[], &["-o", "-"]).expect(&[0]);
        assert!(printed.stdout.starts_with("# A "), "{printed:?}");
        let other = init(&place, what, &[], &["--output", "its own.yaml"]).expect(&[0]);
        assert!(other.stderr.contains("'its own.yaml'"), "{other:?}");
        let file = std::fs::read_to_string(place.path("its own.yaml")).unwrap();
        assert_eq!(file, printed.stdout);
        std::fs::remove_file(place.path("its own.yaml")).unwrap();
    }
}

#[test]
fn a_site_of_every_kind_of_datastore_is_a_site_on_which_the_study_is_predicted() {
    let place = Place::new();
    init(&place, "site", &[], &["-o", "usual.yaml"]).expect(&[0]);
    place.run("site check usual.yaml").expect(&[0]);
    init(&place, "site", &ALL, &[]).expect(&[0]);
    let checked = place.run("site check site.yaml").expect(&[0]).stdout;
    for words in ["RAID 6", "3 copies", "Assumed", "controllers.no.cache.write"] {
        assert!(checked.contains(words), "{words} is not in {checked}");
    }
    init(&place, "study", &ALL, &[]).expect(&[0]);
    place.run("predict study.yaml --site site.yaml --plan").expect(&[0]);
}

#[test]
fn a_lab_has_ways_like_the_datastores_and_refuses_others() {
    let place = Place::new();
    let text = init(&place, "lab", &["files=nfs://n/x", "no=iscsi://s/iqn.x:y/1"], &["-o", "-"]);
    let text = text.expect(&[0]).stdout;
    for words in ["host1:", "host2:", "server.files", "\"no\": {datastore: server.no}", "luns:"] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    let refused = init(&place, "lab", &["a"], &["-o", "-"]).expect(&[2]);
    assert!(refused.stderr.contains("neither an NFS export"), "{refused:?}");
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    let place = Place::new();
    for (what, datastore, words) in [
        ("study", "ftp://x", "ftp"),
        ("study", "server://x", "without disks"),
        ("site", "null:", "nothing like"),
    ] {
        let refused = init(&place, what, &[datastore], &[]);
        let refused = refused.expect(&[1, 2]);
        assert!(refused.stderr.contains(words), "{what} {datastore}: {refused:?}");
        assert!(!place.path(&format!("{what}.yaml")).exists());
    }
}

#[test]
fn a_study_of_directories_runs() {
    let place = Place::new();
    init(&place, "study", &["a", "second=b"], &[]).expect(&[0]);
    let text = std::fs::read_to_string(place.path("study.yaml")).unwrap();
    let replaced = [
        ("load: {vms: [1, 4], outstanding: 4}", "load: {vms: 1, outstanding: 1}"),
        ("measure: {ramp: 1s, duration: 4s}", "measure: {ramp: 20ms, duration: 200ms}"),
        (
            "design: {blocks: auto, precision: 5%, margin: 5%, time-limit: 15m}",
            "design: {blocks: 5}",
        ),
    ];
    let mut short = text.clone();
    for (from, to) in replaced {
        assert!(short.contains(from), "{from} is not in {text}");
        short = short.replacen(from, to, 1);
    }
    let size = short.lines().find(|line| line.starts_with("disk: ")).unwrap().to_owned();
    std::fs::write(place.path("study.yaml"), short.replace(&size, "disk: {size: 8MiB}")).unwrap();
    let ran = place.run("run study.yaml --html study.html").expect(&[0, 4, 5]);
    assert!(place.path("study.html").exists(), "{ran:?}");
    assert!(place.folders("a").is_empty() && place.folders("b").is_empty());
}
