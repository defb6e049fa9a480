//! A study as text for a terminal: the answers first, then the findings, then the matrix.

use stormeter_statistics::{Answer, FailedTrials, Reply, Verdict};
use stormeter_study::Metric;

use super::grid::{Grid, Load, hundred, sign};
use super::remarks::{self, Shared};
use super::why;
use super::words::{self, Scale};
use crate::columns::Columns;
use crate::model::Report;
use crate::phrases;
use crate::printable::printable;
use crate::quantity::{Quantity, level_percent, metric_value, percent};
use crate::text::{Paint, Style, TerminalOptions, findings, pad_left, pad_right, push_line, wrap};
use crate::uncertainty;
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
        self::answer(index, answer, &shared, width, paint, &mut text);
        push_line(&mut text, "");
    }
    for one in &shared {
        let note =
            format!("{}: {}", one.of(answers.len()), printable(&phrases::remark(one.remark)));
        for line in wrap(&note, width, "note to ", "        ") {
            push_line(&mut text, &line);
        }
    }
    if !shared.is_empty() {
        push_line(&mut text, "");
    }
    findings(&report.findings, width, paint, &mut text);
    failed(&grid, width, paint, &mut text);
    for metric in grid.headline_metrics() {
        matrix(&grid, metric, width, paint, &mut text);
    }
    why::terminal(&grid, width, paint, &mut text);
    steps(&grid, width, paint, &mut text);
    hosts(&grid, width, paint, &mut text);
    closing(&grid, width, paint, &mut text);
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
    index: usize,
    answer: &Answer,
    shared: &[Shared<'_>],
    width: usize,
    paint: Paint,
    text: &mut String,
) {
    const HANG: &str = "   ";
    let word = words::reply(answer.reply).to_uppercase();
    let question = printable(&answer.question);
    let number = format!("{:>2}.", index + 1);
    let lines = wrap(&question, width.saturating_sub(word.len() + 2), &number, HANG);
    for (line_index, line) in lines.iter().enumerate() {
        if line_index == 0 {
            let rest = line.strip_prefix(number.as_str()).unwrap_or(line);
            let word = paint.with(style_of(answer.reply), &word);
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
    say(Style::Plain, &phrases::answer(answer));
    let mut basis = Vec::new();
    if let Some(estimate) = &answer.estimate {
        basis.push(words::estimate(answer, estimate));
    }
    basis.extend(answer.p_value.map(words::p_value));
    basis.extend(answer.p_value_adjusted.map(words::p_of_all));
    if words::has_test(answer) {
        basis.push(phrases::test(answer));
    }
    if !basis.is_empty() {
        say(Style::Dim, &basis.join("; "));
    }
    parts(answer, width, text);
    anova(answer, width, text);
    for remark in remarks::own(answer, shared) {
        for line in wrap(&printable(&phrases::remark(remark)), width, "   note: ", "         ") {
            push_line(text, &line);
        }
    }
}

fn parts(answer: &Answer, width: usize, text: &mut String) {
    let scale = Scale::of(answer);
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

/// One metric of all cells: a row for each load, a column for each datastore, with absolute values of the
/// baseline and values of the others relative to it.
fn matrix(grid: &Grid<'_>, metric: Metric, width: usize, paint: Paint, text: &mut String) {
    let baseline = grid.baseline();
    let title = format!(
        "{} ({}); {} = 100",
        capital(metric.title()),
        words::better(metric),
        printable(&grid.datastore(baseline))
    );
    let rows = labels(grid);
    let head = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let column = |datastore: usize| -> Vec<(String, Style)> {
        rows.iter()
            .map(|(_, load)| match load.and_then(|load| load.cells.get(datastore)) {
                None => (String::new(), Style::Plain),
                Some(&cell) => entry(grid, cell, metric),
            })
            .collect()
    };
    let columns: Vec<(String, Vec<(String, Style)>)> =
        grid.columns().into_iter().map(|d| (printable(&grid.datastore(d)), column(d))).collect();
    let wide = |(name, cells): &(String, Vec<(String, Style)>)| {
        cells
            .iter()
            .map(|(cell, _)| cell.chars().count())
            .max()
            .unwrap_or(0)
            .max(name.chars().count())
    };
    let Some((base, others)) = columns.split_first() else { return };
    // Where not even two datastores fit side by side, each gets its own lines.
    let narrowest = others.iter().map(wide).min().map_or(0, |other| other + 3);
    if head + 3 + wide(base) + narrowest > width {
        let rows: Vec<&str> = rows.iter().map(|(label, _)| label.as_str()).collect();
        stacked(&title, &rows, &columns, (width, paint), text);
        return;
    }
    let mut rest = others;
    let mut is_first = true;
    while is_first || !rest.is_empty() {
        let title = if is_first { title.clone() } else { format!("{title}, continued") };
        is_first = false;
        let mut used = head + 3 + wide(base);
        let mut taken = 0;
        // At least one, however wide it is, or the loop would never end.
        while taken < rest.len() && (taken == 0 || used + 3 + wide(&rest[taken]) <= width) {
            used += 3 + wide(&rest[taken]);
            taken += 1;
        }
        let (now, later) = rest.split_at(taken);
        rest = later;
        for line in wrap(&title, width, "", "  ") {
            push_line(text, &paint.with(Style::Bold, &line));
        }
        let shown: Vec<_> = std::iter::once(base).chain(now).collect();
        let mut line = " ".repeat(head);
        for column in &shown {
            line += &format!("   {}", pad_left(&column.0, wide(column)));
        }
        push_line(text, &paint.with(Style::Bold, line.trim_end()));
        for (index, (label, _)) in rows.iter().enumerate() {
            let mut line = pad_right(label, head);
            for column in &shown {
                let (cell, style) = &column.1[index];
                let padding = " ".repeat(wide(column).saturating_sub(cell.chars().count()));
                line += &format!("   {padding}{}", paint.with(*style, cell));
            }
            push_line(text, line.trim_end());
        }
        push_line(text, "");
    }
}

/// A line for each datastore below each load.
fn stacked(
    title: &str,
    rows: &[&str],
    columns: &[(String, Vec<(String, Style)>)],
    (width, paint): (usize, Paint),
    text: &mut String,
) {
    for line in wrap(title, width, "", "  ") {
        push_line(text, &paint.with(Style::Bold, &line));
    }
    for (index, label) in rows.iter().enumerate() {
        push_line(text, label);
        for (name, cells) in columns {
            let (cell, style) = &cells[index];
            let (columns, cell) = (cell.chars().count(), paint.with(*style, cell.trim_start()));
            match columns {
                0 => {}
                columns if 6 + name.chars().count() + columns <= width => {
                    push_line(text, &format!("    {name}  {cell}"));
                }
                _ => {
                    push_line(text, &format!("    {name}"));
                    push_line(text, &format!("      {cell}"));
                }
            }
        }
    }
    push_line(text, "");
}

/// The labels of rows; a workload with several loads has its own row above them.
fn labels<'a>(grid: &'a Grid<'_>) -> Vec<(String, Option<&'a Load>)> {
    let workloads = grid.report.plan().workloads.len();
    let mut rows = Vec::new();
    for workload in 0..workloads {
        let loads = grid.loads_of(workload);
        let name = printable(&grid.workload(workload));
        match loads.as_slice() {
            [only] => rows.push((format!("{name}, {}", only.label), Some(*only))),
            loads => {
                rows.push((name, None));
                rows.extend(loads.iter().map(|load| (format!("  {}", load.label), Some(*load))));
            }
        }
    }
    rows
}

/// `76.6 ±1.4 -  98 378`: relative, its half width, the verdict's sign, absolute.
fn entry(grid: &Grid<'_>, cell: usize, metric: Metric) -> (String, Style) {
    let absolute = grid.value(cell, metric).map(|value| metric_value(metric, value.value));
    let Some(absolute) = absolute else {
        let is_failed = grid.summary(cell).is_some_and(|summary| summary.failed.is_some());
        return (if is_failed { "failed" } else { "–" }.into(), Style::Plain);
    };
    if grid.is_baseline(cell) {
        return (absolute, Style::Plain);
    }
    let Some(relative) = grid.relative(cell, metric) else { return (absolute, Style::Plain) };
    let verdict = relative.comparison.as_ref().map(|comparison| comparison.verdict);
    // Absolute values are aligned to the longest.
    let longest = grid
        .loads
        .iter()
        .filter_map(|load| grid.value(*load.cells.get(grid.cells[cell].datastore)?, metric))
        .map(|value| metric_value(metric, value.value).chars().count())
        .max()
        .unwrap_or(0);
    let ratio = match &relative.comparison {
        Some(comparison) => uncertainty::relative(relative.ratio, &comparison.interval),
        None => hundred(relative.ratio),
    };
    let text = format!("{ratio} {}  {}", sign(verdict), pad_left(&absolute, longest));
    (text, verdict.map_or(Style::Plain, Style::of))
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + characters.as_str()
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
        for line in wrap(&super::steps::sentence(disturbed), width, "    ", "    ") {
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
    for note in super::hosts::notes(&grid.report.hosts) {
        for line in wrap(&printable(&note), width, "  ", "  ") {
            push_line(text, &line);
        }
    }
    for line in wrap(super::hosts::CAPTION, width, "", "") {
        push_line(text, &paint.with(Style::Dim, &line));
    }
    push_line(text, "");
}

fn closing(grid: &Grid<'_>, width: usize, paint: Paint, text: &mut String) {
    let report = grid.report;
    let plan = report.plan();
    let any = |wanted: Verdict| {
        let mut all = report.analysis.cells.iter().flat_map(|cell| &cell.relative);
        all.any(|relative| relative.comparison.as_ref().is_some_and(|c| c.verdict == wanted))
    };
    let signs: Vec<&str> = [
        (Verdict::Faster, "+ better"),
        (Verdict::Slower, "- worse"),
        (Verdict::Equivalent, "= equivalent"),
        (Verdict::Inconclusive, "? inconclusive"),
        (Verdict::Invalid, "! invalid"),
    ]
    .into_iter()
    .filter(|(verdict, _)| any(*verdict))
    .map(|(_, words)| words)
    .collect();
    let signs = if signs.is_empty() { String::new() } else { format!(" {}.", signs.join(", ")) };
    let caption = format!(
        "Relative values are ratios within blocks, baseline = 100, with their {} % interval (± where it \
         is symmetric, otherwise its ends), followed by absolute values.{signs} Equivalence margin \
         {} %, seed {}.",
        level_percent(plan.level_of_ratios()),
        percent(plan.design.margin),
        plan.seed
    );
    let mut dim = |words: &str| {
        for line in wrap(&printable(words), width, "", "") {
            push_line(text, &paint.with(Style::Dim, &line));
        }
    };
    dim(&caption);
    if let Some(power) = &report.analysis.power {
        dim(&words::power(plan, power));
    }
    if words::is_open_loop(report) {
        dim(crate::wording::OPEN_LOOP_TIMES);
    }
    for ceiling in words::ceilings(report) {
        dim(&format!("{ceiling}."));
    }
}
