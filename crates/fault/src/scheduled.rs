//! A fault with its time: `disk-fail aggregate 3 at 10s`, `link-down wan at 10s for 200ms`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stormeter_units::parse_duration_ns;

use crate::kind::FaultKind;
use crate::legacy;
use crate::spec::{FaultSpec, FaultSpecError};

/// A fault with its time. It is stored as its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ScheduledFault {
    /// The fault.
    pub fault: FaultSpec,
    /// Its time, since the start of the trial's ramp.
    pub at_ns: u64,
    /// Its duration, which a link flap always has; `None`: until another fault undoes it, or for good.
    pub for_ns: Option<u64>,
    /// The times, as written.
    times: String,
}

/// Why a text is not a fault with its time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduledFaultError {
    /// Its syntax is wrong.
    #[error(
        "{text:?} is not a fault with its time; write one such as `disk-fail aggregate 3 at 10s`, \
         `disk-slow aggregate 3 10x at 5s for 5s`, `path-down esx.hba 0 at 10s for 5s`, `link-down wan at \
         10s for 200ms` or `kill server.2 at 10s`"
    )]
    Form {
        /// The text.
        text: String,
    },
    /// A time lacks its number or unit.
    #[error("{text:?} is not a time; write a number and a unit: 10s, 200ms, 50us")]
    Time {
        /// The text.
        text: String,
    },
    /// A duration is given for a fault that happens at an instant.
    #[error("{kind} happens at an instant; leave out its duration (for {length})")]
    Moment {
        /// The kind of fault.
        kind: &'static str,
        /// The duration.
        length: String,
    },
    /// The part before the time is wrong.
    #[error(transparent)]
    Fault(#[from] FaultSpecError),
}

impl ScheduledFault {
    /// A fault at a time, until another one undoes it; `time` is the time as written.
    pub fn new(fault: FaultSpec, at_ns: u64, time: &str) -> Self {
        Self { for_ns: own_length_ns(&fault), fault, at_ns, times: format!("at {time}") }
    }
}

impl FromStr for ScheduledFault {
    type Err = ScheduledFaultError;

    fn from_str(text: &str) -> Result<Self, ScheduledFaultError> {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let length = match words[..] {
            [.., "for", length] => Some(length),
            _ => None,
        };
        words.truncate(words.len() - if length.is_some() { 2 } else { 0 });
        let form = || ScheduledFaultError::Form { text: text.to_owned() };
        let [ref what @ .., "at", at] = words[..] else { return Err(form()) };
        let fault: FaultSpec = match legacy::is_legacy(what) {
            true => legacy::current(what).ok_or_else(form)?.parse()?,
            false => what.join(" ").parse()?,
        };
        if let Some(length) = length
            && !lasts(fault.kind)
        {
            let (kind, length) = (fault.kind.name(), length.to_owned());
            return Err(ScheduledFaultError::Moment { kind, length });
        }
        let times = match length {
            None => format!("at {at}"),
            Some(length) => format!("at {at} for {length}"),
        };
        let for_ns = length.map(time_ns).transpose()?.or_else(|| own_length_ns(&fault));
        Ok(Self { fault, at_ns: time_ns(at)?, for_ns, times })
    }
}

/// Whether it lasts, so that it may have a duration.
fn lasts(kind: FaultKind) -> bool {
    kind.ends().is_none() && kind != FaultKind::LinkFlap
}

fn own_length_ns(fault: &FaultSpec) -> Option<u64> {
    (fault.kind == FaultKind::LinkFlap).then_some(fault.amount as u64)
}

fn time_ns(text: &str) -> Result<u64, ScheduledFaultError> {
    parse_duration_ns(text).map_err(|_| ScheduledFaultError::Time { text: text.to_owned() })
}

impl fmt::Display for ScheduledFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.fault, self.times)
    }
}

stormeter_units::by_text!(ScheduledFault, ScheduledFaultError);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ScheduledFault {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_fault_is_read_with_its_times_and_written_back_the_same() {
        let flap = read(" link-down  wan at 10s  for 200ms");
        assert_eq!((flap.at_ns, flap.for_ns), (10_000_000_000, Some(200_000_000)));
        assert_eq!(flap.fault, "link-down wan".parse().unwrap());
        assert_eq!(flap.to_string(), "link-down wan at 10s for 200ms");
        let stored = serde_json::to_string(&flap).unwrap();
        assert_eq!(stored, "\"link-down wan at 10s for 200ms\"");
        assert_eq!(serde_json::from_str::<ScheduledFault>(&stored).unwrap(), flap);
        let fail = read("disk-fail aggregate 3 at 1min");
        assert_eq!((fail.at_ns, fail.for_ns), (60_000_000_000, None));
        assert_eq!(read("link-flap wan 200ms at 10s").for_ns, Some(200_000_000));
        let again = ScheduledFault::new(fail.fault.clone(), fail.at_ns, "1min");
        assert_eq!(again, fail);
    }

    #[test]
    fn the_syntax_of_earlier_versions_is_read() {
        for (old, today) in [
            ("disk aggregate.3 lost at 10s", "disk-fail aggregate 3 at 10s"),
            ("disk aggregate.3 slow 2.5x at 5s for 5s", "disk-slow aggregate 3 2.5x at 5s for 5s"),
            ("path esx.hba.0 down at 10s for 5s", "path-down esx.hba 0 at 10s for 5s"),
            ("network wan down at 0s", "link-down wan at 0s"),
            ("node server.2 lost at 10s", "kill server.2 at 10s"),
        ] {
            assert_eq!(read(old).to_string(), today);
            assert_eq!(read(old), read(today));
        }
    }

    #[test]
    fn a_text_that_is_not_a_fault_with_its_time_is_refused_with_advice() {
        for (text, said) in [
            ("", "write one such as"),
            ("disk-fail aggregate 3", "write one such as"),
            ("at 10s", "is not a fault"),
            ("disk aggregate lost at 1s", "disk-fail aggregate 3 at 10s"),
            ("disk aggregate.3 slow at 1s", "write one such as"),
            ("node server.2 down at 1s", "write one such as"),
            ("disk-fail aggregate x at 1s", "\"x\" is not a whole number"),
            ("kill server.1 at soon", "\"soon\" is not a time"),
            ("kill server.1 at -1s", "\"-1s\" is not a time"),
            ("kill server.1 at 1s for ever", "\"ever\" is not a time"),
            ("link-up wan at 1s for 2s", "link-up happens at an instant"),
            ("link-flap wan 1s at 1s for 2s", "link-flap happens at an instant"),
        ] {
            let message = text.parse::<ScheduledFault>().unwrap_err().to_string();
            assert!(message.contains(said), "{text}: {message}");
        }
    }
}
