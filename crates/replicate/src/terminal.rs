//! The table as text: one line of figures per finding, with the claim and the reason below it.
//!
//! Lines are broken by twenty lines of code here: setting up a crate for it would take half as
//! many.

use crate::agreement::Agreement;
use crate::answers::{Observed, ObservedOutcome};
use crate::published::Basis;
use crate::replicate::{ReplicateTable, Row, Soundness, Tally};

/// The table as text `width` columns wide (60 to 160), ending in a line break.
pub fn terminal(table: &ReplicateTable, width: usize) -> String {
    let width = width.clamp(60, 160);
    let mut text = String::new();
    let study = &table.study;
    wrap(&mut text, width, "", "", &study.title);
    let authors = study.authors.join(", ");
    wrap(&mut text, width, "", "", &format!("{authors}; {}, {}", study.place, study.year));
    wrap(&mut text, width, "", "", &format!("Asked: {}", study.question));
    let given = study.given;
    wrap(
        &mut text,
        width,
        "",
        "",
        &format!("Given: {} tables with {} numbers.", given.tables, given.numbers),
    );
    for (name, part) in
        [("Weak", &study.weak), ("Sound", &study.sound), ("Measured", &study.stands_for)]
    {
        if let Some(part) = part {
            wrap(&mut text, width, "", "  ", &format!("{name}: {part}"));
        }
    }
    rows(&mut text, width, "Findings", &table.findings);
    if !table.checks.is_empty() {
        rows(&mut text, width, "Our checks of its tables", &table.checks);
    }
    text.push('\n');
    wrap(&mut text, width, "", "  ", &summary("findings", &table.summary));
    if !table.checks.is_empty() {
        wrap(&mut text, width, "", "  ", &summary("checks of ours", &table.checks_summary));
    }
    results_summary(&mut text, width, "", table);
    if table.summary.agree_with_statements_only > 0 {
        let words =
            "consistent: agrees with other statements of the study, which prints no data for it.";
        wrap(&mut text, width, "", "  ", words);
    }
    text
}

/// A few lines on each of several studies.
pub fn overview(tables: &[ReplicateTable], width: usize) -> String {
    let width = width.clamp(60, 160);
    let mut text = String::new();
    for table in tables {
        let study = &table.study;
        wrap(
            &mut text,
            width,
            "",
            "  ",
            &format!("{}: {} ({})", study.name, study.title, study.year),
        );
        wrap(&mut text, width, "  ", "  ", &summary("findings", &table.summary));
        let names: Vec<&str> = table
            .findings
            .iter()
            .chain(&table.checks)
            .filter(|row| row.recomputed.agreement == Agreement::DoesNotFollow)
            .map(|row| row.id.as_str())
            .collect();
        if !names.is_empty() {
            let line = format!("Do not follow, checks of ours included: {}.", names.join(", "));
            wrap(&mut text, width, "  ", "  ", &line);
        }
        results_summary(&mut text, width, "  ", table);
    }
    text
}

fn summary(what: &str, tally: &Tally) -> String {
    let statements = match tally.agree_with_statements_only {
        0 => String::new(),
        all if all == tally.agree => " (all with the study's own statements only)".into(),
        some => format!(" ({some} with the study's own statements only)"),
    };
    format!(
        "{} {what}: {} agree{statements}, {} agree within the rounding of the printed inputs, {} do not \
         follow, {} not testable.",
        tally.findings,
        tally.agree,
        tally.agree_within_rounding,
        tally.do_not_follow,
        tally.not_testable
    )
}

/// Columns of the line of figures: name, published, recomputed; the verdict follows.
fn layout(width: usize, rows: &[Row]) -> [usize; 3] {
    let longest = rows.iter().map(|row| row.id.chars().count()).max().unwrap_or(0).max(7);
    let name = longest.min(width * 2 / 5);
    let figure = |text: Option<&String>| text.map_or(1, |text| text.chars().count());
    let published = rows.iter().map(|row| figure(row.published.as_ref())).max().unwrap_or(0).max(9);
    let recomputed =
        rows.iter().map(|row| figure(row.recomputed.value.as_ref())).max().unwrap_or(0).max(10);
    let most = (width - name) / 4;
    [name, published.min(most), recomputed.min(most)]
}

fn rows(text: &mut String, width: usize, title: &str, rows: &[Row]) {
    let [name, published, recomputed] = layout(width, rows);
    text.push('\n');
    let line = |first: &str, second: &str, third: &str, fourth: &str| {
        format!("{first:<name$}  {second:>published$}  {third:>recomputed$}  {fourth}\n")
    };
    text.push_str(&line(title, "published", "recomputed", "verdict"));
    text.push_str(&"-".repeat(width));
    text.push('\n');
    for row in rows {
        let printed = row.published.as_deref().unwrap_or("-");
        let value = row.recomputed.value.as_deref().unwrap_or("-");
        let figures = line(&row.id, printed, value, verdict(row));
        let fits = row.id.chars().count() <= name
            && printed.chars().count() <= published
            && value.chars().count() <= recomputed
            && figures.trim_end().chars().count() <= width;
        if fits {
            text.push_str(&figures);
        } else {
            let whole =
                format!("{}  published {printed}; recomputed {value}; {}", row.id, verdict(row));
            wrap(text, width, "", "    ", &whole);
        }
        wrap(text, width, "  ", "  ", &format!("{} [{}]", row.statement, row.source));
        if !row.recomputed.reason.is_empty() {
            wrap(text, width, "  -> ", "     ", &row.recomputed.reason);
        }
        if let Some(weak) = &row.weak {
            wrap(text, width, "  weak: ", "     ", weak);
        }
        if let Some(sound) = &row.sound {
            let verdict = match sound.verdict {
                Soundness::Holds => "holds; ",
                Soundness::DoesNotHold => "does not hold; ",
                Soundness::CannotBeTold => "cannot be told; ",
                Soundness::Remark => "",
            };
            wrap(text, width, "  sound: ", "     ", &format!("{verdict}{}", sound.text));
        }
        for (name, observed) in [("measured", &row.measured), ("predicted", &row.predicted)] {
            if let Some(observed) = observed {
                answers(text, width, name, observed);
            }
        }
    }
}

fn verdict(row: &Row) -> &'static str {
    match (row.recomputed.agreement, row.recomputed.basis) {
        (Agreement::Agrees, Some(Basis::Statements)) => "consistent",
        (Agreement::Agrees, _) => "agrees",
        (Agreement::AgreesWithinRounding, _) => "agrees within rounding",
        (Agreement::DoesNotFollow, _) => "DOES NOT FOLLOW",
        (Agreement::NotTestable, _) => "not testable",
    }
}

/// How many findings the results agree with, measured and predicted; empty without results.
fn results_summary(text: &mut String, width: usize, indent: &str, table: &ReplicateTable) {
    let hang = format!("{indent}  ");
    let measured: Vec<_> = table.findings.iter().filter_map(|row| row.measured.as_ref()).collect();
    if !measured.is_empty() {
        wrap(text, width, indent, &hang, &format!("measured: {}.", counted(&measured)));
    }
    let all: Vec<_> = table.findings.iter().filter_map(|row| row.predicted.as_ref()).collect();
    if all.is_empty() {
        return;
    }
    // What the model was fitted to is not a prediction, whatever the result.
    let predicted: Vec<_> = all.iter().copied().filter(|observed| !observed.fitted).collect();
    let are = |outcome| predicted.iter().filter(|observed| observed.outcome == outcome).count();
    let testable = predicted.len() - are(ObservedOutcome::NotTestable);
    let reproduced = are(ObservedOutcome::Agree) + are(ObservedOutcome::Direction);
    let line = format!(
        "predicted: {reproduced} of {testable} reproduced, {} fitted: {}.",
        all.len() - predicted.len(),
        counted(&predicted),
    );
    wrap(text, width, indent, &hang, &line);
}

fn counted(observed: &[&Observed]) -> String {
    let count = |outcome| observed.iter().filter(|observed| observed.outcome == outcome).count();
    let silent = observed.iter().filter(|observed| observed.answers.is_empty()).count();
    let direction = match count(ObservedOutcome::Direction) {
        0 => String::new(),
        some => format!("agree in direction {some}, "),
    };
    format!(
        "agree {}, {direction}disagree {}, inconclusive {}, not testable {} ({silent} of them ask nothing)",
        count(ObservedOutcome::Agree),
        count(ObservedOutcome::Disagree),
        count(ObservedOutcome::Inconclusive),
        count(ObservedOutcome::NotTestable),
    )
}

fn answers(text: &mut String, width: usize, name: &str, observed: &Observed) {
    let outcome = match observed.outcome {
        // A fit is not evidence, so it gets no verdict.
        _ if observed.fitted => "fitted",
        ObservedOutcome::Agree => "agrees",
        ObservedOutcome::Direction => "agrees in direction",
        ObservedOutcome::Disagree => "DISAGREES",
        ObservedOutcome::Inconclusive => "inconclusive",
        ObservedOutcome::NotTestable => "not testable",
    };
    if observed.answers.is_empty() && observed.fitted {
        wrap(text, width, "", "", &format!("  {name}: fitted; it asks nothing"));
    }
    for (index, answer) in observed.answers.iter().enumerate() {
        let lead = if index == 0 { format!("{outcome}; ") } else { String::new() };
        let line = format!("{lead}\"{}\": {}", answer.question, answer.sentence);
        wrap(text, width, &format!("  {name}: "), "     ", &line);
    }
}

/// Breaks a text at spaces into lines of at most `width` characters; a longer word gets a line to
/// itself. Control characters, which a file or a server may have sent, do not reach the terminal.
fn wrap(text: &mut String, width: usize, first: &str, hang: &str, words: &str) {
    let clean: String =
        words.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in clean.split_whitespace() {
        let length = line.chars().count() + usize::from(!is_empty) + word.chars().count();
        if !is_empty && length > width {
            text.push_str(line.trim_end());
            text.push('\n');
            line = hang.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    text.push_str(line.trim_end());
    text.push('\n');
}
