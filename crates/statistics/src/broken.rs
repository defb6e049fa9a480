//! Trials that broke: what they say about a datastore whose other trials succeeded.
//!
//! A result from the surviving trials alone would call failing storage fast, so failures weigh by their cause
//! and how often they occur, also where the block was measured again successfully.

use stormeter_trial::TrialFailure;

use crate::finding::{Fact, FailedTrials, LawFinding, MeasuredAgain};

impl FailedTrials {
    /// Counts one more.
    pub fn add(known: &mut Option<Self>, failure: &TrialFailure) {
        let known = known.get_or_insert_with(|| Self {
            count: 0,
            first: failure.clone(),
            by_storage: false,
        });
        known.count += 1;
        known.by_storage |= failure.is_by_storage();
    }
}

/// A datastore that fails in some trials and is fast in the others is not fast, but a verdict from the
/// surviving trials would say so.
pub(crate) fn failed(trials: &FailedTrials, nothing_left: bool) -> LawFinding {
    let fact = Fact::TrialsFailed(trials.clone());
    match trials.by_storage || nothing_left {
        true => LawFinding::invalid(fact),
        false => LawFinding::warning(fact),
    }
}

/// Storage whose trials break in more than this share of blocks, and in more than one, keeps failing.
const KEEPS_FAILING: f64 = 0.1;

/// Once is an accident, and its block was measured again. Storage that breaks trial after trial is not judged by
/// those that succeeded in the end.
pub(crate) fn measured_again(again: &MeasuredAgain) -> LawFinding {
    let MeasuredAgain { of, by_storage, .. } = *again;
    let keeps_failing = by_storage > 1 && f64::from(by_storage) > KEEPS_FAILING * f64::from(of);
    let fact = Fact::MeasuredAgain { again: again.clone(), keeps_failing };
    match keeps_failing {
        true => LawFinding::invalid(fact),
        false => LawFinding::warning(fact),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{BrokenBy, Severity};

    #[test]
    fn a_block_measured_again_is_a_warning_and_storage_that_keeps_failing_is_invalid() {
        let severity = |blocks, of, by_storage| {
            let first = BrokenBy::Law(Box::new(Fact::NoIo));
            measured_again(&MeasuredAgain { blocks, of, first, by_storage }).severity
        };
        assert_eq!(severity(1, 5, 1), Severity::Warning);
        assert_eq!(severity(2, 5, 2), Severity::Invalid);
        assert_eq!(severity(5, 5, 1), Severity::Warning, "the measurement's own failures");
        assert_eq!(severity(2, 20, 2), Severity::Warning);
        assert_eq!(severity(3, 20, 3), Severity::Invalid);
    }
}
