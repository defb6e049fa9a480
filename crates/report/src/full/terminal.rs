//! A study as text for a terminal: the answers first, then the findings, then the matrix.

use stormeter_statistics::{Answer, FailedTrials, Reply, Verdict};

use super::assumed;
use super::grid::Grid;
use super::matrix::matrix;
use super::remarks::{self, Shared};
use super::why;
use super::words::{self, Scale};
use crate::acknowledged;
use crate::capital::capital;
use crate::columns::Columns;
use crate::compact::sentence::signs;
use crate::model::Report;
use crate::phrases;
use crate::printable::printable;
use crate::quantity::{Quantity, level_percent, percent};
use crate::text::{Paint, Style, TerminalOptions, findings, plain, push_line, wrap};
use crate::title::Titles;
use crate::wording;

/// The study as text, ending in a line break. Tables that are too wide are split by datastores.
pub(crate) fn terminal(report: &Report, options: TerminalOptions) -> String {
    let width = options.width.clamp(40, 120);
    let paint = Paint(options.color);
    let grid = Grid::of(report);
    let mut text = String::new();
    let mut paragraph = |style: Style, words: &str, hang: &str| {
        let mut lines = String::new();
        for line in wrap(&printable(words), width, "", hang) {
            push_line(&mut lines, &paint.with(style, &line));
        }
        text += &lines;
    };
    paragraph(Style::Bold, &format!("Study: {}", report.plan().study), "  ");
    for words in why::predicted_for(&grid) {
        paragraph(Style::Plain, &words, "");
    }
    paragraph(Style::Plain, &words::tally(report), "");
    paragraph(Style::Plain, &words::status(report), "");
    let touched = report.analysis.cells.iter().filter_map(|cell| cell.touched.as_ref());
    if let Some(words) = crate::touched::range(touched) {
        paragraph(Style::Plain, &words, "");
    }
    push_line(&mut text, "");
    let answers = &report.analysis.answers;
    let shared = remarks::shared(answers);
    for (index, answer) in answers.iter().enumerate() {
        let titles = Titles::of_answer(report.plan(), answer);
        let error = phrases::model_error(&report.header, answer);
        let doubts = error.into_iter().chain(assumed::sentences(report, index)).collect();
        let word = (words::marked_reply(report, answer), words::shown_reply(report, answer));
        self::answer((index, answer), word, doubts, &shared, titles, (width, paint), &mut text);
        push_line(&mut text, "");
    }
    for one in &shared {
        let note = format!(
            "{}: {}",
            one.of(answers.len()),
            printable(&phrases::remark(one.remark, grid.titles()))
        );
        for line in wrap(&note, width, "note to ", "        ") {
            push_line(&mut text, &line);
        }
    }
    if !shared.is_empty() {
        push_line(&mut text, "");
    }
    findings(&report.findings, width, paint, &mut text);
    failed(&grid, width, paint, &mut text);
    let mut with_intervals = true;
    for metric in grid.headline_metrics() {
        with_intervals &= matrix(&grid, metric, width, paint, &mut text);
    }
    promises(&grid, width, paint, &mut text);
    why::terminal(&grid, width, paint, &mut text);
    steps(&grid, width, paint, &mut text);
    hosts(&grid, width, paint, &mut text);
    super::desktops::terminal(&grid, width, paint, &mut text);
    guests(&grid, width, paint, &mut text);
    closing(&grid, with_intervals, (width, paint), &mut text);
    if options.repeat {
        push_line(&mut text, "");
        push_line(&mut text, &format!("Repeat it: {}", printable(&report.repeat_command)));
    }
    text
}

fn style_of(reply: Reply) -> Style {
    match reply {
        Reply::Yes => Style::Good,
        Reply::No => Style::Bad,
        Reply::Inconclusive => Style::Unsure,
        Reply::NotAnswered => Style::Dim,
    }
}

/// A question with its reply, the sentence and its basis.
fn answer(
    (index, answer): (usize, &Answer),
    (reply, word): (Reply, &str),
    doubts: Vec<String>,
    shared: &[Shared<'_>],
    titles: Titles,
    (width, paint): (usize, Paint),
    text: &mut String,
) {
    const HANG: &str = "   ";
    let word = word.to_uppercase();
    let question = printable(&answer.question);
    let number = format!("{:>2}.", index + 1);
    let lines = wrap(&question, width.saturating_sub(word.len() + 2), &number, HANG);
    for (line_index, line) in lines.iter().enumerate() {
        if line_index == 0 {
            let rest = line.strip_prefix(number.as_str()).unwrap_or(line);
            let word = paint.with(style_of(reply), &word);
            push_line(text, &format!("{number} {word} {}", rest.trim_start()));
        } else {
            push_line(text, line);
        }
    }
    let mut say = |style: Style, words: &str| {
        for line in wrap(&printable(words), width, HANG, HANG) {
            push_line(text, &paint.with(style, &line));
        }
    };
    if answer.must && answer.reply == Reply::No {
        say(Style::Bad, "This must hold, and it does not.");
    }
    say(Style::Plain, &phrases::answer(answer, titles));
    for doubt in doubts {
        say(Style::Plain, &doubt);
    }
    let mut basis = Vec::new();
    if let Some(estimate) = &answer.estimate {
        basis.push(words::estimate(answer, estimate, titles));
    }
    basis.extend(answer.p_value.map(words::p_value));
    basis.extend(answer.p_value_adjusted.map(words::p_of_all));
    if words::has_test(answer) {
        basis.push(phrases::test(answer, titles));
    }
    if !basis.is_empty() {
        say(Style::Dim, &basis.join("; "));
    }
    parts(answer, titles, width, text);
    anova(answer, width, text);
    for remark in remarks::own(answer, shared) {
        for line in
            wrap(&printable(&phrases::remark(remark, titles)), width, "   note: ", "         ")
        {
            push_line(text, &line);
        }
    }
}

fn parts(answer: &Answer, titles: Titles, width: usize, text: &mut String) {
    let scale = Scale::of(answer, titles);
    let rows = answer.parts.iter().map(|part| {
        let interval =
            part.interval.map(|i| format!("({})", scale.range(part.value, &i))).unwrap_or_default();
        let load = printable(&phrases::load(&part.load));
        [load, scale.show(part.value), interval, words::reply(part.reply).to_string()]
    });
    aligned(&rows.collect::<Vec<_>>(), &[true, false, true, true], (false, width), text);
}

fn anova(answer: &Answer, width: usize, text: &mut String) {
    let Some(table) = &answer.table else { return };
    let heads = ["term", "df", "F", "p", "partial eta²"].map(String::from);
    let rows = table.rows.iter().map(|row| {
        let eta = row.partial_eta_squared.map(|eta| format!("{eta:.3}"));
        [
            printable(&phrases::row_term(&row.term)),
            words::number(row.df),
            row.f.map(words::number).unwrap_or_default(),
            row.p.map(words::bare_p).unwrap_or_default(),
            eta.unwrap_or_default(),
        ]
    });
    let rows: Vec<_> = std::iter::once(heads).chain(rows).collect();
    aligned(&rows, &[true, false, false, false, false], (true, width), text);
}

/// The rows of an answer.
fn aligned<const N: usize>(
    rows: &[[String; N]],
    left: &[bool],
    (has_head, width): (bool, usize),
    text: &mut String,
) {
    for (_, line) in (Columns { indent: 5, gap: 2, left, has_head }).lines(rows, width) {
        push_line(text, &line);
    }
}

fn failed(grid: &Grid<'_>, width: usize, paint: Paint, text: &mut String) {
    const SHOWN: usize = 12;
    let failed: Vec<_> = grid.failed().collect();
    if failed.is_empty() {
        return;
    }
    push_line(text, &paint.with(Style::Bold, "Failed trials"));
    for (cell, FailedTrials { count, first, .. }) in failed.iter().take(SHOWN) {
        let trials = grid.summary(*cell).map_or(0, |summary| summary.trials);
        let words = format!(
            "{}: {count} of {}; the first: {first}",
            grid.name(*cell),
            wording::plural(u64::from(trials + count), "trial")
        );
        for line in wrap(&printable(&words), width, "  ", "    ") {
            push_line(text, &line);
        }
    }
    if failed.len() > SHOWN {
        push_line(text, &format!("  and {} more cells", failed.len() - SHOWN));
    }
    push_line(text, "");
}

/// What acknowledged writes are on each datastore.
fn promises(grid: &Grid<'_>, width: usize, paint: Paint, text: &mut String) {
    let Some(words) = acknowledged::row(&grid.report.header) else { return };
    push_line(text, &paint.with(Style::Bold, &capital(acknowledged::TITLE)));
    let row = |datastore: usize| {
        let words = words.get(datastore).copied().unwrap_or("–");
        [printable(&grid.datastore(datastore)), words.to_owned()]
    };
    let rows: Vec<_> = grid.columns().into_iter().map(row).collect();
    let columns = Columns { indent: 2, gap: 2, left: &[true, true], has_head: false };
    for (_, line) in columns.lines(&rows, width) {
        push_line(text, &line);
    }
    push_line(text, "");
}

/// The steps on the storage in the middle trial of each cell, and how throughput recovered from them.
fn steps(grid: &Grid<'_>, width: usize, paint: Paint, text: &mut String) {
    let cells = super::steps::of_cells(grid);
    if cells.is_empty() {
        return;
    }
    push_line(text, &paint.with(Style::Bold, "Steps"));
    for (cell, disturbed) in cells {
        for line in wrap(&printable(&grid.name(cell)), width, "  ", "  ") {
            push_line(text, &line);
        }
        let mut rows = vec![super::steps::HEAD.map(String::from)];
        let own = super::steps::rows(disturbed, Quantity::to_string);
        rows.extend(own.into_iter().map(|row| row.map(|cell| printable(&cell))));
        // Times are aligned right, words left.
        let left = &[true, false, false, true];
        let columns = Columns { indent: 4, gap: 2, left, has_head: true };
        for (_, line) in columns.lines(&rows, width) {
            push_line(text, &line);
        }
        for line in
            wrap(&super::steps::sentence(disturbed, grid.titles_of(cell)), width, "    ", "    ")
        {
            push_line(text, &line);
        }
    }
    for line in wrap(&super::steps::caption(), width, "", "") {
        push_line(text, &paint.with(Style::Dim, &line));
    }
    push_line(text, "");
}

/// The hosts, if there are several: clocks, load and CPU time.
fn hosts(grid: &Grid<'_>, width: usize, paint: Paint, text: &mut String) {
    if grid.report.hosts.is_empty() {
        return;
    }
    push_line(text, &paint.with(Style::Bold, "Hosts"));
    let rows = super::hosts::rows(grid);
    let cells =
        |row: &[String], at: &[usize]| at.iter().map(|&at| printable(&row[at])).collect::<Vec<_>>();
    // Two tables, since the addresses of hosts are long.
    for at in [[0usize, 1, 2, 3].as_slice(), &[0, 4, 5, 6, 7, 8]] {
        let mut shown: Vec<Vec<String>> = Vec::new();
        let mut name = String::new();
        for row in &rows {
            let mut cells = cells(row, at);
            if at.len() == 4 && row[0].is_empty() {
                continue;
            }
            if !row[0].is_empty() {
                name.clone_from(&cells[0]);
            }
            cells[0].clone_from(&name);
            shown.push(cells);
        }
        let columns = Columns { indent: 2, gap: 2, left: &[], has_head: true };
        for (_, line) in columns.lines(&shown, width) {
            push_line(text, &line);
        }
    }
    for note in super::hosts::notes(&grid.report.header.environment.hosts) {
        for line in wrap(&printable(&note), width, "  ", "  ") {
            push_line(text, &line);
        }
    }
    for line in wrap(super::hosts::CAPTION, width, "", "") {
        push_line(text, &paint.with(Style::Dim, &line));
    }
    push_line(text, "");
}

/// The guests of the rack, if the study ran on such.
fn guests(grid: &Grid<'_>, width: usize, paint: Paint, text: &mut String) {
    if grid.report.guests.is_empty() {
        return;
    }
    push_line(text, &paint.with(Style::Bold, "Guest activity"));
    let own = super::guests::rows(grid).into_iter();
    let own = own.map(|row| row.map(|cell| printable(&cell)));
    let rows: Vec<_> = std::iter::once(super::guests::HEAD.map(String::from)).chain(own).collect();
    let left = &[true, true, false, false, false, false, false];
    let columns = Columns { indent: 2, gap: 2, left, has_head: true };
    for (_, line) in columns.lines(&rows, width) {
        push_line(text, &line);
    }
    for line in wrap(&super::guests::caption(), width, "", "") {
        push_line(text, &paint.with(Style::Dim, &line));
    }
    push_line(text, "");
}

fn closing(
    grid: &Grid<'_>,
    with_intervals: bool,
    (width, paint): (usize, Paint),
    text: &mut String,
) {
    let report = grid.report;
    let plan = report.plan();
    let any = |wanted: Verdict| {
        let mut all = report.analysis.cells.iter().flat_map(|cell| &cell.relative);
        all.any(|relative| relative.comparison.as_ref().is_some_and(|c| c.verdict == wanted))
    };
    let signs = match signs(any) {
        signs if signs.is_empty() => signs,
        signs => format!(" {signs}."),
    };
    let mut relatives = report.analysis.cells.iter().flat_map(|cell| &cell.relative);
    let interval = match relatives.any(|relative| grid.interval(relative).is_some()) {
        true => {
            let room = if with_intervals { "" } else { " where there is room" };
            format!(", with their {} % interval{room}", level_percent(plan.level_of_ratios()))
        }
        false => String::new(),
    };
    let caption = format!(
        "Changes from the baseline are taken within blocks{interval}; from double and from half on \
         they are multiples. Absolute values follow.{signs} Equivalence margin {} %, seed {}.",
        percent(plan.design.margin),
        plan.seed
    );
    let mut dim = |words: &str| {
        for line in wrap(&printable(words), width, "", "") {
            push_line(text, &paint.with(Style::Dim, &plain(&line)));
        }
    };
    dim(&caption);
    if let Some(power) = &report.analysis.power {
        dim(&words::power(plan, power));
    }
    if words::is_open_loop(report) {
        dim(crate::wording::OPEN_LOOP_TIMES);
    }
    if let Some(sentences) = words::durability(report) {
        dim(&sentences);
    }
    for ceiling in words::ceilings(report) {
        dim(&format!("{ceiling}."));
    }
}
