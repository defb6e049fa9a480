//! The disk from which desktops are made: written once for each seed, and looked at before each trial.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use stormeter_driver::ContentSource;
use stormeter_trial::Content;

use super::image::{Workshop, image};
use super::place::Place;
use crate::error::{LabError, at};
use crate::qemu::folder::make;

/// Says what the template was written with.
const MARK: &str = "template";
/// What it holds, in a file of this machine.
const SOURCE: &str = "source.raw";
/// Held while desktops are made from it.
const LOCK: &str = "in-use";
/// Requests outstanding while it is written.
const OUTSTANDING: u32 = 8;

/// The template of a set, which nobody else uses.
#[derive(Debug)]
pub(super) struct TemplateDisk {
    place: Place,
    set: String,
    /// Locked while this lives.
    _lock: File,
}

impl TemplateDisk {
    /// Opens it for this process alone.
    pub(super) fn open(place: Place, set: &str) -> Result<Self, LabError> {
        make(&place.guest.folder)?;
        let path = place.guest.folder.join(LOCK);
        let lock = File::create(&path).map_err(at(&path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { place, set: set.into(), _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => Err(LabError::DesktopsInUse { set: set.into() }),
            Err(fs::TryLockError::Error(source)) => Err(at(&path)(source)),
        }
    }

    /// Its place.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    fn mark(&self) -> PathBuf {
        self.place.guest.folder.join(MARK)
    }

    fn source(&self) -> PathBuf {
        self.place.guest.folder.join(SOURCE)
    }

    /// Writes it, unless it holds what follows from the seed.
    pub(super) fn prepare(&self, seed: u64, cancel: &AtomicBool) -> Result<(), LabError> {
        let bytes = self.place.disk.size_bytes;
        let words = format!("{seed:016x} {bytes}\n");
        if fs::read_to_string(self.mark()).is_ok_and(|found| found == words) {
            match self.is_whole(cancel) {
                Ok(true) => return Ok(()),
                Err(LabError::Interrupted) => return Err(LabError::Interrupted),
                // It was changed, or is gone.
                Ok(false) | Err(_) => {}
            }
        }
        let _ = fs::remove_file(self.mark());
        let source = self.source();
        write(&source, bytes, seed).map_err(at(&source))?;
        self.place.create()?;
        self.workshop(cancel).copy(&self.source_image(), &image(&self.place.disk), OUTSTANDING)?;
        self.place.freeze()?;
        fs::write(self.mark(), words).map_err(at(&self.mark()))
    }

    /// Fails unless it is as it was written.
    pub(super) fn check(&self, cancel: &AtomicBool) -> Result<(), LabError> {
        let set = || self.set.clone();
        if !self.mark().exists() {
            return Err(LabError::NoTemplate { set: set() });
        }
        match self.is_whole(cancel) {
            Ok(true) => Ok(()),
            Ok(false) => Err(LabError::OtherTemplate { set: set() }),
            Err(LabError::Interrupted) => Err(LabError::Interrupted),
            Err(_) => Err(LabError::NoTemplate { set: set() }),
        }
    }

    fn is_whole(&self, cancel: &AtomicBool) -> Result<bool, LabError> {
        self.workshop(cancel).is_same(&self.source_image(), &image(&self.place.disk))
    }

    fn workshop<'a>(&'a self, cancel: &'a AtomicBool) -> Workshop<'a> {
        Workshop { folder: &self.place.guest.folder, leaving: cancel }
    }

    fn source_image(&self) -> String {
        let file = self.source().to_string_lossy().into_owned();
        let node =
            serde_json::json!({"driver": "raw", "file": {"driver": "file", "filename": file}});
        format!("json:{node}")
    }
}

/// Writes contents that follow from the seed, and of which no two blocks are alike.
fn write(path: &std::path::Path, bytes: u64, seed: u64) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt;
    const CHUNK: usize = 1 << 20;
    let file = File::create(path)?;
    let content = ContentSource::new(Content::default(), seed);
    let mut chunk = vec![0; CHUNK];
    let mut at = 0;
    while at < bytes {
        let length = usize::try_from(bytes - at).map_or(CHUNK, |left| left.min(CHUNK));
        content.fill(0, at, &mut chunk[..length]);
        file.write_all_at(&chunk[..length], at)?;
        at += length as u64;
    }
    Ok(())
}
