//! The published tables: tidy (a row is an observation, a column a quantity), with every number as
//! printed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::printed::Printed;
use crate::role::Role;

/// A table of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name in expressions.
    pub name: String,
    /// Its name in the publication, such as `Table 3`.
    pub label: String,
    /// What it shows.
    pub about: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
    /// Settings of all rows.
    pub holds: Vec<Held>,
    /// All rows had one load: the same request size and the same number outstanding, whatever they are.
    pub same_load: bool,
    /// Each row sums up the table that it is named after, column by column, by this.
    pub summarises: Option<Role>,
}

/// A setting of all rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// What it is.
    pub role: Role,
    /// Its value, as it is written.
    pub printed: Printed,
    /// Its unit; empty: none.
    pub unit: String,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name in expressions.
    pub name: String,
    /// The unit of its numbers; empty for text.
    pub unit: String,
    /// Its numbers are counts or settings: printing loses no digits.
    pub exact: bool,
    /// What it is, if that is known.
    pub role: Option<Role>,
}

/// The content of a table cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number.
    Number(Printed),
    /// A name.
    Name(String),
    /// Nothing was printed.
    Missing,
}

/// The position of a cell: table, row, column, each counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellPlace {
    /// Number of the table within the study.
    pub table: usize,
    /// Number of the row.
    pub row: usize,
    /// Number of the column.
    pub column: usize,
}

/// All tables of a study.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tables(pub Vec<Table>);

/// What a path refers to.
#[derive(Debug, Clone, PartialEq)]
pub struct Found<'a> {
    /// The numbers there, in the order of the rows.
    pub cells: Vec<(CellPlace, &'a Printed)>,
    /// Whether the path names a whole column.
    pub is_column: bool,
}

/// The number of tables, and of numbers in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableCount {
    /// Tables.
    pub tables: usize,
    /// Numbers in all tables.
    pub numbers: usize,
}

impl Tables {
    /// What `table.column` or `table.row.column` refers to; the error lists what exists instead, or says which row
    /// has no number there.
    pub fn find(&self, steps: &[String]) -> Result<Found<'_>, String> {
        let found = self.find_present(steps)?;
        let (places, _) = self.places(steps)?;
        match places.into_iter().find(|place| *self.cell(*place) == Cell::Missing) {
            Some(place) => Err(format!(
                "{} has no printed value in row {}; use the rows that have one",
                steps.join("."),
                place.row + 1
            )),
            None => Ok(found),
        }
    }

    /// The same without the rows that have no number there.
    pub fn find_present(&self, steps: &[String]) -> Result<Found<'_>, String> {
        let (places, is_column) = self.places(steps)?;
        let mut cells = Vec::with_capacity(places.len());
        for place in places {
            match self.cell(place) {
                Cell::Number(printed) => cells.push((place, printed)),
                Cell::Name(text) => return Err(names(steps, text)),
                Cell::Missing => {}
            }
        }
        Ok(Found { cells, is_column })
    }

    /// The cells of a path, and whether it names a column.
    fn places(&self, steps: &[String]) -> Result<(Vec<CellPlace>, bool), String> {
        let (name, row_name, column_name) = match steps {
            [table, column] => (table, None, column),
            [table, row, column] => (table, Some(row), column),
            _ => return Err("a path is table.column or table.row.column".to_owned()),
        };
        let (table_index, table) =
            self.0.iter().enumerate().find(|(_, table)| table.name == *name).ok_or_else(|| {
                missing("table", name, self.0.iter().map(|table| table.name.as_str()))
            })?;
        let column =
            table.columns.iter().position(|column| column.name == *column_name).ok_or_else(
                || {
                    let names = table.columns.iter().map(|column| column.name.as_str());
                    missing(&format!("column in {name}"), column_name, names)
                },
            )?;
        let rows = match row_name {
            None => 0..table.rows.len(),
            Some(row_name) => {
                let row = table.rows.iter().position(|row| key(row) == Some(row_name)).ok_or_else(
                    || {
                        let names = table.rows.iter().filter_map(|row| key(row));
                        missing(&format!("row in {name}"), row_name, names.map(String::as_str))
                    },
                )?;
                row..row + 1
            }
        };
        let places = rows.map(|row| CellPlace { table: table_index, row, column }).collect();
        Ok((places, row_name.is_none()))
    }

    fn cell(&self, place: CellPlace) -> &Cell {
        &self.0[place.table].rows[place.row][place.column]
    }

    /// The largest change that rounding can have made to the number there: half of its last digit,
    /// or nothing in a column of exact numbers.
    pub fn half_unit(&self, place: CellPlace) -> f64 {
        let table = &self.0[place.table];
        match &table.rows[place.row][place.column] {
            Cell::Number(printed) if !table.columns[place.column].exact => printed.half_unit(),
            _ => 0.0,
        }
    }

    /// Counts tables and numbers.
    pub fn count(&self) -> TableCount {
        let cells = self.0.iter().flat_map(|table| table.rows.iter().flatten());
        TableCount {
            tables: self.0.len(),
            numbers: cells.filter(|cell| matches!(cell, Cell::Number(_))).count(),
        }
    }
}

/// A row's name: its first cell, if that is a name.
pub(crate) fn key(row: &[Cell]) -> Option<&String> {
    match row.first() {
        Some(Cell::Name(name)) => Some(name),
        _ => None,
    }
}

fn names(steps: &[String], text: &str) -> String {
    format!("{} holds the name `{text}` and no number", steps.join("."))
}

fn missing<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.is_empty() {
        true => format!("there is no {what} called `{name}`, for there are none with names"),
        false => format!("there is no {what} called `{name}`; there are `{}`", names.join("`, `")),
    }
}
