//! `stormeter measure-site`: what is measured becomes a site that can be checked, predicted and fitted again.

use crate::place::Place;

/// As short as it can be.
const SHORT: &str = "--size 4MiB --duration 100ms --ramp 20ms --blocks 1 --quiet";

const STUDY: &str = "study: Another load\n\
    datastores: {disk: a}\n\
    workloads:\n\
    - {name: mix-16k, request-size: 16KiB, read: 70%, random: 100%}\n\
    load: {vms: 2, outstanding: 4}\n\
    disk: {size: 4MiB}\n\
    measure: {ramp: 20ms, duration: 100ms, interval: 20ms}\n\
    design: {blocks: 1}\n";

#[test]
fn a_measured_directory_becomes_a_site_that_is_checked_and_predicted() {
    let place = Place::new();
    let command = format!("measure-site disk=a --write site.yaml {SHORT}");
    // A machine may be so busy that a trial of a tenth of a second is not sound: the others make the site.
    let outcome = place.run(&command).expect(&[0, 5]);
    assert!(outcome.stdout.contains("Not known from this:"), "{outcome:?}");
    assert!(outcome.stdout.lines().all(|line| line.chars().count() <= 80), "{outcome:?}");
    let site = std::fs::read_to_string(place.path("site.yaml")).unwrap();
    for words in
        ["# Unknown:", "# measured", "# assumed", "of cells held out", "Working sets larger"]
    {
        assert!(site.contains(words), "{words}: {site}");
    }
    place.run("site check site.yaml").expect(&[0]);
    std::fs::write(place.path("study.yaml"), STUDY).unwrap();
    place.run("predict study.yaml --output predicted.db --quiet").expect(&[0]);
    // The results are kept, with everything that was measured.
    let shown = place.run("report site.db --json").expect(&[0, 5]).stdout;
    let report: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(report["cells"].as_array().unwrap().len(), 28);
    // Finished measurements are not repeated, and an edited site is not lost.
    let refused = place.run(&command).expect(&[2]);
    assert!(refused.stderr.contains("site.yaml exists"), "{refused:?}");
    let again = format!("measure-site disk=a --write again.yaml --output site.db --json {SHORT}");
    let json = place.run(&again).expect(&[0, 5]).stdout;
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["datastores"][0]["name"], "disk");
    assert_eq!(found["site"].as_str().unwrap(), site, "the same measurements make the same site");
    assert!(!found["unknown"].as_array().unwrap().is_empty());
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is_written() {
    let place = Place::new();
    std::fs::write(place.path("there.yaml"), "").unwrap();
    let cases = [
        ("measure-site gopher:x", 2, "unknown scheme"),
        ("measure-site server://vdi", 2, "without disks"),
        ("measure-site embedded:smb", 2, "embedded:local"),
        ("measure-site x=a x=b", 2, "two datastores are called x"),
        ("measure-site a --write there.yaml", 2, "there.yaml exists"),
        ("measure-site a --write gone/site.yaml", 2, "gone is no directory"),
        ("measure-site a --write -", 2, "cannot be standard output"),
        ("measure-site a --duration 10", 2, "has no unit"),
        ("measure-site missing", 1, "does not exist"),
        ("measure-site a --size 4096TiB", 1, "must stay free"),
        ("measure-site a --size 32KiB", 2, "--size"),
        ("measure-site a --duration 50ms", 2, "--duration"),
    ];
    for (command, code, words) in cases {
        let outcome = place.run(command).expect(&[code]);
        assert!(outcome.stderr.contains(words), "{command}: {outcome:?}");
    }
    assert!(!place.path("site.yaml").exists());
}
