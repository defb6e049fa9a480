//! fio's results as fio prints them: files of version 3.33, files to the documentation of version 2, and, where fio
//! is installed, what it prints now.
//!
//! The files of version 3.33 are unchanged apart from names of devices and hosts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use stormeter_import::{
    Direction, Figure, FioLogKind, ImportError, Imported, Pattern, Run, Way, read_fio, read_fio_log,
};

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/fio").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn imported(name: &str) -> Imported {
    read_fio(&text(name)).unwrap_or_else(|| panic!("{name} is not recognised")).unwrap()
}

fn log(name: &str) -> Imported {
    read_fio_log(&text(name), FioLogKind::of_file_name(name).unwrap()).unwrap().unwrap()
}

fn direction(run: &Run, way: Way) -> &Direction {
    let found = run.directions.iter().find(|direction| direction.way == way);
    found.unwrap_or_else(|| panic!("{}: no {way:?}", run.place))
}

fn operations(run: &Run, way: Way) -> f64 {
    direction(run, way).operations.unwrap().value
}

/// That the figures of a run agree within what printing can have changed.
fn assert_consistent(run: &Run) {
    for one in &run.directions {
        let place = format!("{}, {:?}", run.place, one.way);
        if let (Some(operations), Some(bytes), Some(iops), Some(rate)) =
            (one.operations, one.bytes, one.iops, one.bytes_per_s)
        {
            let size = bytes.value / operations.value;
            assert_overlap(&place, iops.times(size), rate);
            let (shortest, longest) = one.runtime_s.or(run.window_s).unwrap().bounds();
            let (low, high) = (operations.value / longest, operations.value / shortest.max(1e-9));
            assert!(low <= iops.value + iops.half && iops.value - iops.half <= high, "{place}");
        }
        let latency = &one.latency;
        if !latency.histogram.is_empty() {
            let count: u64 = latency.histogram.iter().map(|bucket| bucket.count).sum();
            assert_eq!(Some(count as f64), one.operations.map(|count| count.value), "{place}");
            let rising = |pair: &[stormeter_import::Bucket]| pair[0].high_ns <= pair[1].low_ns;
            assert!(latency.histogram.to_vec().windows(2).all(rising), "{place}");
        }
        if let (Some(min), Some(mean), Some(max)) = (latency.min, latency.mean, latency.max) {
            let ((min, _), (_, max)) = (min.bounds(), max.bounds());
            assert!(min <= mean.value && mean.value <= max, "{place}");
            for pair in latency.percentiles.to_vec().windows(2) {
                assert!(
                    pair[0].share < pair[1].share && pair[0].ns.value <= pair[1].ns.value,
                    "{place}"
                );
            }
            if let Some(last) = latency.percentiles.to_vec().last() {
                assert!(last.ns.value - last.ns.half <= max, "{place}");
            }
        }
    }
}

fn assert_overlap(place: &str, one: Figure, other: Figure) {
    let ((low, high), (other_low, other_high)) = (one.bounds(), other.bounds());
    assert!(low <= other_high && other_low <= high, "{place}: {one:?} and {other:?}");
}

#[test]
fn the_figures_of_every_file_agree() {
    for name in [
        "rw-fsync.json",
        "jobs.json",
        "grouped.json",
        "merged.json",
        "mixed.json",
        "both.json",
        "plus-clat.json",
        "plus-lat.json",
        "server.json",
        "appended.json",
        "version2.json",
        "version2-options.json",
        "v3-v4.terse",
        "v5-unified.terse",
    ] {
        let imported = imported(name);
        assert_eq!(imported.tool, "fio", "{name}");
        assert!(imported.version.as_deref().unwrap().starts_with("fio-"), "{name}");
        assert!(!imported.runs.is_empty(), "{name}");
        for run in &imported.runs {
            assert!(!run.directions.is_empty(), "{name}, {}", run.place);
            assert_consistent(&run);
        }
    }
}

#[test]
fn reads_writes_and_flushes_are_apart() {
    let imported = imported("rw-fsync.json");
    let run = &imported.runs.get(0).unwrap();
    assert_eq!((run.name.as_str(), run.place.as_str()), ("one", "jobs[0]"));
    assert_eq!(run.target.as_deref(), Some("data"));
    let counts = [Way::Read, Way::Write, Way::Flush].map(|way| operations(run, way));
    assert_eq!(counts, [707.0, 317.0, 104.0]);
    let read = direction(run, Way::Read);
    assert_eq!(read.iops, Some(Figure { value: 12854.545455, half: 5e-7 }));
    assert_eq!(read.bytes, Some(Figure::exact(2_895_872.0)));
    assert_eq!(read.runtime_s, None);
    assert_eq!(direction(run, Way::Flush).latency.max, Some(Figure::exact(690_486.0)));
    assert!((run.window_s.unwrap().value - 0.055).abs() < 1e-12);
    assert_eq!(run.load.read_share, Some(0.7));
    assert_eq!(run.load.durability.as_deref(), Some("fdatasync=8"));
    assert_eq!((run.load.outstanding, run.load.direct), (Some(1), Some(false)));
    assert_eq!(run.errors, Some(0));
    assert_eq!(run.cpu_busy, None);
}

#[test]
fn copies_of_a_job_are_runs_of_their_own_unless_grouped() {
    let apart = imported("jobs.json");
    let loads: Vec<_> = apart
        .runs
        .iter()
        .map(|run| (run.name, run.load.workers, run.load.outstanding, run.load.rate_per_s))
        .collect();
    let expected = [
        ("first", Some(1), Some(4), Some(500.0)),
        ("first", Some(1), Some(4), Some(500.0)),
        ("second", Some(1), Some(1), Some(200.0)),
    ];
    assert_eq!(
        loads,
        expected.map(|(name, jobs, depth, rate)| (name.to_owned(), jobs, depth, rate))
    );
    let grouped = imported("grouped.json");
    let first = &grouped.runs.get(0).unwrap().load;
    assert_eq!(
        (first.workers, first.outstanding, first.rate_per_s),
        (Some(2), Some(8), Some(1000.0))
    );
    assert_eq!((first.pattern, first.request_bytes), (Some(Pattern::Random), Some(4096)));
    assert_eq!((first.duration_s, first.engine.as_deref()), (Some(1.0), Some("null")));
    let second = &grouped.runs.get(1).unwrap().load;
    assert_eq!((second.workers, second.request_bytes), (Some(1), Some(65536)));
    assert_eq!(second.pattern, Some(Pattern::Sequential));
    assert_eq!(operations(&grouped.runs.get(0).unwrap(), Way::Read), 1000.0);
}

#[test]
fn a_group_of_jobs_that_differ_has_no_load() {
    let imported = imported("merged.json");
    let [run] = &imported.runs.to_vec()[..] else { panic!("one run: {imported:?}") };
    assert_eq!(run.load, stormeter_import::Load::default());
    assert!(run.window_s.is_some_and(|window| (window.value - 1.002).abs() < 1e-9));
    // Its writes took another time, and their rates refer to it.
    assert!(direction(run, Way::Write).runtime_s.is_some());
    let about = |note: &String| note.contains("several jobs");
    assert!(imported.left_out.iter().any(about), "{:?}", imported.left_out);

    // The same where no name tells, since a job file has none: the summed runtime does.
    let unnamed = text("merged.json").replace("\"name\" : \"b\",", "");
    let imported = read_fio(&unnamed).unwrap().unwrap();
    assert!(imported.left_out.iter().any(about), "{:?}", imported.left_out);
}

#[test]
fn one_figure_for_reads_and_writes_is_kept() {
    let mixed = imported("mixed.json");
    let ways: Vec<_> = mixed.runs.get(0).unwrap().directions.iter().map(|one| one.way).collect();
    assert_eq!(ways, [Way::Both]);
    let both = imported("both.json");
    let ways: Vec<_> = both.runs.get(0).unwrap().directions.iter().map(|one| one.way).collect();
    assert_eq!(ways, [Way::Read, Way::Write, Way::Both]);
}

#[test]
fn histograms_have_the_edges_of_fio() {
    let of_completions = imported("plus-clat.json");
    let latency = direction(&of_completions.runs.get(0).unwrap(), Way::Write).latency.clone();
    let first = latency.histogram.get(0).unwrap();
    assert_eq!((first.low_ns, first.high_ns, first.count), (2000.0, 2016.0, 1));
    // The shortest completion, which fio prints as well, is in the first bucket.
    assert!((first.low_ns..first.high_ns).contains(&2014.0));
    assert!(of_completions.left_out.iter().any(|note| note.contains("clat")));

    let of_totals = imported("plus-lat.json");
    let latency = direction(&of_totals.runs.get(0).unwrap(), Way::Read).latency.clone();
    let (first, last) = (
        latency.histogram.get(0).unwrap(),
        latency.histogram.get(latency.histogram.len() - 1).unwrap(),
    );
    assert!((first.low_ns..first.high_ns).contains(&latency.min.unwrap().value));
    assert!((last.low_ns..last.high_ns).contains(&latency.max.unwrap().value));
}

#[test]
fn servers_are_runs_and_their_sum_is_not() {
    let imported = imported("server.json");
    assert_eq!(imported.runs.len(), 4);
    for run in &imported.runs {
        assert_eq!(run.name, "srv (127.0.0.1)");
        assert_eq!((run.load.workers, run.load.request_bytes), (Some(1), Some(4096)));
        assert_eq!(run.load.rate_per_s, Some(400.0));
    }
    let note = |part: &str| imported.left_out.iter().any(|note| note.contains(part));
    assert!(note("client_stats[4]: the sum over all servers"), "{:?}", imported.left_out);
    assert!(
        note("8 lines are not JSON") || note("6 lines are not JSON"),
        "{:?}",
        imported.left_out
    );
}

#[test]
fn options_of_several_servers_are_told_apart() {
    let text = text("server.json");
    let (head, rest) = text.split_once("\"global options\"").unwrap();
    let (_, rest) = rest.split_once('}').unwrap();
    let globals = "\"global options\" : [{\"hostname\": \"127.0.0.1\", \"port\": 18766, \"bs\": \"8k\"}, \
                   {\"hostname\": \"127.0.0.1\", \"port\": 18765, \"bs\": \"16k\"}]";
    let imported = read_fio(&format!("{head}{globals}{rest}")).unwrap().unwrap();
    let sizes: Vec<_> = imported.runs.iter().map(|run| run.load.request_bytes).collect();
    assert_eq!(sizes, [Some(8192), Some(16384), Some(8192), Some(16384)]);
}

#[test]
fn documents_after_each_other_are_all_read() {
    let imported = imported("appended.json");
    let names: Vec<_> = imported.runs.iter().map(|run| (run.name, run.place)).collect();
    assert_eq!(
        names,
        [("deep", "documents[0].jobs[0]"), ("again", "documents[1].jobs[0]")]
            .map(|(name, place)| (name.to_owned(), place.to_owned()))
    );
    // The engine waits for every I/O, whatever the depth.
    assert_eq!(imported.runs.get(0).unwrap().load.outstanding, Some(1));
    assert_eq!(imported.runs.get(1).unwrap().load.durability.as_deref(), Some("end_fsync=1"));
    assert!(imported.left_out[0].starts_with("line 1 is not JSON: note: both"));
}

#[test]
fn failures_are_counted() {
    let failed = imported("failed.json");
    assert_eq!(failed.runs.get(0).unwrap().errors, Some(1));
    assert!(failed.left_out.iter().any(|note| note == "jobs[0] ended with error 28"));
    let nothing = imported("error.json");
    assert!(nothing.runs.get(0).unwrap().directions.is_empty());
    assert!(nothing.left_out.iter().any(|note| note == "jobs[0] has no I/O"));
    let counted =
        text("failed.json").replace("\"error\" : 28", "\"error\" : 28, \"total_err\" : 17");
    assert_eq!(read_fio(&counted).unwrap().unwrap().runs.get(0).unwrap().errors, Some(17));
}

#[test]
fn version_2_has_other_units() {
    let old = imported("version2.json");
    let run = &old.runs.get(0).unwrap();
    let read = direction(run, Way::Read);
    assert_eq!(read.operations, None);
    assert_eq!(read.bytes, Some(Figure { value: 480_000.5 * 1024.0, half: 512.0 }));
    assert_eq!(read.iops, Some(Figure { value: 2000.5, half: 0.5 }));
    let mean = read.latency.mean.unwrap();
    assert!(
        (mean.value - 3_995_320.0).abs() < 1e-6 && (mean.half - 1005.0).abs() < 1e-9,
        "{mean:?}"
    );
    assert_eq!(read.latency.percentiles.len(), 4);
    // Buckets of 2048 to 4096 µs are 32 µs wide.
    let median = read.latency.percentiles.get(1).unwrap();
    assert_eq!((median.share, median.ns), (0.5, Figure { value: 3_952_000.0, half: 17_000.0 }));
    assert_eq!(run.load, stormeter_import::Load::default());

    let later = imported("version2-options.json");
    let run = &later.runs.get(0).unwrap();
    let write = direction(run, Way::Write);
    assert_eq!(write.bytes, Some(Figure::exact(147_456_000.0)));
    assert_eq!(write.iops, Some(Figure { value: 300.0, half: 5e-7 }));
    assert_eq!((run.load.workers, run.load.outstanding), (Some(3), Some(12)));
    assert_eq!((run.load.request_bytes, run.load.duration_s), (Some(16384), Some(30.0)));
    assert_eq!(write.latency.histogram.get(1).unwrap().low_ns, 39_424_000.0);
    assert!(later.left_out.iter().any(|note| note.contains("jobs[0].write: 2 I/Os")));
}

#[test]
fn terse_lines_have_the_same_figures() {
    let imported = imported("v3-v4.terse");
    let ways = |run: &Run| run.directions.iter().map(|one| one.way).collect::<Vec<_>>();
    assert_eq!(
        imported.runs.iter().map(|run| ways(&run)).collect::<Vec<_>>(),
        [[Way::Read, Way::Write]; 2]
    );
    let read = direction(&imported.runs.get(0).unwrap(), Way::Read).clone();
    assert_eq!(read.bytes_per_s, Some(Figure { value: 1198.5 * 1024.0, half: 512.0 }));
    assert_eq!(read.iops, Some(Figure { value: 299.5, half: 0.5 }));
    assert!((read.latency.mean.unwrap().value - 1566.37).abs() < 1e-9);
    assert_eq!(read.latency.percentiles.len(), 17);
    assert_eq!(ways(&self::imported("v5-unified.terse").runs.get(0).unwrap()), [Way::Both]);

    let text = text("v3-v4.terse");
    let cut = text.len() - 400;
    assert_eq!(
        read_fio(&text[..cut]).unwrap(),
        Err(ImportError::Truncated { format: "fio terse output", line: 2 })
    );
}

#[test]
fn logs_of_windows_are_intervals() {
    for name in ["windows_bw.1.log", "windows_iops.1.log", "windows_lat.1.log"] {
        let imported = log(name);
        let run = &imported.runs.get(0).unwrap();
        assert!(run.intervals.len() >= 10 && run.directions.is_empty(), "{name}");
        for one in &run.intervals {
            assert!((0.0..0.6).contains(&one.length_s), "{name}: {one:?}");
            // 300 I/Os of 4 KiB per second in each direction.
            if let Some(iops) = one.iops {
                assert!((iops.value - 300.0).abs() < 5.0, "{name}: {one:?}");
            }
            if let Some(rate) = one.bytes_per_s {
                assert!((rate.value / 1024.0 - 1200.0).abs() < 10.0, "{name}: {one:?}");
            }
        }
        let has = |interval: &stormeter_import::Interval| {
            [interval.bytes_per_s, interval.iops, interval.latency_mean].map(|one| one.is_some())
        };
        let expected = ["bw", "iops", "lat"].map(|kind| name.contains(&format!("_{kind}.")));
        assert!(run.intervals.iter().all(|interval| has(&interval) == expected), "{name}");
    }
}

#[test]
fn logs_of_single_operations_are_counted() {
    let imported = log("single_clat.1.log");
    let run = &imported.runs.get(0).unwrap();
    assert_eq!([Way::Read, Way::Write].map(|way| operations(run, way)), [100.0, 100.0]);
    assert_eq!(run.load.request_bytes, Some(4096));
    let first = &run.intervals.get(0).unwrap();
    let [iops, rate] = [first.iops, first.bytes_per_s].map(|rate| rate.unwrap().value);
    assert!((iops * first.length_s - 100.0).abs() < 1e-9, "{first:?}");
    assert!((rate - 4096.0 * iops).abs() < 1e-6, "{first:?}");
    assert_consistent(run);
}

#[test]
fn a_file_that_ends_too_early_says_so() {
    for name in ["rw-fsync.json", "server.json"] {
        let text = text(name);
        let cut = &text[..text.len() * 2 / 3];
        let lines = cut.trim_end().lines().count();
        assert_eq!(
            read_fio(cut).unwrap(),
            Err(ImportError::Truncated { format: "fio JSON", line: lines }),
            "{name}"
        );
    }
}

#[test]
fn wrong_values_are_named() {
    let text = text("jobs.json");
    let wrong = |from: &str, to: &str| read_fio(&text.replacen(from, to, 1)).unwrap().unwrap_err();
    let message = wrong("\"total_ios\" : 500", "\"total_ios\" : -3").to_string();
    assert_eq!(message, "fio JSON, jobs[0].read.total_ios: -3 is no count");
    let message = wrong("\"iops\" : 499.5", "\"iops\" : -499.5").to_string();
    assert!(message.starts_with("fio JSON, jobs[0].read.iops: -499.5"), "{message}");
    let message = wrong("\"jobs\" : [", "\"jobbs\" : [").to_string();
    assert!(message.contains("expected jobs or client_stats"), "{message}");
    assert!(matches!(wrong("\"iops\" : 499.5", "\"iops\" : nan"), ImportError::Malformed { .. }));
}

#[test]
fn other_files_are_not_fios() {
    for text in ["", "{}", "fio-3.33\n", "a,b\n1,2\n", "3;4;5\n", "\"fio version\""] {
        assert!(read_fio(text).is_none(), "{text}");
        assert!(read_fio_log(text, FioLogKind::Iops).is_none(), "{text}");
    }
}

/// A directory of temporary files that is removed.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether fio can run here; without it, the test is reported as not run, and fails on CI.
fn has_fio() -> bool {
    let version = Command::new("fio").arg("--version").output();
    if version.is_ok_and(|output| output.status.success()) {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "fio is not installed");
    let _ = writeln!(std::io::stderr(), "NOT RUN: fio is not installed");
    false
}

fn fio(directory: &Directory, arguments: &[&str]) -> String {
    let output = Command::new("fio").args(arguments).current_dir(&directory.0).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "fio {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_fio_prints_now_is_consistent() {
    if !has_fio() {
        return;
    }
    let directory = Directory::new("fio-now");
    let mixed = ["--bs=4k", "--rw=randrw", "--rwmixread=70", "--size=2m", "--filename=data"];
    let jobs: [&[&str]; 5] = [
        &["--output-format=json", "--ioengine=psync", "--fsync=16", "--name=flushed"],
        &["--output-format=json+", "--ioengine=psync", "--lat_percentiles=1", "--name=total"],
        &["--output-format=json+", "--ioengine=psync", "--numjobs=2", "--name=apart"],
        &["--output-format=json+", "--numjobs=2", "--group_reporting", "--name=grouped"],
        &["--output-format=normal,json+", "--unified_rw_reporting=1", "--name=unified"],
    ];
    for (job, runs) in jobs.into_iter().zip([1, 1, 2, 1, 1]) {
        let arguments: Vec<&str> = mixed.iter().chain(job).copied().collect();
        let imported = read_fio(&fio(&directory, &arguments)).unwrap().unwrap();
        assert_eq!(imported.runs.len(), runs, "{job:?}");
        for run in &imported.runs {
            assert_consistent(&run);
            let load = &run.load;
            assert_eq!((load.request_bytes, load.read_share), (Some(4096), Some(0.7)), "{job:?}");
            assert_eq!(load.workers, Some(if run.name == "grouped" { 2 } else { 1 }), "{job:?}");
            let total: f64 = [Way::Read, Way::Write, Way::Both]
                .into_iter()
                .filter_map(|way| run.directions.iter().find(|one| one.way == way)?.operations)
                .map(|operations| operations.value)
                .sum();
            assert_eq!(total, 512.0 * load.workers.unwrap() as f64, "{job:?}");
        }
    }
}

#[test]
fn what_fio_logs_now_is_what_it_did() {
    if !has_fio() {
        return;
    }
    let directory = Directory::new("fio-logs");
    let arguments = [
        "--ioengine=null",
        "--bs=4k",
        "--rw=randrw",
        "--size=2m",
        "--name=logged",
        "--write_lat_log=one",
        "--log_offset=1",
        "--output-format=json",
    ];
    let imported = read_fio(&fio(&directory, &arguments)).unwrap().unwrap();
    let name = "one_lat.1.log";
    let text = std::fs::read_to_string(directory.0.join(name)).unwrap();
    let logged = read_fio_log(&text, FioLogKind::of_file_name(name).unwrap()).unwrap().unwrap();
    for way in [Way::Read, Way::Write] {
        let of = |file: &Imported| direction(&file.runs.get(0).unwrap(), way).clone();
        let (of_job, of_log) = (of(&imported), of(&logged));
        assert_eq!(of_job.operations, of_log.operations);
        assert_eq!(
            (of_job.latency.min, of_job.latency.max),
            (of_log.latency.min, of_log.latency.max)
        );
        let (of_job, of_log) = (&of_job.latency, &of_log.latency);
        let close = |one: Option<Figure>, other: Option<Figure>| {
            (one.unwrap().value - other.unwrap().value).abs() < 1e-5
        };
        assert!(close(of_job.mean, of_log.mean), "{:?} {:?}", of_job.mean, of_log.mean);
        assert!(close(of_job.sd, of_log.sd), "{:?} {:?}", of_job.sd, of_log.sd);
    }
}

/// A server of fio on a port of this machine; it ends with the test.
struct Server(Child);

impl Server {
    fn start(directory: &Directory, port: u16) -> Self {
        let child = Command::new("fio")
            .arg(format!("--server=127.0.0.1,{port}"))
            .current_dir(&directory.0)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let server = Self(child);
        for _ in 0..1000 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return server;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(10));
        }
        panic!("fio's server does not listen on port {port}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has a process for each connection, all of them in its group.
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that nothing uses now.
fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

#[test]
fn what_servers_of_fio_report_now_is_not_counted_twice() {
    if !has_fio() {
        return;
    }
    let directory = Directory::new("fio-server");
    let port = free_port();
    let _server = Server::start(&directory, port);
    let mut jobs = String::from("[global]\nioengine=null\nbs=4k\nsize=1m\n");
    for name in ["one", "two"] {
        let _ = writeln!(jobs, "[{name}]\nrw=randread");
    }
    std::fs::write(directory.0.join("jobs.fio"), jobs).unwrap();
    let client = format!("--client=127.0.0.1,{port}");
    let printed = fio(&directory, &["--output-format=json", &client, "jobs.fio"]);
    let imported = read_fio(&printed).unwrap().unwrap();
    assert_eq!(imported.runs.len(), 2, "{printed}");
    for run in &imported.runs {
        assert_consistent(&run);
        assert_eq!(operations(&run, Way::Read), 256.0);
        assert_eq!(run.load.request_bytes, Some(4096));
    }
}
