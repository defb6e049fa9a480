//! Texts of every format that ask for as much as they can: lists of values of two characters, tables of one digit a
//! cell, thousands of entries that say nothing, a long name that all entries share.

#![allow(dead_code, reason = "each test takes its part")]

use std::fmt::Write as _;
use std::path::Path;

use stormeter_import::{FioLogKind, ImportError, Imported, read, read_fio_log};

/// Reads as any format: that of the name, if it is a log of fio.
pub(crate) fn read_any(name: &str, text: &str) -> Option<Result<Imported, ImportError>> {
    let kind = FioLogKind::of_file_name(name);
    kind.and_then(|kind| read_fio_log(text, kind)).or_else(|| read(text))
}

/// Every sample file, by its name within the directory of its format.
pub(crate) fn samples() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut samples = Vec::new();
    for format in std::fs::read_dir(root).unwrap() {
        for file in std::fs::read_dir(format.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            samples.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    samples.sort();
    assert!(samples.len() > 30);
    samples
}

fn sample(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    std::fs::read_to_string(root.join(path)).unwrap()
}

/// What the closure writes, again and again with a number that rises, up to this length.
fn list(length: usize, separator: &str, mut entry: impl FnMut(usize) -> String) -> String {
    let mut text = String::new();
    for at in 0.. {
        if text.len() >= length {
            break;
        }
        if at > 0 {
            text.push_str(separator);
        }
        text.push_str(&entry(at));
    }
    text
}

/// The texts, each of about this length.
pub(crate) fn hostile(n: usize) -> Vec<(&'static str, String)> {
    let mut all = fio(n);
    all.extend(fio_lines(n));
    all.extend(json(n));
    all.extend(tables(n));
    all.extend(xml(n));
    all.extend(histograms(n));
    all
}

fn fio_document(rest: &str) -> String {
    format!("{{\"fio version\":\"fio-3.33\",{rest}}}")
}

fn fio(n: usize) -> Vec<(&'static str, String)> {
    let jobs = |jobs: &str| fio_document(&format!("\"jobs\":[{jobs}]"));
    let clock = |what: &str, entries: &str| {
        jobs(&format!(
            "{{\"read\":{{\"total_ios\":9,\"runtime\":9,\"lat_ns\":{{\"N\":9,\"{what}\":{{{entries}}}}}}}}}"
        ))
    };
    let long = "x".repeat(n / 2);
    vec![
        (
            "dense array",
            fio_document(&format!("\"x\":[{}],\"jobs\":[]", list(n, ",", |_| "0".into()))),
        ),
        ("deep array", fio_document(&format!("\"x\":{}{}", "[".repeat(n / 2), "]".repeat(n / 2)))),
        ("deep and open", fio_document(&format!("\"x\":{}", "{\"\":".repeat(n / 4)))),
        ("empty jobs", jobs(&list(n, ",", |_| "{}".into()))),
        ("numbered jobs", jobs(&list(n, ",", |at| format!("{{\"groupid\":{at}}}")))),
        ("least jobs", jobs(&list(n, ",", |_| "{\"read\":{\"total_ios\":1}}".into()))),
        (
            "busy jobs",
            jobs(&list(n, ",", |_| {
                "{\"read\":{\"total_ios\":1,\"bw\":1,\"iops\":0.7,\"runtime\":1,\"lat_ns\":{\"N\":1,\"mean\":0.3}}}".into()
            })),
        ),
        ("bins", clock("bins", &list(n, ",", |at| format!("\"{at}\":1")))),
        (
            "percentiles",
            clock("percentile", &list(n, ",", |at| format!("\"{:.5}\":1", at as f64 / n as f64))),
        ),
        ("members", jobs(&format!("{{{}}}", list(n, ",", |_| "\"\":0".into())))),
        (
            "options",
            jobs(&format!(
                "{{\"job options\":{{{}}}}}",
                list(n, ",", |at| format!("\"{at}\":\"\""))
            )),
        ),
        (
            "a long name that all share",
            fio_document(&format!(
                "\"global options\":{{\"filename\":\"{long}\",\"rw\":\"{long}\",\"ioengine\":\"{long}\"}},\"jobs\":[{}]",
                list(n / 2, ",", |_| "{\"read\":{\"total_ios\":1}}".into())
            )),
        ),
        (
            "hosts",
            fio_document(&format!(
                "\"global options\":[{}],\"client_stats\":[{}]",
                list(n / 2, ",", |at| format!("{{\"hostname\":\"{at}\"}}")),
                list(n / 2, ",", |at| format!("{{\"hostname\":\"{at}\"}}")),
            )),
        ),
        ("documents", list(n, "\n", |_| "{\"fio version\":1,\"jobs\":[]}".into())),
        (
            "array of documents",
            format!(
                "[{},{}]",
                fio_document("\"jobs\":[]"),
                list(n, ",", |_| "{\"jobs\":[]}".into())
            ),
        ),
        (
            "text around",
            format!("{}\n{}", list(n, "\n", |_| "x".into()), fio_document("\"jobs\":[]")),
        ),
    ]
}

fn fio_lines(n: usize) -> Vec<(&'static str, String)> {
    let terse = sample("fio/v3-v4.terse");
    let line = terse.lines().next().unwrap();
    vec![
        ("terse", list(n, "\n", |_| line.into()) + "\n"),
        ("terse fields", format!("3;fio-3.33;{}\n", ";".repeat(n))),
        ("x_iops.1.log", list(n, "\n", |at| format!("{}, 1, {}, 0", at + 1, at % 3)) + "\n"),
        ("x_lat.1.log", list(n, "\n", |at| format!("{}, 7, {}, 9", at * 1000, at % 3)) + "\n"),
        ("x_clat.2.log", list(n, "\n", |at| format!("{}, {at}, 0, 4096", at * 10)) + "\n"),
        ("x_bw.1.log", list(n, "\n", |at| format!("{}, 1, 0, 0", 5000 - at % 4000)) + "\n"),
    ]
}

fn json(n: usize) -> Vec<(&'static str, String)> {
    let iperf3 = |intervals: &str| {
        let sum = "{\"start\":0,\"seconds\":1,\"bytes\":1,\"bits_per_second\":8}";
        format!(
            "{{\"start\":{{\"version\":\"iperf 3.1\",\"test_start\":{{}}}},\"intervals\":[{intervals}],\"end\":{{\"sum\":{sum}}}}}"
        )
    };
    let kubestr = |jobs: &str| {
        format!(
            "{{\"TestName\":\"\",\"Raw\":{{\"result\":{{\"fio version\":\"\",\"jobs\":[{jobs}]}}}}}}"
        )
    };
    let phase = "{\"phase_type\":\"READ\",\"config\":{},\"last_done\":{}}\n";
    let wrong = format!(
        "{{\"phase_type\":\"READ\",\"config\":\"{}\",\"last_done\":{{}}}}\n",
        "\u{200b}".repeat(n / 3)
    );
    vec![
        ("iperf3 empty", iperf3(&list(n, ",", |_| "{}".into()))),
        (
            "iperf3 intervals",
            iperf3(&list(n, ",", |at| {
                format!("{{\"sum\":{{\"start\":{at},\"seconds\":1,\"bits_per_second\":{at}.3}}}}")
            })),
        ),
        ("iperf3 array", iperf3(&list(n, ",", |_| "0".into()))),
        ("kubestr empty", kubestr(&list(n, ",", |_| "{}".into()))),
        ("kubestr jobs", kubestr(&list(n, ",", |_| "{\"read\":{\"iops\":1}}".into()))),
        ("elbencho phases", phase.repeat(n / phase.len())),
        ("elbencho wrong", wrong),
        (
            "elbencho buckets",
            format!(
                "{{\"phase_type\":\"READ\",\"config\":{{}},\"last_done\":{{\"latency\":{{\"IO\":{{\"histogram\":{{\"buckets\":[{}]}}}}}}}}}}",
                list(n, ",", |_| "{\"range\":0,\"count\":0}".into())
            ),
        ),
    ]
}

fn tables(n: usize) -> Vec<(&'static str, String)> {
    let iozone = sample("iozone/table.txt");
    let head: String = iozone
        .lines()
        .take_while(|line| !line.trim().starts_with(|c: char| c.is_ascii_digit()))
        .fold(String::new(), |mut head, line| {
            let _ = writeln!(head, "{line}");
            head
        });
    let columns =
        iozone.lines().find(|line| line.contains("reclen")).unwrap().split_whitespace().count();
    let row = format!("64 4{}\n", " 1".repeat(columns - 2));
    let long = "x".repeat(n / 2);
    let report = sample("iozone/report.txt");
    let matrix = report.split("\"").next().unwrap().to_owned();
    let vdbench = "Name of run from RD=\n";
    let elbencho = sample("elbencho/results.csv");
    let mut elbencho = elbencho.lines();
    let (heading, phase) = (elbencho.next().unwrap(), elbencho.next().unwrap());
    let iometer = sample("iometer/results-1.1.csv");
    let all = iometer.lines().find(|line| line.starts_with("ALL")).unwrap();
    let (before, after) = iometer.split_once(all).unwrap();
    let kbench = sample("kbench/one.summary");
    let rows = "FIO Benchmark Summary\nFor: a\nIOPS (Read/Write)\n";
    vec![
        ("iozone rows", format!("{head}{}iozone test complete.\n", row.repeat(n / row.len()))),
        (
            "iozone long name",
            format!(
                "Iozone: Performance Test of File I/O\nCommand line used: iozone -f {long}\n{}{}iozone test complete.\n",
                head.split_once('\n').map_or("", |(_, rest)| rest),
                row.repeat(n / 2 / row.len())
            ),
        ),
        (
            "iozone sizes",
            format!("{matrix}\"Writer report\"\n{}\n", list(n, " ", |_| "\"4\"".into())),
        ),
        (
            "vdbench rows",
            format!(
                "{vdbench}tod Interval\n{}",
                list(n, "\n", |at| format!("0:0:{} {at}", at % 60))
            ),
        ),
        (
            "vdbench runs",
            format!("{vdbench}tod Interval\n{}", list(n, "\n", |_| "0:0:0 avg_1-1".into())),
        ),
        ("vdbench columns", format!("{vdbench}tod {}\n", list(n, " ", |at| at.to_string()))),
        ("vdbench fields", format!("{vdbench}tod Interval\n{}\n", list(n, " ", |_| "0".into()))),
        ("elbencho rows", format!("{heading}\n{}\n", list(n, "\n", |_| phase.into()))),
        (
            "elbencho columns",
            format!("ISO date,label,path type,{}\n", list(n, ",", |at| at.to_string())),
        ),
        ("elbencho fields", format!("{heading}\n{}\n", ",".repeat(n))),
        ("iometer rows", format!("{before}{}{after}", format!("{all}\n").repeat(n / all.len()))),
        (
            "iometer columns",
            format!("'Test Type,Test Description\n'Target Type,{}\n", ",".repeat(n)),
        ),
        ("iometer fields", format!("{before}ALL{}{after}", ",".repeat(n))),
        (
            "iometer specifications",
            format!(
                "'Test Type,Test Description\n{}\n",
                list(n, "\n", |at| format!("'Access specification name\n{at}\n'size\n1,1,1,1"))
            ),
        ),
        ("kbench summaries", kbench.repeat(n / kbench.len())),
        ("kbench rows", format!("{rows}{}", "Random:1/1\n".repeat(n / 11))),
        (
            "kbench volumes",
            format!("FIO Benchmark Summary\nFor:{}\n", list(n, " vs ", |_| "a".into())),
        ),
        (
            "hcibench",
            list(n, "\n", |_| {
                "R_LATENCY=1 ms\nW_LATENCY=1 ms\nIOPS=1 IO/s\nTHROUGHPUT=1 MB/s\n====".into()
            }) + "\n",
        ),
    ]
}

fn xml(n: usize) -> Vec<(&'static str, String)> {
    let diskspd = |spans: &str, results: &str| {
        format!("<Results><Profile><TimeSpans>{spans}</TimeSpans></Profile>{results}</Results>")
    };
    let one = "<TimeSpan></TimeSpan>";
    vec![
        ("diskspd spans", diskspd(&one.repeat(n / 2 / one.len()), &one.repeat(n / 2 / one.len()))),
        (
            "diskspd targets",
            diskspd(
                &format!("<TimeSpan><Targets>{}</Targets></TimeSpan>", "<Target/>".repeat(n / 9)),
                one,
            ),
        ),
        (
            "diskspd buckets",
            diskspd(
                one,
                &format!(
                    "<TimeSpan><Iops>{}</Iops></TimeSpan>",
                    list(n, "", |at| format!("<Bucket SampleMillisecond=\"{at}\"/>"))
                ),
            ),
        ),
        (
            "diskspd percentiles",
            diskspd(
                one,
                &format!(
                    "<TimeSpan><Latency><Bucket><Percentile>5</Percentile>{}</Bucket></Latency></TimeSpan>",
                    "<TotalMilliseconds>1</TotalMilliseconds>".repeat(n / 40)
                ),
            ),
        ),
        ("diskspd text", diskspd(&format!("<TimeSpan>{}</TimeSpan>", "&amp;".repeat(n / 5)), one)),
        (
            "diskspd attributes",
            diskspd(&format!("<TimeSpan {}/>", list(n, " ", |at| format!("a{at}=\"\""))), one),
        ),
        ("diskspd depth", diskspd(&"<TimeSpan>".repeat(n / 10), one)),
    ]
}

fn histograms(n: usize) -> Vec<(&'static str, String)> {
    let log = sample("hdrhistogram/intervals.hlog");
    let (comments, lines): (Vec<_>, Vec<_>) =
        log.lines().partition(|line| line.starts_with(['#', '"']));
    let encoded = lines.last().unwrap().rsplit(',').next().unwrap();
    let inflated =
        include_str!("../hdr/inflated.hlog").lines().last().unwrap().rsplit(',').next().unwrap();
    let head = comments.join("\n");
    let spectrum = sample("hdrhistogram/percentiles.txt");
    let title = spectrum.lines().next().unwrap();
    vec![
        (
            "hdr intervals",
            format!("{head}\n{}\n", list(n, "\n", |at| format!("{at},1,0.1,{encoded}"))),
        ),
        (
            "hdr tags",
            format!("{head}\n{}\n", list(n, "\n", |at| format!("Tag={at},0,1,0.1,{encoded}"))),
        ),
        (
            "hdr inflated",
            format!("{head}\n{}\n", list(n, "\n", |at| format!("Tag={at},0,1,0.1,{inflated}"))),
        ),
        (
            "hdr shares",
            format!(
                "{title}\nTotalCount\n{}\n",
                list(n, "\n", |at| format!("1 {:.7} {at}", at as f64 / n as f64))
            ),
        ),
        (
            "vdbench ranges",
            list(n, "\n", |at| match at {
                0 => "min(ms) max(ms) cum%".into(),
                at => format!("{at}<{} 1 1 100", at + 1),
            }),
        ),
        (
            "vdbench histograms",
            list(n, "\n", |at| {
                format!("Starting RD={at}\nReads:\nmin(ms) max(ms) cum%\n0<1 1 1 100\n")
            }),
        ),
    ]
}
