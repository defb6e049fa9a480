//! Finds what killed runs left behind in a directory, by its mark, and removes it.

use std::io;
use std::path::Path;

use stormeter_disk::DatastoreFact;

use crate::folder::{Folder, is_shared, run_of_folder};
use crate::owner::{Life, Owner};

/// The leftovers of earlier runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Folders that were removed.
    pub removed: Vec<DatastoreFact>,
    /// Folders that stay, each with the reason.
    pub kept: Vec<DatastoreFact>,
}

/// Removes the working folders in `directory` whose run has certainly ended, except those of the
/// run `keep_run_id`, which may be about to resume. Anything without both a name of ours and a valid
/// mark of the same run is not looked into.
///
/// # Errors
/// The directory cannot be listed.
pub fn clean_leftovers(directory: &Path, keep_run_id: &str) -> io::Result<Leftovers> {
    let mut leftovers = Leftovers::default();
    let is_shared = is_shared(directory);
    for entry in std::fs::read_dir(directory)? {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        let Some(run_id) = run_of_folder(&name).filter(|&run_id| run_id != keep_run_id) else {
            continue;
        };
        let Ok(folder) = Folder::open(directory, &name) else { continue };
        let Some(owner) = folder.owner().filter(|owner| owner.run_id == run_id) else { continue };
        leftovers.judge(&owner, is_shared, folder.path(), |disks| folder.remove(disks));
    }
    Ok(leftovers)
}

/// The marks of all runs but `own_run_id` whose folders are in `directory`, by folder name. Marks that
/// cannot be read are left out.
pub(crate) fn marks_of_others(directory: &Path, own_run_id: &str) -> Vec<(String, Owner)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let marked = names.filter_map(|name| {
        let run_id = run_of_folder(&name).filter(|&run_id| run_id != own_run_id)?;
        let owner = Folder::open(directory, &name).ok()?.owner()?;
        let is_its_own = owner.run_id == run_id;
        is_its_own.then_some((name, owner))
    });
    marked.collect()
}

impl Leftovers {
    /// Decides what happens to a folder with a valid mark; `remove` deletes this many disks and everything
    /// else that is ours, and says why if the folder stays.
    pub(crate) fn judge(
        &mut self,
        owner: &Owner,
        is_shared: bool,
        folder: &Path,
        remove: impl FnOnce(u32) -> Option<DatastoreFact>,
    ) {
        let path = folder.display().to_string();
        match owner.life(is_shared) {
            Life::Own | Life::Alive => {}
            Life::Gone | Life::Elsewhere if owner.awaits_check => {
                let run_id = owner.run_id.clone();
                self.kept.push(DatastoreFact::AwaitsCheck { path, run_id });
            }
            Life::Elsewhere => {
                let machine = owner.host.clone();
                self.kept.push(DatastoreFact::RunElsewhere { path, machine });
            }
            Life::Gone => match remove(owner.disks.map_or(0, |disks| disks.spec.count)) {
                None => {
                    let (pid, run_id) = (owner.pid, owner.run_id.clone());
                    self.removed.push(DatastoreFact::LeftoverRemoved { path, pid, run_id });
                }
                Some(reason) => self.kept.push(reason),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiskSpec;
    use crate::folder::{disk_name, folder_name};
    use crate::owner::DiskRecord;
    use std::fs;

    const KEEP: &str = "00000000000000aa";

    /// A folder as a run with this mark would leave it, with one disk.
    fn leave(directory: &Path, run_id: &str, change: impl FnOnce(&mut serde_json::Value)) {
        leave_as(directory, &folder_name(run_id, 0), run_id, change);
    }

    fn leave_as(
        directory: &Path,
        name: &str,
        run_id: &str,
        change: impl FnOnce(&mut serde_json::Value),
    ) {
        let mut owner = Owner::here(run_id);
        let spec = DiskSpec { count: 1, size_bytes: 4096, granularity_bytes: 4096 };
        owner.disks = Some(DiskRecord { spec, content_id: 1 });
        let mut json = serde_json::to_value(&owner).unwrap();
        change(&mut json);
        let path = directory.join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("owner.json"), json.to_string()).unwrap();
        fs::write(path.join(disk_name(0)), "content").unwrap();
    }

    #[test]
    fn only_what_is_certainly_ours_and_over_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        leave(at, "00000000000000a1", |owner| owner["pid"] = u32::MAX.into());
        leave(at, "00000000000000a2", |_| {});
        leave(at, KEEP, |owner| owner["pid"] = u32::MAX.into());
        leave(at, "00000000000000a3", |owner| owner["host"] = "other".into());
        leave(at, "00000000000000a4", |owner| {
            owner["pid"] = u32::MAX.into();
            owner["magic"] = "thunder".into();
        });
        leave(at, "00000000000000a5", |owner| owner["pid"] = u32::MAX.into());
        fs::write(at.join(folder_name("00000000000000a5", 0)).join("mine.txt"), "").unwrap();
        fs::write(at.join("ordinary.txt"), "").unwrap();
        std::os::unix::fs::symlink("/", at.join(".stormeter-link")).unwrap();

        let leftovers = clean_leftovers(at, KEEP).unwrap();
        assert_eq!(leftovers.removed.len(), 1, "{leftovers:?}");
        let removed = &leftovers.removed[0];
        assert!(
            matches!(removed, DatastoreFact::LeftoverRemoved { run_id, .. } if run_id == "00000000000000a1"),
            "{leftovers:?}"
        );
        assert_eq!(leftovers.kept.len(), 2, "{leftovers:?}");
        let exists = |run: &str| at.join(folder_name(run, 0)).exists();
        assert!(!exists("00000000000000a1"));
        for run in ["00000000000000a2", KEEP, "00000000000000a3", "00000000000000a4"] {
            assert!(at.join(folder_name(run, 0)).join(disk_name(0)).exists(), "{run}");
        }
        assert!(at.join(folder_name("00000000000000a5", 0)).join("mine.txt").exists());
        assert!(at.join("ordinary.txt").exists());
    }

    #[test]
    fn a_forged_mark_or_a_name_that_we_do_not_give_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        let run = "00000000000000a1";
        let over = |owner: &mut serde_json::Value| owner["pid"] = u32::MAX.into();
        let names =
            [".stormeter-evil", ".stormeter-00000000000000a1", ".stormeter-00000000000000a2-0"];
        for name in names {
            leave_as(at, name, run, over);
        }
        leave(at, run, |owner| {
            over(owner);
            owner["disks"]["spec"]["count"] = u32::MAX.into();
        });
        leave(at, "00000000000000a3", |owner| {
            over(owner);
            owner["host"] = "\u{1b}[2J".into();
        });
        assert_eq!(clean_leftovers(at, KEEP).unwrap(), Leftovers::default());
        for name in names {
            assert!(at.join(name).join(disk_name(0)).exists(), "{name}");
        }
        assert!(at.join(folder_name(run, 0)).join(disk_name(0)).exists());
    }
}
