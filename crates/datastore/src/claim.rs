//! What may be done with a device or LUN on which something was found, and how disks are laid out
//! on it.
//!
//! Layout: the first MiB is ours (a header while a run uses the device, zeros afterwards), then one
//! extent per disk, each starting at a multiple of 1 MiB; the last MiB is never part of a disk.
//! Other writers can therefore be distinguished from us by looking at both ends.

use std::path::{Path, PathBuf};

use stormeter_disk::{DatastoreFact, FoundData};
use stormeter_units::format_bytes;

use crate::owner::{Life, Owner};
use crate::signature::EDGE_BYTES;
use crate::{DatastoreError, DiskSpec, Finding};

/// What a run may do with the device or LUN.
pub(crate) enum Claim {
    /// The device is empty.
    Free,
    /// The disks of an earlier process of this same run.
    Continued(Owner),
    /// The disks of another run, which has ended; a note for the record.
    LeftOver(DatastoreFact),
    /// Data that the user has allowed to be destroyed.
    Destroys(FoundData),
}

impl Claim {
    /// Continues with what is there: disks of this run go into its mark, the rest of another one into
    /// the notes. Returns whether the mark is there already, and what will be destroyed.
    pub(crate) fn accept(
        self,
        owner: &mut Owner,
        notes: &mut Vec<DatastoreFact>,
    ) -> (bool, Option<FoundData>) {
        match self {
            Self::Free => (false, None),
            Self::Continued(left) => {
                owner.continue_with(&left);
                (true, None)
            }
            Self::LeftOver(note) => {
                notes.push(note);
                (false, None)
            }
            Self::Destroys(found) => (false, Some(found)),
        }
    }
}

/// Who wants the device or LUN.
#[derive(Debug, Clone)]
pub(crate) struct Claimant {
    pub(crate) run_id: String,
    /// The data that may be destroyed, as it was named.
    pub(crate) destroy_data: Vec<PathBuf>,
    /// The run's disks must be there.
    pub(crate) must_exist: bool,
}

/// Decides whether what was found may be overwritten. `path` is the device's path or the LUN's URL,
/// as the user wrote it.
pub(crate) fn judge(
    path: &Path,
    finding: Finding,
    claimant: &Claimant,
) -> Result<Claim, DatastoreError> {
    let Claimant { run_id, destroy_data, must_exist } = claimant;
    let allowed = destroy_data.iter().any(|named| named == path);
    match finding {
        Finding::Ours(ref signature) if *must_exist && signature.owner.run_id == *run_id => {}
        _ if *must_exist => {
            return Err(DatastoreError::NoDisks { path: path.into(), run_id: run_id.clone() });
        }
        _ => {}
    }
    match finding {
        Finding::Blank => return Ok(Claim::Free),
        Finding::Ours(signature) => {
            let left = signature.owner;
            // Shared storage looks like any other here; machine ids tell hosts apart.
            match left.life(false) {
                Life::Alive => {
                    return Err(DatastoreError::InUse { path: path.into(), pid: left.pid });
                }
                Life::Own => {}
                _ if left.awaits_check && left.run_id != *run_id && !allowed => {
                    let run_id = left.run_id;
                    return Err(DatastoreError::AwaitsCheck { path: path.into(), run_id });
                }
                // A later process of the run itself knows that the earlier one has ended.
                Life::Elsewhere if !allowed && !left.awaits_check && !*must_exist => {
                    return Err(DatastoreError::DeviceElsewhere {
                        path: path.into(),
                        place: left.host,
                    });
                }
                _ => {}
            }
            if left.run_id == *run_id {
                return Ok(Claim::Continued(left));
            }
            let path = path.display().to_string();
            return Ok(Claim::LeftOver(DatastoreFact::HeldRun { path, run_id: left.run_id }));
        }
        Finding::Recognised(ref names) if allowed => {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            return Ok(Claim::Destroys(FoundData::Formats(names)));
        }
        Finding::Unrecognised { offset } if allowed => {
            return Ok(Claim::Destroys(FoundData::Unrecognised { offset_bytes: offset }));
        }
        Finding::Recognised(_) | Finding::Unrecognised { .. } => {}
    }
    let given = match destroy_data.first() {
        Some(other) => format!(" ({} names another)", other.display()),
        None => String::new(),
    };
    let found = finding.to_string();
    Err(DatastoreError::HoldsData { path: path.into(), found, given })
}

/// Where a disk starts on the device.
pub(crate) fn base_bytes(disk: u32, size_bytes: u64) -> u64 {
    EDGE_BYTES + u64::from(disk) * size_bytes.next_multiple_of(EDGE_BYTES)
}

/// Refuses disks that do not fit on a device of this many bytes. `spec` has been checked.
pub(crate) fn check_fits(
    spec: &DiskSpec,
    device_bytes: u64,
    path: &Path,
) -> Result<(), DatastoreError> {
    // `DiskSpec::check` bounds the sizes, so this cannot overflow.
    let needed = base_bytes(spec.count, spec.size_bytes) + EDGE_BYTES;
    if needed <= device_bytes {
        return Ok(());
    }
    Err(DatastoreError::DeviceTooSmall {
        path: path.into(),
        needed: format_bytes(needed),
        size: format_bytes(device_bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signature;

    const RUN: &str = "0123456789abcdef";

    fn claimant(destroy_data: &[PathBuf]) -> Claimant {
        Claimant { run_id: RUN.into(), destroy_data: destroy_data.to_vec(), must_exist: false }
    }

    #[test]
    fn disks_that_wait_to_be_checked_are_their_runs_only() {
        let path = Path::new("/dev/sdx");
        let left = |run_id: &str, awaits_check| {
            let mut owner = Owner::here(run_id);
            (owner.pid, owner.awaits_check) = (u32::MAX, awaits_check);
            Finding::Ours(Signature { owner })
        };
        let other = "fedcba9876543210";
        let refused = judge(path, left(other, true), &claimant(&[])).err().unwrap();
        assert!(
            matches!(refused, DatastoreError::AwaitsCheck { ref run_id, .. } if run_id == other)
        );
        let allowed = judge(path, left(other, true), &claimant(&[path.into()]));
        assert!(matches!(allowed, Ok(Claim::LeftOver(_))));
        assert!(matches!(judge(path, left(other, false), &claimant(&[])), Ok(Claim::LeftOver(_))));
        let continued = judge(path, left(RUN, true), &claimant(&[]));
        assert!(matches!(continued, Ok(Claim::Continued(owner)) if owner.awaits_check));

        // Who checks takes no other disks for the run's.
        let checking = Claimant { must_exist: true, ..claimant(&[path.into()]) };
        for finding in [Finding::Blank, left(other, false), Finding::Recognised(vec!["XFS"])] {
            let error = judge(path, finding, &checking).err().unwrap();
            assert!(matches!(error, DatastoreError::NoDisks { .. }), "{error}");
        }
        assert!(matches!(judge(path, left(RUN, false), &checking), Ok(Claim::Continued(_))));
    }

    #[test]
    fn what_is_not_named_exactly_is_not_destroyed() {
        let finding = || Finding::Recognised(vec!["XFS"]);
        let path = Path::new("iscsi://nas1/iqn.2026-01.example:vm/1");
        let refused = |named: &[PathBuf]| judge(path, finding(), &claimant(named)).err().unwrap();
        assert!(refused(&[]).to_string().contains("XFS"));
        let other = refused(&["iscsi://nas1/iqn.2026-01.example:vm/0".into()]).to_string();
        assert!(other.contains("names another"), "{other}");
        let claim = judge(path, finding(), &claimant(&[path.into()]));
        assert!(
            matches!(claim, Ok(Claim::Destroys(FoundData::Formats(found))) if found == ["XFS"])
        );
    }

    #[test]
    fn extents_do_not_touch_each_other_or_the_ends() {
        let spec = DiskSpec { count: 3, size_bytes: (1 << 20) + 512, granularity_bytes: 512 };
        assert_eq!([0, 1, 2].map(|disk| base_bytes(disk, spec.size_bytes) >> 20), [1, 3, 5]);
        assert!(check_fits(&spec, 8 << 20, Path::new("/dev/x")).is_ok());
        let error = check_fits(&spec, (8 << 20) - 1, Path::new("/dev/x")).unwrap_err();
        assert!(matches!(error, DatastoreError::DeviceTooSmall { .. }), "{error}");
    }
}
