//! A fault: its kind, its target and its amount.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stormeter_units::{parse_duration_ns, parse_percent};

use crate::kind::{FaultArgument, FaultKind, PartRule, ROWS, Row, forms};

/// A fault to inject: `link-loss nas.lan 5%`. It is stored as its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FaultSpec {
    /// Its kind.
    pub kind: FaultKind,
    /// A guest or host of a lab, or an item of a site, by name.
    pub target: String,
    /// A part of the target: a network, a disk group, a mount or a node.
    pub part: Option<String>,
    /// The disk or path, counted from 0; 0 for kinds without one.
    pub number: u32,
    /// By kind, a share from 0 to 1, nanoseconds, or a factor; 0 for kinds without one.
    pub amount: f64,
    /// The arguments after the target, as written.
    arguments: String,
}

/// Why a text is not a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultSpecError {
    /// An unknown verb.
    #[error("{found:?} is not a fault; {}the verbs are {}",
        did_you_mean(found), forms().collect::<Vec<_>>().join(", "))]
    Kind {
        /// The first word.
        found: String,
    },
    /// Too few or too many words, or a part that is missing or superfluous.
    #[error("{verb} is written {form}, such as {example}")]
    Form {
        /// The verb.
        verb: &'static str,
        /// Its syntax.
        form: &'static str,
        /// A correct example.
        example: &'static str,
    },
    /// An invalid amount.
    #[error("{found:?} is not {expected}; write one such as {example}")]
    Amount {
        /// The text.
        found: String,
        /// What was expected.
        expected: &'static str,
        /// A correct example.
        example: &'static str,
    },
}

fn did_you_mean(found: &str) -> String {
    let close = ROWS
        .iter()
        .find(|row| row.word.replace('-', "") == found.to_lowercase().replace(['-', '_'], ""));
    close.map(|row| format!("did you mean {}? ", row.word)).unwrap_or_default()
}

impl FromStr for FaultSpec {
    type Err = FaultSpecError;

    fn from_str(text: &str) -> Result<Self, FaultSpecError> {
        let mut words = text.split_whitespace();
        let verb = words.next().unwrap_or_default();
        let row = ROWS
            .iter()
            .find(|row| row.word == verb)
            .ok_or_else(|| FaultSpecError::Kind { found: verb.into() })?;
        let Some(place) = words.next() else { return Err(form(row)) };
        let (target, part) = match place.split_once('.') {
            None => (place, None),
            Some((target, part)) => (target, Some(part)),
        };
        let fits = match row.part {
            PartRule::Never => part.is_none(),
            PartRule::Optional => true,
            PartRule::Required => part.is_some(),
        };
        let is_name = |name: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            !name.is_empty() && name.chars().all(fits)
        };
        let written: Vec<&str> = words.collect();
        if !fits
            || !is_name(target)
            || !part.is_none_or(is_name)
            || written.len() != row.arguments.len()
        {
            return Err(form(row));
        }
        let mut fault = FaultSpec {
            kind: row.kind,
            target: target.into(),
            part: part.map(Into::into),
            number: 0,
            amount: 0.0,
            arguments: written.join(" "),
        };
        for (&argument, written) in row.arguments.iter().zip(written) {
            fault.read(argument, written).ok_or(FaultSpecError::Amount {
                found: written.into(),
                expected: expected(argument),
                example: row.example,
            })?;
        }
        Ok(fault)
    }
}

impl FaultSpec {
    /// Whether both faults have the same disk, path, port or node as their target.
    pub fn is_of_same_place(&self, other: &FaultSpec) -> bool {
        (&self.target, &self.part, self.number) == (&other.target, &other.part, other.number)
    }

    fn read(&mut self, argument: FaultArgument, written: &str) -> Option<()> {
        const LEAST_NS: f64 = 1e6;
        match argument {
            FaultArgument::Number => self.number = written.parse::<u16>().ok()?.into(),
            FaultArgument::Share => {
                let share = parse_percent(written).ok()?;
                self.amount = Some(share).filter(|share| *share > 0.0 && *share <= 1.0)?;
            }
            FaultArgument::Duration => {
                let ns = parse_duration_ns(written).ok()? as f64;
                self.amount = Some(ns).filter(|ns| *ns >= LEAST_NS)?;
            }
            // The limit of the factor depends on what injects the fault.
            FaultArgument::Times => self.amount = written.strip_suffix('x')?.parse().ok()?,
        }
        Some(())
    }
}

fn form(row: &Row) -> FaultSpecError {
    FaultSpecError::Form { verb: row.word, form: row.form, example: row.example }
}

fn expected(argument: FaultArgument) -> &'static str {
    match argument {
        FaultArgument::Number => "a whole number",
        FaultArgument::Share => "a share above 0 and at most 100%",
        FaultArgument::Duration => "a time of at least 1ms",
        FaultArgument::Times => "a number of times",
    }
}

impl fmt::Display for FaultSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.target)?;
        if let Some(part) = &self.part {
            write!(f, ".{part}")?;
        }
        if self.arguments.is_empty() { Ok(()) } else { write!(f, " {}", self.arguments) }
    }
}

stormeter_units::by_text!(FaultSpec, FaultSpecError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_read_and_written_back_the_same() {
        for row in &ROWS {
            let fault: FaultSpec = row.example.parse().unwrap();
            assert_eq!((fault.kind, fault.to_string().as_str()), (row.kind, row.example));
            let stored = serde_json::to_string(&fault).unwrap();
            assert_eq!(stored, format!("{:?}", row.example));
            assert_eq!(serde_json::from_str::<FaultSpec>(&stored).unwrap(), fault);
        }
        let fault: FaultSpec = " link-loss  nas.lan 5% ".parse().unwrap();
        assert_eq!((fault.target.as_str(), fault.part.as_deref()), ("nas", Some("lan")));
        assert!((fault.amount - 0.05).abs() < 1e-12);
        assert_eq!(fault.to_string(), "link-loss nas.lan 5%");
        let fault: FaultSpec = "disk-slow aggregate  3 2.5x".parse().unwrap();
        assert_eq!((fault.part.as_deref(), fault.number, fault.amount), (None, 3, 2.5));
        assert_eq!(fault.to_string(), "disk-slow aggregate 3 2.5x");
    }

    #[test]
    fn a_text_that_is_not_a_fault_is_refused_with_advice() {
        let wrong = |text: &str| text.parse::<FaultSpec>().unwrap_err().to_string();
        for (text, said) in [
            ("", "the verbs are pause GUEST"),
            ("linkdown nas", "did you mean link-down?"),
            ("explode nas", "\"explode\" is not a fault"),
            ("pause", "pause GUEST, such as pause nas"),
            ("pause nas vm1", "pause GUEST"),
            ("pause nas.lan", "pause GUEST"),
            ("link-down nas.", "link-down GUEST[.NETWORK]"),
            ("link-down ../x", "link-down GUEST[.NETWORK]"),
            ("link-loss nas", "link-loss GUEST[.NETWORK] SHARE"),
            ("link-loss nas 0%", "a share above 0"),
            ("link-loss nas 101%", "a share above 0"),
            ("link-flap nas 1us", "at least 1ms"),
            ("disk-fail nas", "disk-fail [GUEST.]DISKS NUMBER"),
            ("disk-fail aggregate.3", "disk-fail [GUEST.]DISKS NUMBER"),
            ("disk-slow nas.data 1", "disk-slow [GUEST.]DISKS NUMBER TIMESx"),
            ("disk-slow nas.data 1 10", "\"10\" is not a number of times"),
            ("disk-fail nas.data x", "a whole number"),
        ] {
            let message = wrong(text);
            assert!(message.contains(said), "{text}: {message}");
        }
    }
}
