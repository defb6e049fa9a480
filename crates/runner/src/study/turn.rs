//! A trial's place in a run, and the number from which its randomness is derived.

use stormeter_conclude::Due;
use stormeter_results::{Attempt, Phase};

/// The draw of capacity trials, which no block has.
const CAPACITY_DRAW: u32 = u32::MAX - 1;
/// The draw of ceilings.
const CEILING_DRAW: u32 = u32::MAX;

/// A trial to run next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) phase: Phase,
    pub(crate) block: u32,
    pub(crate) attempt: Attempt,
    /// The attempt at its block.
    pub(crate) position: u32,
    /// The cell.
    pub(crate) cell: usize,
}

impl Turn {
    /// A trial of a block.
    pub(crate) fn of_block(block: u32, due: Due) -> Self {
        let Due { position, member: cell, attempt, .. } = due;
        Self { phase: Phase::Main, block, attempt, position, cell }
    }

    /// A trial before the first block.
    pub(crate) fn before(phase: Phase, position: u32, cell: usize) -> Self {
        Self { phase, block: 0, attempt: Attempt::default(), position, cell }
    }

    /// The number from which its operations and places are derived: the same for all datastores of a block.
    pub(crate) fn draw(&self) -> u32 {
        match self.phase {
            Phase::Ceiling => CEILING_DRAW,
            Phase::Capacity => CAPACITY_DRAW,
            Phase::Main => self.attempt.draw_of(self.block),
        }
    }
}
