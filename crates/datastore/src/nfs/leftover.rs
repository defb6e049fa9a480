//! What killed runs left behind on an export, found by its mark and removed.

use super::dialog::Refused;
use super::export::Export;
use super::folder::ExportFolder;
use crate::Leftovers;
use crate::folder::run_of_folder;
use crate::owner::Owner;

/// The marks of all runs but `own_run_id` whose folders are on the export, by the folders' names.
pub(super) fn marks_of_others(
    export: &mut Export,
    own_run_id: &str,
) -> Result<Vec<(String, Owner)>, Refused> {
    let root = export.root();
    let mut marks = Vec::new();
    for name in export.list(&root)? {
        let Some(run_id) = run_of_folder(&name).filter(|&run_id| run_id != own_run_id) else {
            continue;
        };
        let Some(folder) = ExportFolder::open(export, &name)? else { continue };
        match folder.owner(export) {
            Ok(Some(owner)) if owner.run_id == run_id => marks.push((name, owner)),
            // A folder that goes just now, or is not for us to read.
            Ok(_) | Err(Refused::Status(_)) => {}
            Err(refused) => return Err(refused),
        }
    }
    Ok(marks)
}

/// Removes the working folders whose run has certainly ended, except those of the run
/// `keep_run_id`, which may be about to resume. Anything without both a name and a valid mark of one
/// run is not looked into.
pub(super) fn clean(export: &mut Export, keep_run_id: &str) -> Result<Leftovers, Refused> {
    let mut leftovers = Leftovers::default();
    let root = export.root();
    for name in export.list(&root)? {
        let Some(run_id) = run_of_folder(&name).filter(|&run_id| run_id != keep_run_id) else {
            continue;
        };
        let Ok(Some(folder)) = ExportFolder::open(export, &name) else { continue };
        let Ok(Some(owner)) = folder.owner(export) else { continue };
        if owner.run_id != run_id {
            continue;
        }
        let place = export.place(&name);
        // Other hosts can always reach an export.
        leftovers.judge(&owner, true, &place, |disks| folder.remove(export, disks));
    }
    Ok(leftovers)
}
