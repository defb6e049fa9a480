//! The findings and checks of a file of published facts, with their expressions.

use crate::expression::{Expression, Template};
use crate::printed::Printed;
use crate::published::{Basis, Check, Claim, Computation, Finding, Sound, Survives};
use crate::source::{Fields, Node, ReadError};
use crate::table::Tables;

pub(crate) fn findings(
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

pub(crate) fn expression(node: Node<'_>, tables: &Tables) -> Result<Expression, ReadError> {
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
