//! What killed runs left behind on an export, found by its mark and removed.

use super::dialog::Refused;
use super::export::Export;
use super::folder::ExportFolder;
use crate::Leftovers;
use crate::folder::run_of_folder;

/// Removes the working folders whose run has certainly ended, except those of the run
/// `keep_run_id`, which may be about to go on. Whatever has not both a name and a valid mark of one
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
