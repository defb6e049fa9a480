//! A comparison as text for a terminal: the sentence first, then the findings that weaken it, then the numbers.
//! It fits any width from 40 columns on.

use stormeter_statistics::Verdict;

use super::model::Compact;
use super::pair::{self, Form};
use super::sentence::{headline, signs};
use crate::printable::printable;
use crate::quantity::{level_percent, percent};
use crate::text::{Paint, Style, TerminalOptions, findings, pad_right, plain, push_line, wrap};
use crate::touched;
use crate::wording;

/// The report as text, ending in a line break.
pub fn terminal(report: &Compact, options: TerminalOptions) -> String {
    let width = options.width.clamp(40, 120);
    let paint = Paint(options.color);
    let mut text = String::new();
    let verdicts: Vec<Verdict> = report.primaries().map(|c| c.comparison.verdict).collect();
    for (index, sentence) in headline(report).iter().enumerate() {
        let style = verdicts.get(index).copied().map_or(Style::Bold, Style::of);
        for line in wrap(&printable(sentence), width, "", "") {
            push_line(&mut text, &paint.with(style, &line));
        }
    }
    if let Some(finding) = &report.unlike_promises {
        for line in wrap(&printable(&finding.sentences()), width, "", "") {
            push_line(&mut text, &paint.with(Style::Unsure, &line));
        }
    }
    push_line(&mut text, "");
    findings(&report.findings, width, paint, &mut text);
    for line in wrap(&wording::status(&report.status), width, "", "") {
        push_line(&mut text, &line);
    }
    let load = format!("Workload {}; {}.", wording::named_workload(report), wording::load(report));
    for line in wrap(&printable(&load), width, "", "") {
        push_line(&mut text, &line);
    }
    for words in [touched::line(report), wording::verified(report)].into_iter().flatten() {
        for line in wrap(&printable(&words), width, "", "  ") {
            push_line(&mut text, &line);
        }
    }
    push_line(&mut text, "");
    legend(report, width, paint, &mut text);
    let mut forms = Vec::new();
    for candidate in 0..report.datastores.len() {
        if candidate != report.header.plan.baseline {
            push_line(&mut text, "");
            forms.push(pair::table(report, candidate, (width, paint), &mut text));
        }
    }
    push_line(&mut text, "");
    let caption = caption(report, &forms);
    for line in wrap(&caption, width, "", "") {
        push_line(&mut text, &paint.with(Style::Dim, &plain(&line)));
    }
    let times = report.is_open_loop().then(|| wording::OPEN_LOOP_TIMES.to_string());
    for sentence in times.into_iter().chain(report.durability()).chain(wording::ceilings(report)) {
        for line in wrap(&printable(&sentence), width, "", "") {
            push_line(&mut text, &paint.with(Style::Dim, &line));
        }
    }
    if options.repeat {
        push_line(&mut text, "");
        push_line(&mut text, &format!("Repeat it: {}", printable(&report.repeat_command)));
    }
    text
}

fn legend(report: &Compact, width: usize, paint: Paint, text: &mut String) {
    let longest = report.datastores.iter().map(|d| d.label.chars().count()).max().unwrap_or(0);
    let indent = longest + 4;
    for (index, datastore) in report.datastores.iter().enumerate() {
        let role = if index == report.header.plan.baseline { "baseline; " } else { "" };
        let mut words = format!("{role}{}", wording::datastore(&datastore.description));
        if datastore.description.url != datastore.label {
            words = format!("{}; {words}", datastore.description.url);
        }
        // On a narrow terminal long names leave too little room after them; a URL needs a line anywhere.
        let widest = words.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
        if indent > width / 2 || indent + widest > width {
            let hang = " ".repeat(4);
            let label = format!("  {}", printable(&datastore.label));
            push_line(text, &paint.with(Style::Bold, &label));
            for line in wrap(&printable(&words), width, &hang, &hang) {
                push_line(text, &line);
            }
            continue;
        }
        let hang = " ".repeat(indent);
        let label = pad_right(&printable(&datastore.label), longest);
        let lines = wrap(&printable(&words), width, &format!("  {label}  "), &hang);
        for (number, line) in lines.iter().enumerate() {
            // The label is padded before it is coloured: escape sequences have no width.
            let line = match (number, line.split_at_checked(2 + label.len())) {
                (0, Some((head, tail))) => format!("{}{tail}", paint.with(Style::Bold, head)),
                _ => line.clone(),
            };
            push_line(text, &line);
        }
    }
}

fn caption(report: &Compact, forms: &[Form]) -> String {
    let plan = &report.header.plan;
    let room = if forms.iter().all(|form| form.intervals) { "" } else { " where there is room" };
    let adjusted = if report.metrics().len() > 1 { " (other metrics: Holm-adjusted)" } else { "" };
    let signs = match forms.iter().all(|form| form.words) {
        true => String::new(),
        false => {
            let verdicts = report.comparisons.iter().map(|of| of.comparison.verdict);
            format!(" {}.", signs(|verdict| verdicts.clone().any(|of| of == verdict)))
        }
    };
    format!(
        "* decides the verdict. Changes from the baseline are taken within blocks, with their {} % \
         interval{room}{adjusted}; from double and from half on they are multiples.{signs} \
         Equivalence margin {} %, requested precision {} %, seed {}.",
        level_percent(plan.level_of_ratios()),
        percent(plan.design.margin),
        percent(plan.design.precision),
        plan.seed
    )
}
