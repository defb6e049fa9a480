//! Results that exist, of this program and of others, audited and gated; and datastores with names.

use crate::place::{Place, SHORT, SURE};

/// A result of fio: reads of 4 KiB, 4 in flight.
fn fio(iops: f64) -> String {
    let (all, bytes) = (iops * 60.0, iops * 4096.0);
    let latency = 0.99 * 4e9 / iops;
    format!(
        r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "night", "error": 0,
        "job options": {{"bs": "4k", "rw": "randread", "iodepth": "4", "ioengine": "libaio", "filename": "/srv/vm/disk"}},
        "read": {{"io_bytes": {:.0}, "io_kbytes": {:.0}, "bw_bytes": {bytes:.0}, "iops": {iops:.6}, "runtime": 60000, "total_ios": {all:.0},
        "lat_ns": {{"min": 900, "max": 90000000, "mean": {latency:.6}, "stddev": 500000.000000, "N": {all:.0}}}}}}}]}}"#,
        60.0 * bytes,
        60.0 * bytes / 1024.0
    )
}

#[test]
fn an_audit_reads_tables_and_results_and_its_exit_code_says_whether_something_is_broken() {
    let place = Place::new();
    std::fs::write(place.path("sound.json"), fio(1000.0)).unwrap();
    let sound = place.run("audit sound.json").expect(&[0]).stdout;
    assert!(sound.contains("0 broken"), "{sound}");
    // Four times as many I/Os a second as bytes and time allow.
    let wrong = fio(1000.0).replace("\"iops\": 1000", "\"iops\": 4000");
    std::fs::write(place.path("wrong.json"), wrong).unwrap();
    let found = place.run("audit wrong.json sound.json").expect(&[5]).stdout;
    assert!(
        found.contains("BROKEN  wrong.json, night") && found.contains("16.384 MB/s"),
        "{found}"
    );
    let json = place.run("audit wrong.json --json").expect(&[5]).json();
    assert_eq!(json["findings"][0]["level"], "broken");
    std::fs::write(
        place.path("table.yaml"),
        "tables:\n  - {name: t, label: Table 1, about: x, unit: ms, columns: [run, a], \
         rows: [[r1, 1.0], [r2, 2.0], [mean, 1.9]]}\n",
    )
    .unwrap();
    let table = place.run("audit table.yaml").expect(&[5]).stdout;
    assert!(table.contains("mean of 2 rows gives 1.5 ms"), "{table}");
    std::fs::write(place.path("cut.json"), &fio(1000.0)[..300]).unwrap();
    let cut = place.run("audit cut.json").expect(&[2]).stderr;
    assert!(cut.contains("cut.json: fio JSON, line"), "{cut}");
    std::fs::write(place.path("words.txt"), "no results\n").unwrap();
    let words = place.run("audit words.txt").expect(&[2]).stderr;
    assert!(words.contains("none of fio JSON"), "{words}");
}

#[test]
fn the_laws_are_applied_to_our_own_files_too() {
    let place = Place::new();
    let command = format!("compare a b {SHORT} {SURE} -o own.db");
    place.run(&command).expect(&[0, 4]);
    let sound = place.run("audit own.db").expect(&[0]).stdout;
    assert!(sound.contains("0 broken"), "{sound}");
    // A tenth of the reads is lost, and the histogram has them all.
    let file = rusqlite::Connection::open(place.path("own.db")).unwrap();
    file.execute("UPDATE total SET operations = operations * 9 / 10 WHERE kind = 'read'", [])
        .unwrap();
    drop(file);
    let found = place.run("audit own.db").expect(&[5]).stdout;
    let lines = found.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(lines.contains("BROKEN own.db, vm-4k changed on a, block 1, reads"), "{found}");
    assert!(lines.contains("I/Os in the histogram"), "{found}");
}

#[test]
fn a_gate_tells_a_regression_from_noise_by_its_exit_code() {
    let place = Place::new();
    std::fs::create_dir(place.path("history")).unwrap();
    for (day, iops) in [1000.0, 1003.0, 997.0, 1001.0, 999.0].into_iter().enumerate() {
        std::fs::write(place.path(&format!("history/{day}.json")), fio(iops)).unwrap();
    }
    std::fs::write(place.path("same.json"), fio(998.0)).unwrap();
    std::fs::write(place.path("slow.json"), fio(900.0)).unwrap();
    let fine = place.run("gate same.json --against history").expect(&[0]).stdout;
    assert!(fine.starts_with("No regression") && fine.contains("a slowdown of 3.8 %"), "{fine}");
    let slow = "gate slow.json --against history --junit g.xml --markdown g.md --github";
    let said = place.run(slow).expect(&[3]).stdout;
    assert!(said.starts_with("Regression: 2 of 2") && said.contains("::error title="), "{said}");
    assert!(std::fs::read_to_string(place.path("g.xml")).unwrap().contains("failures=\"2\""));
    assert!(std::fs::read_to_string(place.path("g.md")).unwrap().contains("| regression |"));
    let json = place.run("gate slow.json --against history --json").expect(&[3]).json();
    assert_eq!(json["outcome"], "regression");
    // One run each decides nothing; another one of the base may.
    place.run("gate slow.json --against history/0.json").expect(&[4]);
    let again = "gate slow.json --against history/0.json --rerun-base cp${IFS}same.json${IFS}{}";
    let again = place.run(again).expect(&[3, 4]);
    assert!(again.stdout.contains("1 run against 2 earlier"), "{again:?}");
    let other = fio(998.0).replace("libaio", "psync");
    std::fs::write(place.path("other.json"), other).unwrap();
    let refused = place.run("gate other.json --against history").expect(&[5]).stderr;
    assert!(
        refused.contains("load: 4 outstanding, engine libaio earlier")
            && refused.contains("--may-differ"),
        "{refused}"
    );
    place.run("gate other.json --against history --may-differ load").expect(&[0]);
}

#[test]
fn results_of_other_tools_are_kept_and_compared() {
    let place = Place::new();
    for (day, iops) in [1000.0, 1003.0, 997.0].into_iter().enumerate() {
        std::fs::write(place.path(&format!("nas{day}.json")), fio(iops)).unwrap();
        let san = fio(1.5 * iops).replace("/srv/vm/disk", "/mnt/san/disk");
        std::fs::write(place.path(&format!("san{day}.json")), san).unwrap();
    }
    let kept = "import nas0.json nas1.json nas2.json san0.json san1.json san2.json -o week.db";
    let said = place.run(kept).expect(&[0]).stdout;
    assert!(
        said.contains("nas1.json: fio fio-3.33, 1 run")
            || said.contains("nas1.json: fio 3.33, 1 run"),
        "{said}"
    );
    place.run(kept).expect(&[1]);
    // Each target is a side, each file a run.
    let report = place.run("report week.db").expect(&[0]).stdout;
    let sentence = "/mnt/san/disk is faster than /srv/vm/disk: IOPS +50.0 %";
    assert!(report.starts_with(sentence), "{report}");
    let json = place.run("report week.db --json --html week.html").expect(&[0]).json();
    let schema = place.run("schema sides").expect(&[0]).json();
    let violations = stormeter_testkit::violations(&schema, &json);
    assert!(violations.is_empty(), "{violations:#?}");
    assert!(std::fs::read_to_string(place.path("week.html")).unwrap().contains("is faster than"));
    // Files of one name are runs of one side, whatever the targets are called.
    let compare = "compare nas=nas0.json nas=nas1.json san=san0.json san=san1.json";
    let said = place.run(compare).expect(&[0]).stdout;
    assert!(said.starts_with("san is faster than nas: IOPS +50.0 %"), "{said}");
    let other = place.run(&format!("{compare} --baseline san --seed 1")).expect(&[0]);
    assert!(other.stdout.starts_with("nas is slower than san"), "{other:?}");
    assert!(other.stderr.contains("--seed has no effect"), "{other:?}");
    let one_each = place.run("compare nas0.json san0.json").expect(&[4]).stdout;
    assert!(one_each.starts_with("No verdict from one run on each side"), "{one_each}");
    let odd = fio(1500.0).replace("\"bs\": \"4k\"", "\"bs\": \"8k\"");
    std::fs::write(place.path("odd.json"), odd).unwrap();
    let unlike = place.run("compare nas=nas0.json nas=nas1.json odd=odd.json").expect(&[5]).stdout;
    assert!(unlike.contains("invalid: the runs differ in load"), "{unlike}");
    let allowed = "compare nas=nas0.json nas=nas1.json odd=odd.json --may-differ load";
    place.run(allowed).expect(&[0]);
    let mixed = place.run("compare nas0.json /srv").expect(&[2]).stderr;
    assert!(mixed.contains("compare results with results"), "{mixed}");
    // Kept results are judged as the files are.
    place.run("audit week.db").expect(&[0]);
    place.run("gate san0.json --against week.db --may-differ load").expect(&[2, 3, 4, 5]);
    let refused = place.run("export week.db").expect(&[1]).stderr;
    assert!(refused.contains("results of other tools"), "{refused}");
    std::fs::write(place.path("cut.json"), &fio(1000.0)[..300]).unwrap();
    place.run("import nas0.json cut.json -o half.db").expect(&[2]);
    assert!(!place.path("half.db").exists(), "half an import");
}

#[test]
fn results_files_of_two_runs_are_compared() {
    let place = Place::new();
    for name in ["old", "new"] {
        let command = format!("compare nas=a san=b {SHORT} {SURE} -o {name}.db");
        place.run(&command).expect(&[0, 4]);
    }
    let said = place.run("compare old.db new.db").expect(&[4]).stdout;
    assert!(said.contains("nas, vm-4k changed: No verdict from one run on each side"), "{said}");
    assert!(said.contains("within these two runs"), "{said}");
    let gap = place.run("compare old=old.db old=new.db new=new.db").expect(&[0, 4]).stdout;
    assert!(gap.contains("1 run against 2"), "{gap}");
}

#[test]
fn datastores_with_names_are_called_by_them() {
    let place = Place::new();
    let command = format!("compare nas=a san=b {SHORT} {SURE} --baseline san -o named.db");
    let said = place.run(&command).expect(&[0, 4]).stdout;
    assert!(said.contains("nas") && said.contains("san  "), "{said}");
    let json = place.run("report named.db --json").expect(&[0, 4]).json();
    let text = json.to_string();
    assert!(text.contains("\"nas\"") && text.contains("\"san\""), "{text}");
    let csv = place.run("export named.db").expect(&[0]).stdout;
    assert!(csv.lines().any(|line| line.contains(",nas,vm-4k changed,1,,0,iops,1/s,")), "{csv}");
    let metrics = place.run("export named.db --to openmetrics").expect(&[0]).stdout;
    assert!(metrics.contains("stormeter_iops_per_second{datastore=\"san\""), "{metrics}");
    place.run("export named.db --to fio -o named.json").expect(&[0]);
    let audit = place.run("audit named.json").expect(&[0]).stdout;
    assert!(audit.contains("0 broken"), "{audit}");
    let table = place.run("export named.db --to markdown").expect(&[0]).stdout;
    assert!(table.contains("| nas | vm-4k changed | 1 |"), "{table}");
    let twice = place.run("compare x=a x=b").expect(&[2]).stderr;
    assert!(twice.contains("two datastores are called x"), "{twice}");
    let unknown = place.run("compare nas=a san=b --baseline disk").expect(&[2]).stderr;
    assert!(unknown.contains("nas, san"), "{unknown}");
}
