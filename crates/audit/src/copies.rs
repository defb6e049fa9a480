//! Rows and columns that were copied: measured figures of several digits do not come twice.

use stormeter_replicate::{Cell, Table};

use crate::finding::{Detail, Finding, Level};
use crate::law::Law;
use crate::row::{Row, summing};

/// How many measured figures of several digits have to agree: single ones may by chance.
const FEWEST: usize = 3;

/// Every pair of copied rows, and of copied columns.
pub(crate) fn check(table: &Table, rows: &[Row<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let rows: Vec<&Row<'_>> = rows.iter().filter(|row| summing(row).is_none()).collect();
    for (number, row) in rows.iter().enumerate() {
        for other in &rows[number + 1..] {
            let columns = 0..table.columns.len();
            if let Some(figures) = same(columns.map(|column| {
                (!table.columns[column].exact)
                    .then(|| (&table.rows[row.row][column], &table.rows[other.row][column]))
            })) {
                let detail = Detail::Copy { other: other.name(), figures };
                findings.push(Finding::new(Law::Copies, Level::Doubtful, row.place(), detail));
            }
        }
    }
    for column in 0..table.columns.len() {
        for other in column + 1..table.columns.len() {
            if table.columns[column].exact || table.columns[other].exact {
                continue;
            }
            if let Some(figures) = same(
                rows.iter()
                    .map(|row| Some((&table.rows[row.row][column], &table.rows[row.row][other]))),
            ) {
                let place = format!("{}, {}", table.label, table.columns[column].name);
                let other = table.columns[other].name.clone();
                let detail = Detail::Copy { other, figures };
                findings.push(Finding::new(Law::Copies, Level::Doubtful, place, detail));
            }
        }
    }
    findings
}

/// How many figures of three digits or more are the same, if all figures are and there are enough of them.
fn same<'a>(pairs: impl Iterator<Item = Option<(&'a Cell, &'a Cell)>>) -> Option<usize> {
    let mut figures = 0;
    for (one, other) in pairs.flatten() {
        match (one, other) {
            (Cell::Number(one), Cell::Number(other)) if one.text == other.text => {
                figures += usize::from(digits(&one.text) >= 3);
            }
            (Cell::Number(_), _) | (_, Cell::Number(_)) => return None,
            _ => {}
        }
    }
    (figures >= FEWEST).then_some(figures)
}

/// Significant digits: zeros in front and at the end of a whole number say little.
fn digits(text: &str) -> usize {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_start_matches('0');
    if text.contains('.') { digits.len() } else { digits.trim_end_matches('0').len() }
}
