//! Disks on a pool: an image each, made for the run and written in full.

use std::net::SocketAddr;
use std::ops::Range;
use std::time::Duration;

use stormeter_disk::{
    Acknowledged, ClusterTrouble, Completion, DatastoreFact, DeviceError, Disks, DisksError,
    Incident, Operation, Promise, PromiseEvidence, Wait,
};
use stormeter_rbd::{
    CloneSource, Cluster, Library, PoolFacts, RbdDisks as Images, RbdError, RbdMemory,
};
use stormeter_units::format_bytes;

use super::anchor::{Anchor, SNAPSHOT, anchor_name, clean, marks_of_others};
use super::error::{not_connected, not_loaded, refused};
use super::trouble::{explanation, incidents, troubles, troubles_after_failures};
use crate::fill::{self, fill};
use crate::owner::{DiskRecord, Owner};
use crate::{DatastoreError, DiskSpec, OpenDisks, Preparation, Prepared, RbdPool, Space};

/// The unit of requests, as a hypervisor shows it to a guest.
pub(crate) const LOGICAL_BLOCK_BYTES: u32 = 512;
/// The feature of images that can have clones, or be one (`RBD_FEATURE_LAYERING`, librbd/features.h).
const LAYERING: u64 = 1;

/// ETIMEDOUT.
const TIMED_OUT: i32 = 110;
/// How long an image of ours may be busy after its last use. A watcher that could not say goodbye is forgotten after 30 s
/// (`osd_client_watch_timeout`).
const BUSY: Duration = Duration::from_secs(40);

/// A pool with our images in it.
pub(crate) struct RbdStore {
    url: RbdPool,
    /// How messages name it.
    name: String,
    library: Library,
    /// For what is done between trials; driving threads have connections of their own.
    cluster: Cluster,
    fsid: String,
    facts: Option<PoolFacts>,
    anchor: Anchor,
    owner: Owner,
    pub(crate) notes: Vec<DatastoreFact>,
}

impl RbdStore {
    /// Connects, cleans up after killed runs and makes our anchor.
    pub(crate) fn open(
        url: &RbdPool,
        run_id: &str,
        number: u32,
        must_exist: bool,
    ) -> Result<Self, DatastoreError> {
        let name = url.to_string();
        let library = Library::load().map_err(|error| not_loaded(&name, &error))?;
        let connected = Cluster::connect(&library, &url.settings());
        let cluster = connected.map_err(|error| not_connected(&name, &error))?;
        let failed = |error: RbdError| refused(&name, "read", &error);
        let there = cluster.images().map_err(failed)?;
        if there.contains(&url.name) {
            let path = format!("{name}: image {}", url.name).into();
            return Err(DatastoreError::NameTaken { path });
        }
        let image = anchor_name(&url.name, run_id, number);
        if must_exist && !there.contains(&image) {
            return Err(DatastoreError::NoDisks { path: name.into(), run_id: run_id.into() });
        }
        let leftovers = clean(&cluster, &name, run_id).map_err(failed)?;
        let mut notes = leftovers.removed;
        notes.extend(leftovers.kept);
        let facts = cluster.pool_facts().ok();
        let fsid = cluster.fsid().map_err(failed)?;
        let (anchor, owner) = Anchor::claim(&cluster, &name, image, run_id)?;
        let mut store =
            Self { url: url.clone(), name, library, cluster, fsid, facts, anchor, owner, notes };
        if store.owner.prepared && !store.has_disks(&there) {
            // They were removed; they are made again.
            store.owner.prepared = false;
        }
        if must_exist && !store.owner.prepared {
            let (path, run_id) = (store.name.clone().into(), run_id.into());
            return Err(DatastoreError::NoDisks { path, run_id });
        }
        Ok(store)
    }

    fn has_disks(&self, there: &[String]) -> bool {
        let count = self.owner.disks.map_or(0, |record| record.spec.count);
        (0..count).all(|disk| there.contains(&self.anchor.disk(disk)))
    }

    fn cluster(&self) -> Cluster {
        self.cluster.clone()
    }

    fn refused(&self, action: &'static str) -> impl FnOnce(RbdError) -> DatastoreError {
        move |error| match error.errno() {
            Some(TIMED_OUT) => self.unserved(),
            _ => refused(&self.name, action, &error),
        }
    }

    /// The same for all URLs of one pool.
    pub(crate) fn identity(&self) -> String {
        format!("{}-{}", self.fsid, self.url.pool)
    }

    /// Facts of the pool and the images, as names and values.
    pub(crate) fn protocol(&self) -> Vec<(String, String)> {
        let (rados, rbd) = self.library.versions();
        let mut rows = vec![
            ("librbd", format!("{rbd} (librados {rados})")),
            ("cache", if self.url.cache { "on" } else { "off" }.into()),
        ];
        if let Some(facts) = &self.facts {
            let kind = if facts.is_erasure_coded { "erasure-coded, " } else { "" };
            let copies = format!("{kind}size {}, min_size {}", facts.size, facts.min_size);
            rows.push(("pool", format!("{copies}, {} placement groups", facts.groups)));
        }
        rows.extend(self.url.object_bytes.map(|bytes| ("object size", format_bytes(bytes))));
        rows.extend(self.url.stripes.map(|count| ("stripe count", count.to_string())));
        rows.extend(self.url.stripe_unit().map(|bytes| ("stripe unit", format_bytes(bytes))));
        rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// What an acknowledged write means here.
    pub(crate) fn promise(&self) -> Promise {
        promise(self.url.cache, self.facts.as_ref())
    }

    /// The marks of other runs in the pool; `None` if the cluster does not answer.
    pub(crate) fn marks_of_others(&self) -> Option<Vec<(String, Owner)>> {
        marks_of_others(&self.cluster(), &self.owner.run_id).ok()
    }

    /// Renews this run's mark for the `times`th time. That it could not be done harms nothing.
    pub(crate) fn renew_mark(&self, times: u64) {
        let _ = self.anchor.write_owner(&self.cluster(), &self.owner.renewed(times));
    }

    /// The disks that are there and ready.
    pub(crate) fn prepared(&self) -> Option<DiskSpec> {
        self.owner.ready()
    }

    /// Marks the disks as waiting to be checked.
    pub(crate) fn keep_for_check(&mut self) -> Result<(), DatastoreError> {
        self.owner.awaits_check = true;
        self.anchor.write_owner(&self.cluster(), &self.owner)
    }

    /// Refuses what cannot be done here. Changes nothing.
    pub(crate) fn check(&self, spec: &DiskSpec) -> Result<(), DatastoreError> {
        spec.check(LOGICAL_BLOCK_BYTES, &self.name)?;
        self.space()?.check(spec.total_bytes(), self.name.as_ref())
    }

    /// The storage daemons that are up; none if the cluster does not answer.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.cluster().osd_addresses().unwrap_or_default()
    }

    /// Room in the pool, as the cluster estimates it.
    pub(crate) fn space(&self) -> Result<Space, DatastoreError> {
        let room = self.cluster().room().map_err(self.refused("read the free space of"))?;
        let total_bytes = room.stored_bytes.saturating_add(room.free_bytes);
        Ok(Space {
            free_bytes: room.free_bytes,
            reserve_bytes: total_bytes / 10,
            held_bytes: self
                .owner
                .disks
                .map_or(0, |record| record.spec.total_bytes())
                .min(room.stored_bytes),
            total_bytes,
            read_only: false,
        })
    }

    /// Makes the disks, or finds them made.
    pub(crate) fn prepare(
        &mut self,
        preparation: &mut Preparation<'_>,
    ) -> Result<Prepared, DatastoreError> {
        self.check(&preparation.disks)?;
        let record = DiskRecord { spec: preparation.disks, content_id: preparation.content_id };
        let cluster = self.cluster();
        if self.owner.has_written(&record) {
            let there = cluster.images().map_err(self.refused("read"))?;
            if self.has_disks(&there) {
                self.owner.disks = Some(record);
                let total = record.spec.total_bytes();
                (preparation.progress)(total, total);
                return Ok(Prepared { reused: true, notes: Vec::new() });
            }
        }
        let made = self.make(&cluster, preparation, record);
        if made.is_err() {
            self.owner.prepared = false;
            // What cannot be removed now is tried again at the end.
            let _ = self.anchor.remove_disks(&cluster, 0..record.spec.count, Duration::ZERO);
        }
        made.map(|()| Prepared { reused: false, notes: Vec::new() })
    }

    fn make(
        &mut self,
        cluster: &Cluster,
        preparation: &mut Preparation<'_>,
        record: DiskRecord,
    ) -> Result<(), DatastoreError> {
        if let Some(old) = self.owner.disks {
            let removed = self.anchor.remove_disks(cluster, 0..old.spec.count, BUSY);
            removed.map_err(self.refused("remove images in"))?;
        }
        // The mark comes first: a later clean-up must know how many disks there may be.
        self.owner.disks = Some(record);
        self.owner.prepared = false;
        self.anchor.write_owner(cluster, &self.owner)?;
        for disk in 0..record.spec.count {
            self.create(cluster, disk, record.spec.size_bytes)?;
        }
        // A lock that an image could not release is only ever broken for another client: not on the connection that will
        // have to remove the image.
        let own = self.connect()?;
        let mut disks =
            self.images(&own, &Vec::from_iter(0..record.spec.count), record.spec, fill::MEMORY)?;
        let filled = fill(&mut disks, preparation, &self.name);
        filled.map_err(|error| match &error {
            DatastoreError::Io { source, .. } if source.raw_os_error() == Some(TIMED_OUT) => {
                self.unserved()
            }
            _ => error,
        })?;
        disks.sync().map_err(|error| DatastoreError::Broken {
            name: self.name.clone(),
            reason: error.to_string(),
        })?;
        drop(disks);
        self.owner.prepared = true;
        self.anchor.write_owner(cluster, &self.owner)
    }

    /// What the cluster does not serve in time ends with ETIMEDOUT: says for how long it did not, and why, where the
    /// monitors know.
    fn unserved(&self) -> DatastoreError {
        let waited = format!("{} s", self.url.timeout.as_secs_f64());
        DatastoreError::Unserved {
            name: self.name.clone(),
            waited,
            why: explanation(&self.cluster),
        }
    }

    fn create(&self, cluster: &Cluster, disk: u32, size_bytes: u64) -> Result<(), DatastoreError> {
        let made = cluster.create(&self.anchor.disk(disk), size_bytes, self.url.image_options());
        made.map_err(self.refused("make an image in"))
    }

    /// Replaces disks by new images without any object.
    pub(crate) fn make_fresh(&mut self, disks: Range<u32>) -> Result<(), DatastoreError> {
        let cluster = self.cluster();
        let size_bytes = self.owner.disks.map_or(0, |record| record.spec.size_bytes);
        for disk in disks {
            let removed = cluster.remove(&self.anchor.disk(disk));
            removed.map_err(self.refused("remove an image in"))?;
            self.create(&cluster, disk, size_bytes)?;
        }
        Ok(())
    }

    /// Forgets that the disks are written; the next preparation makes them again.
    pub(crate) fn forget(&mut self) {
        self.owner.prepared = false;
    }

    fn connect(&self) -> Result<Cluster, DatastoreError> {
        let connected = Cluster::connect(&self.library, &self.url.settings());
        connected.map_err(|error| not_connected(&self.name, &error))
    }

    fn images(
        &self,
        cluster: &Cluster,
        numbers: &[u32],
        spec: DiskSpec,
        open: OpenDisks,
    ) -> Result<Images, DatastoreError> {
        let images = numbers.iter().map(|&disk| cluster.open(&self.anchor.disk(disk)));
        let images =
            images.collect::<Result<Vec<_>, _>>().map_err(self.refused("open an image in"))?;
        let url = &self.url;
        Ok(Images::new(images, spec.size_bytes, url.cache, memory(open), url.timeout))
    }

    /// Refuses images that cannot be cloned. Changes nothing.
    pub(crate) fn check_clones(&self) -> Result<(), DatastoreError> {
        if self.url.features.is_none_or(|features| features & LAYERING != 0) {
            return Ok(());
        }
        let reason = "its images are made without the feature layering";
        Err(DatastoreError::NoClones { name: self.name.clone(), reason })
    }

    /// Removes disks that are to be clones of `template`, and makes the snapshot from which they will be.
    pub(crate) fn ready_to_clone(
        &mut self,
        template: u32,
        disks: Range<u32>,
    ) -> Result<(), DatastoreError> {
        let cluster = self.cluster();
        let removed = self.anchor.remove_disks(&cluster, disks, BUSY);
        removed.map_err(self.refused("remove images in"))?;
        let image = cluster.open(&self.anchor.disk(template));
        let made = image.and_then(|image| image.protect_snapshot(SNAPSHOT));
        made.map_err(self.refused("make a snapshot in"))
    }

    /// Opens disks that will be made as clones, on a connection of their own.
    pub(crate) fn disks_to_clone(
        &self,
        disks: Range<u32>,
        template: u32,
        spec: DiskSpec,
        open: OpenDisks,
    ) -> Result<RbdDisks, DatastoreError> {
        let (cluster, troubles) = self.watched()?;
        let source = CloneSource {
            cluster: cluster.clone(),
            template: self.anchor.disk(template),
            snapshot: SNAPSHOT.into(),
            options: self.url.image_options(),
            names: disks.map(|disk| self.anchor.disk(disk)).collect(),
        };
        let url = &self.url;
        let images =
            Images::to_clone(source, spec.size_bytes, url.cache, memory(open), url.timeout);
        Ok(RbdDisks { images, cluster, troubles, cache: url.cache })
    }

    /// A driving thread's own connection, and what is seen of the cluster at that moment.
    fn watched(&self) -> Result<(Cluster, Vec<ClusterTrouble>), DatastoreError> {
        let cluster = self.connect()?;
        let troubles = troubles(&cluster);
        Ok((cluster, troubles))
    }

    /// Opens some of the disks on the calling thread, on a connection of their own.
    pub(crate) fn disks(
        &self,
        numbers: &[u32],
        spec: DiskSpec,
        open: OpenDisks,
    ) -> Result<RbdDisks, DatastoreError> {
        let (cluster, troubles) = self.watched()?;
        let images = self.images(&cluster, numbers, spec, open)?;
        Ok(RbdDisks { images, cluster, troubles, cache: self.url.cache })
    }

    /// Removes the images; says what stays.
    pub(crate) fn remove(&mut self) -> Option<DatastoreFact> {
        self.owner.prepared = false;
        let count = self.owner.disks.map_or(0, |record| record.spec.count);
        self.anchor.remove(&self.cluster(), count, BUSY)
    }
}

fn memory(open: OpenDisks) -> RbdMemory {
    let OpenDisks { buffers, buffer_bytes, in_flight } = open;
    RbdMemory { buffers, buffer_bytes, in_flight }
}

fn promise(cache: bool, facts: Option<&PoolFacts>) -> Promise {
    let replicas = match facts {
        Some(facts) => PromiseEvidence::Replicas {
            size: facts.size,
            least: facts.min_size,
            erasure_coded: facts.is_erasure_coded,
        },
        None => PromiseEvidence::NoPoolFacts,
    };
    let (acknowledged, first) = match cache {
        true => (Acknowledged::Memory, Some(PromiseEvidence::ClientCache)),
        false => (Acknowledged::Stable, None),
    };
    Promise { acknowledged, evidence: first.into_iter().chain([replicas]).collect() }
}

/// Disks on images, with what the cluster was seen to be besides serving.
pub struct RbdDisks {
    images: Images,
    cluster: Cluster,
    troubles: Vec<ClusterTrouble>,
    cache: bool,
}

impl RbdDisks {
    /// What was seen when the disks were opened, and what the cluster says now.
    pub(crate) fn take_incidents(&mut self) -> Vec<Incident> {
        let mut seen = std::mem::take(&mut self.troubles);
        seen.extend(match self.images.has_failed() {
            true => troubles_after_failures(&self.cluster),
            false => troubles(&self.cluster),
        });
        incidents(seen)
    }

    /// Empties librbd's cache.
    ///
    /// # Errors
    /// What the cluster answers: something that was written may be lost.
    pub(crate) fn settle(&mut self) -> Result<(), DeviceError> {
        if self.cache { self.images.sync() } else { Ok(()) }
    }
}

impl Disks for RbdDisks {
    #[inline]
    fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
        self.images.submit(operations)
    }

    #[inline]
    fn reap(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
        self.images.reap(wait, completions)
    }

    #[inline]
    fn buffer(&mut self, buffer: u32) -> Option<&mut [u8]> {
        self.images.buffer(buffer)
    }

    fn clone_disk(&mut self, template: u32, disk: u32, slot: u32) -> Result<(), DisksError> {
        self.images.clone_disk(template, disk, slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_stable_unless_the_client_keeps_it() {
        let facts = PoolFacts { size: 3, min_size: 2, groups: 32, is_erasure_coded: false };
        let replicas = PromiseEvidence::Replicas { size: 3, least: 2, erasure_coded: false };
        assert_eq!(
            promise(false, Some(&facts)),
            Promise::new(Acknowledged::Stable, replicas.clone())
        );
        let cached = promise(true, Some(&facts));
        assert_eq!(cached.acknowledged, Acknowledged::Memory);
        assert_eq!(cached.evidence, [PromiseEvidence::ClientCache, replicas]);
        assert_eq!(promise(false, None).evidence, [PromiseEvidence::NoPoolFacts]);
    }
}
