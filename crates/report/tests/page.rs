//! The page: complete, closed, harmless with hostile input, and without a single thing to fetch.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod markup;

use std::path::Path;

use fixture::{LOCAL, LOOPBACK_ISCSI, LOOPBACK_NFS, Likeness, MEMORY, NAS, SAN, open_loop, report};
use markup::{count, elements, fetches_nothing};
use stormeter_report::compact::{Compact, WayCeiling, html, terminal};
use stormeter_report::{Finding, Severity, TerminalOptions};
use stormeter_results::DatastoreFact;
use stormeter_statistics::Verdict;

/// The page, which is also left in the target directory to be looked at.
fn page(name: &str, report: &Compact) -> String {
    let page = html(report);
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), &page).unwrap();
    page
}

#[test]
fn a_page_has_every_chart_with_its_text() {
    for (name, likenesses) in
        [("two.html", vec![LOCAL, NAS]), ("four.html", vec![LOCAL, NAS, SAN, MEMORY])]
    {
        let page = page(name, &report(&likenesses));
        let names = elements(&page);
        // The others are the marks of legends, and the first chart as narrow screens show it.
        assert_eq!(count(&names, "svg"), 6 + page.matches("class=\"key\"").count());
        assert_eq!(count(&names, "desc"), 5, "each chart describes itself");
        assert_eq!(page.matches("role=\"img\"").count(), 5);
        assert_eq!(count(&names, "details"), 4, "each chart but the first has its numbers");
        assert!(page.contains("is 23.4\u{202f}% slower than /srv/vm in IOPS"));
        assert!(page.contains("--seed 20260921"));
        assert!(page.contains("AMD EPYC 7443P"));
        for likeness in &likenesses {
            assert!(page.contains(&likeness.url.replace('&', "&amp;")), "{}", likeness.url);
        }
        for id in page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let label = format!("id=\"{id}\"");
            assert_eq!(page.matches(&label).count(), 1, "{id} is not unique");
        }
    }
}

#[test]
fn the_target_is_shown_where_a_datastore_has_one() {
    const NAME: &str = "target CPU per I/O";
    const ROW: &str = "<th scope=\"row\">target CPU per I/O</th>";
    const PART: &str = "target (the server";
    let without = page("two.html", &report(&[LOCAL, NAS]));
    assert!(!without.contains(NAME) && !without.contains(PART) && !without.contains("part p4"));
    let with = page("loopback.html", &report(&[LOCAL, LOOPBACK_NFS, LOOPBACK_ISCSI]));
    elements(&with);
    // A bar each for the two that have one, and the legend.
    assert_eq!(with.matches("part p4").count(), 2);
    assert_eq!(with.matches("swatch p4").count(), 1);
    // What the local directory has not is a dash, and 100 of nothing.
    let row = with.split(ROW).nth(1).unwrap().split("</tr>").next().unwrap();
    let cells: Vec<&str> = row.split("<td ").skip(1).collect();
    assert!(cells[0].contains('–') && !cells[0].contains("100"), "{row}");
    assert!(cells[1].contains("9.30\u{202f}µs") && cells[2].contains("6.70\u{202f}µs"), "{row}");
    let numbers = with.split(PART).last().unwrap();
    let first = numbers.split("<tr>").nth(1).unwrap().split("</tr>").next().unwrap();
    assert!(first.contains("/srv/vm") && first.contains("<td>–</td>"), "{first}");
}

#[test]
fn the_head_of_a_table_breaks_a_url_after_its_signs() {
    let page = page("loopback.html", &report(&[LOCAL, LOOPBACK_NFS, LOOPBACK_ISCSI]));
    let head = page.split("<thead>").nth(1).unwrap().split("</thead>").next().unwrap();
    assert!(head.contains("nfs://<wbr/>127.0.0.1/<wbr/>srv/<wbr/>vm"), "{head}");
}

#[test]
fn a_page_fetches_nothing_and_runs_its_own_script_only() {
    let page = page("two.html", &report(&[LOCAL, NAS]));
    fetches_nothing(&page, &["a"]);
    assert!(!page.contains("href="));
}

/// What is folded away on a screen is open on paper, where its name is the only heading that it has.
#[test]
fn a_printed_page_keeps_the_names_of_what_was_folded() {
    let page = page("two.html", &report(&[LOCAL, NAS]));
    let printed = page.split("@media print").nth(1).unwrap();
    for rule in printed.split('}').filter(|rule| rule.contains("display: none")) {
        let of = rule.split('{').next().unwrap().split("*/").last().unwrap().trim();
        assert!(
            [".tip", "summary::-webkit-details-marker", "details.stored"].contains(&of),
            "{of}"
        );
    }
}

#[test]
fn a_number_is_written_in_one_way() {
    let page = page("two.html", &report(&[LOCAL, NAS]));
    assert!(page.contains("is 23.4\u{202f}% slower than /srv/vm in IOPS"));
    // In the chart's description, at its bar, and in the table.
    assert!(page.matches("−23.4\u{202f}%").count() >= 3);
    assert!(!page.contains("76.6") && !page.contains("= 100"), "{page}");
}

/// The marks of the chart of changes: what each says, and how far right of the baseline it stands.
fn marks(page: &str) -> Vec<(&str, f64)> {
    let chart = page.split("id=\"changes-title\"").nth(1).unwrap().split("</svg>").next().unwrap();
    let number = |text: &str, name: &str| -> f64 {
        text.split(name).nth(1).unwrap().split(['"', ' ']).next().unwrap().parse().unwrap()
    };
    let none = number(chart.split("class=\"baseline\"").nth(1).unwrap(), " x1=\"");
    let dots = chart.split("<g class=\"dot").skip(1).map(|rest| {
        let title = rest.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
        // The mark of the first candidate is a square, whose path starts 4 left of its middle.
        (title, number(rest.split("class=\"fill s1\"").nth(1).unwrap(), " d=\"M") + 4.0 - none)
    });
    dots.collect()
}

#[test]
fn better_is_on_the_right_whatever_the_metric() {
    let slower = report(&[LOCAL, NAS]);
    let page = page("two.html", &slower);
    // Fewer IOPS, higher latencies and higher costs are all on the left.
    let marks = self::marks(&page);
    assert!(marks.len() > 5, "{marks:?}");
    assert!(marks.iter().all(|(_, x)| *x < 0.0), "{marks:?}");
    assert!(page.contains("better →"));
}

#[test]
fn numbers_of_a_chart_stand_in_a_column() {
    let page = page("two.html", &report(&[LOCAL, NAS]));
    let chart = page.split("id=\"changes-title\"").nth(1).unwrap().split("</svg>").next().unwrap();
    // Not at the tip of a whisker.
    let places: std::collections::HashSet<&str> = chart
        .split("<text class=\"value start")
        .skip(1)
        .map(|rest| rest.split(" x=\"").nth(1).unwrap().split('"').next().unwrap())
        .collect();
    assert_eq!(places.len(), 1, "{places:?}");
}

#[test]
fn confidence_levels_are_explained_once() {
    for (name, likenesses, words) in [
        ("two.html", vec![LOCAL, NAS], "the verdict is at 95\u{202f}%"),
        ("four.html", vec![LOCAL, NAS, SAN, MEMORY], "hold together at 95\u{202f}%"),
    ] {
        let mut report = report(&likenesses);
        // Several candidates share the error.
        let own = 1.0 - 0.05 / (likenesses.len() - 1) as f64;
        for of in report.comparisons.iter_mut().filter(|of| of.primary) {
            of.comparison.interval.level = own;
        }
        let page = page(name, &report);
        assert_eq!(page.matches("Confidence levels: ").count(), 1);
        assert!(page.contains(words), "{name}");
        assert_eq!(page.matches("Holm").count(), 1, "{name}");
    }
}

#[test]
fn whatever_is_drawn_says_its_values() {
    let page = page("two.html", &report(&[LOCAL, NAS]));
    let chart = |id: &str| {
        let start = page.split(&format!("id=\"{id}-title\"")).nth(1).unwrap();
        start.split("</svg>").next().unwrap()
    };
    for (id, words) in [
        ("percentiles", "<title>/mnt/nas/vm: p99 "),
        ("histogram", " %</title>"),
        ("series", "<title>/mnt/nas/vm, block 1: "),
        ("changes", "<title>/mnt/nas/vm is 23.4 % slower"),
        ("cpu", "<title>driving threads, user: "),
    ] {
        assert!(chart(id).contains(words), "{id}: {}", chart(id));
    }
}

#[test]
fn on_a_narrow_screen_charts_shrink_and_tables_are_stacked() {
    let page = page("two.html", &report(&[LOCAL, NAS]));
    let style = page.split("</style>").next().unwrap();
    assert!(style.contains("svg { display: block; width: 100%; height: auto;"));
    assert!(!style.contains("min-width: 33rem"), "a chart wider than the screen is cut off");
    let cells = page.split("class=\"summary").nth(1).unwrap().split("</table>").next().unwrap();
    assert_eq!(cells.matches("<td").count(), cells.matches("<td data-label=").count());
    assert!(style.contains("content: attr(data-label)"));
}

#[test]
fn a_hypervisor_without_a_name_is_not_called_yes() {
    let mut report = report(&[LOCAL, NAS]);
    report.header.environment.virtualization = Some("yes".into());
    let page = html(&report);
    let row = page.split("<dt>Virtual machine</dt>").nth(1).unwrap().trim_start();
    assert!(row.starts_with("<dd>yes, of an unnamed hypervisor</dd>"), "{}", &row[..60]);
}

#[test]
fn hostile_text_stays_text() {
    const ATTACK: &str = "nfs://<script>alert(1)</script>/\"onload='x'&<img src=x>\0";
    let hostile = Likeness { url: ATTACK, file_system: ATTACK, source: ATTACK, ..NAS };
    let mut report = report(&[LOCAL, hostile]);
    report.header.environment.hostname = Some(ATTACK.into());
    report.header.plan.workloads[0].name = ATTACK.into();
    report.header.run_id = ATTACK.into();
    report.repeat_command = ATTACK.into();
    report.findings = vec![Finding {
        severity: Severity::Invalid,
        subject: ATTACK.into(),
        what: ATTACK.into(),
        advice: ATTACK.into(),
    }];
    report.datastores[1].description.notes =
        vec![DatastoreFact::Early { said: ATTACK.into() }.into()];
    report.datastores[1].label = ATTACK.into();
    let page = page("hostile.html", &report);
    let names = elements(&page);
    assert_eq!(count(&names, "script"), 1, "the page's own");
    assert_eq!(count(&names, "img"), 0);
    assert!(page.matches("&lt;script&gt;alert(1)").count() > 12, "the texts are shown");
    assert!(!page.contains('\0'));
    assert!(!page.contains("\"onload"));
}

#[test]
fn a_run_without_results_still_makes_a_page() {
    let mut empty = report(&[LOCAL, NAS]);
    empty.comparisons.clear();
    empty.trials.clear();
    empty.latencies.clear();
    empty.cpu.clear();
    empty.ceiling = None;
    empty.status.blocks = 1;
    empty.status.reason = None;
    empty.datastores.iter_mut().for_each(|datastore| datastore.values.clear());
    let page = page("empty.html", &empty);
    let names = elements(&page);
    assert_eq!(count(&names, "svg"), 0);
    assert!(page.contains("No result yet"), "{page}");
    assert!(page.contains("Not finished"));
}

#[test]
fn values_without_bounds_leave_no_nan_in_a_drawing() {
    let mut report = report(&[LOCAL, NAS]);
    for of in &mut report.comparisons {
        of.comparison.interval.high = f64::INFINITY;
        of.comparison.half_width = f64::INFINITY;
        of.comparison.verdict = Verdict::Inconclusive;
        of.comparison.blocks_needed = None;
    }
    report.cpu[0].threads_user_ns = f64::NAN;
    report.trials[0].points[0].iops = f64::NAN;
    report.latencies[0].percentiles[0].latency_ns = f64::NAN;
    let page = page("boundless.html", &report);
    elements(&page);
    assert!(!page.contains("NaN") && !page.contains("inf\""), "{page}");
}

/// What is printed, its lines joined again where they were wrapped.
fn said(report: &Compact) -> String {
    let text = terminal(
        report,
        TerminalOptions { width: 100, color: false, ..TerminalOptions::default() },
    );
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_open_loop_has_service_times_and_says_which_times_compare_with_fio_s() {
    let closed = report(&[LOCAL, NAS]);
    let open = open_loop(closed.clone());
    let words = "service time from when it was issued, as lat and clat of fio do";
    for text in [page("open.html", &open), said(&open)] {
        assert!(text.contains(words), "{text}");
        assert!(text.contains("p99 service time") && text.contains("p99 lateness"), "{text}");
    }
    assert!(page("open.html", &open).contains("/srv/vm, service time"));
    for text in [page("two.html", &closed), said(&closed)] {
        assert!(!text.contains("service time"), "{text}");
    }
}

#[test]
fn each_datastore_has_the_ceiling_of_its_own_way() {
    let mut mixed = report(&[LOCAL, LOOPBACK_NFS]);
    let generator = "The load generator alone reaches 8 640 000 IOPS";
    assert!(
        said(&mixed).contains(&format!("{generator}: 67.3 times the highest measured; the client"))
    );
    mixed.way_ceilings =
        vec![WayCeiling { datastore: 1, iops: 65_592.0, times_measured: Some(3.3) }];
    let way = "reaches 65 592 IOPS by itself: 3.3 times the highest measured there; measured through the same \
               client with a server that answers from nothing";
    let text = said(&mixed);
    assert!(
        text.contains(way) && text.contains("times the highest measured without a network."),
        "{text}"
    );
    assert!(page("ways.html", &mixed).contains("a server that answers from nothing"));
    // Where each has a way of its own, what the generator does on nothing is not worth a line.
    let mut far = mixed;
    far.way_ceilings.push(WayCeiling { datastore: 0, iops: 70_000.0, times_measured: None });
    assert!(!said(&far).contains("The load generator alone"), "{}", said(&far));
}
