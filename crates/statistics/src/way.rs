//! Law 8 where storage is reached over something that has a ceiling of its own.
//!
//! No more than a warning: a share of what is compared is the way's, and that may be what is asked about. And a
//! server that answers from nothing shares the CPUs of this machine with the client, so the ceiling measured
//! through it is a lower bound; a quick server elsewhere may come near it without anything being wrong.

use crate::laws::{CEILING_FACTOR, Check, LawFinding, Severity};
use crate::study::CeilingKind;

/// A way that can do little more than the most that was measured over it, in IOPS.
pub(crate) fn low_way(kind: CeilingKind, ceiling_iops: f64, most_iops: f64) -> Option<LawFinding> {
    if most_iops * CEILING_FACTOR <= ceiling_iops {
        return None;
    }
    // The same words for all that share a way: reports tell them in one.
    let (what, advice) = match kind {
        CeilingKind::NullServer => (
            format!(
                "the same client reaches {ceiling_iops:.0} IOPS against a server that answers from nothing, \
                 less than {CEILING_FACTOR} times what was measured, so a part of that is the client's and \
                 the network stack's"
            ),
            "the true ceiling is higher where the datastore's server has CPUs of its own: the one that answers \
             from nothing shared this machine's; several connections or sessions, or larger requests, raise it",
        ),
        CeilingKind::Generator | CeilingKind::NamedWay => (
            format!(
                "the way to the storage by itself reaches {ceiling_iops:.0} IOPS, less than \
                 {CEILING_FACTOR} times what was measured, so a part of that is the way's"
            ),
            "limit the storage further or quicken what lies before it, unless the way is what you ask about",
        ),
    };
    Some(LawFinding {
        check: Check::Single,
        law: 8,
        severity: Severity::Warning,
        what,
        advice: advice.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_way_is_a_warning_and_says_what_it_was_measured_through() {
        assert_eq!(low_way(CeilingKind::NullServer, 3000.0, 1000.0), None);
        // Even where more was measured than the ceiling: the null server had this machine's CPUs only.
        for most_iops in [1001.0, 5000.0] {
            let finding = low_way(CeilingKind::NullServer, 3000.0, most_iops).unwrap();
            assert_eq!((finding.law, finding.severity), (8, Severity::Warning));
            assert!(finding.what.contains("answers from nothing"), "{}", finding.what);
            assert!(finding.advice.contains("shared this machine's"), "{}", finding.advice);
        }
        let named = low_way(CeilingKind::NamedWay, 3000.0, 1001.0).unwrap();
        assert!(named.what.starts_with("the way to the storage"), "{}", named.what);
    }
}
