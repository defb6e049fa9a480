//! Tables audited: finds in each row the figures that a law binds.

use stormeter_replicate::{Role, Sheet, Table, Tables};

use crate::error::SheetError;
use crate::finding::{Amount, Detail, Explanation, Finding, Level};
use crate::identities::{Figure, iops_of, level, little, same_load, throughput};
use crate::law::Law;
use crate::length::short;
use crate::row::{Row, summing};
use crate::span::Span;
use crate::summary::Stated;
use crate::unit::{Dimension, Unit};
use crate::{claims, copies, counts, fit, limits, statements, summary, tests_of, traffic, twice};

/// Every finding, by table and then by claim.
///
/// # Errors
/// An expression that has no value.
pub fn audit_sheet(sheet: &Sheet) -> Result<Vec<Finding>, SheetError> {
    let mut findings = Vec::new();
    for table in &sheet.tables.0 {
        findings.extend(table_findings(table, &sheet.tables));
    }
    findings.extend(limits::check(sheet));
    findings.extend(claims::check(sheet)?);
    Ok(twice::joined(findings, statements::check(sheet)?))
}

fn table_findings(table: &Table, tables: &Tables) -> Vec<Finding> {
    let rows: Vec<Row<'_>> = (0..table.rows.len()).map(|row| Row { tables, table, row }).collect();
    let mut findings: Vec<Finding> = rows.iter().flat_map(|row| row_findings(row, &rows)).collect();
    findings.extend(fit::units(table));
    findings.extend(rows.iter().filter_map(fit::independence));
    findings.extend(same_loads(table, &rows));
    findings.extend(summaries(table, &rows, tables));
    findings.extend(traffic::check(&rows));
    findings.extend(counts::check(&rows));
    findings.extend(copies::check(table, &rows));
    findings.extend(design(table));
    findings
}

fn row_findings(row: &Row<'_>, rows: &[Row<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let place = row.place();
    let size = size(row);
    let rate = row.figure(Role::Throughput);
    let stated_iops = row.figure(Role::Iops);
    if summing(row).is_none() {
        findings.extend(products(row, rows));
        let iops = stated_iops.or_else(|| Some(iops_of(rate.as_ref()?, size.as_ref()?)));
        if let (Some(iops), Some(latency), Some(outstanding)) =
            (&iops, row.figure(Role::Latency), row.count(Role::Outstanding))
        {
            findings.extend(little(&place, iops, &latency, &outstanding));
        }
        findings.extend(summary::check(&place, &moments(row)));
        findings.extend(latencies(row));
        findings.extend(tests_of::check(row));
    }
    findings.extend(shares(row));
    findings
}

/// Throughput, IOPS and size, where this table has the throughput.
fn products(row: &Row<'_>, rows: &[Row<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(size) = size(row) else { return findings };
    let others: Vec<_> = rows
        .iter()
        .filter(|other| other.row != row.row)
        .filter_map(|other| Some((self::size(other)?, other.name())))
        .collect();
    for moment in [Role::Mean, Role::Sd] {
        let has_rate =
            row.figure(Role::Throughput).filter(|_| moment == Role::Mean).or_else(|| {
                let unit = Unit::of(row.unit(moment)?)?;
                (unit.dimension == Dimension::Rate).then(|| row.figure(moment)).flatten()
            });
        let iops = row.joined(Role::Iops, Dimension::PerSecond, moment);
        if let (Some(rate), Some(iops)) = (has_rate, iops) {
            let what = if moment == Role::Sd { "SD of throughput" } else { "throughput" };
            findings.extend(throughput(&row.place(), what, &iops, &size, &rate, &others));
        }
    }
    findings
}

/// The request size of a row, here or where another table has it.
fn size(row: &Row<'_>) -> Option<Figure> {
    row.joined(Role::RequestSize, Dimension::Size, Role::Mean)
}

/// The moments of a row's sample. The columns have to have one unit, since conversions are no business of a table.
fn moments(row: &Row<'_>) -> Stated {
    const OF_THE_UNIT: [Role; 8] = [
        Role::Mean,
        Role::Sd,
        Role::Se,
        Role::Median,
        Role::Min,
        Role::Max,
        Role::Range,
        Role::Sum,
    ];
    let unit = OF_THE_UNIT.into_iter().find_map(|role| row.unit(role)).unwrap_or_default();
    let of_the_unit = OF_THE_UNIT.into_iter().filter(|role| row.unit(*role) == Some(unit));
    let roles = of_the_unit.chain([Role::N, Role::Variance]);
    Stated {
        figures: roles.filter_map(|role| Some((role, row.number(role)?))).collect(),
        unit: unit.to_owned(),
    }
}

fn latencies(row: &Row<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_busy = row.number(Role::Iops).is_none_or(|iops| iops.middle > 0.0);
    for (index, column) in row.table.columns.iter().enumerate() {
        let is_latency =
            matches!(column.role, Some(Role::Latency | Role::LatencyMax | Role::LatencyTail));
        if is_latency && is_busy && row.at(index).is_some_and(|span| span.middle == 0.0) {
            let text = format!("{} is 0 {}", column.name, column.unit);
            let detail = Detail::Fact(text.trim_end().to_owned());
            findings.push(Finding::new(Law::ZeroLatency, Level::Doubtful, row.place(), detail));
        }
    }
    if let (Some(mean), Some(most)) = (row.number(Role::Latency), row.number(Role::LatencyMax))
        && row.unit(Role::Latency) == row.unit(Role::LatencyMax)
        && mean.is_above(most)
    {
        let unit = row.unit(Role::Latency).unwrap_or_default();
        let detail = Detail::Limit {
            stated: Amount::new("mean latency", mean, unit),
            limit: Amount::new("longest latency", most, unit),
            is_least: false,
            beyond: (1, 1),
        };
        let finding = Finding::new(Law::Distribution, Level::Broken, row.place(), detail);
        findings.push(finding.explained([Explanation::Exchanged]));
    }
    findings
}

fn shares(row: &Row<'_>) -> Option<Finding> {
    let column = row.column(Role::Busy)?;
    let span = row.at(column)?;
    let one = if row.table.columns[column].unit == "%" { 100.0 } else { 1.0 };
    let limit = Span::exact(one);
    span.is_above(limit).then(|| {
        let detail = Detail::Limit {
            stated: row.amount(column, span),
            limit: Amount::new("all of it", limit, row.table.columns[column].unit.clone()),
            is_least: false,
            beyond: (1, 1),
        };
        Finding::new(Law::Share, Level::Doubtful, row.place(), detail)
    })
}

fn same_loads(table: &Table, rows: &[Row<'_>]) -> Vec<Finding> {
    if !table.same_load {
        return Vec::new();
    }
    let each = |of: &dyn Fn(&Row<'_>) -> Option<Span>| -> Vec<(String, Span)> {
        rows.iter().filter_map(|row| Some((row.name(), of(row)?))).collect()
    };
    let in_base = |figure: Figure| figure.span.scaled(figure.readings[0]);
    let sizes = each(&|row| {
        let bytes = in_base(row.figure(Role::Throughput)?).over(in_base(row.figure(Role::Iops)?));
        Some(bytes.scaled(1.0 / 1024.0))
    });
    let outstanding = each(&|row| {
        Some(in_base(row.figure(Role::Iops)?).times(in_base(row.figure(Role::Latency)?)))
    });
    let size = same_load(&table.label, "request size", "KiB", &sizes);
    let outstanding = same_load(&table.label, "outstanding", "", &outstanding);
    size.into_iter().chain(outstanding).collect()
}

/// Rows that sum up other rows, here or in the tables that they are named after.
fn summaries(table: &Table, rows: &[Row<'_>], tables: &Tables) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in rows {
        if let Some(role) = table.summarises {
            let named = tables.0.iter().find(|other| other.name == row.name());
            let Some(other) = named else { continue };
            for (index, column) in table.columns.iter().enumerate() {
                let same = other.columns.iter().position(|of| of.name == column.name);
                let (Some(same), Some(stated)) = (same, row.at(index)) else { continue };
                let of = (0..other.rows.len()).map(|row| Row { tables, table: other, row });
                let of: Vec<Row<'_>> = of.filter(|row| summing(row).is_none()).collect();
                let place = format!("{}, {} of {}", table.label, column.name, other.label);
                findings.extend(summed(&place, role, row.amount(index, stated), same, &of));
            }
        }
        if let Some(role) = summing(row) {
            let of: Vec<Row<'_>> =
                rows.iter().filter(|other| summing(other).is_none()).copied().collect();
            for (index, column) in table.columns.iter().enumerate() {
                let Some(stated) = row.at(index) else { continue };
                let is_tail = column.role == Some(Role::LatencyTail);
                if is_tail && role == Role::Mean {
                    let text = format!("{} of all rows is their average", column.name);
                    let finding = summed("", role, row.amount(index, stated), index, &of);
                    // Only if it is one; it may have been read from merged counts.
                    if finding.is_none_or(|finding| finding.level == Level::Note) {
                        let detail = Detail::Fact(text);
                        let law = Law::AveragedPercentile;
                        findings.push(Finding::new(law, Level::Doubtful, row.place(), detail));
                    }
                    continue;
                }
                let is_summed = column.role != Some(Role::LatencyMax) && !column.exact;
                if is_summed && of.len() > 1 {
                    let amount = row.amount(index, stated);
                    findings.extend(summed(&row.place(), role, amount, index, &of));
                }
            }
        }
    }
    findings
}

/// A printed mean or sum against its rows.
fn summed(
    place: &str,
    role: Role,
    stated: Amount,
    column: usize,
    rows: &[Row<'_>],
) -> Option<Finding> {
    let values: Vec<Span> = rows.iter().filter_map(|row| row.at(column)).collect();
    if values.len() != rows.len() || values.is_empty() {
        return None;
    }
    let of = |values: &[Span]| -> Option<Span> {
        let sum = values.iter().fold(Span::exact(0.0), |sum, value| sum.plus(*value));
        match role {
            Role::Mean => Some(sum.scaled(1.0 / values.len() as f64)),
            Role::Sum => Some(sum),
            Role::Min => values.iter().copied().min_by(|a, b| a.middle.total_cmp(&b.middle)),
            Role::Max => values.iter().copied().max_by(|a, b| a.middle.total_cmp(&b.middle)),
            _ => None,
        }
    };
    let follows = of(&values)?;
    let apart = stated.span.apart(follows)?;
    let cut = |follows: Span| {
        let unit = stated.span.high - stated.span.low;
        let span = Span {
            low: stated.span.middle,
            middle: stated.span.middle,
            high: stated.span.middle + unit,
        };
        stated.span.middle >= 0.0 && span.meets(follows)
    };
    let mut why = Vec::new();
    let mut found = level(apart);
    if cut(follows) {
        why.push(Explanation::Cut);
        found = Level::Note;
    } else if role == Role::Mean {
        let mut sorted: Vec<Span> = values.clone();
        sorted.sort_by(|a, b| a.middle.total_cmp(&b.middle));
        let half = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            1 => sorted[half],
            _ => sorted[half - 1].plus(sorted[half]).scaled(0.5),
        };
        if stated.span.meets(median) {
            why.push(Explanation::Median);
        }
        for (index, row) in rows.iter().enumerate() {
            let mut rest = values.clone();
            rest.remove(index);
            if !rest.is_empty() && of(&rest).is_some_and(|mean| stated.span.meets(mean)) {
                why.push(Explanation::WithoutRow(row.name()));
                break;
            }
        }
    }
    let law = if found == Level::Note { Law::Rounding } else { Law::SummaryOfRows };
    let follows = Amount::new(
        format!("{} of {} rows", role.word(), values.len()),
        follows,
        stated.unit.clone(),
    );
    let detail = Detail::Mismatch { stated, follows, from: Vec::new() };
    Some(Finding::new(law, found, place, detail).explained(why))
}

/// What the settings of a table say of its design.
fn design(table: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    let held = |role: Role| table.holds.iter().find(|held| held.role == role);
    if held(Role::Runs).is_some_and(|runs| runs.printed.value == 1.0) {
        let detail = Detail::Fact("each cell was measured once".to_owned());
        findings.push(Finding::new(Law::Repetition, Level::Note, table.label.clone(), detail));
    }
    if let Some(time) = held(Role::Elapsed)
        && let Some(figure) = Figure::of(Span::exact(time.printed.value), &time.unit)
    {
        findings.extend(short(&table.label, figure.span.middle * figure.readings[0]));
    }
    findings
}
