//! A row of a table, and where it has the figures that a law binds: in a column of its own, as a setting of the whole
//! table, or in a row of the same name elsewhere.

use stormeter_replicate::{Cell, Role, Table, Tables};

use crate::finding::Amount;
use crate::identities::Figure;
use crate::span::Span;
use crate::unit::{Dimension, Unit};

/// A row of a table.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) table: &'a Table,
    pub(crate) row: usize,
}

impl<'a> Row<'a> {
    /// The table and the row, for people.
    pub(crate) fn place(&self) -> String {
        format!("{}, {}", self.table.label, self.name())
    }

    /// Its first cell if that is a name, else its number.
    pub(crate) fn name(&self) -> String {
        match self.table.rows[self.row].first() {
            Some(Cell::Name(name)) => name.clone(),
            _ => format!("row {}", self.row + 1),
        }
    }

    /// The number in a column.
    pub(crate) fn at(&self, column: usize) -> Option<Span> {
        match &self.table.rows[self.row][column] {
            Cell::Number(printed) if self.table.columns[column].exact => {
                Some(Span::exact(printed.value))
            }
            Cell::Number(printed) => Some(Span::around(printed.value, printed.half_unit())),
            _ => None,
        }
    }

    /// The only column with this role.
    pub(crate) fn column(&self, role: Role) -> Option<usize> {
        let mut columns = self.table.columns.iter().enumerate();
        let (index, _) = columns.find(|(_, column)| column.role == Some(role))?;
        columns.all(|(_, column)| column.role != Some(role)).then_some(index)
    }

    /// The number with this role, in this row or of all rows.
    pub(crate) fn number(&self, role: Role) -> Option<Span> {
        if let Some(column) = self.column(role) {
            return self.at(column);
        }
        self.held(role).map(|(span, _)| span)
    }

    fn held(&self, role: Role) -> Option<(Span, &'a str)> {
        let held = self.table.holds.iter().find(|held| held.role == role)?;
        Some((Span::exact(held.printed.value), held.unit.as_str()))
    }

    /// The same with what its unit may mean.
    pub(crate) fn figure(&self, role: Role) -> Option<Figure> {
        if let Some(column) = self.column(role) {
            return Figure::of(self.at(column)?, &self.table.columns[column].unit);
        }
        let (span, unit) = self.held(role)?;
        Figure::of(span, unit)
    }

    /// A figure of this row's subject in any table: rows of one name are of one thing. A mean or SD of requests per
    /// second is one of IOPS, and the like.
    pub(crate) fn joined(&self, role: Role, dimension: Dimension, moment: Role) -> Option<Figure> {
        let by_unit = |row: &Row<'a>| {
            let unit = Unit::of(row.unit(moment)?)?;
            (unit.dimension == dimension).then(|| row.figure(moment)).flatten()
        };
        let here = if moment == Role::Mean { self.figure(role) } else { None };
        here.or_else(|| by_unit(self)).or_else(|| {
            let mut found = self.namesakes().filter_map(|row| {
                let by_role = if moment == Role::Mean { row.figure(role) } else { None };
                by_role.or_else(|| by_unit(&row))
            });
            let first = found.next()?;
            // Two tables with such a figure are two measurements.
            found.next().is_none().then_some(first)
        })
    }

    /// Rows of the same name in other tables.
    fn namesakes(&self) -> impl Iterator<Item = Row<'a>> + use<'a> {
        let name = match self.table.rows[self.row].first() {
            Some(Cell::Name(name)) => Some(name.clone()),
            _ => None,
        };
        let (tables, own) = (self.tables, self.table.name.clone());
        tables.0.iter().filter(move |table| table.name != own).flat_map(move |table| {
            let row = table.rows.iter().position(|row| match row.first() {
                Some(Cell::Name(found)) => Some(found) == name.as_ref(),
                _ => false,
            });
            row.map(|row| Row { tables, table, row })
        })
    }

    /// A count: whatever its unit is called.
    pub(crate) fn count(&self, role: Role) -> Option<Figure> {
        self.number(role).map(Figure::plain)
    }

    /// The unit of the column with this role.
    pub(crate) fn unit(&self, role: Role) -> Option<&'a str> {
        match self.column(role) {
            Some(column) => Some(self.table.columns[column].unit.as_str()),
            None => self.held(role).map(|(_, unit)| unit),
        }
    }

    /// A column's name with its unit, for an amount.
    pub(crate) fn amount(&self, column: usize, span: Span) -> Amount {
        let column = &self.table.columns[column];
        Amount::new(column.name.clone(), span, column.unit.clone())
    }
}

/// Whether a row sums up the others by its name.
pub(crate) fn summing(row: &Row<'_>) -> Option<Role> {
    let first = row.table.rows[row.row].first();
    let Some(Cell::Name(name)) = first else { return None };
    match name.to_ascii_lowercase().as_str() {
        "mean" | "average" | "avg" => Some(Role::Mean),
        "total" | "sum" => Some(Role::Sum),
        _ => None,
    }
}
