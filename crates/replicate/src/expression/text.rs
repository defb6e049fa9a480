//! Text with figures in it: `{expression | digits}` becomes the value, so that a sentence about a
//! table never states a number that differs from the table.

use super::evaluate::Scope;
use super::value::Value;
use super::{Expression, ExpressionError};

/// A text with expressions in braces.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// Its parts, in order.
    pub parts: Vec<TemplatePart>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePart {
    /// Literal text.
    Text(String),
    /// A value, and the number of decimals to show.
    Figure(Expression, usize),
}

/// Decimals if none are specified.
const DIGITS: usize = 2;

impl Template {
    /// Reads a template.
    pub fn read(text: &str) -> Result<Self, ExpressionError> {
        let mut parts = Vec::new();
        let mut rest = text;
        let column_of = |rest: &str| text[..text.len() - rest.len()].chars().count() + 1;
        while let Some((before, after)) = rest.split_once('{') {
            if !before.is_empty() {
                parts.push(TemplatePart::Text(before.to_owned()));
            }
            let Some((inside, behind)) = after.split_once('}') else {
                return Err(ExpressionError::new(
                    column_of(after) - 1,
                    "a `}` is missing after this `{`",
                ));
            };
            let (expression, digits) = match inside.rsplit_once('|') {
                None => (inside, DIGITS),
                Some((expression, digits)) => match digits.trim().parse() {
                    Ok(digits @ 0..=12) => (expression, digits),
                    _ => {
                        return Err(ExpressionError::new(
                            column_of(after),
                            format!("`{}` is not a number of digits from 0 to 12", digits.trim()),
                        ));
                    }
                },
            };
            let shift = column_of(after) - 1;
            let read = Expression::read(expression)
                .map_err(|error| ExpressionError { column: error.column + shift, ..error })?;
            parts.push(TemplatePart::Figure(read, digits));
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(TemplatePart::Text(rest.to_owned()));
        }
        Ok(Self { parts })
    }

    /// The expressions in it.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Text(_) => None,
            TemplatePart::Figure(expression, _) => Some(expression),
        })
    }

    /// The text with its figures filled in.
    pub fn fill(&self, scope: &mut Scope<'_>) -> Result<String, ExpressionError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(part) => text.push_str(part),
                TemplatePart::Figure(expression, digits) => {
                    text.push_str(&shown(&expression.evaluate(scope)?, *digits));
                }
            }
        }
        Ok(text)
    }
}

/// A value in words.
fn shown(value: &Value, digits: usize) -> String {
    let number = |value: &f64| {
        let text = format!("{value:.digits$}");
        // Negative zero is shown as zero.
        let is_zero = !text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
        if is_zero { text.trim_start_matches('-').to_owned() } else { text }
    };
    let truth = |truth: &bool| if *truth { "true" } else { "false" };
    match value {
        Value::Number(value) => number(value),
        Value::List(list) => list.iter().map(number).collect::<Vec<_>>().join(", "),
        Value::Truth(value) => truth(value).to_owned(),
        Value::Truths(list) => list.iter().map(truth).collect::<Vec<_>>().join(", "),
        Value::Sample(sample) => {
            format!("n {}, mean {}, SD {}", sample.n, number(&sample.mean), number(&sample.sd))
        }
    }
}
