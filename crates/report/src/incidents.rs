//! Incidents during the trials that were recovered from, as warnings: each once, with its trials.
//!
//! A connection that was lost and re-established does not make a trial invalid: the storage behaves like that.
//! But readers of the figures should know.

use stormeter_results::Incident;

use crate::model::{Finding, Severity};
use crate::phrases;

/// How many incidents of a datastore are shown; the results file has all of them.
const MOST_LISTED: usize = 8;
const ADVICE: &str = "the trials count all the same; if they stand out, look for the cause on the \
                      server and in the network, then measure again";
/// How many blocks are named.
const MOST_BLOCKS: usize = 6;

/// An incident of a datastore, over all its trials.
struct Happening<'a> {
    datastore: usize,
    incident: &'a Incident,
    times: u64,
    /// The trials: a block counted from 1, or `None` before the first block.
    trials: Vec<Option<u32>>,
}

/// The warnings for incidents, which are given with their datastore and block, counted from 1 (`None`: before the
/// first); `names` are those of the datastores.
pub(crate) fn incidents_of<'a>(
    trials: impl Iterator<Item = (usize, Option<u32>, &'a [Incident])>,
    names: &[String],
) -> Vec<Finding> {
    let mut happenings: Vec<Happening<'_>> = Vec::new();
    for (datastore, place, incidents) in trials {
        for incident in incidents {
            let times = u64::from(incident.times);
            let same = |known: &&mut Happening<'_>| {
                known.datastore == datastore && known.incident.is_like(incident)
            };
            match happenings.iter_mut().find(same) {
                Some(known) => {
                    known.times += times;
                    if !known.trials.contains(&place) {
                        known.trials.push(place);
                    }
                }
                None => {
                    happenings.push(Happening { datastore, incident, times, trials: vec![place] })
                }
            }
        }
    }
    let mut findings = Vec::new();
    for (datastore, name) in names.iter().enumerate() {
        let own = || happenings.iter().filter(|happening| happening.datastore == datastore);
        let mut sentences: Vec<String> = own().take(MOST_LISTED).map(Happening::sentence).collect();
        match own().count().saturating_sub(MOST_LISTED) {
            0 => {}
            more => sentences.push(format!(
                "{more} more kinds of incident; all are in the results file, table incident"
            )),
        }
        let last = sentences.len().saturating_sub(1);
        findings.extend(sentences.into_iter().enumerate().map(|(number, what)| Finding {
            severity: Severity::Warning,
            subject: name.clone(),
            what,
            // One advice for all of them.
            advice: if number == last { ADVICE.into() } else { String::new() },
        }));
    }
    findings
}

impl Happening<'_> {
    /// `blocks 2, 5 and 9: the connection was lost (7 times)`.
    fn sentence(&self) -> String {
        let times = match self.times {
            1 => String::new(),
            times => format!(" ({times} times)"),
        };
        format!("{}: {}{times}", self.place(), phrases::incident_sentence(self.incident))
    }

    fn place(&self) -> String {
        let mut blocks: Vec<u32> = self.trials.iter().flatten().copied().collect();
        blocks.sort_unstable();
        let noun = if blocks.len() == 1 { "block" } else { "blocks" };
        let mut words: Vec<String> =
            blocks.iter().take(MOST_BLOCKS).map(|block| block.to_string()).collect();
        if blocks.len() > MOST_BLOCKS {
            words.push(format!("{} more", blocks.len() - MOST_BLOCKS));
        }
        let list = match words.split_last() {
            None => return "before the first block".into(),
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
        };
        let before =
            if self.trials.contains(&None) { "before the first block and in " } else { "" };
        format!("{before}{noun} {list}")
    }
}

#[cfg(test)]
mod tests {
    use stormeter_results::StorageEvent;

    use super::*;

    const LOST: &[(&str, u32)] = &[("lost", 1)];

    /// A trial of a block, or before the first one, with the number of times that this happened.
    type Happened<'a> = (Option<u32>, &'a [(&'a str, u32)]);

    fn said(trials: &[Happened<'_>]) -> Vec<String> {
        let incidents: Vec<(Option<u32>, Vec<Incident>)> = trials
            .iter()
            .map(|(block, events)| {
                let made = events.iter().map(|&(said, times)| {
                    let event = StorageEvent::Other { said: said.into() };
                    Incident { times, ..Incident::new(event) }
                });
                (block.map(|block| block + 1), made.collect())
            })
            .collect();
        let of_trials = incidents.iter().map(|(place, own)| (1, *place, own.as_slice()));
        let findings = incidents_of(of_trials, &["/a".into(), "nfs://b/c".into()]);
        assert!(
            findings.iter().all(|f| f.severity == Severity::Warning && f.subject == "nfs://b/c")
        );
        let with_advice = findings.iter().filter(|finding| !finding.advice.is_empty()).count();
        assert_eq!(with_advice, findings.len().min(1), "{findings:?}");
        findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn each_thing_is_reported_once_with_its_trials_and_its_number() {
        let trials: [Happened<'_>; 3] = [
            (None, &[("lost", 1)]),
            (Some(4), &[("lost", 2), ("slow", 1)]),
            (Some(1), &[("lost", 1)]),
        ];
        let expected =
            ["before the first block and in blocks 2 and 5: lost (4 times)", "block 5: slow"];
        assert_eq!(said(&trials), expected);
        assert_eq!(said(&trials[..1]), ["before the first block: lost"]);
        assert_eq!(said(&[(Some(1), &[])]), Vec::<String>::new());
    }

    #[test]
    fn many_blocks_and_many_things_are_not_all_named() {
        let trials: Vec<Happened<'_>> = (0..9).map(|block| (Some(block), LOST)).collect();
        assert_eq!(said(&trials), ["blocks 1, 2, 3, 4, 5, 6 and 3 more: lost (9 times)"]);
        let names: Vec<String> = (0..11).map(|number| number.to_string()).collect();
        let events: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let said = said(&[(Some(0), &events)]);
        assert_eq!(said.len(), MOST_LISTED + 1);
        assert!(said.last().unwrap().starts_with("3 more kinds of incident"), "{said:?}");
    }
}
