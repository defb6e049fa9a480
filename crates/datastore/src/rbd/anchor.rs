//! The image that stands for a run in a pool: `NAME.stormeter-<run id>-<number>`.
//!
//! It is empty and holds, as a note, the mark that a folder of ours holds elsewhere. It is made before the images of the
//! disks, whose names begin with its own, and removed after them: as long as anything of a run is there, its mark is. Only
//! images of such names are ever removed. Other hosts can always reach a pool, so a run with a mark of another boot is
//! never assumed to have ended.
//!
//! Of the disks, clones are removed before their template, and before it our snapshot, which is protected as long as it has
//! clones. A snapshot or a clone of our images that is not ours stays, and with it what it depends on.

use std::ops::Range;

use std::time::{Duration, Instant};

use stormeter_disk::DatastoreFact;
use stormeter_rbd::{Cluster, ImageOptions, RbdError};

use super::error::refused;
use crate::DatastoreError;
use crate::folder::disk_name;
use crate::leftover::Leftovers;
use crate::owner::{MAX_MARK_BYTES, Owner, is_run_id};

/// How often a busy image is tried.
const AGAIN: Duration = Duration::from_millis(200);
/// The note that holds the mark.
const MARK: &str = "stormeter.owner";
/// The snapshot of a template from which its clones are.
pub(super) const SNAPSHOT: &str = "stormeter";
/// EEXIST.
const EXISTS: i32 = 17;

/// A run's anchor in a pool.
#[derive(Debug, Clone)]
pub(super) struct Anchor {
    /// The image's name.
    pub(super) image: String,
    /// How messages name the place.
    place: String,
}

/// The name of the anchor of a run's datastore.
pub(super) fn anchor_name(name: &str, run_id: &str, number: u32) -> String {
    format!("{name}.stormeter-{run_id}-{number}")
}

/// The run in such a name; `None` if it is not one that we give.
fn run_of(image: &str) -> Option<&str> {
    let (name, rest) = image.rsplit_once(".stormeter-")?;
    let (run_id, number) = rest.split_once('-')?;
    let number: u32 = number.parse().ok()?;
    (is_run_id(run_id) && image == anchor_name(name, run_id, number)).then_some(run_id)
}

impl Anchor {
    /// Makes the anchor, or takes over that of an earlier process of the same run. Returns the mark that it now carries.
    /// `url` is how messages name the pool.
    pub(super) fn claim(
        cluster: &Cluster,
        url: &str,
        image: String,
        run_id: &str,
    ) -> Result<(Self, Owner), DatastoreError> {
        let anchor = Self { place: format!("{url} ({image})"), image };
        let mut owner = Owner::here(run_id);
        // A feature-less image needs no lock and no map of its objects: layering alone.
        let plain = ImageOptions { features: Some(1), ..ImageOptions::default() };
        match cluster.create(&anchor.image, 0, plain) {
            Ok(()) => {}
            Err(error) if error.errno() == Some(EXISTS) => {
                let old = anchor.owner(cluster).map_err(|error| anchor.refused("read", &error))?;
                match old {
                    Some(old) if old.run_id == run_id => {
                        let remedy = "remove its images with `rbd rm`".into();
                        old.refuse_if_used(anchor.place.as_ref(), true, remedy)?;
                        owner.continue_with(&old);
                    }
                    Some(_) => {
                        return Err(DatastoreError::NameTaken { path: anchor.place.into() });
                    }
                    // A run that was killed between making the image and marking it.
                    None => {}
                }
            }
            Err(error) => return Err(anchor.refused("make an image in", &error)),
        }
        anchor.write_owner(cluster, &owner)?;
        Ok((anchor, owner))
    }

    fn refused(&self, action: &'static str, error: &RbdError) -> DatastoreError {
        refused(&self.place, action, error)
    }

    /// The mark, if there is a valid one.
    pub(super) fn owner(&self, cluster: &Cluster) -> Result<Option<Owner>, RbdError> {
        owner_of(cluster, &self.image)
    }

    /// Replaces the mark in one step.
    pub(super) fn write_owner(
        &self,
        cluster: &Cluster,
        owner: &Owner,
    ) -> Result<(), DatastoreError> {
        let text = String::from_utf8_lossy(&owner.to_json()).into_owned();
        let written = cluster.open(&self.image).and_then(|image| image.set_note(MARK, &text));
        written.map_err(|error| self.refused("write the mark of", &error))
    }

    /// The name of a disk's image.
    pub(super) fn disk(&self, disk: u32) -> String {
        format!("{}.{}", self.image, disk_name(disk))
    }

    /// Removes those of these disks that are there, and waits as long as `patience` for those that are busy: an image is
    /// closed late where the cluster was silent. The first failure is returned, after all were tried.
    pub(super) fn remove_disks(
        &self,
        cluster: &Cluster,
        disks: Range<u32>,
        patience: Duration,
    ) -> Result<(), RbdError> {
        let there = cluster.images()?;
        let until = Instant::now() + patience;
        let mut outcome = Ok(());
        let mut note = |removed: Result<(), RbdError>| match removed {
            Err(error) if !error.is_missing() => outcome = outcome.clone().and(Err(error)),
            _ => {}
        };
        let mut templates = Vec::new();
        for name in disks.map(|disk| self.disk(disk)).filter(|name| there.contains(name)) {
            match remove(cluster, &name, until) {
                Err(error) if error.has_snapshots() => templates.push(name),
                removed => note(removed),
            }
        }
        // A template is numbered after its clones: if it is a clone itself, its own template follows.
        for name in templates {
            let bare = cluster.open(&name).and_then(|image| image.remove_snapshot(SNAPSHOT));
            note(bare.and_then(|()| remove(cluster, &name, until)));
        }
        outcome
    }

    /// Removes our images, those that are busy as soon as they are not, within `patience`. Says, if any stays, why.
    pub(super) fn remove(
        &self,
        cluster: &Cluster,
        disks: u32,
        patience: Duration,
    ) -> Option<DatastoreFact> {
        let removed = self.remove_disks(cluster, 0..disks, patience);
        let removed =
            removed.and_then(|()| remove(cluster, &self.image, Instant::now() + patience));
        let error = removed.err().filter(|error| !error.is_missing())?;
        let mut said = error.to_string();
        if error.is_busy() {
            said.push_str("; a client that died is forgotten after half a minute");
        }
        Some(DatastoreFact::NotRemoved { path: self.place.clone(), said })
    }
}

/// Removes an image; as long as it is busy, it is tried again until then.
fn remove(cluster: &Cluster, image: &str, until: Instant) -> Result<(), RbdError> {
    loop {
        match cluster.remove(image) {
            Err(error) if error.is_busy() && Instant::now() < until => std::thread::sleep(AGAIN),
            outcome => return outcome,
        }
    }
}

fn owner_of(cluster: &Cluster, image: &str) -> Result<Option<Owner>, RbdError> {
    let text = cluster.open_read_only(image)?.note(MARK)?;
    let bounded = text.filter(|text| text.len() <= MAX_MARK_BYTES);
    Ok(bounded.and_then(|text| Owner::parse(text.as_bytes())))
}

/// The marks of all runs but `own_run_id` in the pool, by the anchor's name. Marks that cannot be read are left out.
pub(super) fn marks_of_others(
    cluster: &Cluster,
    own_run_id: &str,
) -> Result<Vec<(String, Owner)>, RbdError> {
    let mut marks = Vec::new();
    for image in cluster.images()? {
        let Some(run_id) = run_of(&image).filter(|&run_id| run_id != own_run_id) else { continue };
        let Ok(Some(owner)) = owner_of(cluster, &image) else { continue };
        if owner.run_id == run_id {
            marks.push((image, owner));
        }
    }
    Ok(marks)
}

/// Removes the images of runs that have certainly ended, except those of the run `keep_run_id`.
pub(super) fn clean(
    cluster: &Cluster,
    url: &str,
    keep_run_id: &str,
) -> Result<Leftovers, RbdError> {
    let mut leftovers = Leftovers::default();
    for (image, owner) in marks_of_others(cluster, keep_run_id)? {
        let anchor = Anchor { place: format!("{url} ({image})"), image };
        let place = anchor.place.clone();
        leftovers.judge(&owner, true, place.as_ref(), |disks| {
            anchor.remove(cluster, disks, Duration::ZERO)
        });
    }
    Ok(leftovers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_we_give_are_ours() {
        let run = "0123456789abcdef";
        assert_eq!(run_of(&anchor_name("vm", run, 3)), Some(run));
        assert_eq!(run_of(&anchor_name("a.stormeter-b", run, 0)), Some(run));
        for foreign in [
            "vm",
            "stormeter-0123456789abcdef-0",
            "vm.stormeter-0123456789abcdef-00",
            "vm.stormeter-0123456789abcdeg-0",
            "vm.stormeter-0123456789abcdef-0.disk-00000",
        ] {
            assert_eq!(run_of(foreign), None, "{foreign}");
        }
    }
}
