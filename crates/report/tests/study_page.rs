//! The page of a study: complete, closed, harmless with hostile input, without a thing to fetch, and
//! light however many cells there are.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod markup;
mod study_fixture;

use std::collections::HashSet;
use std::path::Path;

use markup::{count, elements, fetches_nothing};
use stormeter_report::{Finding, Report, Severity, html};
use stormeter_results::DatastoreFact;
use stormeter_statistics::Interval;
use study_fixture::{Shape, answers, disturbed, fixed_work, made, study, usual};

/// The page, which is also left in the target directory to be looked at.
fn page(name: &str, report: &Report) -> String {
    let page = html(report);
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), &page).unwrap();
    page
}

fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    page.split(start.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn a_page_has_every_section_and_every_chart_its_text() {
    let page = page("study.html", &study());
    let names = elements(&page);
    let charts = page.matches("role=\"img\"").count();
    // The changes of the questions; forest plots of 3 answers with an estimate; the changes of 4 metrics; the 4 against the load and 1
    // by workload; 18 histograms; the whole study; 18 cells.
    assert_eq!(charts, 1 + 3 + 4 + 5 + 18 + 1 + 18);
    // The other drawings are the marks of legends, and charts as narrow screens show them.
    let narrow = page.matches("<svg class=\"narrow\"").count();
    assert_eq!(narrow, 1 + 3 + 4 + 1);
    assert_eq!(count(&names, "svg"), charts + narrow + page.matches("class=\"key\"").count());
    assert!(count(&names, "desc") == charts && count(&names, "title") >= charts);
    for id in
        ["answers", "findings", "matrix", "interaction", "spread", "monitoring", "cells", "method"]
    {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
        assert!(page.contains(&format!("href=\"#{id}\"")), "{id} is not in the contents");
    }
    for text in [
        "must hold",
        "datastore × workload",
        "CPU, all together and each (thin)",
        "MaxBurstLength",
        "rsize",
        "eff. n",
        "connection reset by peer",
        "blocks 1 and 2: the connection was lost and made again (6 times)",
        "AMD EPYC 7443P",
        "--output again.db",
        "are detected with",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn steps_are_marked_on_the_charts_over_time_and_explained_next_to_them() {
    let page = page("steps.html", &disturbed());
    // Two cells, each with as many panels as it has; both steps in each.
    let marks = page.matches("<title>1: link-down nas</title>").count();
    assert!(marks >= 4 && marks.is_multiple_of(2), "{marks}");
    assert_eq!(
        page.matches("<title>2: ssh nas1 &#39;ip link set eth1 up&#39;</title>").count(),
        marks
    );
    for text in
        ["back after", "the next step came before", "not within", "Deepest dip", "17 I/Os failed"]
    {
        assert!(page.contains(text), "{text}");
    }
    assert!(!self::page("study.html", &study()).contains("back after"));
}

fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let start = page.split(&format!("<section id=\"{id}\">")).nth(1).unwrap();
    start.split("</section>").next().unwrap()
}

#[test]
fn all_answers_stand_in_one_table_before_the_details() {
    let page = page("study.html", &study());
    let answers = section(&page, "answers");
    let (overview, details) = answers.split_once("</table>").unwrap();
    let head: Vec<&str> = overview.split("scope=\"col\">").skip(1).collect();
    let head: Vec<&str> = head.iter().map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(head, ["question", "answer", "change or value", "interval"]);
    for (index, answer) in study().analysis.answers.iter().enumerate() {
        let link = format!("<a href=\"#question-{}\">{}</a>", index + 1, answer.question);
        assert!(overview.contains(&link), "{link}");
        assert!(details.contains(&format!("id=\"question-{}\"", index + 1)));
    }
    assert!(overview.contains("−41.6\u{202f}%"), "{overview}");
    // The level is said once, below the table, and p-values with what they rest on.
    assert!(overview.contains(">−43.9 to −39.2\u{202f}%<"), "{overview}");
    assert_eq!(answers.matches("answered by itself at 95\u{202f}%").count(), 1);
    assert!(!overview.contains("Holm") && details.contains("among all questions"), "{overview}");
    // Of five questions the details are folded; of one they are not.
    assert!(!details.contains("open=\"\""));
    let one = made(&usual(), |analysis| analysis.answers = answers_of(1));
    assert!(section(&html(&one), "answers").contains("open=\"\""));
    // With a question of a change and one of a value, the changes stand in one picture too.
    let picture = details.split("</figure>").next().unwrap();
    assert!(picture.contains("id=\"answers-picture-title\""), "{picture}");
    let picture = picture.split("id=\"answers-picture-title\"").nth(1).unwrap();
    assert_eq!(picture.matches("<g class=\"dot").count(), 2, "{picture}");
}

fn answers_of(count: usize) -> Vec<stormeter_statistics::Answer> {
    answers().into_iter().take(count).collect()
}

/// A level is said once; only an interval at another one has it with it.
#[test]
fn the_level_of_most_intervals_is_not_repeated_with_each() {
    let level = |levels: &[f64]| {
        let mut report = made(&usual(), |analysis| analysis.answers = answers_of(3));
        for (answer, level) in report.analysis.answers.iter_mut().zip(levels) {
            answer.estimate.as_mut().unwrap().level = *level;
        }
        let page = html(&report);
        let answers = section(&page, "answers");
        let (table, rest) = answers.split_once("</table>").unwrap();
        let caption = rest.split("class=\"caption\">").nth(1).unwrap();
        (table.matches("\u{202f}%)").count(), caption.split("</p>").next().unwrap().to_string())
    };
    let (repeated, caption) = level(&[0.95, 0.95, 0.95]);
    assert!(repeated == 0 && caption.ends_with("also the level of its interval."), "{caption}");
    let (repeated, caption) = level(&[0.9, 0.9, 0.9]);
    assert!(repeated == 0 && caption.contains("; its interval is at 90\u{202f}%."), "{caption}");
    let (repeated, caption) = level(&[0.95, 0.9, 0.95]);
    assert!(repeated == 1 && caption.contains("unless another is shown"), "{caption}");
}

/// A yes that stands by itself only says so.
#[test]
fn a_yes_that_many_questions_may_give_by_chance_is_marked() {
    let mut report = study();
    assert!(!html(&report).contains('†'));
    report.analysis.answers[1].p_value_adjusted = Some(0.27);
    let page = html(&report);
    // In the table, and where it is explained.
    assert_eq!(page.matches('†').count(), 2);
}

#[test]
fn a_number_is_written_in_one_way() {
    let page = page("study.html", &study());
    let matrix = section(&page, "matrix");
    // The chart's label and its words, the table's cell: each as a change, none as a share of 100.
    let nas = study().analysis.cells[1].relative[0].ratio;
    let change = format!("−{:.1}\u{202f}%", (1.0 - nas) * 100.0);
    assert!(matrix.matches(&change).count() >= 3, "{change}");
    assert!(!matrix.contains(&format!("{:.1}<", nas * 100.0)), "{nas}");
    assert!(!matrix.contains("= 100"));
}

#[test]
fn the_tail_of_the_latency_stands_next_to_throughput_and_cost() {
    let page = page("study.html", &study());
    for metric in ["iops", "host-cpu-per-io", "latency-mean", "latency-p99"] {
        assert!(page.contains(&format!("<h3 id=\"matrix-{metric}\">")), "{metric}");
    }
}

#[test]
fn one_load_a_workload_takes_one_row_and_many_workloads_one_chart() {
    let names = ["vm-4k", "vm-8k", "seq-write-4k", "rewrite"];
    let shape = Shape { workloads: names.to_vec(), vms: vec![4], blocks: 3, ..usual() };
    let report = made(&shape, |analysis| analysis.answers = answers());
    let page = page("study-one-load.html", &report);
    let matrix = section(&page, "matrix");
    assert_eq!(matrix.matches("rowgroup").count(), 0, "a row of its own for the name");
    let metrics = matrix.matches("<h3 id=\"matrix-").count();
    assert_eq!(matrix.matches("role=\"img\"").count(), metrics, "one chart a metric");
    for name in names {
        assert!(matrix.contains(&format!("<th scope=\"row\">{name}</th>")), "{name}");
    }
    // Workloads have no order: nothing joins them, and each has its name.
    let by_workload = page.split("id=\"by-workload-title\"").nth(1).unwrap();
    let by_workload = by_workload.split("</svg>").next().unwrap();
    assert_eq!(by_workload.matches("class=\"line").count(), 0);
    for name in names {
        assert!(by_workload.contains(&format!(">{name}</text>")), "{name}");
    }
}

#[test]
fn every_mark_says_what_it_is_and_its_interval_has_its_colour() {
    let page = page("study.html", &study());
    for id in ["changes-iops-title", "load-iops-title", "by-workload-title"] {
        let chart = page.split(&format!("id=\"{id}\"")).nth(1).unwrap().split("</svg>").next();
        let chart = chart.unwrap();
        let marks = chart.matches("<path class=\"fill s").count()
            + chart.matches("<circle class=\"fill s").count();
        assert!(marks >= 12, "{id}: {marks}");
        assert_eq!(chart.matches("<title>").count(), marks, "{id}");
        for place in 1..3 {
            assert!(chart.contains(&format!("whisker own s{place}")), "{id}");
        }
        assert!(!chart.contains("class=\"whisker\""), "{id}: a whisker without an interval");
    }
    assert!(section(&page, "monitoring").contains("<title>CPU, all together: "));
    let strokes = section(&page, "monitoring").matches("block 1: ").count();
    assert_eq!(strokes, 18, "each trial of the first block");
}

#[test]
fn few_observations_are_described_in_few_columns() {
    let shape = Shape { blocks: 3, seconds: 8, ..usual() };
    let page = page("study-short.html", &made(&shape, |_| {}));
    let spread = section(&page, "spread");
    assert!(!spread.contains("skewness") && !spread.contains("variance"));
    assert!(spread.contains("5.3 of 10") && spread.contains("intervals within the trials"));
    // Means of 20 s are of longer trials.
    assert!(!section(&page, "monitoring").contains("20 s"));
    let long = self::page("study.html", &study());
    assert!(section(&long, "spread").contains("skewness"));
    assert!(section(&long, "monitoring").contains("means over 20 s within each trial"));
}

#[test]
fn findings_with_one_remedy_are_one_box() {
    let mut report = study();
    let finding = |subject: &str, count: u32| Finding {
        severity: Severity::Warning,
        subject: subject.into(),
        what: format!("in {count} of 6 trials IOPS swung"),
        advice: "use a longer duration".into(),
    };
    report.findings = (2..6).map(|count| finding(&format!("cell {count}"), count)).collect();
    let page = html(&report);
    let findings = section(&page, "findings");
    assert_eq!(findings.matches("use a longer duration").count(), 1);
    assert!(findings.contains("the same elsewhere: 3 findings"), "{findings}");
    for count in 2..6 {
        assert!(findings.contains(&format!("in {count} of 6 trials")), "{count}");
    }
}

#[test]
fn who_else_had_the_cpus_is_shown_before_the_answers() {
    use stormeter_statistics::{Fact, LawFinding};
    let report = made(&usual(), |analysis| {
        for cell in [2, 5] {
            let finding =
                LawFinding::warning(Fact::OtherPrograms { share: 0.66, waited_share: None });
            analysis.findings.push((Some(cell), finding));
        }
    });
    let page = page("study-neighbours.html", &report);
    let top = page.split("<section").next().unwrap();
    assert!(top.contains("other programs had 66\u{202f}%"), "{top}");
    assert!(top.contains("2 of 18 cells"), "{top}");
    let quiet = html(&study());
    assert!(!quiet.split("<section").next().unwrap().contains("CPUs of this machine"));
}

/// A study of three pages' worth of answers was printed on 38, because whatever was folded was opened.
#[test]
fn what_is_folded_stays_folded_on_paper() {
    let page = page("study.html", &study());
    let printed: String = page.split("@media print").skip(1).collect();
    let opening: Vec<&str> = printed
        .split('}')
        .filter(|rule| rule.contains("content-visibility: visible; block"))
        .collect();
    let of =
        |rule: &str| rule.split("::").next().unwrap().split_whitespace().last().map(String::from);
    let opened: Vec<String> = opening.into_iter().filter_map(of).collect();
    // Of an answer the sentence only.
    assert_eq!(opened, ["details.answer"]);
    assert!(printed.contains(".answer .inside > :not(.sentence, .must) { display: none; }"));
    assert!(printed.contains("details.stored { display: none; }"));
}

#[test]
fn long_names_of_servers_wrap() {
    let page = page("study.html", &study());
    let table = section(&page, "datastores").split("<div class=\"wrapped\">").nth(1).unwrap();
    assert!(table.contains("MaxBurstLength") && page.contains(".wrapped td"), "{table}");
}

#[test]
fn every_link_leads_to_a_place_that_is_there_once() {
    let page = page("study.html", &study());
    let ids = values(&page, "id");
    let known: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(known.len(), ids.len(), "an id is there twice");
    let links = values(&page, "href");
    assert!(links.len() > 18 * 3, "each cell of the matrix leads to its details");
    for link in links {
        assert!(known.contains(link.strip_prefix('#').unwrap()), "{link}");
    }
}

#[test]
fn a_page_fetches_nothing_and_runs_its_own_script_only() {
    fetches_nothing(&page("study.html", &study()), &["use"]);
}

#[test]
fn the_baseline_is_grey_wherever_it_stands() {
    let mut report = study();
    report.header.plan.baseline = 2;
    let page = html(&report);
    let legend = page.split("class=\"legend\"").nth(1).unwrap().split("</ul>").next().unwrap();
    let first = legend.split("</li>").next().unwrap();
    assert!(first.contains("fill s0") && first.contains("san"), "{first}");
}

#[test]
fn hostile_text_stays_text() {
    const ATTACK: &str = "<script>alert(1)</script>\"onload='x'&<img src=x>\0";
    let mut report = study();
    let plan = &mut report.header.plan;
    plan.study = ATTACK.into();
    plan.datastores[1].name = ATTACK.into();
    plan.datastores[1].url = ATTACK.into();
    plan.workloads[0].name = ATTACK.into();
    plan.design.reset = stormeter_study::Reset::Command(ATTACK.into());
    plan.questions = vec![ATTACK.into()];
    report.header.run_id = ATTACK.into();
    report.header.command_line = vec![ATTACK.into()];
    report.header.environment.hostname = Some(ATTACK.into());
    report.header.datastores[1].protocol = vec![(ATTACK.into(), ATTACK.into())];
    report.header.datastores[1].notes = vec![DatastoreFact::Early { said: ATTACK.into() }.into()];
    report.header.datastores[1].mount_options = Some(ATTACK.into());
    report.repeat_command = ATTACK.into();
    let finding = |severity| Finding {
        severity,
        subject: ATTACK.into(),
        what: ATTACK.into(),
        advice: ATTACK.into(),
    };
    report.findings = vec![finding(Severity::Invalid), finding(Severity::Warning)];
    for answer in &mut report.analysis.answers {
        study_fixture::attack(answer, ATTACK);
    }
    report.analysis.cells[1].failed = Some(study_fixture::failed_trials(1, ATTACK));
    let page = page("study-hostile.html", &report);
    let names = elements(&page);
    assert_eq!((count(&names, "script"), count(&names, "img")), (1, 0));
    assert!(page.matches("&lt;script&gt;alert(1)").count() > 20, "the texts are shown");
    assert!(!page.contains('\0') && !page.contains("\"onload"));
}

#[test]
fn a_study_without_results_or_monitoring_still_makes_a_page() {
    let empty = made(&Shape { blocks: 0, ..usual() }, |analysis| analysis.power = None);
    let text = page("study-empty.html", &empty);
    assert_eq!(count(&elements(&text), "svg"), 0);
    assert!(text.contains("No question was asked") && text.contains("not measured"));
    let mut unwatched = study();
    for trace in &mut unwatched.traces {
        trace.monitor.clear();
        trace.averages.clear();
    }
    let text = page("study-unwatched.html", &unwatched);
    elements(&text);
    assert!(text.contains("The host was not monitored"));
    let text = page("study-fixed-work.html", &fixed_work());
    elements(&text);
    assert!(text.contains("customise") && text.contains("elapsed time"));
}

#[test]
fn values_without_bounds_leave_no_nan_in_a_drawing() {
    let mut report = study();
    let endless = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, level: 0.95 };
    for cell in &mut report.analysis.cells {
        cell.values[0].interval = Some(endless);
        cell.observations[0] = f64::NAN;
        for relative in &mut cell.relative {
            if let Some(comparison) = &mut relative.comparison {
                comparison.interval = endless;
                comparison.half_width = f64::INFINITY;
            }
        }
    }
    report.analysis.cells[1].relative[0].ratio = f64::INFINITY;
    for answer in &mut report.analysis.answers {
        if let Some(estimate) = &mut answer.estimate {
            estimate.interval = Some(endless);
        }
        answer.parts.iter_mut().for_each(|part| part.value = f64::NAN);
    }
    for trace in &mut report.traces {
        trace.iops = f64::NAN;
        trace.points[0].iops = f64::INFINITY;
        trace.averages[0].cpu_busy = f64::NAN;
    }
    let page = page("study-boundless.html", &report);
    elements(&page);
    assert!(!page.contains("NaN") && !page.contains("inf\"") && !page.contains("inf "), "{page}");
}

/// 5 datastores, 4 workloads, 5 numbers of VMs, 2 of outstanding I/Os: 200 cells of 10 trials.
#[test]
fn two_hundred_cells_stay_below_five_megabytes() {
    let shape = Shape {
        datastores: vec!["local", "nas", "san", "ceph-hdd", "ceph-nvme"],
        workloads: vec!["vm-4k", "vm-8k", "seq-write-4k", "rewrite"],
        vms: vec![1, 4, 16, 32, 96],
        outstanding: vec![4, 16],
        blocks: 10,
        seconds: 120,
        cores: 16,
    };
    let report = made(&shape, |analysis| analysis.answers = answers());
    assert_eq!((report.analysis.cells.len(), report.traces.len()), (200, 1999));
    // The middle trial of a cell gives way when there are many cells, the others always.
    for trace in &report.traces {
        let most = if trace.is_representative { 40 } else { 30 };
        assert!(trace.points.len() <= most && trace.monitor.len() <= most);
    }
    let page = page("study-large.html", &report);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    // Small things add up: what is folded away is parsed all the same.
    let names = elements(&page);
    assert!(names.len() < 80_000, "{} elements", names.len());
    assert!(page.contains("200 histograms with normal curves"));
    assert!(page.contains("thin: least and most busy"));
    println!("{} bytes, {} elements", page.len(), names.len());
}

#[test]
fn a_predicted_page_says_for_what_and_why_and_lets_no_name_through() {
    let page = page("study-predicted.html", &study_fixture::predicted());
    elements(&page);
    assert!(page.contains("Predicted for two filers &lt;next year&gt; (site.yaml)"), "the head");
    assert!(page.contains("id=\"why\"") && page.contains("esx nic is full"), "why");
    assert!(page.contains("aggregate &amp; spares"));
    assert!(page.contains("of esx nic: +9.4"), "gains");
    assert!(page.contains("chance in the simulation only"), "what p-values are of");
    assert!(page.contains("Model error ÷1.4 to ×1.4"), "the model's error in an answer");
    assert!(page.contains("more is better; model error ÷1.4 to ×1.4"), "that of a table");
    let rests =
        "Rests on the default controllers.filer.cache.destage-depth = 16; with 2: no (0.21 times)";
    assert!(page.contains(rests), "what an answer rests on");
    let cell = "IOPS with other plausible values: controllers.filer.cache.destage-depth = 2 instead of 16, 0.41";
    assert!(page.contains(cell), "what a cell rests on");
    assert!(page.contains("<title>PREDICTED: Which datastore"), "the tab says so");
    assert!(page.contains("<strong>PREDICTED</strong>") && page.contains("of virtual time"));
    // A colour that is a datastore elsewhere on the page is none of its components here.
    let why = section(&page, "why");
    assert!(why.contains("swatch k") && why.contains("part k"), "{why}");
    assert!(!why.contains("swatch s") && !why.contains("part s"), "{why}");
    let measured = self::page("study-measured.html", &study());
    assert!(!measured.contains("PREDICTED") && !measured.contains("virtual time"));
    assert!(page.contains("How it was predicted") && !page.contains("How it was measured"));
    assert!(!self::page("study-measured.html", &study()).contains("id=\"why\""));
}
