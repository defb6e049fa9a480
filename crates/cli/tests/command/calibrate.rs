//! `stormeter calibrate`: what made the measurements is found again, and what they do not tell is said.

use crate::place::Place;

const STUDY: &str = "study: How fast is the disk?\n\
    datastores: {disk: /srv/vm}\n\
    workloads:\n\
    - {name: small, request-size: 4KiB, read: 100%, random: 100%}\n\
    - {name: large, request-size: 64KiB, read: 100%, random: 100%}\n\
    load: {vms: 1, outstanding: [1, 4, 16]}\n\
    disk: {size: 64MiB}\n\
    measure: {ramp: 50ms, duration: 400ms, interval: 100ms}\n\
    design: {blocks: 2}\n";

/// A disk that takes so long for a read, and for a byte on what all reads share.
fn site(read: &str, shared: &str) -> String {
    format!(
        "hosts: {{pc: {{cores: 4, clock: 1GHz}}}}\n\
         stacks: {{local: {{protocol: local, per-read: 3000 cycles, per-write: 3000 cycles}}}}\n\
         disk-groups:\n  ssd: # what is fitted\n    device: {{kind: queue, servers: 4, read: {read}, \
         write: 70us, shared-per-byte: {shared}, spread: exponential}}\n\
         datastores: {{disk: {{hosts: pc, stack: local, disks: ssd}}}}\n\
         fit:\n\
         - {{parameter: disk-groups.ssd.device.read, from: 1us, to: 10ms}}\n\
         - {{parameter: disk-groups.ssd.device.shared-per-byte, from: 0.01ns, to: 50ns}}\n\
         - {{parameter: disk-groups.ssd.device.write, from: 1us, to: 10ms}}\n"
    )
}

#[test]
fn what_made_the_results_is_found_and_what_they_do_not_tell_is_named() {
    let place = Place::new();
    std::fs::write(place.path("study.yaml"), STUDY).unwrap();
    // A site in the place of a machine: its results are as exact as none measured could be.
    std::fs::write(place.path("true.yaml"), site("90us", "0.6ns")).unwrap();
    std::fs::write(place.path("guess.yaml"), site("300us", "3ns")).unwrap();
    place.run("predict study.yaml --site true.yaml --output seen.db --quiet").expect(&[0]);
    let command = "calibrate seen.db --site guess.yaml --metric latency-mean --write fitted.yaml";
    let outcome = place.run(command).expect(&[0]);
    assert!(outcome.stdout.contains("The figures do not determine disk-groups.ssd.device.write"));
    assert!(outcome.stdout.contains("Held out, and predicted"), "{outcome:?}");
    let written = std::fs::read_to_string(place.path("fitted.yaml")).unwrap();
    assert!(written.contains("# what is fitted"), "{written}");
    assert_eq!(written.lines().count(), site("1us", "1ns").lines().count());
    let json = place.run(&format!("{command} --json")).expect(&[0]).stdout;
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let of = |number: usize| found["fit"]["parameters"][number]["value"].as_f64().unwrap();
    assert!((of(0) / 90_000.0 - 1.0).abs() < 0.05, "{json}");
    assert!((of(1) / 0.6 - 1.0).abs() < 0.05, "{json}");
    let error = found["errors"][0]["mean_absolute"].as_f64().unwrap();
    assert!(found["errors"][0]["unseen"].as_bool().unwrap() && error < 0.05, "{json}");
}

#[test]
fn what_cannot_be_fitted_is_refused_with_advice() {
    let place = Place::new();
    std::fs::write(place.path("study.yaml"), STUDY).unwrap();
    std::fs::write(place.path("site.yaml"), site("90us", "0.6ns")).unwrap();
    place.run("predict study.yaml --output seen.db --quiet").expect(&[0]);
    let free = site("90us", "0.6ns").split("fit:").next().unwrap().to_owned();
    std::fs::write(place.path("nothing.yaml"), free).unwrap();
    let cases = [
        ("calibrate seen.db --site nothing.yaml", "no parameter is free"),
        ("calibrate seen.db --site site.yaml --metric speed", "unknown metric speed"),
        ("calibrate seen.db --site site.yaml --hold-back 99%", "such as 25%"),
        ("calibrate --site site.yaml", "no finding under `calibration:`"),
        ("calibrate seen.db --site gone.yaml", "gone.yaml"),
    ];
    for (command, words) in cases {
        let outcome = place.run(command).expect(&[2]);
        assert!(outcome.stderr.contains(words), "{command}: {outcome:?}");
    }
}
