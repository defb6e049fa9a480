//! Trials that failed, counted, and whose failure it was.

use stormeter_statistics::FailedTrials;
use stormeter_trial::{Ended, Sample};

/// Counts one more; the first reason is the one that is told.
pub(crate) fn count_failure(known: &mut Option<FailedTrials>, reason: &str, by_datastore: bool) {
    let known = known.get_or_insert_with(|| FailedTrials {
        count: 0,
        reason: reason.to_owned(),
        by_datastore: false,
    });
    known.count += 1;
    known.by_datastore |= by_datastore;
}

/// Whether a trial that left this sample failed by its datastore: one that came to its end and was
/// rejected all the same failed on our side.
pub(crate) fn is_the_datastores(sample: Option<&Sample>) -> bool {
    !sample.is_some_and(|sample| sample.ended == Ended::Completed)
}
