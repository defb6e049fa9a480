//! Our own folder on an export: `.stormeter-<run id>-<number>`, as in a directory.
//!
//! Everything goes through file handles and never through a path again. We remove only the files that
//! we create, by name, and the folder if it is then empty: other files in it stay. Other hosts can always
//! reach it, so a run with a mark of another boot is never assumed to have ended.

use std::path::PathBuf;

use stormeter_disk::DatastoreFact;
use stormeter_nfs::{FileHandle, NfsStatus};

use super::dialog::Refused;
use super::export::Export;
use crate::DatastoreError;
use crate::folder::{MARK, NEW_MARK, disk_name, disk_of_file};
use crate::owner::{MAX_MARK_BYTES, Owner};

/// A folder that carries our mark.
#[derive(Debug, Clone)]
pub(super) struct ExportFolder {
    pub(super) handle: FileHandle,
    name: String,
}

impl ExportFolder {
    /// Creates the folder, or takes over that of an earlier process of the same run. Returns the
    /// mark that it now carries.
    pub(super) fn claim(
        export: &mut Export,
        name: &str,
        run_id: &str,
    ) -> Result<(Self, Owner), DatastoreError> {
        let path = export.place(name);
        let taken = || DatastoreError::NameTaken { path: path.clone() };
        let mut owner = Owner::here(run_id);
        let mut is_new = false;
        let folder = match export.make_directory(name) {
            Ok(handle) => {
                is_new = true;
                Self { handle, name: name.into() }
            }
            Err(Refused::Status(NfsStatus::Exists)) => {
                let folder = Self::open(export, name)
                    .map_err(|refused| export.error("open", name, refused))?
                    .ok_or_else(taken)?;
                match folder.owner(export).map_err(|refused| export.error("read", name, refused))? {
                    Some(old) if old.run_id == run_id => {
                        let remedy = "remove that folder on the server".into();
                        old.refuse_if_used(&path, true, remedy)?;
                        owner.continue_with(&old);
                    }
                    Some(_) => return Err(taken()),
                    // A run that was killed between making the folder and marking it.
                    None if folder.is_empty(export) => {}
                    None => return Err(taken()),
                }
                folder
            }
            Err(refused) => return Err(export.error("create a folder in", "", refused)),
        };
        if let Err(error) = folder.write_owner(export, &owner) {
            if is_new {
                folder.remove(export, 0);
            }
            return Err(error);
        }
        Ok((folder, owner))
    }

    /// The entry with this name, if it is a directory.
    pub(super) fn open(export: &mut Export, name: &str) -> Result<Option<Self>, Refused> {
        let found = export.look_up(&export.root(), name)?;
        let directory = found.filter(|found| found.is_directory);
        Ok(directory.map(|found| Self { handle: found.handle, name: name.into() }))
    }

    /// Whether the folder of this name is marked as the run's, with its disks.
    pub(super) fn is_of(
        export: &mut Export,
        name: &str,
        run_id: &str,
    ) -> Result<bool, DatastoreError> {
        let folder =
            Self::open(export, name).map_err(|refused| export.error("open", name, refused))?;
        let Some(folder) = folder else { return Ok(false) };
        let owner = folder.owner(export).map_err(|refused| export.error("read", name, refused))?;
        Ok(owner.is_some_and(|owner| owner.run_id == run_id && owner.ready().is_some()))
    }

    fn is_empty(&self, export: &mut Export) -> bool {
        export.list(&self.handle).is_ok_and(|names| names.iter().all(|name| name == NEW_MARK))
    }

    /// The mark, if there is a valid one.
    pub(super) fn owner(&self, export: &mut Export) -> Result<Option<Owner>, Refused> {
        let Some(found) = export.look_up(&self.handle, MARK)? else { return Ok(None) };
        if !found.is_file {
            return Ok(None);
        }
        let bytes = export.read(&found.handle, MAX_MARK_BYTES as u32)?;
        Ok(Owner::parse(&bytes))
    }

    /// Replaces the mark in one step: it is never half written.
    pub(super) fn write_owner(
        &self,
        export: &mut Export,
        owner: &Owner,
    ) -> Result<(), DatastoreError> {
        let write = |export: &mut Export| -> Result<(), Refused> {
            export.remove(&self.handle, NEW_MARK)?;
            let file = export.create(&self.handle, NEW_MARK)?;
            export.write(&file, &owner.to_json())?;
            export.rename(&self.handle, NEW_MARK, MARK)
        };
        let place = format!("{}/{MARK}", self.name);
        write(export).map_err(|refused| export.error("write", &place, refused))
    }

    /// The path of the folder, or of a file in it, for messages.
    pub(super) fn place(&self, export: &Export, file: &str) -> PathBuf {
        export.place(&format!("{}/{file}", self.name))
    }

    /// Removes those of the first `count` disks that are there, as many as can be.
    pub(super) fn remove_disks(&self, export: &mut Export, count: u32) {
        let Ok(names) = export.list(&self.handle) else { return };
        for name in names.iter().filter(|name| disk_of_file(name).is_some_and(|d| d < count)) {
            // What cannot be removed shows when the folder is not empty.
            let _ = export.remove(&self.handle, name);
        }
    }

    /// Makes an empty disk.
    pub(super) fn create_disk(
        &self,
        export: &mut Export,
        disk: u32,
    ) -> Result<FileHandle, DatastoreError> {
        let name = disk_name(disk);
        export.create(&self.handle, &name).map_err(|refused| {
            let place = format!("{}/{name}", self.name);
            export.error("make", &place, refused)
        })
    }

    /// Removes our files and the folder. Says, if it stays, why.
    pub(super) fn remove(&self, export: &mut Export, disks: u32) -> Option<DatastoreFact> {
        self.remove_disks(export, disks);
        for name in [NEW_MARK, MARK] {
            let _ = export.remove(&self.handle, name);
        }
        let path = export.place(&self.name).display().to_string();
        match export.remove_directory(&self.name) {
            Ok(()) => None,
            Err(Refused::Status(NfsStatus::NotEmpty | NfsStatus::Exists)) => {
                Some(DatastoreFact::ForeignFiles { path })
            }
            Err(refused) => Some(DatastoreFact::NotRemoved { path, said: refused.to_string() }),
        }
    }
}
