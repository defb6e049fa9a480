//! From a tree and the tables to a value, recording the cells that were used.
//!
//! A cell can be shifted: evaluating again with inputs moved within the rounding of their printed
//! digits shows how far the result may be off because of printing alone.

use std::collections::{BTreeMap, BTreeSet};

use super::value::Value;
use super::{Expression, ExpressionError, Kind, Node, Operator};
use crate::table::{CellPlace, Tables};

/// The context in which an expression is evaluated.
pub struct Scope<'a> {
    tables: &'a Tables,
    shifts: BTreeMap<CellPlace, f64>,
    /// The cells that were used.
    pub looked_at: BTreeSet<CellPlace>,
}

impl<'a> Scope<'a> {
    /// The tables as printed.
    pub fn new(tables: &'a Tables) -> Self {
        Self { tables, shifts: BTreeMap::new(), looked_at: BTreeSet::new() }
    }

    /// The tables with some cells moved by the given amounts.
    pub fn shifted(tables: &'a Tables, shifts: BTreeMap<CellPlace, f64>) -> Self {
        Self { tables, shifts, looked_at: BTreeSet::new() }
    }
}

impl Expression {
    /// Evaluates the expression.
    pub fn evaluate(&self, scope: &mut Scope<'_>) -> Result<Value, ExpressionError> {
        evaluate(&self.root, scope)
    }

    /// Checks that every path exists; the error has the position of the first that does not.
    pub fn check_paths(&self, tables: &Tables) -> Result<(), ExpressionError> {
        check(&self.root, tables)
    }
}

fn check(node: &Node, tables: &Tables) -> Result<(), ExpressionError> {
    match &node.kind {
        Kind::Number(_) => Ok(()),
        Kind::Path(steps) => match tables.find(steps) {
            Ok(_) => Ok(()),
            Err(what) => Err(ExpressionError::new(node.column, what)),
        },
        Kind::Negative(inner) => check(inner, tables),
        Kind::Binary(_, left, right) => check(left, tables).and_then(|()| check(right, tables)),
        Kind::Call(_, arguments) => {
            arguments.iter().try_for_each(|argument| check(argument, tables))
        }
    }
}

fn evaluate(node: &Node, scope: &mut Scope<'_>) -> Result<Value, ExpressionError> {
    let fail = |what: String| ExpressionError::new(node.column, what);
    match &node.kind {
        Kind::Number(value) => Ok(Value::Number(*value)),
        Kind::Path(steps) => look_up(steps, scope).map_err(fail),
        Kind::Negative(inner) => match evaluate(inner, scope)? {
            Value::Number(value) => Ok(Value::Number(-value)),
            Value::List(values) => Ok(Value::List(values.iter().map(|value| -value).collect())),
            other => Err(fail(format!("{} has no negative", other.kind()))),
        },
        Kind::Binary(operator, left, right) => {
            let (left, right) = (evaluate(left, scope)?, evaluate(right, scope)?);
            combine(*operator, &left, &right).map_err(fail)
        }
        Kind::Call(function, arguments) => {
            let values = arguments
                .iter()
                .map(|argument| evaluate(argument, scope))
                .collect::<Result<Vec<_>, _>>()?;
            let value = (function.compute)(&values).map_err(|what| {
                fail(format!("{}: {what}; it is written {}", function.name, function.usage))
            })?;
            finite(value).map_err(|what| fail(format!("{}: {what}", function.name)))
        }
    }
}

fn look_up(steps: &[String], scope: &mut Scope<'_>) -> Result<Value, String> {
    let found = scope.tables.find(steps)?;
    let mut values = Vec::with_capacity(found.cells.len());
    for (place, printed) in &found.cells {
        scope.looked_at.insert(*place);
        values.push(printed.value + scope.shifts.get(place).copied().unwrap_or(0.0));
    }
    match (found.is_column, values.first()) {
        (false, Some(value)) => Ok(Value::Number(*value)),
        _ => Ok(Value::List(values)),
    }
}

/// A value, or why there is none: nothing infinite or NaN may pass for a figure.
fn finite(value: Value) -> Result<Value, String> {
    let is_finite = match &value {
        Value::Number(number) => number.is_finite(),
        Value::List(list) => list.iter().all(|number| number.is_finite()),
        Value::Sample(sample) => sample.mean.is_finite() && sample.sd.is_finite(),
        Value::Truth(_) | Value::Truths(_) => true,
    };
    if is_finite { Ok(value) } else { Err("the result is not a finite number".to_owned()) }
}

/// Combines value by value; a number is combined with every value of a list.
fn combine(operator: Operator, left: &Value, right: &Value) -> Result<Value, String> {
    let both_numbers = matches!((left, right), (Value::Number(_), Value::Number(_)));
    let (a, b) = (left.list()?, right.list()?);
    let length = match (a.len(), b.len()) {
        (a, b) if a == b => a,
        (1, b) if matches!(left, Value::Number(_)) => b,
        (a, 1) if matches!(right, Value::Number(_)) => a,
        (a, b) => {
            return Err(format!("lists of {a} and {b} values cannot be combined value by value"));
        }
    };
    let pick = |list: &[f64], index: usize| if list.len() == 1 { list[0] } else { list[index] };
    let pairs = (0..length).map(|index| (pick(&a, index), pick(&b, index)));
    if let Some(compare) = comparison(operator) {
        let truths: Vec<bool> = pairs.map(|(a, b)| compare(a, b)).collect();
        return Ok(if both_numbers { Value::Truth(truths[0]) } else { Value::Truths(truths) });
    }
    let values = pairs.map(|(a, b)| arithmetic(operator, a, b)).collect::<Result<Vec<_>, _>>()?;
    finite(if both_numbers { Value::Number(values[0]) } else { Value::List(values) })
}

fn comparison(operator: Operator) -> Option<fn(f64, f64) -> bool> {
    // Sums of decimal fractions differ in the last bits: 0.1 + 0.2 must count as at most 0.3.
    fn same(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
    }
    match operator {
        Operator::Less => Some(|a, b| a < b && !same(a, b)),
        Operator::AtMost => Some(|a, b| a < b || same(a, b)),
        Operator::Greater => Some(|a, b| a > b && !same(a, b)),
        Operator::AtLeast => Some(|a, b| a > b || same(a, b)),
        Operator::Equal => Some(same),
        Operator::Differs => Some(|a, b| !same(a, b)),
        _ => None,
    }
}

fn arithmetic(operator: Operator, a: f64, b: f64) -> Result<f64, String> {
    match operator {
        Operator::Add => Ok(a + b),
        Operator::Subtract => Ok(a - b),
        Operator::Multiply => Ok(a * b),
        Operator::Divide if b == 0.0 => Err("a division by zero".to_owned()),
        Operator::Divide => Ok(a / b),
        _ => Ok(a.powf(b)),
    }
}
