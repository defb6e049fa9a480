//! Which results files may go.
//!
//! A file goes if everything that was asked for applies to it: rules together delete less than each alone.

use std::collections::HashMap;

use crate::file::{Kept, State};

/// What goes. At least one of them is set; with none, nothing goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Criteria {
    /// What nothing was added to for longer than this, in milliseconds.
    pub older_than_ms: Option<u64>,
    /// What is not among the newest N of its subject; predictions are counted by themselves.
    pub keep: Option<usize>,
    /// What did not end by itself.
    pub incomplete: bool,
}

/// Files that go, and files that stay with the reason, each in the order in which they were given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// They go.
    pub go: Vec<Kept>,
    /// They stay.
    pub stay: Vec<(Kept, Stay)>,
}

/// Why a file stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stay {
    /// It cannot be read: it may be anything.
    Unreadable(String),
    /// A run is writing it.
    Running,
    /// Results of other tools cannot be measured again by the same command.
    Imported,
    /// A criterion does not apply.
    NotAsked,
}

/// Chooses from files, the newest first, at a moment in milliseconds since 1970-01-01 UTC.
pub fn choose(all: Vec<Kept>, criteria: &Criteria, now_unix_ms: u64) -> Choice {
    let mut newer: HashMap<(String, bool), usize> = HashMap::new();
    let mut choice = Choice::default();
    for one in all {
        match reason_to_stay(&one, criteria, now_unix_ms, &mut newer) {
            Some(reason) => choice.stay.push((one, reason)),
            None => choice.go.push(one),
        }
    }
    choice
}

/// `newer` has how many newer files each subject has.
fn reason_to_stay(
    one: &Kept,
    criteria: &Criteria,
    now_unix_ms: u64,
    newer: &mut HashMap<(String, bool), usize>,
) -> Option<Stay> {
    let content = match &one.content {
        Ok(content) => content,
        Err(reason) => return Some(Stay::Unreadable(reason.clone())),
    };
    let of_subject =
        newer.entry((content.summary.subject.clone(), content.is_predicted)).or_default();
    *of_subject += 1;
    match content.state {
        State::Running => return Some(Stay::Running),
        State::Imported => return Some(Stay::Imported),
        State::Complete | State::Interrupted | State::Killed | State::Failed => {}
    }
    let age_ms = now_unix_ms.saturating_sub(one.last_used_unix_ms());
    let is_asked = [
        criteria.older_than_ms.map(|limit| age_ms > limit),
        criteria.keep.map(|keep| *of_subject > keep),
        criteria.incomplete.then(|| content.state.is_incomplete()),
    ];
    let is_any = is_asked.iter().any(Option::is_some);
    let goes = is_any && is_asked.iter().flatten().all(|applies| *applies);
    (!goes).then_some(Stay::NotAsked)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::file::{Content, Summary};

    const DAY_MS: u64 = 24 * 3600 * 1000;
    const NOW: u64 = 1000 * DAY_MS;

    fn kept(name: &str, subject: &str, days_ago: u64, state: State) -> Kept {
        let at = NOW - days_ago * DAY_MS;
        Kept {
            path: name.into(),
            bytes: 1,
            modified_unix_ms: at,
            log_modified_unix_ms: 0,
            content: Ok(Content {
                started_unix_ms: at,
                ended_unix_ms: None,
                state,
                is_predicted: false,
                made_by: String::new(),
                summary: Summary { subject: subject.into(), ..Summary::default() },
            }),
        }
    }

    fn all() -> Vec<Kept> {
        vec![
            kept("a1", "a", 1, State::Complete),
            kept("b1", "b", 2, State::Running),
            kept("a2", "a", 3, State::Interrupted),
            kept("a3", "a", 100, State::Complete),
            kept("b2", "b", 200, State::Killed),
            Kept { content: Err("damaged".into()), ..kept("x", "", 300, State::Complete) },
            kept("b3", "b", 400, State::Complete),
        ]
    }

    fn go(criteria: Criteria) -> Vec<String> {
        let names = choose(all(), &criteria, NOW).go;
        names.into_iter().map(|one| one.path.display().to_string()).collect()
    }

    #[test]
    fn all_criteria_apply_to_what_goes() {
        let old = Criteria { older_than_ms: Some(90 * DAY_MS), ..Criteria::default() };
        assert_eq!(go(old), ["a3", "b2", "b3"]);
        let keep = Criteria { keep: Some(1), ..Criteria::default() };
        assert_eq!(go(keep), ["a2", "a3", "b2", "b3"]);
        assert_eq!(go(Criteria { keep: Some(2), ..old }), ["a3", "b3"]);
        let incomplete = Criteria { incomplete: true, ..Criteria::default() };
        assert_eq!(go(incomplete), ["a2", "b2"]);
        assert_eq!(go(Criteria { incomplete: true, ..old }), ["b2"]);
        assert_eq!(go(Criteria { keep: Some(0), ..Criteria::default() }).len(), 5);
        assert!(go(Criteria::default()).is_empty(), "nothing was asked for");
    }

    #[test]
    fn what_runs_or_cannot_be_read_stays_with_its_reason() {
        let all = choose(all(), &Criteria { keep: Some(0), ..Criteria::default() }, NOW);
        let reasons: Vec<Stay> = all.stay.into_iter().map(|(_, reason)| reason).collect();
        assert_eq!(reasons, [Stay::Running, Stay::Unreadable("damaged".into())]);
        let imported = vec![kept("i", "i", 300, State::Imported)];
        let keep = Criteria { keep: Some(0), ..Criteria::default() };
        assert_eq!(choose(imported, &keep, NOW).stay[0].1, Stay::Imported);
    }

    #[test]
    fn what_was_added_to_lately_is_not_old() {
        let mut resumed = kept("r", "r", 300, State::Complete);
        resumed.content.as_mut().unwrap().ended_unix_ms = Some(NOW - DAY_MS);
        let old = Criteria { older_than_ms: Some(90 * DAY_MS), ..Criteria::default() };
        assert!(choose(vec![resumed], &old, NOW).go.is_empty());
    }

    #[test]
    fn predictions_are_counted_by_themselves() {
        let mut predicted = kept("p", "a", 1, State::Complete);
        predicted.content.as_mut().unwrap().is_predicted = true;
        let all = vec![predicted, kept("a", "a", 2, State::Complete)];
        let keep = Criteria { keep: Some(1), ..Criteria::default() };
        assert!(choose(all, &keep, NOW).go.is_empty());
    }
}
