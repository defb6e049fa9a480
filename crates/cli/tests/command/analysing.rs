//! What `docs/analysing.md` shows, run as it stands there and compared with what the report says.

use std::collections::BTreeMap;
use std::process::Command;

use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::Value;

use crate::exported::{measured, printed, python, readers};
use crate::page::Page;
use crate::place::{Place, STEADY, not_run};
use crate::results::rows;

const PAGE: Page = Page(include_str!("../../../../docs/analysing.md"));

/// The report of `night.db`.
struct Report(Value);

impl Report {
    fn of(place: &Place) -> Self {
        Self(place.run("report night.db --json").expect(&[0]).json())
    }

    fn cell(&self, workload: &str, datastore: &str) -> &Value {
        let cells = self.0["cells"].as_array().unwrap();
        let is = |cell: &&Value| cell["workload"] == workload && cell["datastore"] == datastore;
        cells.iter().find(is).unwrap()
    }

    fn metric(&self, workload: &str, datastore: &str, metric: &str) -> &Value {
        let metrics = self.cell(workload, datastore)["metrics"].as_array().unwrap();
        metrics.iter().find(|found| found["metric"] == metric).unwrap()
    }

    fn value(&self, workload: &str, datastore: &str, metric: &str) -> f64 {
        self.metric(workload, datastore, metric)["value"].as_f64().unwrap()
    }
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
}

/// Rows of a query; the first two columns are a cell's workload and datastore.
struct Rows(Vec<Vec<Cell>>);

impl Rows {
    fn of(place: &Place, file: &str, query: &str) -> Self {
        let connection = Connection::open(place.path(file)).unwrap();
        let mut statement = connection.prepare(query).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
        Self(rows.unwrap().map(Result::unwrap).collect())
    }

    /// Each row as its cell, and its numbers from this column on.
    fn numbers(&self, from: usize) -> Vec<(&str, &str, Vec<f64>)> {
        let numbers = |row: &[Cell]| row[from..].iter().map(number).collect();
        self.0.iter().map(|row| (text(&row[0]), text(&row[1]), numbers(row))).collect()
    }
}

fn text(cell: &Cell) -> &str {
    match cell {
        Cell::Text(text) => text,
        other => panic!("{other:?} is no text"),
    }
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Integer(value) => *value as f64,
        Cell::Real(value) => *value,
        other => panic!("{other:?} is no number"),
    }
}

/// By cell.
type ByCell<'a, T> = BTreeMap<(&'a str, &'a str), Vec<T>>;

fn by_cell<'a>(rows: &'a Rows, from: usize, at: usize) -> ByCell<'a, f64> {
    let mut grouped = ByCell::new();
    for (workload, datastore, numbers) in rows.numbers(from) {
        grouped.entry((workload, datastore)).or_default().push(numbers[at]);
    }
    grouped
}

/// Each cell's number of I/Os, and how long they took in milliseconds, from other tables than intervals.
fn totals(place: &Place) -> Vec<(String, String, [f64; 2])> {
    let query = "SELECT workload, datastore_name, sum(total.operations), sum(latency_sum_ns) / 1e6 \
                 FROM total JOIN trial ON trial.id = trial_id JOIN cell ON cell.id = cell \
                 WHERE phase = 'main' GROUP BY cell.id";
    rows(&place.path("night.db"), query, |row| {
        Ok((row.get(0)?, row.get(1)?, [row.get(2)?, row.get(3)?]))
    })
}

fn check(question: &str, rows: &Rows, report: &Report, place: &Place) {
    match question {
        "What did each datastore reach?" => {
            assert_eq!(rows.0.len(), 4);
            for (workload, datastore, numbers) in rows.numbers(2) {
                assert_eq!(numbers[0], 3.0);
                assert_close(numbers[1], report.value(workload, datastore, "iops"));
            }
        }
        "How much faster was it, block by block?" => {
            assert_eq!(rows.0.len(), 6);
            for ((workload, datastore), ratios) in by_cell(rows, 2, 1) {
                let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
                let metric = report.metric(workload, datastore, "latency-mean");
                let ratio = metric["relative"]["ratio"].as_f64().unwrap();
                assert_close((logarithms / 3.0).exp(), ratio);
            }
        }
        "What does an I/O cost in CPU time?" => {
            assert!(rows.0.len() >= 4);
            for row in &rows.0 {
                let [workload, datastore, metric] = [0, 1, 2].map(|at| text(&row[at]));
                let expected = report.value(workload, datastore, metric);
                assert_close(number(&row[3]) * 1000.0, expected);
            }
        }
        "What is the 99th percentile of all trials together?" => {
            assert_eq!(rows.0.len(), 4);
            for (workload, datastore, numbers) in rows.numbers(2) {
                assert_close(numbers[0], report.value(workload, datastore, "latency-p99"));
            }
        }
        "Did it drift from block to block?" => {
            for ((workload, datastore), changes) in by_cell(rows, 2, 1) {
                let observed = report.cell(workload, datastore)["observations"].as_array().unwrap();
                let observed: Vec<f64> = observed.iter().filter_map(Value::as_f64).collect();
                assert_eq!((changes.len(), observed.len()), (3, 3));
                for (change, value) in changes.iter().zip(&observed) {
                    assert_close(1.0 + change, value / observed[0]);
                }
            }
        }
        "And within a trial?" => {
            // Intervals together are the trials: as many I/Os, which took as long.
            for (workload, datastore, [operations, latency_ms]) in totals(place) {
                let of = rows
                    .numbers(2)
                    .into_iter()
                    .filter(|row| (row.0, row.1) == (&workload, &datastore));
                let parts: Vec<Vec<f64>> = of.map(|row| row.2).collect();
                assert_eq!(parts.len(), 4);
                assert_eq!(parts.iter().map(|part| part[1]).sum::<f64>(), operations);
                assert_close(parts.iter().map(|part| part[1] * part[2]).sum(), latency_ms);
            }
        }
        "Which trials failed, and why?" => assert!(rows.0.is_empty()),
        "Is the load generator the limit?" => {
            let ceilings = report.0["ceilings"].as_array().unwrap();
            assert_eq!((rows.0.len(), ceilings.len()), (2, 2));
            for row in &rows.0 {
                let [ceiling, highest, times] = [1, 2, 3].map(|at| number(&row[at]));
                assert_close(times, ceiling / highest);
                let is = |found: &&Value| found.to_string().contains(text(&row[0]));
                let said = ceilings.iter().find(is).unwrap();
                assert_close(ceiling, said["iops"].as_f64().unwrap());
            }
        }
        "How busy was the machine?" => {
            assert_eq!(rows.0.len(), 4);
            for (_, _, numbers) in rows.numbers(2) {
                assert!(0.0 <= numbers[0] && numbers[0] <= numbers[1] && numbers[1] <= 1.0);
            }
        }
        "Did reads and writes differ?" => {
            let operations: f64 = rows.0.iter().map(|row| number(&row[3])).sum();
            let cells = report.0["cells"].as_array().unwrap();
            let all: f64 = cells.iter().filter_map(|cell| cell["operations"].as_f64()).sum();
            assert_eq!(operations, all);
            assert!(rows.0.iter().all(|row| number(&row[5]) == 0.0), "none failed");
        }
        _ => panic!("nothing is expected of the answer to {question:?}"),
    }
}

#[test]
fn the_ten_questions_in_sql_have_the_reports_answers() {
    let place = measured();
    let report = Report::of(&place);
    let questions = PAGE.blocks("sql");
    assert_eq!(questions.len(), 10);
    for (question, query) in &questions {
        check(question, &Rows::of(&place, "night.db", query), &report, &place);
    }
}

#[test]
fn failed_trials_are_listed_with_their_reason() {
    let place = Place::new();
    let command = format!("compare a b {STEADY} --max-blocks 5 --seed 1 --read 100% --output r.db");
    let mut running = place.start(&command);
    let disk = place.wait_for_disk(&mut running, "a");
    std::fs::OpenOptions::new().write(true).open(&disk).unwrap().set_len(0).unwrap();
    running.wait().expect(&[5]);
    let query = &PAGE.below("Which trials failed, and why?", "sql")[0];
    let rows = Rows::of(&place, "r.db", query);
    assert!(!rows.0.is_empty());
    for row in &rows.0 {
        assert_eq!(text(&row[1]), "a", "{row:?}");
        assert!(text(&row[3]).contains("0 bytes moved"), "{row:?}");
        assert!(!text(&row[4]).is_empty(), "{row:?}");
    }
}

/// The numbers with which lines end that begin with these words.
fn numbers_of(said: &str, words: &[&str]) -> Vec<f64> {
    let lines = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of = lines.filter(|line| words.iter().all(|word| line.contains(word)));
    of.map(|line| line.last().unwrap().parse().unwrap()).collect()
}

#[test]
fn pandas_reads_the_table_and_the_database() {
    let has = |mut python: Command| {
        python.args(["-c", "import pandas"]).output().unwrap().status.success()
    };
    if !python().is_some_and(has) {
        return not_run("python3-pandas is not installed");
    }
    let place = measured();
    let report = Report::of(&place);
    place.run("export night.db -o night.csv").expect(&[0]);
    let said = PAGE.below("pandas", "python").into_iter().map(|script| {
        let mut python = python().unwrap();
        printed(python.args(["-c", &script]).current_dir(place.root()))
    });
    let [means, ratios, p99] = said.collect::<Vec<_>>().try_into().unwrap();
    // The table leaves a workload out that is that of the line above.
    let mean = numbers_of(&means, &["reading", "a"]);
    assert!((mean[0] / report.value("reading", "a", "iops") - 1.0).abs() < 1e-5, "{means}");
    let ratios =
        ratios.lines().filter_map(|line| line.split_whitespace().last()?.parse::<f64>().ok());
    let ratios: Vec<f64> = ratios.collect();
    let logarithms: f64 = ratios.iter().take(3).map(|ratio| ratio.ln()).sum();
    let relative = &report.metric("mixed", "b", "latency-mean")["relative"]["ratio"];
    let found = (logarithms / 3.0).exp();
    assert_eq!(ratios.len(), 6, "{ratios:?}");
    assert!((found / relative.as_f64().unwrap() - 1.0).abs() < 1e-5, "{found}: {relative}");
    let largest = numbers_of(&p99, &["mixed", "a"]);
    let p99_of_all = report.value("mixed", "a", "latency-p99");
    assert!(largest[0] >= p99_of_all * 0.998, "{p99}: {p99_of_all}");
}

#[test]
fn r_reads_the_table_and_analyses_it() {
    if Command::new("Rscript").arg("--version").output().is_err() {
        return not_run("Rscript (r-base-core) is not installed");
    }
    let place = measured();
    let report = Report::of(&place);
    place.run("export night.db -o night.csv").expect(&[0]);
    let said = PAGE.below("R", "r").into_iter().map(|script| {
        let mut r = Command::new("Rscript");
        printed(r.args(["--vanilla", "-e", &script]).current_dir(place.root()))
    });
    let [means, variance] = said.collect::<Vec<_>>().try_into().unwrap();
    for (workload, datastore) in
        [("reading", "a"), ("reading", "b"), ("mixed", "a"), ("mixed", "b")]
    {
        let mean = numbers_of(&means, &[workload, datastore]);
        assert!(
            (mean[0] / report.value(workload, datastore, "iops") - 1.0).abs() < 1e-9,
            "{means}"
        );
    }
    // Two datastores have one degree of freedom, three blocks have two.
    let degrees = |name: &str| {
        let line = variance.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(
        (degrees("datastore"), degrees("factor(block)")),
        ("1".into(), "2".into()),
        "{variance}"
    );
}

/// The only script of a section, run by the Python that has others' modules.
fn read_by(directory: &std::path::Path, place: &Place, heading: &str) -> String {
    let script = &PAGE.below(heading, "python")[0];
    let mut python = Command::new(directory.join("bin/python3"));
    printed(python.args(["-c", script]).current_dir(place.root()))
}

#[test]
fn duckdb_reads_the_table() {
    let Some(directory) = readers() else { return };
    let place = measured();
    let report = Report::of(&place);
    place.run("export night.db -o night.csv").expect(&[0]);
    let said = read_by(&directory, &place, "DuckDB");
    let found = said.split("('").skip(1).map(|row| row.replace(['\'', ')', ']', ' ', '\n'], ""));
    let rows: Vec<String> = found.collect();
    assert_eq!(rows.len(), 4, "{said}");
    for row in rows {
        let words: Vec<&str> = row.split(',').collect();
        assert_close(words[2].parse().unwrap(), report.value(words[0], words[1], "iops"));
    }
}

#[test]
fn hdrhistograms_python_reads_the_log() {
    let Some(directory) = readers() else { return };
    let place = measured();
    let report = Report::of(&place);
    place.run("export night.db --to hdr -o night.hlog").expect(&[0]);
    let said = read_by(&directory, &place, "HdrHistogram");
    let numbers: Vec<f64> = said.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let cell = report.cell("reading", "a");
    assert_eq!(numbers[0], cell["operations"].as_f64().unwrap(), "{said}");
    // It rounds a rank where this project takes the next one, so it may be that of a neighbour.
    let ranked = |share: f64| {
        let query = format!(
            "SELECT min(high_ns) FROM (SELECT high_ns, sum(count) OVER (ORDER BY low_ns) AS up_to_here \
             FROM histogram JOIN trial ON trial.id = trial_id \
             WHERE cell = 0 AND phase = 'main') WHERE up_to_here >= {} * {share}",
            numbers[0]
        );
        number(&Rows::of(&place, "night.db", &query).0[0][0])
    };
    let one = 1.0 / numbers[0];
    assert!(ranked(0.99 - one) * 0.998 <= numbers[1] && numbers[1] <= ranked(0.99 + one), "{said}");
}

#[test]
fn fio_plot_reads_a_trial_and_draws_it() {
    let Some(directory) = readers() else { return };
    let place = measured();
    place.run("export night.db --to fio -o night.json").expect(&[0]);
    let script = &PAGE.below("fio's scripts and fio-plot", "text")[1];
    assert!(script.contains("fio-plot"), "{script}");
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", directory.join("bin").display());
    // The number of the trial depends on the order that the seed determined.
    let json = std::fs::read_to_string(place.path("night.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let jobs = json["jobs"].as_array().unwrap();
    let reading = jobs.iter().position(|job| job["jobname"] == "reading").unwrap();
    let script = script.replace("[.[6]]", &format!("[.[{reading}]]"));
    printed(Command::new("sh").args(["-ec", &script]).current_dir(place.root()).env("PATH", path));
    let files = std::fs::read_dir(place.root()).unwrap().flatten();
    let drawn = files.filter(|file| file.path().extension().is_some_and(|end| end == "png"));
    assert_eq!(drawn.count(), 1);
}
