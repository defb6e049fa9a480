//! From the text of a `published.yaml` to a [`Published`], with the position of every error.
//!
//! Everything that can be checked without a computation is checked here: unknown fields, rows of the
//! wrong length, duplicate names, invalid expressions, paths that do not exist.

use crate::expression::{Expression, Template};
use crate::printed::Printed;
use crate::published::{Basis, Check, Claim, Computation, Finding, Published, Sound, Survives};
use crate::source::{Fields, Node, ReadError, document_of};
use crate::table::{Cell, Column, Table, Tables, key};

impl Published {
    /// Reads the text of a `published.yaml`.
    ///
    /// # Errors
    /// With line and column: invalid YAML, an unknown or missing field, a table whose rows do not fit
    /// its columns, a duplicate name, an expression that cannot be parsed or refers to a table that
    /// does not exist.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let document = document_of(text)?;
        let fields = Node(&document.tree).fields(&[
            "study",
            "testbed",
            "tables",
            "weak",
            "sound",
            "stands-for",
            "findings",
            "checks",
        ])?;
        let tables = tables(fields.need("tables")?)?;
        let about = fields
            .need("study")?
            .fields(&["name", "title", "authors", "year", "where", "question"])?;
        let authors = about.need("authors")?.items()?;
        let testbed = match fields.get("testbed") {
            Some(node) => node.entries()?,
            None => Vec::new(),
        };
        let mut ids = Vec::new();
        let findings = findings(fields.need("findings")?, &tables, &mut ids)?;
        let checks = match fields.get("checks") {
            Some(node) => self::findings(node, &tables, &mut ids)?,
            None => Vec::new(),
        };
        Ok(Self {
            name: about.text("name")?,
            title: about.text("title")?,
            authors: authors.iter().map(Node::text).collect::<Result<_, _>>()?,
            year: about.text("year")?,
            place: about.text("where")?,
            question: about.text("question")?,
            testbed: testbed
                .into_iter()
                .map(|(part, node)| Ok((part, node.text()?)))
                .collect::<Result<_, ReadError>>()?,
            weak: fields.optional_text("weak")?,
            sound: fields.optional_text("sound")?,
            stands_for: fields.optional_text("stands-for")?,
            tables,
            findings,
            checks,
            notes: document.notes,
        })
    }
}

fn tables(node: Node<'_>) -> Result<Tables, ReadError> {
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
    let fields = node.fields(&["name", "label", "about", "unit", "columns", "rows"])?;
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
    Ok(Table { name, label: fields.text("label")?, about: fields.text("about")?, columns, rows })
}

fn column(node: Node<'_>, unit: &str) -> Result<Column, ReadError> {
    if !node.is_mapping() {
        return Ok(Column { name: identifier(node)?, unit: unit.to_owned(), exact: false });
    }
    let fields = node.fields(&["name", "unit", "exact"])?;
    Ok(Column {
        name: identifier(fields.need("name")?)?,
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

fn findings(
    node: Node<'_>,
    tables: &Tables,
    ids: &mut Vec<String>,
) -> Result<Vec<Finding>, ReadError> {
    let mut findings = Vec::new();
    for item in node.items()? {
        let finding = finding(item, tables)?;
        if ids.contains(&finding.id) {
            return Err(item.error(format!("there are two findings called `{}`", finding.id)));
        }
        ids.push(finding.id.clone());
        findings.push(finding);
    }
    Ok(findings)
}

fn finding(node: Node<'_>, tables: &Tables) -> Result<Finding, ReadError> {
    let fields = node.fields(&[
        "id",
        "source",
        "statement",
        "published",
        "about",
        "low",
        "high",
        "unit",
        "compute",
        "compute-rounded",
        "basis",
        "reason",
        "not-testable",
        "sound",
        "weak",
        "ask",
        "ask-full",
        "ask-direction",
    ])?;
    let questions = |key: &str| match fields.get(key) {
        None => Ok(Vec::new()),
        Some(node) if node.is_list() => {
            node.items()?.iter().map(Node::text).collect::<Result<_, _>>()
        }
        Some(node) => node.text().map(|text| vec![text]),
    };
    if let (Some(direction), None) = (fields.get("ask-direction"), fields.get("ask-full")) {
        return Err(direction.error("this goes with `ask-full`, whose direction it asks for"));
    }
    Ok(Finding {
        id: fields.text("id")?,
        source: fields.text("source")?,
        statement: fields.text("statement")?,
        claim: claim(node, &fields)?,
        unit: fields.optional_text("unit")?,
        check: check(node, &fields, tables)?,
        sound: fields.get("sound").map(|node| sound(node, tables)).transpose()?,
        weak: fields.optional_text("weak")?,
        ask: questions("ask")?,
        ask_full: questions("ask-full")?,
        ask_direction: questions("ask-direction")?,
    })
}

fn claim(node: Node<'_>, fields: &Fields<'_>) -> Result<Claim, ReadError> {
    let number = |node: Node<'_>| {
        let text = node.text()?;
        Printed::read(&text).ok_or_else(|| {
            node.error(format!(
                "`{text}` is not a plain number; write it as it is printed, such as \"24.38\""
            ))
        })
    };
    match (fields.get("published"), fields.get("about"), fields.get("low"), fields.get("high")) {
        (Some(published), None, None, None) => Ok(Claim::Number(number(published)?)),
        (None, Some(about), None, None) => Ok(Claim::About(number(about)?)),
        (None, None, Some(low), Some(high)) => {
            let (low_number, high_number) = (number(low)?, number(high)?);
            if low_number.value > high_number.value {
                return Err(low.error("low is above high; swap them"));
            }
            Ok(Claim::Between(low_number, high_number))
        }
        (None, None, None, None) => Ok(Claim::Statement),
        _ => Err(node.error(
            "a finding has `published`, or `about`, or `low` with `high`, or none of them for a statement \
             that is true or not",
        )),
    }
}

fn check(node: Node<'_>, fields: &Fields<'_>, tables: &Tables) -> Result<Check, ReadError> {
    match (fields.get("compute"), fields.get("not-testable")) {
        (None, Some(reason)) => {
            match ["compute-rounded", "basis", "reason"].iter().find_map(|name| fields.get(name)) {
                Some(field) => {
                    Err(field.error("this belongs to `compute`, and the finding is not testable"))
                }
                None => Ok(Check::NotTestable(reason.text()?)),
            }
        }
        (Some(exact), None) => {
            let basis = match fields.get("basis") {
                None => Basis::Data,
                Some(node) => match node.text()?.as_str() {
                    "data" => Basis::Data,
                    "statements" => Basis::Statements,
                    other => {
                        return Err(node.error(format!(
                            "`{other}` is not a basis; there are data and statements"
                        )));
                    }
                },
            };
            Ok(Check::Compute(Box::new(Computation {
                exact: expression(exact, tables)?,
                rounded: fields
                    .get("compute-rounded")
                    .map(|node| expression(node, tables))
                    .transpose()?,
                basis,
                reason: fields.get("reason").map(|node| template(node, tables)).transpose()?,
            })))
        }
        _ => Err(node.error("a finding has either `compute` or `not-testable`")),
    }
}

fn expression(node: Node<'_>, tables: &Tables) -> Result<Expression, ReadError> {
    let read = Expression::read(&node.text()?).map_err(|error| node.error(error.to_string()))?;
    read.check_paths(tables).map_err(|error| node.error(error.to_string()))?;
    Ok(read)
}

fn template(node: Node<'_>, tables: &Tables) -> Result<Template, ReadError> {
    let read = Template::read(&node.text()?).map_err(|error| node.error(error.to_string()))?;
    for expression in read.expressions() {
        expression
            .check_paths(tables)
            .map_err(|error| node.error(format!("in {{{}}}: {error}", expression.text)))?;
    }
    Ok(read)
}

fn sound(node: Node<'_>, tables: &Tables) -> Result<Sound, ReadError> {
    if !node.is_mapping() {
        return Ok(Sound { say: template(node, tables)?, survives: Survives::Remark });
    }
    let fields = node.fields(&["say", "holds"])?;
    let holds = fields.need("holds")?;
    Ok(Sound {
        say: template(fields.need("say")?, tables)?,
        survives: match holds.text()?.as_str() {
            "cannot be told" => Survives::CannotBeTold,
            _ => Survives::When(expression(holds, tables)?),
        },
    })
}
