//! The content of the disks before the first trial, and how it is written.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use stormeter_datastore::{Datastore, DiskReset, DiskSpec, Preparation, Prepared};
use stormeter_driver::{ContentSource, Seal};
use stormeter_trial::Content;

use crate::error::RunError;
use crate::progress::Progress;

/// The content of a run's disks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FillSpec {
    /// The disks.
    pub disks: DiskSpec,
    /// The kind of content.
    pub content: Content,
    /// The seed of the content.
    pub seed: u64,
    /// Zeros instead of content; never for sealed blocks.
    pub zero: bool,
}

impl FillSpec {
    /// Identifies the content, so that only matching disks are reused. Sealed and plain blocks differ, and so do sealed
    /// blocks of different sizes.
    pub(crate) fn id(&self, unit_bytes: Option<u32>) -> u64 {
        self.seed
            ^ self.content.compressible_percent.to_bits().rotate_left(17)
            ^ self.content.duplicate_percent.to_bits().rotate_left(43)
            ^ u64::from(unit_bytes.unwrap_or(0)).rotate_left(29)
            ^ if self.zero { 0x5a5a_0000_a5a5_0000 } else { 0 }
    }

    /// Writes the disks of a datastore, or restores this content by `reset`.
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

    /// The same, calling `pace` before a given number of further bytes is written, which returns when they may be
    /// written, and polling `cancelled`.
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
