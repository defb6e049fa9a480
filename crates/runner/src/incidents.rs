//! What happened during a trial, gathered: each thing once, with its number.
//!
//! A server that is restarted every second must not fill the results file, and what it says about
//! itself is foreign text; so both the number of things and their length are bounded.

use stormeter_results::Incident;

/// So many different things are kept of a trial.
const MOST: usize = 20;
/// So many characters of each.
const LONGEST: usize = 300;

/// Each thing once, in the order in which it was first told. Beyond the bound they are only counted.
pub(crate) fn gather(told: impl IntoIterator<Item = String>) -> Vec<Incident> {
    let mut incidents: Vec<Incident> = Vec::new();
    let mut others = 0u32;
    for what in told {
        let what: String = what.chars().take(LONGEST).collect();
        let has_room = incidents.len() < MOST;
        match incidents.iter_mut().find(|known| known.what == what) {
            Some(known) => known.times = known.times.saturating_add(1),
            None if has_room => incidents.push(Incident { what, times: 1 }),
            None => others = others.saturating_add(1),
        }
    }
    if others > 0 {
        incidents.push(Incident { what: "something else happened".into(), times: others });
    }
    incidents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_is_kept_once_with_its_number() {
        let told = ["lost", "slow", "lost", "lost"].map(String::from);
        let expected = [("lost", 3), ("slow", 1)];
        let expected = expected.map(|(what, times)| Incident { what: what.into(), times });
        assert_eq!(gather(told), expected);
    }

    #[test]
    fn number_and_length_are_bounded_and_nothing_goes_uncounted() {
        let told = (0..1000).map(|number| format!("{number} {}", "ä".repeat(10_000)));
        let kept = gather(told);
        assert_eq!(kept.len(), MOST + 1);
        assert_eq!(kept.iter().map(|incident| incident.times).sum::<u32>(), 1000);
        assert!(kept.iter().all(|incident| incident.what.chars().count() <= LONGEST));
    }
}
