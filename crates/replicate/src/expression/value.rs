//! The values of expressions: a number, numbers, truth, or a sample's moments.

use stormeter_statistics::Moments;

/// The value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number, in the unit that the study prints.
    Number(f64),
    /// A column, or what was computed from one, value by value.
    List(Vec<f64>),
    /// A claim that holds or does not.
    Truth(bool),
    /// A claim about each value of a list.
    Truths(Vec<bool>),
    /// Size, mean and standard deviation: a published summary that stands for its sample.
    Sample(Moments),
}

impl Value {
    /// The kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::List(_) => "a list",
            Value::Truth(_) => "true or false",
            Value::Truths(_) => "a list of true and false",
            Value::Sample(_) => "a sample's moments",
        }
    }

    /// The number; the error says what it is instead.
    pub(super) fn number(&self) -> Result<f64, String> {
        match self {
            Value::Number(number) => Ok(*number),
            other => Err(format!("a number is needed here and this is {}", other.kind())),
        }
    }

    /// The list; a number is a list of one.
    pub(super) fn list(&self) -> Result<Vec<f64>, String> {
        match self {
            Value::Number(number) => Ok(vec![*number]),
            Value::List(list) => Ok(list.clone()),
            other => Err(format!("a list is needed here and this is {}", other.kind())),
        }
    }

    /// All truth values in it.
    pub(super) fn truths(&self) -> Result<Vec<bool>, String> {
        match self {
            Value::Truth(truth) => Ok(vec![*truth]),
            Value::Truths(truths) => Ok(truths.clone()),
            other => Err(format!("a comparison is needed here and this is {}", other.kind())),
        }
    }

    /// A sample: the values themselves, or their published summary.
    pub(super) fn sample(&self) -> Result<Moments, String> {
        match self {
            Value::List(list) => Ok(Moments::from(list)),
            Value::Sample(moments) => Ok(*moments),
            other => Err(format!(
                "a list or moments(n, mean, sd) is needed here and this is {}",
                other.kind()
            )),
        }
    }
}

pub(super) fn number(value: f64) -> Result<Value, String> {
    Ok(Value::Number(value))
}

pub(super) fn whole(value: &Value) -> Result<usize, String> {
    let number = value.number()?;
    if (0.0..=1e9).contains(&number) && number.fract() == 0.0 {
        Ok(number as usize)
    } else {
        Err(format!("a whole number from 0 is needed here and this is {number}"))
    }
}
