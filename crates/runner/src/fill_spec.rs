//! The content of the disks before the first trial, and how it gets there.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use stormeter_datastore::{Datastore, DiskReset, DiskSpec, Preparation, Prepared};
use stormeter_driver::{ContentSource, Seal};
use stormeter_trial::Content;

use crate::error::RunError;
use crate::progress::Progress;

/// What the disks of a run hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FillSpec {
    /// The disks.
    pub disks: DiskSpec,
    /// What is written into them.
    pub content: Content,
    /// The content follows from it.
    pub seed: u64,
    /// Zeros instead; sealed blocks never are.
    pub zero: bool,
}

impl FillSpec {
    /// Names the content, so that only the right disks are used again. Sealed blocks are other content
    /// than plain ones, and so are those of another size.
    pub(crate) fn id(&self, unit_bytes: Option<u32>) -> u64 {
        self.seed
            ^ self.content.compressible_percent.to_bits().rotate_left(17)
            ^ self.content.duplicate_percent.to_bits().rotate_left(43)
            ^ u64::from(unit_bytes.unwrap_or(0)).rotate_left(29)
            ^ if self.zero { 0x5a5a_0000_a5a5_0000 } else { 0 }
    }

    /// Writes the disks of a datastore, or brings them back to this content by `reset`.
    pub(crate) fn write(
        &self,
        datastore: &mut Datastore,
        seal: Option<Seal>,
        reset: Option<DiskReset>,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Prepared, RunError> {
        let cancelled = || cancel.load(Ordering::Relaxed);
        self.write_paced(datastore, seal, reset, (&|_| {}, &cancelled), progress)
    }

    /// The same, asking `pace` before so many bytes more are written, which returns when they may be,
    /// and `cancelled` whether to give up.
    pub(crate) fn write_paced(
        &self,
        datastore: &mut Datastore,
        seal: Option<Seal>,
        reset: Option<DiskReset>,
        (pace, cancelled): (&(dyn Fn(u64) + Sync), &dyn Fn() -> bool),
        progress: &mut dyn Progress,
    ) -> Result<Prepared, RunError> {
        let source = ContentSource::new(self.content, self.seed);
        let source = match seal {
            Some(seal) => source.sealed(seal),
            None => source,
        };
        let zero = self.zero && seal.is_none();
        let fill = |disk: u32, offset: u64, bytes: &mut [u8]| {
            pace(bytes.len() as u64);
            if zero {
                bytes.fill(0);
            } else {
                source.fill(disk, offset, bytes);
            }
        };
        let url = datastore.description().url.to_string();
        let preparation = Preparation {
            disks: self.disks,
            content_id: self.id(seal.map(|seal| seal.unit_bytes)),
            fill: &fill,
            progress: &mut |done, total| progress.preparing(&url, done, total),
            cancelled,
        };
        match reset {
            None => datastore.prepare(preparation),
            Some(reset) => datastore.reset(reset, preparation),
        }
        .map_err(|source| RunError::Datastore { url: url.clone(), source })
    }
}
