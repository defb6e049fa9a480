//! Law 8 where the path to the storage has a ceiling of its own.
//!
//! It is only a warning: a part of the result is due to the path, and that may be the very question. And a
//! server that answers from nothing shares the CPUs of this machine with the client, so the ceiling measured
//! through it is a lower bound; a fast server elsewhere may come near it without anything being wrong.

use crate::ceiling_kind::CeilingKind;
use crate::finding::{Fact, LawFinding};
use crate::laws::CEILING_FACTOR;

/// A path whose ceiling is little more than the most that was measured over it, in IOPS.
pub(crate) fn low_way(kind: CeilingKind, ceiling_iops: f64, most_iops: f64) -> Option<LawFinding> {
    (most_iops * CEILING_FACTOR > ceiling_iops)
        .then(|| LawFinding::warning(Fact::LowWay { kind, ceiling_iops }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_ceiling_of_a_path_is_a_warning_for_every_kind() {
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
