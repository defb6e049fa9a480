//! Disks on an export: files in a folder of ours, driven through sessions of their own.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use stormeter_disk::{Acknowledged, DatastoreFact, Promise, PromiseEvidence};
use stormeter_nfs::{FileHandle, NfsSession, SessionOptions, Stability};
use stormeter_units::format_bytes;
use stormeter_uring::EngineChoice;

use super::export::{Export, credential};
use super::folder::ExportFolder;
use super::leftover;
use crate::fill::{self, fill};
use crate::folder::{disk_name, folder_name};
use crate::network::{NetworkDisks, Policy, TransportOptions};
use crate::owner::{DiskRecord, Owner};
use crate::space::Space;
use crate::survey::{self, Call, RoundTrips, TransferSizes};
use crate::{
    DatastoreError, DiskSpec, NfsExport, NfsSync, OpenDisks, Preparation, Prepared, RealClock,
};

/// A silent server is given up this long after the oldest request, if the timeout is longer.
const REPLY_NS: u64 = 10_000_000_000;

/// An open export with our folder on it.
pub(crate) struct NfsStore {
    url: NfsExport,
    engine: EngineChoice,
    /// The control connection; driving threads have connections of their own.
    export: Mutex<Export>,
    address: SocketAddr,
    folder: ExportFolder,
    owner: Owner,
    /// The disks' files.
    handles: Vec<FileHandle>,
    /// Sessions start at XIDs far apart, so that none repeats within the life of a server's replay
    /// cache.
    next_xid: AtomicU32,
    read_max: u32,
    write_max: u32,
    /// The server made stable at once what the preparation had written as unstable.
    commits_at_once: bool,
    pub(crate) notes: Vec<DatastoreFact>,
}

/// From one session's first XID to the next one's: the golden ratio of 2^32, which keeps the starts of
/// any number of sessions as far apart as can be, and never gives one twice (Knuth, The Art of Computer
/// Programming, volume 3, section 6.4).
const XID_STRIDE: u32 = 0x9e37_79b1;

impl NfsStore {
    /// Mounts the export, cleans up after killed runs and makes our folder.
    pub(crate) fn open(
        url: &NfsExport,
        engine: EngineChoice,
        run_id: &str,
        number: u32,
        must_exist: bool,
    ) -> Result<Self, DatastoreError> {
        let mut export = Export::open(url)?;
        let name = folder_name(run_id, number);
        if must_exist && !ExportFolder::is_of(&mut export, &name, run_id)? {
            let (path, run_id) = (export.place(""), run_id.into());
            return Err(DatastoreError::NoDisks { path, run_id });
        }
        let leftovers = leftover::clean(&mut export, run_id)
            .map_err(|refused| export.error("list", "", refused))?;
        let mut notes = leftovers.removed;
        notes.extend(leftovers.kept);
        let (folder, owner) = ExportFolder::claim(&mut export, &name, run_id)?;
        let (read_max, write_max) = export.transfer_sizes();
        let address = export.address();
        let next_xid = AtomicU32::new(export.unused_xid());
        let mut store = Self {
            url: url.clone(),
            engine,
            export: Mutex::new(export),
            address,
            folder,
            owner,
            handles: Vec::new(),
            next_xid,
            read_max,
            write_max,
            commits_at_once: false,
            notes,
        };
        if store.owner.prepared && store.find_disks().is_err() {
            // They were removed; they are recreated.
            store.owner.prepared = false;
        }
        Ok(store)
    }

    /// The protocol and its parameters, as names and values.
    pub(crate) fn protocol(&self) -> Vec<(String, String)> {
        let stability = match self.url.sync {
            NfsSync::File => "FILE_SYNC",
            NfsSync::Unstable => "UNSTABLE and COMMIT",
        };
        [
            ("version", "3".to_owned()),
            ("writes", stability.into()),
            ("rtmax", format_bytes(u64::from(self.read_max))),
            ("wtmax", format_bytes(u64::from(self.write_max))),
            ("connections a thread", self.url.connections.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// What an acknowledged write means here. A server that is asked for stable writes promises them (RFC 1813,
    /// section 3.3.7); unstable ones are in its memory, unless it was seen to make them stable at once. That is known
    /// once disks have been written.
    pub(crate) fn promise(&self) -> Promise {
        promise(self.url.sync, self.commits_at_once)
    }

    /// Calls that do nothing, on the control connection.
    pub(crate) fn round_trips(&self, clock: &RealClock) -> Result<RoundTrips, DatastoreError> {
        let mut export = self.export.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let times = survey::repeated(|| export.round_trip(clock))?;
        Ok(RoundTrips::of(Call::NfsNull, times))
    }

    /// The sizes of READ and WRITE that the server gave.
    pub(crate) fn transfer_sizes(&self) -> TransferSizes {
        self.export.lock().unwrap_or_else(std::sync::PoisonError::into_inner).offered()
    }

    /// The server.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The marks of other runs on the export; `None` if the server does not answer.
    pub(crate) fn marks_of_others(&self) -> Option<Vec<(String, Owner)>> {
        let mut export = self.export.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        leftover::marks_of_others(&mut export, &self.owner.run_id).ok()
    }

    /// Renews this run's mark for the `times`th time. That it could not be done harms nothing.
    pub(crate) fn renew_mark(&self, times: u64) {
        let mut export = self.export.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let renewed = self.owner.renewed(times);
        let _ = self.folder.write_owner(&mut export, &renewed);
    }

    /// The disks that are there and ready.
    pub(crate) fn prepared(&self) -> Option<DiskSpec> {
        self.owner.ready()
    }

    fn export(&mut self) -> &mut Export {
        // The lock is there for `space`, which does not have the store for itself.
        self.export.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Marks the disks as waiting to be checked. The server has what it says that it has (RFC 1813, section 4.8):
    /// names are stable when they are made.
    pub(crate) fn keep_for_check(&mut self) -> Result<(), DatastoreError> {
        self.owner.awaits_check = true;
        let (folder, owner) = (self.folder.clone(), self.owner.clone());
        folder.write_owner(self.export(), &owner)
    }

    /// Refuses what cannot be done here. Changes nothing.
    pub(crate) fn check(&self, spec: &DiskSpec) -> Result<(), DatastoreError> {
        spec.check(1, &self.url.to_string())?;
        self.space()?.check(spec.total_bytes(), self.url.to_string().as_ref())
    }

    /// Room on the export, as the server tells it.
    pub(crate) fn space(&self) -> Result<Space, DatastoreError> {
        let mut export = self.export.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut held_bytes: u64 = 0;
        for handle in &self.handles {
            held_bytes =
                held_bytes.saturating_add(export.attributes(handle).map_or(0, |a| a.used_bytes));
        }
        let (total_bytes, free_bytes) =
            export.room().map_err(|refused| export.error("read the free space of", "", refused))?;
        Ok(Space {
            free_bytes,
            reserve_bytes: total_bytes / 10,
            held_bytes,
            total_bytes,
            read_only: false,
        })
    }

    /// The handles of disks that were made by an earlier process.
    fn find_disks(&mut self) -> Result<(), DatastoreError> {
        let count = self.owner.disks.map_or(0, |record| record.spec.count);
        let folder = self.folder.clone();
        let mut handles = Vec::new();
        for disk in 0..count {
            let name = disk_name(disk);
            let path = folder.place(self.export(), &name);
            let found = self.export().look_up(&folder.handle, &name);
            match found.map_err(|refused| self.export().error("open", &name, refused))? {
                Some(found) if found.is_file => handles.push(found.handle),
                _ => return Err(DatastoreError::Changed { path }),
            }
        }
        self.handles = handles;
        Ok(())
    }

    /// Makes the disks, or finds them made.
    pub(crate) fn prepare(
        &mut self,
        preparation: &mut Preparation<'_>,
    ) -> Result<Prepared, DatastoreError> {
        self.check(&preparation.disks)?;
        let record = DiskRecord { spec: preparation.disks, content_id: preparation.content_id };
        if self.owner.has_written(&record)
            && let Ok(notes) = self.verify(&record.spec)
        {
            self.owner.disks = Some(record);
            let total = record.spec.total_bytes();
            (preparation.progress)(total, total);
            return Ok(Prepared { reused: true, notes });
        }
        let made = self.make(preparation, record);
        if made.is_err() {
            self.owner.prepared = false;
            let folder = self.folder.clone();
            folder.remove_disks(self.export(), record.spec.count);
            self.handles.clear();
        }
        made.map(|notes| Prepared { reused: false, notes })
    }

    fn make(
        &mut self,
        preparation: &mut Preparation<'_>,
        record: DiskRecord,
    ) -> Result<Vec<DatastoreFact>, DatastoreError> {
        let folder = self.folder.clone();
        if let Some(old) = self.owner.disks {
            folder.remove_disks(self.export(), old.spec.count);
        }
        self.handles.clear();
        // The mark comes first: a later clean-up must know how many disks there may be.
        self.owner.disks = Some(record);
        self.owner.prepared = false;
        let owner = self.owner.clone();
        folder.write_owner(self.export(), &owner)?;
        for disk in 0..record.spec.count {
            let handle = folder.create_disk(self.export(), disk)?;
            self.handles.push(handle);
        }
        let name = self.url.to_string();
        let mut disks = self.transport(
            &Vec::from_iter(0..record.spec.count),
            record.spec,
            fill::MEMORY,
            Stability::Unstable,
            1,
        )?;
        let filled = fill(&mut disks, preparation, &name);
        let at_once = disks.with_session(0, |session, _, _, _| session.commits_at_once());
        self.commits_at_once = at_once == Some(true);
        let committed = disks.finish();
        filled?;
        committed.map_err(|error| DatastoreError::Broken { name, reason: error.to_string() })?;
        let notes = self.verify(&record.spec)?;
        self.owner.prepared = true;
        let owner = self.owner.clone();
        folder.write_owner(self.export(), &owner)?;
        Ok(notes)
    }

    /// Verifies the size of every disk, and notes disks that use fewer bytes than were written.
    fn verify(&mut self, spec: &DiskSpec) -> Result<Vec<DatastoreFact>, DatastoreError> {
        let folder = self.folder.clone();
        let handles = self.handles.clone();
        let mut thin = 0;
        for (disk, handle) in handles.iter().enumerate() {
            let name = disk_name(disk as u32);
            let found = self.export().attributes(handle);
            let attributes =
                found.map_err(|refused| self.export().error("check", &name, refused))?;
            if attributes.size_bytes < spec.size_bytes {
                let path = folder.place(self.export(), &name);
                return Err(DatastoreError::Changed { path });
            }
            thin += u32::from(attributes.used_bytes < spec.size_bytes);
        }
        let fewer = (thin > 0).then_some(DatastoreFact::FewerBytesUsed { disks: thin });
        Ok(fewer.into_iter().collect())
    }

    /// Replaces disks by new, empty files. (NFSv3 has no way to free blocks, so this is
    /// also what a discard comes to.)
    pub(crate) fn make_fresh(&mut self, disks: Range<u32>) -> Result<(), DatastoreError> {
        let folder = self.folder.clone();
        for disk in disks {
            let name = disk_name(disk);
            let removed = self.export().remove(&folder.handle, &name);
            removed.map_err(|refused| self.export().error("remove", &name, refused))?;
            let handle = folder.create_disk(self.export(), disk)?;
            if let Some(place) = self.handles.get_mut(disk as usize) {
                *place = handle;
            }
        }
        Ok(())
    }

    /// Forgets that the disks are written; the next preparation recreates them.
    pub(crate) fn forget(&mut self) {
        self.owner.prepared = false;
    }

    /// Opens some of the disks on the calling thread.
    pub(crate) fn disks(
        &self,
        numbers: &[u32],
        spec: DiskSpec,
        open: OpenDisks,
    ) -> Result<NetworkDisks<NfsSession>, DatastoreError> {
        let stability = match self.url.sync {
            NfsSync::File => Stability::FileSync,
            NfsSync::Unstable => Stability::Unstable,
        };
        self.transport(numbers, spec, open, stability, self.url.connections)
    }

    fn transport(
        &self,
        numbers: &[u32],
        spec: DiskSpec,
        memory: OpenDisks,
        stability: Stability,
        connections: u32,
    ) -> Result<NetworkDisks<NfsSession>, DatastoreError> {
        let handle = |&disk: &u32| self.handles.get(disk as usize).copied();
        let files: Vec<FileHandle> = numbers.iter().filter_map(handle).collect();
        let patience_ns = self.url.timeout.as_nanos() as u64;
        let sessions = (0..connections).map(|_| {
            let first_xid = self.next_xid.fetch_add(XID_STRIDE, Ordering::Relaxed);
            let auth = credential(&self.url);
            let mut options = SessionOptions::new(files.clone(), auth, first_xid);
            options.read_max_bytes = self.read_max;
            options.write_max_bytes = self.write_max;
            options.stability = stability;
            options.reply_ns = REPLY_NS.min(patience_ns);
            options.waits_ns = patience_ns;
            (self.address, NfsSession::new(&options))
        });
        let options = TransportOptions {
            engine: self.engine,
            memory,
            policy: match stability {
                Stability::FileSync => Policy::Spread,
                _ => Policy::ByDisk,
            },
            patience_ns,
            is_impatient: false,
            disks: files.len() as u32,
            disk_bytes: spec.size_bytes,
        };
        NetworkDisks::open(sessions.collect(), options, RealClock::new())
            .map_err(|failure| failure.of(self.url.to_string()))
    }

    /// Removes disks and folder; says what stays.
    pub(crate) fn remove(&mut self) -> Option<DatastoreFact> {
        self.owner.prepared = false;
        let count = self.owner.disks.map_or(0, |record| record.spec.count);
        let folder = self.folder.clone();
        let left = folder.remove(self.export(), count);
        self.export().unmount();
        left
    }
}

fn promise(sync: NfsSync, commits_at_once: bool) -> Promise {
    let asked_for = |stable: &str| PromiseEvidence::NfsWrites { stable: stable.to_owned() };
    match sync {
        NfsSync::File => Promise::new(Acknowledged::Stable, asked_for("FILE_SYNC")),
        NfsSync::Unstable if commits_at_once => Promise {
            acknowledged: Acknowledged::Stable,
            evidence: vec![asked_for("UNSTABLE"), PromiseEvidence::NfsCommitsAtOnce],
        },
        NfsSync::Unstable => Promise::new(Acknowledged::Memory, asked_for("UNSTABLE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unstable_writes_are_in_memory_unless_the_server_says_otherwise() {
        assert_eq!(promise(NfsSync::File, false).acknowledged, Acknowledged::Stable);
        assert_eq!(promise(NfsSync::File, true), promise(NfsSync::File, false));
        assert_eq!(promise(NfsSync::Unstable, false).acknowledged, Acknowledged::Memory);
        let at_once = promise(NfsSync::Unstable, true);
        assert_eq!(at_once.acknowledged, Acknowledged::Stable);
        assert_eq!(at_once.evidence.last(), Some(&PromiseEvidence::NfsCommitsAtOnce));
    }
}
