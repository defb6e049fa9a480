//! Which systems labs still need: a guest is restarted from the system that its lab was started from, even if
//! another version of stormeter has built a newer one since.
//!
//! Before a lab starts a guest, it leaves a link to its file in the system's folder. The link counts as long as
//! that file exists and names the system, whether guests run or not, so it never has to be removed. Until the file
//! exists, a lock protects the folder.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use super::key::key;
use crate::error::LabError;

/// The folder with these links inside that of a system.
const LABS: &str = "labs";

/// A system that a lab is starting from: it is not removed before this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    /// Its folder, locked: the lock is shared with other labs.
    folder: fs::File,
}

impl Held {
    /// Locks the system, and records that the lab with this file uses it.
    ///
    /// # Errors
    /// The system has been removed.
    pub(crate) fn new(system: &Path, lab_file: &Path) -> Result<Self, LabError> {
        let gone = || LabError::NotBuilt { cache: system.parent().unwrap_or(system).into() };
        let folder = fs::File::open(system).map_err(|_| gone())?;
        folder.lock_shared().map_err(|_| gone())?;
        let held = Self { folder };
        // It may have been removed and recreated between opening and locking.
        let inode = |found: std::io::Result<fs::Metadata>| found.ok().map(|found| found.ino());
        if inode(held.folder.metadata()) != inode(fs::metadata(system)) {
            return Err(gone());
        }
        // Where this user cannot write, this user's processes remove nothing either; or the link may exist already.
        let labs = system.join(LABS);
        let _ = fs::create_dir(&labs);
        let _ = symlink(lab_file, labs.join(key(&[lab_file.as_os_str().as_encoded_bytes()])));
        Ok(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Unlocked explicitly, not by closing: a child that another thread has forked and that has not executed its
        // program yet has the file open, too.
        let _ = self.folder.unlock();
    }
}

/// Removes a system that no lab needs.
pub(super) fn remove_unused(system: &Path) {
    let Ok(folder) = fs::File::open(system) else { return };
    if folder.try_lock().is_err() {
        return;
    }
    let mut labs = fs::read_dir(system.join(LABS)).into_iter().flatten().flatten();
    if !labs.any(|link| names(&link.path(), system)) {
        let _ = fs::remove_dir_all(system);
    }
    let _ = folder.unlock();
}

/// Whether a lab's file, of whatever form, names the system. Only the last part of the path is compared, which is
/// the system's key: folders may be reached by several paths.
fn names(lab_file: &Path, system: &Path) -> bool {
    let read = || -> Option<bool> {
        let text = fs::read_to_string(lab_file).ok()?;
        let lab: serde_json::Value = serde_json::from_str(&text).ok()?;
        let images = lab.get("images")?;
        let others = images.get("others").and_then(|others| others.as_object());
        let all = others.into_iter().flat_map(|others| others.values()).chain([images]);
        let mut named = all.filter_map(|images| images.get("system")?.as_str());
        Some(named.any(|named| Path::new(named).file_name() == system.file_name()))
    };
    read().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_stays_while_a_lab_comes_up_and_while_its_file_names_it() {
        let cache = tempfile::tempdir().unwrap();
        let lab = tempfile::tempdir().unwrap();
        let (system, lab_file) = (cache.path().join("system-old"), lab.path().join("lab.json"));
        fs::create_dir(&system).unwrap();
        let held = Held::new(&system, &lab_file).unwrap();
        // As in a child that is forked meanwhile.
        let _forked = held.folder.try_clone().unwrap();
        remove_unused(&system);
        assert!(system.exists(), "a lab is coming up from it");
        let says = |system: &Path| {
            let text = serde_json::json!({"version": 9, "images": {"system": system}});
            fs::write(&lab_file, text.to_string()).unwrap();
        };
        says(&system);
        drop(held);
        remove_unused(&system);
        assert!(system.exists(), "the lab is up");
        let others = serde_json::json!({"trixie": {"system": system}});
        let text = serde_json::json!({"images": {"system": "system-new", "others": others}});
        fs::write(&lab_file, text.to_string()).unwrap();
        remove_unused(&system);
        assert!(system.exists(), "one of its hosts has this kernel");
        // The lab went down and was started from another system in the same directory.
        says(&cache.path().join("system-new"));
        remove_unused(&system);
        assert!(!system.exists());
        let gone = Held::new(&system, &lab_file);
        assert!(matches!(gone, Err(LabError::NotBuilt { .. })), "{gone:?}");
    }

    #[test]
    fn a_lab_that_went_down_needs_nothing() {
        let cache = tempfile::tempdir().unwrap();
        let system = cache.path().join("system-old");
        fs::create_dir(&system).unwrap();
        for _ in 0..2 {
            drop(Held::new(&system, &cache.path().join("lab/lab.json")).unwrap());
        }
        remove_unused(&system);
        assert!(!system.exists());
    }
}
