//! The part of the tenth law that is about content: reads return what was written.
//!
//! It is judged over all trials of a datastore together, including those that are not compared or
//! did not complete: after one wrong block anywhere, its speed does not matter.

use stormeter_trial::Verified;

use crate::finding::{Fact, LawFinding};

/// Whether all blocks were right.
pub fn check_data(verified: &Verified) -> Option<LawFinding> {
    (verified.wrong_blocks > 0).then(|| {
        LawFinding::invalid(Fact::WrongBlocks {
            wrong: verified.wrong_blocks,
            of: verified.blocks,
            first: verified.corruptions.first().cloned(),
        })
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
            covered: false,
        }];
        let first = verified.corruptions.first().cloned();
        let fact = Fact::WrongBlocks { wrong: 1, of: 123_456, first };
        assert_eq!(check_data(&verified), Some(LawFinding::invalid(fact)));
    }
}
