//! A verb with what it is about.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stormeter_units::{parse_duration_ns, parse_percent};

use crate::verb::{Operand, Part, ROWS, Row, Verb, forms};

/// Something that is done: `link-loss nas.lan 5%`. It is stored as its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Action {
    /// What.
    pub verb: Verb,
    /// The guest, or the host of a path.
    pub guest: String,
    /// Its network, its group of disks or its mount.
    pub part: Option<String>,
    /// As the verb has it: a share from 0 to 1, nanoseconds, or a number; 0 where it has none.
    pub amount: f64,
    /// The amount as it was written.
    written: String,
}

/// Why a text is no action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// A verb that there is not.
    #[error("{found:?} is nothing that can be done; {}the verbs are {}",
        did_you_mean(found), forms().collect::<Vec<_>>().join(", "))]
    Verb {
        /// The first word.
        found: String,
    },
    /// Too few or too many words, or a part too many or too few.
    #[error("{verb} is written {form}, such as {example}")]
    Form {
        /// The verb.
        verb: &'static str,
        /// How it is written.
        form: &'static str,
        /// One that is right.
        example: &'static str,
    },
    /// An amount that is none.
    #[error("{found:?} is not {expected}; write one such as {example}")]
    Amount {
        /// What stands there.
        found: String,
        /// What should.
        expected: &'static str,
        /// An action that is right.
        example: &'static str,
    },
}

fn did_you_mean(found: &str) -> String {
    let close = ROWS
        .iter()
        .find(|row| row.word.replace('-', "") == found.to_lowercase().replace(['-', '_'], ""));
    close.map(|row| format!("did you mean {}? ", row.word)).unwrap_or_default()
}

impl FromStr for Action {
    type Err = ActionError;

    fn from_str(text: &str) -> Result<Self, ActionError> {
        let mut words = text.split_whitespace();
        let verb = words.next().unwrap_or_default();
        let row = ROWS
            .iter()
            .find(|row| row.word == verb)
            .ok_or_else(|| ActionError::Verb { found: verb.into() })?;
        let (place, written, more) = (words.next(), words.next(), words.next());
        let (Some(place), None) = (place, more) else { return Err(form(row)) };
        let (guest, part) = match place.split_once('.') {
            None => (place, None),
            Some((guest, part)) => (guest, Some(part)),
        };
        let fits = match row.part {
            Part::Nothing => part.is_none(),
            Part::Perhaps => true,
            Part::Needed => part.is_some(),
        };
        let is_name = |name: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            !name.is_empty() && name.chars().all(fits)
        };
        if !fits || !is_name(guest) || !part.is_none_or(is_name) {
            return Err(form(row));
        }
        let amount = match (row.operand, written) {
            (Operand::Nothing, None) => 0.0,
            (Operand::Nothing, Some(_)) | (_, None) => return Err(form(row)),
            (operand, Some(written)) => amount(operand, written).ok_or(ActionError::Amount {
                found: written.into(),
                expected: expected(operand),
                example: row.example,
            })?,
        };
        Ok(Action {
            verb: row.verb,
            guest: guest.into(),
            part: part.map(Into::into),
            amount,
            written: written.unwrap_or_default().into(),
        })
    }
}

fn form(row: &Row) -> ActionError {
    ActionError::Form { verb: row.word, form: row.form, example: row.example }
}

fn expected(operand: Operand) -> &'static str {
    match operand {
        Operand::Nothing => "nothing",
        Operand::Percent => "a share above 0 and at most 100%",
        Operand::Duration => "a time of at least 1ms",
        Operand::Number => "a number from 0 on",
    }
}

fn amount(operand: Operand, written: &str) -> Option<f64> {
    const LEAST_NS: f64 = 1e6;
    match operand {
        Operand::Nothing => None,
        Operand::Percent => {
            let share = parse_percent(written).ok()?;
            (share > 0.0 && share <= 1.0).then_some(share)
        }
        Operand::Duration => {
            Some(parse_duration_ns(written).ok()? as f64).filter(|ns| *ns >= LEAST_NS)
        }
        Operand::Number => written.parse::<u16>().ok().map(f64::from),
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb.name(), self.guest)?;
        if let Some(part) = &self.part {
            write!(f, ".{part}")?;
        }
        if self.written.is_empty() { Ok(()) } else { write!(f, " {}", self.written) }
    }
}

impl From<Action> for String {
    fn from(action: Action) -> String {
        action.to_string()
    }
}

impl TryFrom<String> for Action {
    type Error = ActionError;

    fn try_from(text: String) -> Result<Self, ActionError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_read_and_written_as_it_was() {
        for row in &ROWS {
            let action: Action = row.example.parse().unwrap();
            assert_eq!((action.verb, action.to_string().as_str()), (row.verb, row.example));
            let stored = serde_json::to_string(&action).unwrap();
            assert_eq!(stored, format!("{:?}", row.example));
            assert_eq!(serde_json::from_str::<Action>(&stored).unwrap(), action);
        }
        let action: Action = " link-loss  nas.lan 5% ".parse().unwrap();
        assert_eq!((action.guest.as_str(), action.part.as_deref()), ("nas", Some("lan")));
        assert!((action.amount - 0.05).abs() < 1e-12);
        assert_eq!(action.to_string(), "link-loss nas.lan 5%");
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_advice() {
        let wrong = |text: &str| text.parse::<Action>().unwrap_err().to_string();
        for (text, said) in [
            ("", "the verbs are pause GUEST"),
            ("linkdown nas", "did you mean link-down?"),
            ("explode nas", "\"explode\" is nothing that can be done"),
            ("pause", "pause GUEST, such as pause nas"),
            ("pause nas vm1", "pause GUEST"),
            ("pause nas.lan", "pause GUEST"),
            ("link-down nas.", "link-down GUEST[.NETWORK]"),
            ("link-down ../x", "link-down GUEST[.NETWORK]"),
            ("link-loss nas", "link-loss GUEST[.NETWORK] SHARE"),
            ("link-loss nas 0%", "a share above 0"),
            ("link-loss nas 101%", "a share above 0"),
            ("link-flap nas 1us", "at least 1ms"),
            ("disk-fail nas 1", "disk-fail GUEST.DISKS NUMBER"),
            ("disk-fail nas.data x", "a number from 0 on"),
        ] {
            let message = wrong(text);
            assert!(message.contains(said), "{text}: {message}");
        }
    }
}
