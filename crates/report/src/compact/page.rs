//! A comparison as one page: no font, no picture, nothing to fetch; it opens from a USB stick, prints, and
//! needs no script.
//!
//! The order is that of a reader's questions: what is the result, can I trust it, how large is the difference in
//! every metric, what does it look like, how was it measured, how do I repeat it.

use stormeter_statistics::Verdict;

use super::changes::changes;
use super::cpu::cpu;
use super::model::Compact;
use super::over_time::over_time;
use super::sentence::{headline, verdict_sign, verdict_word};
use super::{method, tables};
use crate::date;
use crate::markup::Markup;
use crate::page::{self, document, findings, typographic};
use crate::quantity::level_percent;
use crate::svg;
use crate::wording;

/// The page.
pub fn html(report: &Compact) -> String {
    let sentences = headline(report);
    let mut page = Markup::default();
    let title = sentences.first().map_or("Stormeter", String::as_str);
    document::start(&mut page, title, &[], "comparison");
    page.tag("main").open();
    heading(&mut page, report, &sentences);
    findings_of(&mut page, report);
    summary(&mut page, report);
    charts(&mut page, report);
    method::method(&mut page, report);
    document::end(page, &report.header.stormeter_version, &report.header.run_id)
}

fn heading(page: &mut Markup, report: &Compact, sentences: &[String]) {
    page.tag("header").open();
    page.tag("p").at("class", "kicker").open();
    page.leaf("strong", "Stormeter");
    page.text(" · ");
    page.text(&format!("workload {} · ", report.workload_name()));
    page.text(&date::utc(report.header.created_unix_ms));
    page.close();
    let verdicts: Vec<Verdict> = report.primaries().map(|c| c.comparison.verdict).collect();
    // One verdict is the title of the page; several get a line each.
    let class = if sentences.len() > 1 { "verdicts several" } else { "verdicts" };
    page.tag("h1").at("class", class).open();
    for (index, sentence) in sentences.iter().enumerate() {
        let verdict = verdicts.get(index).copied();
        let word = verdict.map_or("none", verdict_word);
        page.tag("span").at("class", format!("verdict {word}")).open();
        if let Some(verdict) = verdict {
            page.tag("span").at("class", "pill").text(&format!("{} {word}", verdict_sign(verdict)));
            page.text(" ");
        }
        page.text(&typographic(sentence));
        page.close();
        page.text("\n");
    }
    page.close();
    if let Some(finding) = &report.unlike_promises {
        page.tag("p").at("class", "promises").text(&typographic(&finding.sentences()));
    }
    page.tag("p").at("class", "status").text(&typographic(&wording::status(&report.status)));
    page.close();
}

fn findings_of(page: &mut Markup, report: &Compact) {
    if report.findings.is_empty() {
        return;
    }
    page.tag("section").at("class", "findings").at("aria-label", "Findings").open();
    findings::groups(&report.findings).iter().for_each(|group| findings::show(page, group));
    page.close();
}

fn summary(page: &mut Markup, report: &Compact) {
    page.tag("section").open();
    page.leaf("h2", "At a glance");
    if let Some(chart) = changes(report) {
        legend(page, report, true);
        page.tag("figure").open();
        page.append(chart);
        page.leaf(
            "figcaption",
            "The change from the baseline, taken within the blocks, better to the right. Whiskers are \
             confidence intervals, with an arrow where one reaches beyond the axis. Hollow marks are not \
             settled.",
        );
        page.close();
    }
    tables::summary(page, report);
    page.tag("p").at("class", "caption").text(&typographic(&levels(report)));
    page.close();
}

/// The confidence levels on the page, explained once: they differ because the error is shared.
fn levels(report: &Compact) -> String {
    let plan = &report.header.plan;
    let level = level_percent(plan.design.level);
    let primaries: Vec<f64> = report.primaries().map(|of| of.comparison.interval.level).collect();
    let own = primaries.iter().copied().find(|own| (own - plan.design.level).abs() > 1e-6);
    let verdicts = match own {
        Some(own) => format!(
            "the verdicts on {} candidates hold together at {level} %, each by itself at {} %",
            primaries.len(),
            level_percent(own)
        ),
        None => format!("the verdict is at {level} %"),
    };
    let others = report.comparisons.iter().filter(|of| !of.primary);
    let widest = others.map(|of| of.comparison.interval.level).fold(0.0, f64::max);
    let others = match widest {
        0.0 => String::new(),
        widest => format!(
            "; the other metrics are one family (Holm's correction), with intervals at up to {} %",
            level_percent(widest)
        ),
    };
    format!(
        "Confidence levels: {verdicts}{others}; ± of an absolute value is at {level} %, for that value \
         alone."
    )
}

/// One chart of the page: heading, drawing, how to read it, its numbers.
fn section(
    page: &mut Markup,
    heading: &str,
    chart: Option<Markup>,
    caption: &str,
    numbers: impl FnOnce(&mut Markup),
) {
    let Some(chart) = chart else { return };
    page.tag("section").at("class", "chart").open();
    page.leaf("h2", heading);
    page.tag("figure").open();
    page.append(chart);
    page.leaf("figcaption", caption);
    page.close();
    page.tag("details").open();
    page.leaf("summary", "The numbers");
    numbers(page);
    page.close();
    page.close();
}

fn charts(page: &mut Markup, report: &Compact) {
    section(
        page,
        "Latency by percentile",
        svg::percentile(report),
        "From histograms merged over all trials; percentiles are never averaged. Both axes are \
         logarithmic: each step to the right leaves a tenth of the I/Os.",
        |page| tables::percentiles(page, report),
    );
    section(
        page,
        "How latencies are spread",
        svg::histogram(report),
        "Share of the I/Os in columns of equal width on a logarithmic axis; the dotted lines are \
         the median and the 99th percentile.",
        |page| tables::histogram(page, report),
    );
    // Colours need a legend where the drawing does not name them.
    let over_time = over_time(report).map(|chart| {
        let mut with_legend = Markup::default();
        legend(&mut with_legend, report, false);
        with_legend.append(chart);
        with_legend
    });
    section(
        page,
        "Over time",
        over_time,
        "Each line is one trial without its ramp. Datastores take turns in random order within \
         every block (shaded), so that a drift of the machine meets all of them.",
        |page| tables::trials(page, report),
    );
    section(
        page,
        "CPU time per I/O",
        cpu(report),
        "Busy time of the initiator's machine, less what it spends when nothing is driven, divided by \
         the I/Os; for a datastore in the network much of it is in softirqs and kernel threads. A target \
         on the same machine, the processes that serve the datastore, is shown where its time is known.",
        |page| tables::cpu(page, report),
    );
}

/// Which colour and mark is which datastore.
fn legend(page: &mut Markup, report: &Compact, only_candidates: bool) {
    let baseline = report.header.plan.baseline;
    let shown = report.datastores.iter().enumerate();
    let shown = shown.filter(|(index, _)| !only_candidates || *index != baseline);
    page::legend(page, shown.map(|(index, of)| (index, of.label.as_str(), index == baseline)));
}
