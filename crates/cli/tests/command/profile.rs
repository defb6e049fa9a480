//! The built-in workloads as they are listed and printed.

use crate::place::Place;

#[test]
fn profiles_are_listed_with_their_sources_and_printed_as_yaml() {
    let place = Place::new();
    let list = place.run("profile").expect(&[0]).stdout;
    for words in ["vm-4k", "TR-3808", "iozone-write", "deploy", "vSAN study", "transfers"] {
        assert!(list.contains(words), "{words}\n{list}");
    }
    let one = place.run("profile vm-8k").expect(&[0]).stdout;
    for words in
        ["# Source: NetApp TR-3808", "workloads:\n  - name: vm-8k\n", "request-size: 8KiB\n"]
    {
        assert!(one.contains(words), "{words}\n{one}");
    }
    let json = place.run("profile --json").expect(&[0]).json();
    assert!(json.as_array().unwrap().iter().any(|profile| profile["name"] == "oltp"));
}

#[test]
fn an_unknown_profile_is_reported_with_those_there_are() {
    let place = Place::new();
    let said = place.run("profile mainframe").expect(&[2]).stderr;
    assert!(said.contains("mainframe") && said.contains("vm-4k, vm-8k"), "{said}");
    for command in ["profile vm-4kk", "compare a b --workload vm-4kk"] {
        let said = place.run(command).expect(&[2]).stderr;
        assert!(said.contains("did you mean vm-4k?") && !said.contains("vm-8k"), "{said}");
    }
    let said = place.run("compare a b --workload iozone-write").expect(&[2]).stderr;
    assert!(said.contains("stormeter run"), "{said}");
}

#[test]
fn a_profile_is_a_job_of_fio_and_that_is_a_study_again() {
    let place = Place::new();
    let job = place.run("profile vm-8k --fio").expect(&[0]).stdout;
    assert!(job.contains("[vm-8k]\nrw=randrw\nrwmixread=75\nbs=8k\niodepth=4\n"), "{job}");
    std::fs::write(place.path("job.fio"), job).unwrap();
    let said = place.run("import job.fio -o study.yaml").expect(&[0]).stdout;
    assert!(said.contains("run --plan study.yaml"), "{said}");
    let plan = place.run("run --plan study.yaml").expect(&[0]).stdout;
    assert!(plan.contains("vm-8k"), "{plan}");
    let again = place.run("import job.fio -o study.yaml").expect(&[1]).stderr;
    assert!(again.contains("remove it"), "{again}");
    for (name, words) in [("journal", "flush: fio flushes after"), ("iozone", "no load for a time")]
    {
        let said = place.run(&format!("profile {name} --fio")).expect(&[2]).stderr;
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn what_a_study_cannot_have_of_a_job_is_refused_by_name_and_line() {
    let place = Place::new();
    let job = "[a]\nsize=1g\nzonemode=zbd\nbs=${NO_SUCH_VARIABLE}\niodepth=$ncpus\n";
    std::fs::write(place.path("job.fio"), job).unwrap();
    let said = place.run("import job.fio").expect(&[2]).stderr;
    for words in ["line 3: zonemode: ", "line 4: bs: ${NO_SUCH_VARIABLE}"] {
        assert!(said.contains(words), "{said}");
    }
    assert!(!said.contains("iodepth"), "{said}");
}
