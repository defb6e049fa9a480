//! What verification found in a cell.

use schemars::JsonSchema;
use serde::Serialize;
use stormeter_trial::{ExpectedBlock, FoundBlock};

/// The results of verifying reads.
#[derive(Serialize, JsonSchema)]
pub(super) struct Verified<'a> {
    /// Blocks that were read back and checked, ramps included.
    blocks: u64,
    /// Those of them that an earlier process had written, so that only place and checksum could be checked.
    unknown_blocks: u64,
    /// Blocks that were not what was written.
    wrong_blocks: u64,
    /// The first of them.
    corruptions: Vec<Corruption<'a>>,
}

/// A block that was not what was written.
#[derive(Serialize, JsonSchema)]
struct Corruption<'a> {
    /// The corruption in words.
    what: String,
    /// What had been written.
    expected: &'a ExpectedBlock,
    /// What was read.
    found: &'a FoundBlock,
    /// When the read ended, in nanoseconds since the load of its trial started (ramp included).
    at_ns: u64,
}

impl<'a> Verified<'a> {
    pub(super) fn of(verified: &'a stormeter_trial::Verified) -> Self {
        Self {
            blocks: verified.blocks,
            unknown_blocks: verified.unknown_blocks,
            wrong_blocks: verified.wrong_blocks,
            corruptions: verified.corruptions.iter().map(Corruption::of).collect(),
        }
    }
}

impl<'a> Corruption<'a> {
    fn of(corruption: &'a stormeter_trial::Corruption) -> Self {
        Self {
            what: corruption.to_string(),
            expected: &corruption.expected,
            found: &corruption.found,
            at_ns: corruption.at_ns,
        }
    }
}
