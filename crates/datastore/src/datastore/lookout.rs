//! What a datastore knows of other runs on its storage.

use crate::presence::{Marks, OtherRun, Presence};

/// Other runs, as far as they have been seen.
#[derive(Debug, Default)]
pub(super) struct Lookout {
    pub(super) presence: Presence,
    pub(super) marks: Marks,
    /// How often our mark was renewed.
    pub(super) renewed: u64,
    /// The server did not answer when it was asked for marks. It is not asked again: each time would take its
    /// whole time limit.
    pub(super) is_blind: bool,
    /// The runs that were there when the datastore was opened.
    pub(super) at_opening: Vec<OtherRun>,
}
