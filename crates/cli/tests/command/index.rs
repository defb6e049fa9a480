//! The index of a directory of results: a page that links to reports.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::place::{Place, SHORT};

/// Sets when a file was last written.
fn dated(path: &Path, ago: Duration) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - ago).unwrap();
}

#[test]
fn an_index_has_every_result_and_its_report() {
    let place = Place::new();
    let run = format!("compare a b {SHORT} --rate 100 --max-blocks 5 --quiet");
    place.make("kept");
    place.run(&format!("{run} --output kept/night.db")).expect(&[0, 4, 5]);
    fs::copy(place.path("kept/night.db"), place.path("kept/a <b> #1.db")).unwrap();
    fs::write(place.path("kept/broken.db"), "no results").unwrap();
    let fio = r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "night", "error": 0,
        "job options": {"bs": "4k", "rw": "randread", "filename": "/srv/vm/disk"},
        "read": {"io_bytes": 245760000, "io_kbytes": 240000, "bw_bytes": 4096000, "iops": 1000.0, "runtime": 60000,
        "total_ios": 60000, "lat_ns": {"min": 900, "max": 90000000, "mean": 990000.0, "stddev": 500.0, "N": 60000}}}]}"#;
    fs::write(place.path("monday.json"), fio).unwrap();
    place.run("import monday.json -o kept/week.db").expect(&[0]);

    // Without reports there is nothing to link to.
    place.run("list kept --html kept/index.html").expect(&[0]);
    let page = || fs::read_to_string(place.path("kept/index.html")).unwrap();
    assert!(page().contains("4 results") && !page().contains("href"), "{}", page());
    assert!(page().contains("cannot be read") && page().contains("imported"), "{}", page());
    assert!(page().contains("fio 3.33") || page().contains("fio fio-3.33"), "{}", page());
    assert!(page().contains(concat!("stormeter ", env!("CARGO_PKG_VERSION"))), "{}", page());

    place.run("list kept --html kept/index.html --reports").expect(&[0]);
    for href in ["night.report.html", "a%20%3Cb%3E%20%231.report.html", "week.report.html"] {
        assert!(page().contains(&format!("href=\"{href}\"")), "{href}: {}", page());
    }
    assert!(!place.path("kept/broken.report.html").exists());
    let report = place.path("kept/night.report.html");
    assert!(place.path("kept/a <b> #1.report.html").is_file() && report.is_file());

    // A page is written again only when its result is newer, and only where it is one of ours.
    fs::write(&report, fs::read_to_string(&report).unwrap() + "<!-- kept -->").unwrap();
    place.run("list kept --html kept/index.html --reports").expect(&[0]);
    assert!(fs::read_to_string(&report).unwrap().ends_with("<!-- kept -->"));
    dated(&report, Duration::from_secs(10 * 86_400));
    place.run("list kept --html kept/index.html --reports").expect(&[0]);
    assert!(!fs::read_to_string(&report).unwrap().ends_with("<!-- kept -->"));
    fs::write(&report, "mine").unwrap();
    dated(&report, Duration::from_secs(10 * 86_400));
    let refused = place.run("list kept --html kept/index.html --reports").expect(&[0]);
    assert!(refused.stderr.contains("another page, and stays"), "{refused:?}");
    assert_eq!(fs::read_to_string(&report).unwrap(), "mine");
    assert!(!page().contains("href=\"night.report.html\""), "{}", page());
}

#[test]
fn an_empty_directory_has_an_index_and_wrong_places_are_refused() {
    let place = Place::new();
    place.make("none");
    place.run("list none --html none/index.html").expect(&[0]);
    let page = fs::read_to_string(place.path("none/index.html")).unwrap();
    assert!(page.contains("There are none yet."), "{page}");
    place.run("list none --html missing/index.html").expect(&[2]);
    place.run("list none --reports").expect(&[2]);
    let stdout = place.run("list none --html -").expect(&[0]).stdout;
    assert!(stdout.starts_with("<!DOCTYPE html>"), "{stdout}");
    place.run("list none --html - --reports").expect(&[2]);
}
