//! Whether units and sample sizes fit what they stand with: a latency in MB/s is another figure, and more samples than
//! there were runs are parts of runs, which share their accidents.

use stormeter_replicate::{Role, Table};

use crate::finding::{Amount, Detail, Finding, Level};
use crate::law::Law;
use crate::row::Row;
use crate::unit::{Dimension, Unit};

/// Columns and settings whose unit measures something else than they are.
pub(crate) fn units(table: &Table) -> Vec<Finding> {
    let columns = table.columns.iter();
    let columns = columns.filter_map(|column| Some((column.role?, &column.name, &column.unit)));
    let held = table.holds.iter().map(|held| (held.role, held.role.word(), &held.unit));
    let held: Vec<_> = held.map(|(role, name, unit)| (role, name.to_owned(), unit)).collect();
    let all = columns.map(|(role, name, unit)| (role, name.clone(), unit)).chain(held);
    all.filter_map(|(role, name, unit)| {
        let expected = dimension(role)?;
        let found = Unit::of(unit)?.dimension;
        (found != expected).then(|| {
            let text = format!(
                "{name} is in {unit}, which is {}, and should be {}",
                what(found),
                what(expected)
            );
            Finding::new(Law::Unit, Level::Broken, table.label.clone(), Detail::Fact(text))
        })
    })
    .collect()
}

/// What a role is measured in; `None`: in several things.
fn dimension(role: Role) -> Option<Dimension> {
    Some(match role {
        Role::RequestSize => Dimension::Size,
        Role::Iops => Dimension::PerSecond,
        Role::Throughput => Dimension::Rate,
        Role::Latency | Role::LatencyMax | Role::LatencyTail | Role::Time | Role::Elapsed => {
            Dimension::Time
        }
        Role::Busy => Dimension::Share,
        _ => return None,
    })
}

fn what(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Size => "an amount",
        Dimension::Rate => "bytes in a time",
        Dimension::Time => "a time",
        Dimension::PerSecond => "requests in a time",
        Dimension::Share => "a share",
    }
}

/// A sample that has more members than there were runs.
pub(crate) fn independence(row: &Row<'_>) -> Option<Finding> {
    let (n, runs) = (row.number(Role::N)?, row.number(Role::Runs)?);
    n.is_above(runs).then(|| {
        let detail = Detail::Limit {
            stated: Amount::new("the number of samples", n, ""),
            limit: Amount::new("the number of runs, whose parts are not independent", runs, ""),
            is_least: false,
            beyond: (1, 1),
        };
        Finding::new(Law::Independence, Level::Doubtful, row.place(), detail)
    })
}
