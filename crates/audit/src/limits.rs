//! Links, devices and generators against what is said to have gone through them.

use stormeter_replicate::{Limit, Role, Sheet};

use crate::finding::{Amount, Detail, Explanation, Finding, Level};
use crate::law::Law;
use crate::row::Row;
use crate::span::Span;
use crate::unit::{Dimension, Unit};

/// Checks every limit on all that it carries.
pub(crate) fn check(sheet: &Sheet) -> Vec<Finding> {
    let limits = sheet.links.iter().chain(&sheet.devices);
    limits.flat_map(|limit| one(limit, &carried(limit, sheet))).collect()
}

fn carried<'a>(limit: &Limit, sheet: &'a Sheet) -> Vec<Cell<'a>> {
    // The reader has looked for the paths.
    let found = limit.carries.iter().filter_map(|path| sheet.tables.find_present(path).ok());
    let places = found.flat_map(|found| found.cells.into_iter().map(|(place, _)| place));
    places
        .map(|place| Cell {
            row: Row { tables: &sheet.tables, table: &sheet.tables.0[place.table], row: place.row },
            column: place.column,
        })
        .collect()
}

#[derive(Clone, Copy)]
struct Cell<'a> {
    row: Row<'a>,
    column: usize,
}

impl Cell<'_> {
    fn unit(&self) -> &str {
        &self.row.table.columns[self.column].unit
    }

    fn span(&self) -> Option<Span> {
        self.row.at(self.column)
    }
}

/// What a limit says of one cell: the stated figure, its bound in the same unit, and how far beyond it is, above 1.
struct Beyond {
    stated: Amount,
    limit: Span,
    is_least: bool,
    law: Law,
    times: f64,
    why: Vec<Explanation>,
}

/// For each law a finding: the cell farthest beyond, and how many are. A limit that is passed everywhere is one
/// finding and not one for each row.
fn one(limit: &Limit, cells: &[Cell<'_>]) -> Vec<Finding> {
    let mut worst: Vec<(Beyond, &Cell<'_>, usize)> = Vec::new();
    for cell in cells {
        let Some(beyond) = beyond(limit, cell) else { continue };
        match worst.iter_mut().find(|(known, ..)| known.law == beyond.law) {
            Some((known, at, count)) => {
                *count += 1;
                if beyond.times > known.times {
                    (*known, *at) = (beyond, cell);
                }
            }
            None => worst.push((beyond, cell, 1)),
        }
    }
    let finding = |(beyond, cell, count): (Beyond, &Cell<'_>, usize)| {
        let unit = beyond.stated.unit.clone();
        let level = match beyond.law == Law::Generator && beyond.times < 3.0 {
            true => Level::Doubtful,
            false => Level::Broken,
        };
        let detail = Detail::Limit {
            stated: beyond.stated,
            limit: Amount::new(limit.name.clone(), beyond.limit, unit),
            is_least: beyond.is_least,
            beyond: (count, cells.len()),
        };
        Finding::new(beyond.law, level, cell.row.place(), detail).explained(beyond.why)
    };
    worst.into_iter().map(finding).collect()
}

fn beyond(limit: &Limit, cell: &Cell<'_>) -> Option<Beyond> {
    let span = cell.span()?;
    let unit = Unit::of(cell.unit())?;
    match unit.dimension {
        Dimension::Rate => over_rate(limit, cell, span, &unit),
        Dimension::PerSecond => over_iops(limit, cell, span),
        Dimension::Time => under_time(limit, cell, span, &unit),
        Dimension::Size | Dimension::Share => None,
    }
}

fn over_rate(limit: &Limit, cell: &Cell<'_>, span: Span, unit: &Unit) -> Option<Beyond> {
    let rate = limit.bytes_per_s?;
    // The reading that is kindest to the result.
    let least = unit.readings.iter().copied().fold(f64::INFINITY, f64::min);
    let bound = Span::exact(rate / least);
    let mut why = Vec::new();
    let third = bound.scaled(1.0 / 3.0);
    let is_near = limit.is_generator && span.is_above(third);
    if !span.is_above(bound) && !is_near {
        return None;
    }
    let times = span.middle / bound.middle;
    if times <= 8.0 && !span.scaled(0.125).is_above(bound) && cell.unit().contains('B') {
        why.push(Explanation::BitsForBytes);
    }
    let as_requests = span.middle * 4096.0;
    if times > 8.0 && as_requests <= rate {
        why.push(Explanation::UnitIs("IOPS"));
    }
    why.push(Explanation::Cache);
    Some(Beyond {
        stated: cell.row.amount(cell.column, span),
        limit: bound,
        is_least: false,
        law: if limit.is_generator { Law::Generator } else { Law::Ceiling },
        times: if limit.is_generator { 3.0 * times } else { times },
        why: if limit.is_generator { Vec::new() } else { why },
    })
}

fn over_iops(limit: &Limit, cell: &Cell<'_>, span: Span) -> Option<Beyond> {
    let size = cell.row.figure(Role::RequestSize);
    let by_rate = limit.bytes_per_s.zip(size).map(|(rate, size)| {
        let least = size.readings.iter().copied().fold(f64::INFINITY, f64::min);
        rate / (size.span.middle * least)
    });
    let bound = [limit.iops, by_rate].into_iter().flatten().fold(f64::INFINITY, f64::min);
    let share = if limit.is_generator { 1.0 / 3.0 } else { 1.0 };
    let bound_span = Span::exact(bound);
    if !span.is_above(Span::exact(bound * share)) {
        return None;
    }
    let times = span.middle / bound;
    Some(Beyond {
        stated: cell.row.amount(cell.column, span),
        limit: bound_span,
        is_least: false,
        law: if limit.is_generator { Law::Generator } else { Law::Ceiling },
        times: if limit.is_generator { 3.0 * times } else { times },
        why: if limit.is_generator { Vec::new() } else { vec![Explanation::Cache] },
    })
}

fn under_time(limit: &Limit, cell: &Cell<'_>, span: Span, unit: &Unit) -> Option<Beyond> {
    let reading = unit.readings[0];
    let moved = cell.row.figure(Role::Moved).or_else(|| cell.row.figure(Role::RequestSize));
    let carrying = limit.bytes_per_s.zip(moved).map(|(rate, moved)| {
        let least = moved.readings.iter().copied().fold(f64::INFINITY, f64::min);
        moved.span.low * least / rate
    });
    let (bound, law) = match (carrying, limit.round_trip_s) {
        (Some(carrying), Some(trip)) if trip > carrying => (trip, Law::RoundTrip),
        (Some(carrying), _) => (carrying, Law::Ceiling),
        (None, Some(trip)) => (trip, Law::RoundTrip),
        (None, None) => return None,
    };
    let bound = Span::exact(bound / reading);
    bound.is_above(span).then(|| Beyond {
        stated: cell.row.amount(cell.column, span),
        limit: bound,
        is_least: true,
        law,
        times: bound.middle / span.middle,
        why: vec![Explanation::Cache, Explanation::OneEnd],
    })
}
