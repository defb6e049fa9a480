//! `report` of several results files: a time line of runs, of this program and of others.

use std::fs;

use stormeter_testkit::violations;

use crate::place::{Place, SHORT};

/// A result of fio that began on a day of November 2026 at 02:00 UTC: reads of 4 KiB, 4 in flight.
fn fio(day: u64, iops: f64) -> String {
    // 2026-11-01 02:00 UTC.
    let began_ms = (1_793_498_400 + (day - 1) * 86_400) * 1000;
    let (all, bytes) = (iops * 60.0, iops * 4096.0);
    let latency = 0.99 * 4e9 / iops;
    format!(
        r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "night", "error": 0, "job_start": {began_ms},
        "job options": {{"bs": "4k", "rw": "randread", "iodepth": "4", "ioengine": "libaio", "filename": "/srv/vm/disk"}},
        "read": {{"io_bytes": {:.0}, "io_kbytes": {:.0}, "bw_bytes": {bytes:.0}, "iops": {iops:.6}, "runtime": 60000, "total_ios": {all:.0},
        "lat_ns": {{"min": 900, "max": 90000000, "mean": {latency:.6}, "stddev": 500000.000000, "N": {all:.0}}}}}}}]}}"#,
        60.0 * bytes,
        60.0 * bytes / 1024.0
    )
}

/// Six nights, slower from the 24th on.
fn nights(place: &Place) {
    let levels = [1000.0, 1003.0, 998.0, 1001.0, 870.0, 868.0];
    for (day, iops) in (20..).zip(levels) {
        fs::write(place.path(&format!("n{day}.json")), fio(day, iops)).unwrap();
    }
}

const ALL: &str = "n22.json n23.json n20.json n24.json n25.json first=n21.json";

#[test]
fn a_mark_says_whether_something_changed() {
    let place = Place::new();
    nights(&place);
    let plain = place.run(&format!("report {ALL}")).expect(&[0]);
    assert!(plain.said().contains("6 runs of 1 cell from 2026-11-20 to 2026-11-25."), "{plain:?}");
    let mark = "--mark 2026-11-23T12:00=firmware --html line.html";
    let marked = place.run(&format!("report {ALL} {mark}")).expect(&[0]);
    let said = marked.said();
    assert!(said.contains("after firmware is slower than before firmware: IOPS −13."), "{said}");
    let order: Vec<usize> = ["n20: ", "first: ", "n22: ", "n23: ", "── firmware", "n24: "]
        .map(|name| said.find(name).unwrap_or_else(|| panic!("{name}: {said}")))
        .to_vec();
    assert!(order.is_sorted(), "{said}");
    let page = fs::read_to_string(place.path("line.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("after firmware is slower"), "{page:.400}");
    let json = place.run(&format!("report {ALL} --mark 2026-11-24=firmware --json")).expect(&[0]);
    let schema = place.run("schema timeline").expect(&[0]).json();
    let found = violations(&schema, &json.json());
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(json.json()["marks"][0]["runs_before"], 4);
    // Two runs have no verdict; a verdict that is not reached is an exit code.
    let two = place.run("report n20.json n24.json --mark 2026-11-23=firmware").expect(&[4]);
    assert!(two.said().contains("No verdict from one run on each side"), "{two:?}");
}

#[test]
fn what_makes_no_time_line_is_refused_by_name() {
    let place = Place::new();
    nights(&place);
    let other = fio(26, 900.0).replace("\"night\"", "\"day\"");
    fs::write(place.path("day.json"), format!("{other}\n")).unwrap();
    fs::write(place.path("cut.json"), &fio(26, 900.0)[..200]).unwrap();
    let two = fio(27, 1.0).replace("}]}", "},{\"jobname\": \"b\", \"error\": 0}]}");
    fs::write(place.path("two.json"), two).unwrap();
    for (arguments, code, said) in [
        ("n20.json cut.json", 2, "cut.json"),
        ("n20.json missing.db", 2, "missing.db"),
        ("n20.json ./n20.json", 2, "named twice"),
        ("x=n20.json x=n21.json", 2, "two runs are called x"),
        ("n20.json n21.json --mark 2026-12-01=late", 2, "no run is after late (2026-12-01"),
        ("n20.json --mark 2026-11-20=x", 2, "two runs or more"),
        ("n20.json n21.json --mark tuesday", 2, "a mark starts with a date"),
        ("n20.json n21.json --html n20.json/x", 2, "no page can be written"),
    ] {
        let refused = place.run(&format!("report {arguments}")).expect(&[code]);
        assert!(refused.stderr.contains(said), "{arguments}: {refused:?}");
    }
}

#[test]
fn our_own_runs_and_one_alone_are_shown_as_before() {
    let place = Place::new();
    for name in ["one.db", "two.db"] {
        let run = format!("compare a b {SHORT} --rate 100 --max-blocks 5 --quiet --output {name}");
        place.run(&run).expect(&[0, 4, 5]);
    }
    let both = place.run("report one.db two.db").expect(&[0]);
    let said = both.said();
    assert!(said.contains("2 runs of 2 cells on 20") && said.contains("p99 latency"), "{said}");
    assert!(said.contains("initiator CPU per I/O"), "{said}");
    // One file has the report that it always had.
    let one = place.run("report one.db").expect(&[0, 4, 5]).stdout;
    assert!(one.contains("IOPS") && !one.contains("to previous"), "{one}");
}
