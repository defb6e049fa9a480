//! The expected state of each block of the disks: the last write that is known to have succeeded.
//!
//! It outlives trials, because the disks do. The runner keeps one per datastore and lends each I/O
//! thread the part for the disks that it drives.

use std::collections::BTreeMap;
use std::ops::Range;

use stormeter_trial::RESUMPTION_SHIFT;

/// Table entry: the disk as it was found. Zero, so that memory is touched only for written blocks.
const AS_FOUND: u64 = 0;
/// Table entry: a write failed, so one of several generations; see [`DiskGenerations::unsettled`].
const UNSETTLED: u64 = u64::MAX;

/// The owner and size of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// Identifies the datastore of a run: other blocks are foreign.
    pub owner: u64,
    /// Size of a block in bytes; see [`stormeter_trial::Workload::verify_unit_bytes`].
    pub unit_bytes: u32,
}

/// What is known about the disks' earlier contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriorContent {
    /// They were prepared with [`crate::ContentSource::sealed`] and not written since.
    Prepared,
    /// Another process wrote to them: a block may be of any generation until it is written.
    Unknown,
    /// They store nothing (`null:`). All the work of verification is done and its findings are
    /// discarded, so that its cost can be measured.
    Nothing,
}

/// The expectations of all disks of a datastore.
#[derive(Debug)]
pub struct Expectations {
    seal: Seal,
    past: PriorContent,
    disks: Vec<DiskGenerations>,
}

/// The expectations of the disks that one thread drives.
#[derive(Debug)]
pub struct LentExpectations<'a> {
    pub(crate) seal: Seal,
    pub(crate) past: PriorContent,
    pub(crate) disks: &'a mut [DiskGenerations],
}

/// The expectations for one disk.
#[derive(Debug)]
pub(crate) struct DiskGenerations {
    /// The generation of the latest write.
    last: u64,
    blocks: Vec<u64>,
    unsettled: BTreeMap<usize, Vec<u64>>,
}

/// The expected generation of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected<'a> {
    /// Unknown.
    Any,
    /// This generation.
    Exactly(u64),
    /// One of these.
    OneOf(&'a [u64]),
}

impl Expectations {
    /// For disks of `disk_bytes`. `resumptions` counts the processes that wrote to them before, so
    /// that no generation is ever reused.
    pub fn new(
        seal: Seal,
        past: PriorContent,
        resumptions: u32,
        disks: u32,
        disk_bytes: u64,
    ) -> Self {
        let blocks = blocks_of(disk_bytes, seal.unit_bytes);
        // With all bits set it would be the marker of an unsettled block.
        let resumptions = u64::from(resumptions.min(0xff_fffe));
        let disk = || DiskGenerations {
            last: resumptions << RESUMPTION_SHIFT,
            blocks: vec![AS_FOUND; blocks],
            unsettled: BTreeMap::new(),
        };
        Self { seal, past, disks: (0..disks).map(|_| disk()).collect() }
    }

    /// The memory that [`Expectations::new`] takes once every block has been written, in bytes.
    pub fn memory_bytes(unit_bytes: u32, disks: u32, disk_bytes: u64) -> u64 {
        let blocks = blocks_of(disk_bytes, unit_bytes) as u64;
        blocks.saturating_mul(8).saturating_mul(u64::from(disks))
    }

    /// All of them, for a trial.
    pub fn lend(&mut self) -> LentExpectations<'_> {
        LentExpectations { seal: self.seal, past: self.past, disks: &mut self.disks }
    }
}

fn blocks_of(disk_bytes: u64, unit_bytes: u32) -> usize {
    usize::try_from(disk_bytes / u64::from(unit_bytes.max(1))).unwrap_or(usize::MAX)
}

impl<'a> LentExpectations<'a> {
    /// Splits them into those of the first `disks` disks and the rest.
    pub fn split(self, disks: u32) -> (Self, Self) {
        let Self { seal, past, disks: all } = self;
        let (first, rest) = all.split_at_mut((disks as usize).min(all.len()));
        (Self { seal, past, disks: first }, Self { seal, past, disks: rest })
    }

    /// Number of disks, and the bytes of each that are covered.
    pub(crate) fn shape(&self) -> (u32, u64) {
        let blocks = self.disks.first().map_or(0, |disk| disk.blocks.len() as u64);
        (self.disks.len() as u32, blocks * u64::from(self.seal.unit_bytes))
    }
}

impl DiskGenerations {
    /// The generation of the next write.
    pub(crate) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// A write to these blocks moved all its bytes.
    pub(crate) fn wrote(&mut self, blocks: Range<usize>, generation: u64) {
        for block in blocks {
            let Some(place) = self.blocks.get_mut(block) else { return };
            if std::mem::replace(place, generation) == UNSETTLED {
                self.unsettled.remove(&block);
            }
        }
    }

    /// A write to these blocks failed, or was never answered: each has its earlier state or the
    /// written one, until a write succeeds.
    pub(crate) fn may_have_written(
        &mut self,
        blocks: Range<usize>,
        generation: u64,
        past: PriorContent,
    ) {
        for block in blocks {
            let Some(place) = self.blocks.get_mut(block) else { return };
            match *place {
                // It could be anything before, and still can.
                AS_FOUND if past != PriorContent::Prepared => {}
                UNSETTLED => self.unsettled.entry(block).or_default().push(generation),
                settled => {
                    *place = UNSETTLED;
                    self.unsettled.insert(block, vec![settled, generation]);
                }
            }
        }
    }

    /// The expected generation of a block.
    pub(crate) fn expected(&self, block: usize, past: PriorContent) -> Expected<'_> {
        match self.blocks.get(block) {
            None => Expected::Any,
            Some(&AS_FOUND) if past != PriorContent::Prepared => Expected::Any,
            Some(&UNSETTLED) => {
                self.unsettled.get(&block).map_or(Expected::Any, |list| Expected::OneOf(list))
            }
            Some(&generation) => Expected::Exactly(generation),
        }
    }
}

impl Expected<'_> {
    pub(crate) fn allows(&self, generation: u64) -> bool {
        match self {
            Expected::Any => true,
            Expected::Exactly(one) => *one == generation,
            Expected::OneOf(several) => several.contains(&generation),
        }
    }

    pub(crate) fn generations(&self) -> Vec<u64> {
        match self {
            Expected::Any => Vec::new(),
            Expected::Exactly(one) => vec![*one],
            Expected::OneOf(several) => several.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectations(past: PriorContent, resumptions: u32) -> Expectations {
        Expectations::new(Seal { owner: 1, unit_bytes: 4096 }, past, resumptions, 3, 40_960)
    }

    #[test]
    fn a_failed_write_leaves_a_choice_until_one_succeeds() {
        let mut all = expectations(PriorContent::Prepared, 0);
        let disk = &mut all.lend().disks[0];
        assert_eq!(disk.expected(3, PriorContent::Prepared), Expected::Exactly(0));
        disk.wrote(2..5, 1);
        disk.may_have_written(3..4, 2, PriorContent::Prepared);
        disk.may_have_written(3..4, 3, PriorContent::Prepared);
        assert_eq!(disk.expected(2, PriorContent::Prepared), Expected::Exactly(1));
        assert_eq!(disk.expected(3, PriorContent::Prepared), Expected::OneOf(&[1, 2, 3]));
        assert!(disk.expected(3, PriorContent::Prepared).allows(2));
        assert!(!disk.expected(3, PriorContent::Prepared).allows(0));
        disk.wrote(3..4, 4);
        assert_eq!(disk.expected(3, PriorContent::Prepared), Expected::Exactly(4));
        assert!(disk.unsettled.is_empty());
    }

    #[test]
    fn what_an_earlier_process_wrote_may_be_anything_until_it_is_written() {
        let mut all = expectations(PriorContent::Unknown, 1);
        let disk = &mut all.lend().disks[0];
        assert_eq!(disk.expected(0, PriorContent::Unknown), Expected::Any);
        disk.may_have_written(0..1, 9, PriorContent::Unknown);
        assert_eq!(disk.expected(0, PriorContent::Unknown), Expected::Any);
        disk.wrote(0..1, 10);
        assert_eq!(disk.expected(0, PriorContent::Unknown), Expected::Exactly(10));
    }

    #[test]
    fn no_process_repeats_the_generations_of_another() {
        let first =
            |resumptions| expectations(PriorContent::Unknown, resumptions).lend().disks[0].next();
        assert_eq!(first(0), 1);
        assert!(first(1) > 1 << 39 && first(2) > first(1) + (1 << 39));
        assert_ne!(first(u32::MAX), UNSETTLED);
    }

    #[test]
    fn threads_get_disks_of_their_own() {
        let mut all = expectations(PriorContent::Prepared, 0);
        let (one, rest) = all.lend().split(1);
        assert_eq!((one.shape(), rest.shape()), ((1, 40_960), (2, 40_960)));
        assert_eq!(Expectations::memory_bytes(4096, 3, 40_960), 240);
    }
}
