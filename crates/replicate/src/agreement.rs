//! Whether a figure follows from the tables: the printed digits decide.
//!
//! A computed value agrees when it rounds, or is truncated, to the printed digits. If it misses them,
//! the inputs may be the cause, since they are printed with few digits themselves: every input is
//! moved by up to half of its last printed digit, and the range of the expression is compared with the
//! claim. A claim outside that range does not follow.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::expression::{Expression, ExpressionError, Scope, Value};
use crate::printed::{Digits, Printed};
use crate::published::{Claim, Computation};
use crate::table::Tables;

/// A figure that is stated as approximate may be off by this fraction.
pub const ABOUT: f64 = 0.10;

/// Whether a finding follows from the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The finding follows.
    Agrees,
    /// It follows if the printed inputs are taken to be rounded.
    AgreesWithinRounding,
    /// It does not follow.
    DoesNotFollow,
    /// The publication does not print the data that this would take.
    NotTestable,
}

/// In which way a figure agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Rounds to the printed digits.
    Rounded,
    /// Gives the printed digits when truncated.
    Truncated,
    /// Comes out when intermediate results are rounded as the authors rounded them.
    IntermediateRounding,
    /// Within what the rounding of the printed inputs can explain.
    PrintedInputs,
    /// Within a tenth of a figure that is stated as approximate.
    About,
    /// Within the printed range.
    Inside,
    /// A statement that is true of the tables.
    True,
}

/// The result of a recomputation.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether it agrees.
    pub agreement: Agreement,
    /// In which way it agrees.
    pub how: Option<How>,
    /// The value with all digits.
    pub value: Value,
    /// With the authors' intermediate rounding, where that was needed.
    pub rounded: Option<f64>,
    /// The range of the value given the rounding of the printed inputs, if that was needed.
    pub range: Option<(f64, f64)>,
}

/// Why a recomputation failed: a mistake in the study's file.
pub(crate) type Failure = ExpressionError;

/// Recomputes a finding.
///
/// # Errors
/// The expression has no value, or not the kind of value that the claim needs.
pub fn recompute(
    claim: &Claim,
    computation: &Computation,
    tables: &Tables,
) -> Result<Outcome, Failure> {
    let value = computation.exact.evaluate(&mut Scope::new(tables))?;
    let outcome = |agreement, how| Outcome {
        agreement,
        how,
        value: value.clone(),
        rounded: None,
        range: None,
    };
    // A comparison is true or false by itself, whatever is printed next to it.
    if let Value::Truth(truth) = &value {
        return Ok(match truth {
            true => outcome(Agreement::Agrees, Some(How::True)),
            false => outcome(Agreement::DoesNotFollow, None),
        });
    }
    if *claim == Claim::Statement {
        return Err(wrong(&value, "a statement needs a comparison; for a number, add `published`"));
    }
    let values = match &value {
        Value::Number(number) => vec![*number],
        Value::List(list) if !list.is_empty() => list.clone(),
        _ => return Err(wrong(&value, "a printed figure needs a number, or a list of them")),
    };
    let hows: Vec<Option<How>> = values.iter().map(|value| fits(claim, *value)).collect();
    // A list agrees as its weakest value does: truncated when one of them is truncated.
    let fitting = hows.iter().copied().collect::<Option<Vec<How>>>();
    let how = fitting
        .map(|hows| hows.into_iter().find(|how| *how != How::Rounded).unwrap_or(How::Rounded));
    if how.is_some_and(|how| how != How::Truncated || computation.rounded.is_none()) {
        return Ok(outcome(Agreement::Agrees, how));
    }
    if let Some(rounded) = &computation.rounded {
        let Value::Number(number) = rounded.evaluate(&mut Scope::new(tables))? else {
            return Err(wrong(&value, "compute-rounded has to give a number"));
        };
        if fits(claim, number).is_some() {
            let agrees = outcome(Agreement::Agrees, Some(How::IntermediateRounding));
            return Ok(Outcome { rounded: Some(number), ..agrees });
        }
    }
    if how.is_some() {
        return Ok(outcome(Agreement::Agrees, how));
    }
    let [_] = values[..] else { return Ok(outcome(Agreement::DoesNotFollow, None)) };
    let (low, high) = range(&computation.exact, tables)?;
    let agrees = match claim {
        Claim::Number(printed) => printed.fits_within(low, high),
        Claim::About(printed) => {
            let room = ABOUT * printed.value.abs();
            low <= printed.value + room && high >= printed.value - room
        }
        Claim::Between(from, to) => {
            low <= to.value + to.half_unit() && high >= from.value - from.half_unit()
        }
        Claim::Statement => false,
    };
    let found = if agrees {
        outcome(Agreement::AgreesWithinRounding, Some(How::PrintedInputs))
    } else {
        outcome(Agreement::DoesNotFollow, None)
    };
    Ok(Outcome { range: Some((low, high)), ..found })
}

fn wrong(value: &Value, what: &str) -> Failure {
    ExpressionError { column: 1, what: format!("{what}; this is {}", value.kind()) }
}

fn fits(claim: &Claim, value: f64) -> Option<How> {
    let digits = |printed: &Printed| match printed.fits(value) {
        Some(Digits::Rounded) => Some(How::Rounded),
        Some(Digits::Truncated) => Some(How::Truncated),
        None => None,
    };
    match claim {
        Claim::Number(printed) => digits(printed),
        Claim::About(printed) => {
            let is_near = (value - printed.value).abs() <= ABOUT * printed.value.abs();
            is_near.then_some(How::About)
        }
        Claim::Between(low, high) => {
            let is_inside = value >= low.value && value <= high.value
                || digits(low).is_some()
                || digits(high).is_some();
            is_inside.then_some(How::Inside)
        }
        Claim::Statement => None,
    }
}

/// The range of a number when each of its inputs is anywhere within half of its last printed digit.
///
/// Each input is moved alone, which shows the direction of its effect, then all of them together
/// towards the ends that have the same effect. For expressions that are monotonic in each input,
/// which over half a digit is nearly all, these ends are the range.
pub(crate) fn range(expression: &Expression, tables: &Tables) -> Result<(f64, f64), Failure> {
    let mut scope = Scope::new(tables);
    let middle = number(&expression.evaluate(&mut scope)?);
    let (mut low, mut high) = (middle, middle);
    let (mut downwards, mut upwards) = (BTreeMap::new(), BTreeMap::new());
    let mut at = |shifts: BTreeMap<_, _>| -> f64 {
        // If a moved input has no value (a division by zero), it says nothing.
        let moved = expression.evaluate(&mut Scope::shifted(tables, shifts));
        let moved = moved.as_ref().map_or(f64::NAN, number);
        low = low.min(moved);
        high = high.max(moved);
        moved
    };
    for place in scope.looked_at {
        let half = tables.half_unit(place);
        if half > 0.0 {
            let less = at(BTreeMap::from([(place, -half)]));
            let more = at(BTreeMap::from([(place, half)]));
            let up = if more >= less { half } else { -half };
            upwards.insert(place, up);
            downwards.insert(place, -up);
        }
    }
    at(downwards);
    at(upwards);
    Ok((low, high))
}

/// Lowest value, value and highest value of a number, given the rounding of the printed inputs.
///
/// # Errors
/// The expression has no value.
pub fn expression_range(
    expression: &Expression,
    tables: &Tables,
) -> Result<(f64, f64, f64), ExpressionError> {
    let middle = number(&expression.evaluate(&mut Scope::new(tables))?);
    let (low, high) = range(expression, tables)?;
    Ok((low, middle, high))
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        _ => f64::NAN,
    }
}
