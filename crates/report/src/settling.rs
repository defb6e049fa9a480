//! How long writes took after the trials until they were on storage.
//!
//! No figure contains that time: where a datastore acknowledges writes from a memory, its trials are as fast as
//! that memory until it is full, and readers should know what followed.

use stormeter_units::format_duration_ns;

use crate::model::{Finding, Severity};

/// A shorter time is that of closing connections and files, as in every trial.
const WORTH_TELLING_NS: u64 = 100_000_000;

/// One note for each datastore whose trials took long to settle; the trials are given as datastore and
/// time, in nanoseconds, and `names` are the datastores'.
pub(crate) fn settling(
    trials: impl Iterator<Item = (usize, u64)>,
    names: &[String],
) -> Vec<Finding> {
    let mut times: Vec<Vec<u64>> = vec![Vec::new(); names.len()];
    for (datastore, settled_ns) in trials {
        if let Some(times) = times.get_mut(datastore) {
            times.push(settled_ns);
        }
    }
    let slow = times.iter().zip(names).filter_map(|(times, name)| {
        let longest_ns = times.iter().copied().max().filter(|ns| *ns >= WORTH_TELLING_NS)?;
        let sum_ns: f64 = times.iter().map(|ns| *ns as f64).sum();
        Some(Finding {
            severity: Severity::Note,
            subject: name.clone(),
            what: format!(
                "settled in {} after a trial on average, {} at most: until then what was written was \
                 not all on storage",
                format_duration_ns(sum_ns / times.len() as f64),
                format_duration_ns(longest_ns as f64),
            ),
            advice: "the next trial waited for it, and no figure contains it; without the cache \
                     (direct=1, or trials that write more than it holds) it would be in the figures"
                .into(),
        })
    });
    slow.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datastore_that_settles_late_is_named_with_its_time() {
        let names = ["/a".to_string(), "/b".to_string()];
        let trials = [(0, 4_000_000), (1, 1_000_000_000), (0, 5_000_000), (1, 3_000_000_000)];
        let found = settling(trials.into_iter(), &names);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].subject, "/b");
        let what = &found[0].what;
        let times = [2e9, 3e9].map(format_duration_ns);
        assert!(what.starts_with(&format!("settled in {} after", times[0])), "{what}");
        assert!(what.contains(&format!("{} at most", times[1])), "{what}");
    }
}
