//! Law 8 where storage is reached over something that has a ceiling of its own.
//!
//! No more than a warning: a share of what is compared is the way's, and that may be what is asked about. And a
//! server that answers from nothing shares the CPUs of this machine with the client, so the ceiling measured
//! through it is a lower bound; a quick server elsewhere may come near it without anything being wrong.

use crate::finding::{Fact, LawFinding};
use crate::laws::CEILING_FACTOR;
use crate::study::CeilingKind;

/// A way that can do little more than the most that was measured over it, in IOPS.
pub(crate) fn low_way(kind: CeilingKind, ceiling_iops: f64, most_iops: f64) -> Option<LawFinding> {
    (most_iops * CEILING_FACTOR > ceiling_iops)
        .then(|| LawFinding::warning(Fact::LowWay { kind, ceiling_iops }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_way_is_a_warning_whatever_it_was_measured_through() {
        assert_eq!(low_way(CeilingKind::NullServer, 3000.0, 1000.0), None);
        // Even where more was measured than the ceiling: the null server had this machine's CPUs only.
        for most_iops in [1001.0, 5000.0] {
            for kind in [CeilingKind::NullServer, CeilingKind::NamedWay] {
                let fact = Fact::LowWay { kind, ceiling_iops: 3000.0 };
                let found = low_way(kind, 3000.0, most_iops);
                assert_eq!(found, Some(LawFinding::warning(fact)));
            }
        }
    }
}
