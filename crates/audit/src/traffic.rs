//! Network rates over time: usage, sending and receiving, and what was moved.

use stormeter_replicate::Role;

use crate::finding::{Amount, Detail, Explanation, Finding, Level};
use crate::law::Law;
use crate::row::Row;
use crate::span::Span;

/// Every row's usage, and the whole table's amount.
pub(crate) fn check(rows: &[Row<'_>]) -> Vec<Finding> {
    rows.iter().filter_map(usage).chain(moved(rows)).collect()
}

fn usage(row: &Row<'_>) -> Option<Finding> {
    let column = row.column(Role::Usage)?;
    let usage = row.at(column)?;
    let parts = [Role::Transmit, Role::Receive].map(|role| row.number(role));
    let sum = match parts {
        [Some(transmit), Some(receive)] => transmit.plus(receive),
        [Some(one), None] | [None, Some(one)] => one,
        [None, None] => return None,
    };
    sum.is_above(usage).then(|| {
        let unit = row.table.columns[column].unit.clone();
        let detail = Detail::Limit {
            stated: row.amount(column, usage),
            limit: Amount::new("sent and received", sum, unit),
            is_least: true,
            beyond: (1, 1),
        };
        let exchanged = parts.iter().flatten().any(|part| part.is_above(usage));
        let why = exchanged.then_some(Explanation::Exchanged);
        Finding::new(Law::Usage, Level::Broken, row.place(), detail).explained(why)
    })
}

/// The amount that is said to be moved fits in the time at the highest rate.
fn moved(rows: &[Row<'_>]) -> Option<Finding> {
    let first = rows.first()?;
    let moved = first.table.holds.iter().find(|held| held.role == Role::Moved)?;
    let (elapsed, rate) = (first.column(Role::Elapsed)?, rate_column(first)?);
    let base = |column: usize| {
        crate::unit::Unit::of(&first.table.columns[column].unit)
            .map(|unit| unit.readings.iter().copied().fold(0.0, f64::max))
    };
    let amount = crate::unit::Unit::of(&moved.unit)?;
    let least = amount.readings.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest =
        rows.iter().filter_map(|row| row.at(rate)).max_by(|a, b| a.high.total_cmp(&b.high))?;
    let last =
        rows.iter().filter_map(|row| row.at(elapsed)).max_by(|a, b| a.high.total_cmp(&b.high))?;
    let most = fastest.scaled(base(rate)?).times(last.scaled(base(elapsed)?)).scaled(1.0 / least);
    let stated = Span::around(moved.printed.value, moved.printed.half_unit());
    stated.is_above(most).then(|| {
        let detail = Detail::Limit {
            stated: Amount::new("moved", stated, moved.unit.clone()),
            limit: Amount::new("highest rate times the time shown", most, moved.unit.clone()),
            is_least: false,
            beyond: (1, 1),
        };
        Finding::new(Law::MovedInTime, Level::Broken, first.table.label.clone(), detail)
    })
}

fn rate_column(row: &Row<'_>) -> Option<usize> {
    [Role::Receive, Role::Throughput, Role::Usage].into_iter().find_map(|role| row.column(role))
}
