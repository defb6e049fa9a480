//! The keys of a job: its own over those of the global sections before it, and what is to be said about each.
//!
//! What is read is marked as read: a key that nothing asked for is refused at the end instead of being dropped.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use stormeter_units::nearest;

use super::error::{JobPlace, Refusal, Remark};
use super::keys::{Treatment, find, known_fio_keys};
use super::surroundings::{Surroundings, expand};
use super::text::{Line, Section};
use super::value;

/// What has been found in the file so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) refusals: BTreeSet<Refusal>,
    pub(super) remarks: BTreeSet<Remark>,
}

impl Findings {
    pub(super) fn refuse(
        &mut self,
        at: &Given,
        reason: impl Into<String>,
        advice: impl Into<String>,
    ) {
        let (reason, advice) = (reason.into(), advice.into());
        self.refusals.insert(Refusal {
            place: at.place.clone(),
            key: at.key.clone(),
            reason,
            advice,
        });
    }

    pub(super) fn remark(&mut self, at: &Given, text: impl Into<String>) {
        self.remarks.insert(Remark {
            place: at.place.clone(),
            key: at.key.clone(),
            text: text.into(),
        });
    }
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Given {
    pub(super) place: JobPlace,
    /// As the file spells it.
    pub(super) key: String,
    pub(super) value: Option<String>,
}

impl Given {
    pub(super) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }
}

/// The keys of a job by their first names.
#[derive(Debug, Clone)]
pub(super) struct Options {
    /// Where the job starts.
    pub(super) place: JobPlace,
    pub(super) name: String,
    given: BTreeMap<&'static str, Given>,
    read: RefCell<BTreeSet<&'static str>>,
}

/// The jobs of the file with their keys. What concerns single keys is in `findings`.
pub(super) fn jobs(
    sections: &[Section],
    around: &Surroundings<'_>,
    findings: &mut Findings,
) -> Vec<Options> {
    let mut global = BTreeMap::new();
    let mut jobs = Vec::new();
    for section in sections {
        let is_global = section.name == "global";
        let mut given = global.clone();
        for line in &section.lines {
            if let Some((key, value)) = read(line, around, findings) {
                given.insert(key, value);
            }
        }
        if is_global {
            global = given;
        } else {
            let (place, name) = (section.place.clone(), section.name.clone());
            jobs.push(Options { place, name, given, read: RefCell::default() });
        }
    }
    jobs
}

/// A line by the table of keys; `None` if nothing of it is to be read.
fn read(
    line: &Line,
    around: &Surroundings<'_>,
    findings: &mut Findings,
) -> Option<(&'static str, Given)> {
    let mut given =
        Given { place: line.place.clone(), key: line.key.clone(), value: line.value.clone() };
    let Some(key) = find(&line.key) else {
        let advice = match nearest(&line.key, known_fio_keys()) {
            Some(meant) => format!("did you mean {meant}?"),
            None => "leave it out".into(),
        };
        findings.refuse(&given, "no key of fio has this name", advice);
        return None;
    };
    if let Treatment::Refused(reason, advice) = key.treatment {
        findings.refuse(&given, reason, advice);
        return None;
    }
    if let Some(value) = &line.value {
        match expand(value, around) {
            Ok(value) => given.value = Some(value),
            Err(variable) => {
                let advice = "set it in the environment, or write the value";
                findings.refuse(&given, format!("{variable} is not known here"), advice);
                return None;
            }
        }
    }
    match key.treatment {
        Treatment::Read => return Some((key.names[0], given)),
        Treatment::NoEffect(why) => findings.remark(&given, format!("no effect: {why}")),
        Treatment::Only(values, reason, advice) => match given.value.as_deref() {
            Some(value) if values.contains(&value) => {
                findings.remark(&given, "no effect: it is off")
            }
            _ => findings.refuse(&given, reason, advice),
        },
        Treatment::Refused(..) => {}
    }
    None
}

impl Options {
    /// The key, which is read by that.
    pub(super) fn get(&self, key: &'static str) -> Option<&Given> {
        debug_assert!(find(key).is_some_and(|known| known.names[0] == key), "{key}");
        self.read.borrow_mut().insert(key);
        self.given.get(key)
    }

    /// What stands for a key that is not given: where the job starts.
    pub(super) fn missing(&self, key: &'static str) -> Given {
        Given { place: self.place.clone(), key: key.into(), value: None }
    }

    /// The key, or where the job starts.
    pub(super) fn at(&self, key: &'static str) -> Given {
        self.get(key).cloned().unwrap_or_else(|| self.missing(key))
    }

    /// What nothing has asked for.
    pub(super) fn unread(&self) -> impl Iterator<Item = &Given> {
        let read = self.read.borrow().clone();
        self.given.iter().filter(move |(key, _)| !read.contains(*key)).map(|(_, given)| given)
    }

    fn kb_base(&self) -> u64 {
        if self.get("kb_base").is_some_and(|given| given.text() == "1000") { 1000 } else { 1024 }
    }

    /// Bytes of a text in this job's units.
    pub(super) fn bytes(&self, text: &str) -> Option<u64> {
        value::size(text, self.kb_base())
    }

    /// The value of a key by `parse`; if that fails the key is refused with what it should be.
    pub(super) fn parsed<T>(
        &self,
        key: &'static str,
        expected: &str,
        findings: &mut Findings,
        parse: impl Fn(&Given) -> Option<T>,
    ) -> Option<T> {
        let given = self.get(key)?;
        let parsed = parse(given);
        if parsed.is_none() {
            let reason = format!("\"{}\" cannot be read", given.text());
            findings.refuse(given, reason, format!("write {expected}"));
        }
        parsed
    }

    pub(super) fn size(&self, key: &'static str, findings: &mut Findings) -> Option<u64> {
        self.parsed(key, &format!("{key}=1g"), findings, |given| self.bytes(given.text()))
    }

    /// A whole number; suffixes multiply it, as fio has it.
    pub(super) fn count(&self, key: &'static str, findings: &mut Findings) -> Option<u32> {
        self.parsed(key, &format!("{key}=4"), findings, |given| {
            self.bytes(given.text()).and_then(|number| number.try_into().ok())
        })
    }

    pub(super) fn flag(&self, key: &'static str, findings: &mut Findings) -> Option<bool> {
        self.parsed(key, &format!("{key}=0 or {key}=1"), findings, |given| {
            value::flag(given.value.as_deref())
        })
    }

    pub(super) fn time_ns(
        &self,
        key: &'static str,
        bare_ns: u64,
        findings: &mut Findings,
    ) -> Option<u64> {
        self.parsed(key, &format!("{key}=10s"), findings, |given| {
            value::time_ns(given.text(), bare_ns)
        })
    }

    pub(super) fn percent(&self, key: &'static str, findings: &mut Findings) -> Option<f64> {
        self.parsed(key, &format!("{key}=50"), findings, |given| {
            let text = given.text().trim().trim_end_matches('%');
            text.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent))
        })
    }
}
