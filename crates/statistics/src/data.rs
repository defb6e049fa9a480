//! The part of the tenth law that is about content: what is read is what was written.
//!
//! It is judged over all trials of a datastore together, those included that are not compared or
//! came to no end: one wrong block anywhere, and its speed is of no interest.

use stormeter_trial::Verified;
use stormeter_units::format_count;

use crate::laws::{Check, LawFinding, Severity};

/// Whether all blocks were right.
pub fn check_data(verified: &Verified) -> Option<LawFinding> {
    if verified.wrong_blocks == 0 {
        return None;
    }
    let first = verified.corruptions.first();
    let first = first.map(|corruption| format!(", first: {corruption}")).unwrap_or_default();
    let count = |count: u64| format_count(count as f64);
    let were = if verified.wrong_blocks == 1 { "was" } else { "were" };
    Some(LawFinding {
        check: Check::Single,
        law: 10,
        severity: Severity::Invalid,
        what: format!(
            "{} of {} blocks read back {were} not what was written{first}",
            count(verified.wrong_blocks),
            count(verified.blocks),
        ),
        advice: "the datastore, or something between, loses or mixes up data: keep nothing on it \
                 before the cause is found (kernel log, storage, cabling, caches, another writer)"
            .into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_trial::{BlockName, Corruption, ExpectedBlock, FoundBlock};

    #[test]
    fn one_wrong_block_is_one_too_many() {
        let mut verified = Verified { blocks: 123_456, ..Verified::default() };
        assert_eq!(check_data(&verified), None);
        verified.wrong_blocks = 1;
        verified.corruptions = vec![Corruption {
            expected: ExpectedBlock { disk: 1, offset_bytes: 8192, generations: vec![5] },
            found: FoundBlock::Block(BlockName { disk: 1, offset_bytes: 8192, generation: 3 }),
            at_ns: 7,
        }];
        let finding = check_data(&verified).unwrap();
        assert_eq!((finding.law, finding.severity), (10, Severity::Invalid));
        assert_eq!(
            finding.what,
            "1 of 123 456 blocks read back was not what was written, first: disk 1 at 8192: \
             generation 3 instead of generation 5"
        );
    }
}
