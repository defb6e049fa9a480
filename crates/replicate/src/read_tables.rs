//! The tables of a file of published facts.

use crate::printed::Printed;
use crate::role::Role;
use crate::source::{Node, ReadError};
use crate::table::{Cell, Column, Held, Table, Tables, key};

pub(crate) fn tables(node: Node<'_>) -> Result<Tables, ReadError> {
    let mut tables: Vec<Table> = Vec::new();
    for item in node.items()? {
        let table = table(item)?;
        if tables.iter().any(|other| other.name == table.name) {
            return Err(item.error(format!("there are two tables called `{}`", table.name)));
        }
        tables.push(table);
    }
    Ok(Tables(tables))
}

fn table(node: Node<'_>) -> Result<Table, ReadError> {
    let fields = node.fields(&[
        "name",
        "label",
        "about",
        "unit",
        "columns",
        "rows",
        "holds",
        "same-load",
        "summarises",
    ])?;
    let name_node = fields.need("name")?;
    let name = identifier(name_node)?;
    let unit = fields.optional_text("unit")?.unwrap_or_default();
    let mut columns: Vec<Column> = Vec::new();
    for item in fields.need("columns")?.items()? {
        let column = column(item, &unit)?;
        if columns.iter().any(|other| other.name == column.name) {
            return Err(item.error(format!("there are two columns called `{}`", column.name)));
        }
        columns.push(column);
    }
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for item in fields.need("rows")?.items()? {
        let cells = item.items()?;
        if cells.len() != columns.len() {
            return Err(item.error(format!(
                "this row has {} cells and {name} has {} columns; write ~ where nothing is printed",
                cells.len(),
                columns.len()
            )));
        }
        let row = cells.into_iter().map(cell).collect::<Result<Vec<_>, _>>()?;
        if key(&row).is_some_and(|name| rows.iter().any(|other| key(other) == Some(name))) {
            return Err(item
                .error("there are two rows of this name; expressions could not tell them apart"));
        }
        rows.push(row);
    }
    if rows.is_empty() || columns.is_empty() {
        return Err(node.error(format!("{name} has no rows or no columns")));
    }
    Ok(Table {
        name,
        label: fields.text("label")?,
        about: fields.text("about")?,
        columns,
        rows,
        holds: match fields.get("holds") {
            Some(node) => node
                .entries()?
                .into_iter()
                .map(|(name, node)| held(node, &name))
                .collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
        same_load: fields.get("same-load").map_or(Ok(false), |node| node.truth())?,
        summarises: fields.get("summarises").map(role).transpose()?,
    })
}

/// A setting of all rows, such as `request-size: 4 KB`.
fn held(node: Node<'_>, name: &str) -> Result<Held, ReadError> {
    let role = Role::of_word(name).ok_or_else(|| unknown_role(node, name))?;
    let text = node.text()?;
    let (digits, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let printed = Printed::read(digits)
        .ok_or_else(|| node.error(format!("`{text}` is not a number with a unit, such as 4 KB")))?;
    Ok(Held { role, printed, unit: unit.to_owned() })
}

fn role(node: Node<'_>) -> Result<Role, ReadError> {
    let word = node.text()?;
    Role::of_word(&word).ok_or_else(|| unknown_role(node, &word))
}

fn unknown_role(node: Node<'_>, word: &str) -> ReadError {
    let known: Vec<&str> = Role::words().collect();
    node.error(format!("`{word}` is nothing that a column can be; there are {}", known.join(", ")))
}

fn column(node: Node<'_>, unit: &str) -> Result<Column, ReadError> {
    if !node.is_mapping() {
        let name = identifier(node)?;
        return Ok(Column {
            role: Role::of_column(&name),
            name,
            unit: unit.to_owned(),
            exact: false,
        });
    }
    let fields = node.fields(&["name", "unit", "exact", "is"])?;
    let name = identifier(fields.need("name")?)?;
    Ok(Column {
        role: match fields.get("is") {
            Some(node) => Some(role(node)?),
            None => Role::of_column(&name),
        },
        name,
        unit: match fields.get("unit") {
            Some(node) => node.scalar()?.unwrap_or_default().to_owned(),
            None => unit.to_owned(),
        },
        exact: fields.get("exact").map_or(Ok(false), |node| node.truth())?,
    })
}

/// A name that can be part of a path.
fn identifier(node: Node<'_>) -> Result<String, ReadError> {
    let name = node.text()?;
    if is_identifier(&name) {
        return Ok(name);
    }
    Err(node.error(format!(
        "`{name}` cannot stand in an expression; use letters, digits and `_`, a letter first"
    )))
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn cell(node: Node<'_>) -> Result<Cell, ReadError> {
    let Some(text) = node.scalar()? else { return Ok(Cell::Missing) };
    if let Some(printed) = Printed::read(text) {
        return Ok(Cell::Number(printed));
    }
    if is_identifier(text) {
        return Ok(Cell::Name(text.to_owned()));
    }
    Err(node.error(format!(
        "`{text}` is neither a plain number nor a name (letters, digits and `_`); write ~ where nothing \
         is printed"
    )))
}
