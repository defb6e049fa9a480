//! Trials that broke: what they say of a datastore whose other trials went well.
//!
//! A result from the trials that survived would call storage quick that fails, so failures weigh by who was at
//! fault and how often, also where the block was measured again and went well then.

use crate::laws::{Check, LawFinding, Severity};

/// Trials that broke, in blocks that were measured again for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredAgain {
    /// Blocks in which a trial of this one broke.
    pub blocks: u32,
    /// All its blocks.
    pub of: u32,
    /// What was wrong with the first.
    pub reason: String,
    /// Blocks in which the storage was at fault and not the measurement.
    pub by_datastore: u32,
}

/// Trials of a datastore that gave no measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedTrials {
    /// How many.
    pub count: u32,
    /// Why the first of them failed.
    pub reason: String,
    /// Whether it was the datastore that failed (errors, stalls, a broken queue) and not the
    /// measurement (a clock that jumped).
    pub by_datastore: bool,
}

/// A datastore that fails in some trials and is quick in the others is not quick: a verdict from the
/// trials that survived would say so.
pub(crate) fn failed(trials: &FailedTrials, nothing_left: bool) -> LawFinding {
    let FailedTrials { count, reason, by_datastore } = trials;
    LawFinding {
        check: Check::Single,
        law: 10,
        severity: if *by_datastore || nothing_left { Severity::Invalid } else { Severity::Warning },
        what: format!("{count} {} failed: {reason}", if *count == 1 { "trial" } else { "trials" }),
        advice: if *by_datastore {
            "look for the cause in the kernel log (dmesg) and on the storage, then measure again; \
             blocks with a failed trial do not count"
        } else {
            "mend what the reason says, then measure again; blocks with a failed trial do not count"
        }
        .into(),
    }
}

/// Storage whose trials break in more than this share of blocks, and in more than one, keeps failing.
const KEEPS_FAILING: f64 = 0.1;

/// Once is an accident, and its block was measured again. Storage that breaks trial after trial is not judged by
/// those that went well in the end.
pub(crate) fn measured_again(again: &MeasuredAgain) -> LawFinding {
    let MeasuredAgain { blocks, of, reason, by_datastore } = again;
    let keeps_failing =
        *by_datastore > 1 && f64::from(*by_datastore) > KEEPS_FAILING * f64::from(*of);
    let were = if *blocks == 1 { "was" } else { "were" };
    LawFinding {
        check: Check::Single,
        law: 10,
        severity: if keeps_failing { Severity::Invalid } else { Severity::Warning },
        what: format!(
            "{blocks} of {of} blocks {were} measured again because a trial broke; the first: {reason}"
        ),
        advice: if keeps_failing {
            "storage that fails this often is not judged by the trials that went well: look for the cause in \
             the kernel log (dmesg) and on the storage, then measure again"
        } else {
            "the last attempt at a block counts, the others are in the results file; look for the cause if it \
             happens again"
        }
        .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_measured_again_is_a_warning_and_storage_that_keeps_failing_is_invalid() {
        let severity = |blocks, of, by_datastore| {
            let reason = "stalled".into();
            measured_again(&MeasuredAgain { blocks, of, reason, by_datastore }).severity
        };
        assert_eq!(severity(1, 5, 1), Severity::Warning);
        assert_eq!(severity(2, 5, 2), Severity::Invalid);
        assert_eq!(severity(5, 5, 1), Severity::Warning, "the measurement's own failures");
        assert_eq!(severity(2, 20, 2), Severity::Warning);
        assert_eq!(severity(3, 20, 3), Severity::Invalid);
    }
}
