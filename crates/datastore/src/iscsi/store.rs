//! Disks on a LUN: extents of it, laid out as on a block device and under the same rules.

use std::net::SocketAddr;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicU16, Ordering};

use stormeter_disk::{DatastoreFact, FoundData, Promise};
use stormeter_iscsi::{Session, UnitCache};
use stormeter_units::format_bytes;
use stormeter_uring::EngineChoice;

use super::login::Login;
use super::unit::{Unit, UnitFacts};
use crate::claim::{self, Claim, Claimant};
use crate::fill::{self, fill};
use crate::network::{NetworkDisks, Policy, TransportOptions, resolve};
use crate::owner::{DiskRecord, Owner};
use crate::signature::{EDGE_BYTES, Source, inspect_source};
use crate::survey::{self, Call, RoundTrips};
use crate::url::PORTAL_PORT;
use crate::{
    DatastoreError, DatastoreUrl, DiskSpec, IscsiLun, OpenDisks, PathPolicy, Preparation, Prepared,
    RealClock, header,
};

/// An open LUN that no other run uses, without data that must be kept.
pub(crate) struct IscsiStore {
    url: IscsiLun,
    /// How messages and `--destroy-data` name it.
    name: PathBuf,
    engine: EngineChoice,
    login: Login,
    /// One a session, in the order of preference.
    addresses: Vec<SocketAddr>,
    facts: UnitFacts,
    owner: Owner,
    /// Whether the header on the LUN is this run's.
    is_marked: bool,
    /// What stood on the LUN and is to be destroyed.
    destroys: Option<FoundData>,
    claimant: Claimant,
    /// Sessions are numbered, so that none takes the place of another.
    next_session: AtomicU16,
    /// Maker, product and size.
    pub(crate) unit: String,
    /// The negotiated parameters, as names and values.
    pub(crate) protocol: Vec<(String, String)>,
    pub(crate) notes: Vec<DatastoreFact>,
}

impl IscsiStore {
    /// Logs in and makes sure that the LUN is empty (or named in `destroy_data`). Only reads.
    pub(crate) fn open(
        lun: &IscsiLun,
        url: &DatastoreUrl,
        claimant: Claimant,
    ) -> Result<Self, DatastoreError> {
        let login = Login::new(lun)?;
        let portals = lun
            .portals
            .iter()
            .map(|portal| resolve(portal, PORTAL_PORT))
            .collect::<Result<Vec<_>, _>>()?;
        let sessions = lun.sessions.unwrap_or(portals.len() as u32);
        let addresses = portals.iter().cycle().take(sessions as usize).copied().collect();
        let mut store = Self {
            url: lun.clone(),
            name: url.to_string().into(),
            engine: url.engine,
            login,
            addresses,
            facts: UnitFacts::default(),
            owner: Owner::here(&claimant.run_id),
            is_marked: false,
            destroys: None,
            claimant,
            next_session: AtomicU16::new(0),
            unit: String::new(),
            protocol: Vec::new(),
            notes: Vec::new(),
        };
        let mut unit = store.unit()?;
        store.facts = unit.facts()?;
        if store.facts.write_protected {
            return Err(DatastoreError::DeviceReadOnly { path: store.name });
        }
        let claim = store.claim(&unit)?;
        (store.is_marked, store.destroys) = claim.accept(&mut store.owner, &mut store.notes);
        store.describe(&unit.negotiated());
        unit.close();
        Ok(store)
    }

    fn claim(&self, unit: &Unit) -> Result<Claim, DatastoreError> {
        let finding = inspect_source(unit, self.facts.bytes())
            .map_err(|error| DatastoreError::system("read", &self.name, error))?;
        claim::judge(&self.name, finding, &self.claimant)
    }

    /// Looks again before the first write. A LUN cannot be opened for oneself alone as a device can,
    /// and it may have been long since it was looked at: other datastores were filled meanwhile.
    fn judge_again(&self, unit: &Unit) -> Result<(), DatastoreError> {
        match self.claim(unit)? {
            // A mark of this run that this store did not write is another store's, on the same LUN
            // under another name.
            Claim::Continued(_) if !self.is_marked => {
                Err(DatastoreError::NamedTwice { path: self.name.clone() })
            }
            Claim::Continued(_) | Claim::Free | Claim::LeftOver(_) | Claim::Destroys(_) => Ok(()),
        }
    }

    fn describe(&mut self, negotiated: &[(&'static str, String)]) {
        let facts = &self.facts;
        let thin = if facts.thin { ", thin" } else { "" };
        self.unit = format!(
            "{} {}, {} in blocks of {} bytes{thin}",
            facts.vendor,
            facts.product,
            format_bytes(facts.bytes()),
            facts.block_bytes,
        );
        let policy = match self.url.policy {
            PathPolicy::Fixed => "fixed",
            PathPolicy::RoundRobin => "round-robin",
        };
        let own = [
            ("unit", self.unit.clone()),
            ("sessions a thread", self.addresses.len().to_string()),
            ("policy", policy.into()),
        ];
        let rows = own.into_iter().chain(negotiated.iter().cloned());
        self.protocol = rows.map(|(name, value)| (name.to_owned(), value)).collect();
    }

    /// What an acknowledged write means there.
    pub(crate) fn promise(&self) -> Promise {
        self.facts.promise(self.notes.contains(&DatastoreFact::KeepsNothing))
    }

    /// A session for commands one after another.
    fn unit(&self) -> Result<Unit, DatastoreError> {
        let name = self.name.display().to_string();
        let options = || {
            let block_bytes = self.facts.block_bytes.max(512);
            self.login.options(self.session_number(), block_bytes, vec![], 0, Rc::default())
        };
        let mut unit = Unit::open(&name, &self.addresses, &options, self.engine, self.url.timeout)?;
        unit.set_block_bytes(self.facts.block_bytes);
        Ok(unit)
    }

    fn session_number(&self) -> u16 {
        self.next_session.fetch_add(1, Ordering::Relaxed)
    }

    /// The portals of the sessions.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Pings on a session of their own; the first answer includes waking whatever slept, and does not count.
    pub(crate) fn round_trips(&self, clock: &RealClock) -> Result<RoundTrips, DatastoreError> {
        let unit = self.unit()?;
        let times = survey::repeated(|| unit.ping(clock))?;
        unit.close();
        Ok(RoundTrips::of(Call::NopOut, times))
    }

    /// The size of the LUN, in bytes.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.facts.bytes()
    }

    /// What tells this LUN from any other: two URLs of one LUN have the same.
    pub(crate) fn identity(&self) -> String {
        let serial = self.facts.serial.as_deref().unwrap_or_default();
        format!("{} {} {serial}", self.url.target, self.url.lun)
    }

    /// Offsets and lengths are multiples of this.
    pub(crate) fn logical_block_bytes(&self) -> u32 {
        self.facts.block_bytes
    }

    /// The disks that are there and ready.
    pub(crate) fn prepared(&self) -> Option<DiskSpec> {
        self.owner.ready()
    }

    /// Marks the disks as waiting to be checked.
    pub(crate) fn keep_for_check(&mut self) -> Result<(), DatastoreError> {
        self.owner.awaits_check = true;
        let unit = self.unit()?;
        self.mark(&unit)?;
        unit.close();
        Ok(())
    }

    /// Refuses what cannot be done here. Changes nothing.
    pub(crate) fn check(&self, spec: &DiskSpec) -> Result<(), DatastoreError> {
        spec.check(self.facts.block_bytes, &self.name.display().to_string())?;
        claim::check_fits(spec, self.facts.bytes(), &self.name)
    }

    /// Writes the disks, or finds them written.
    pub(crate) fn prepare(
        &mut self,
        preparation: &mut Preparation<'_>,
    ) -> Result<Prepared, DatastoreError> {
        self.check(&preparation.disks)?;
        let spec = preparation.disks;
        let record = DiskRecord { spec, content_id: preparation.content_id };
        let unit = self.unit()?;
        self.judge_again(&unit)?;
        if self.owner.has_written(&record) {
            self.owner.disks = Some(record);
            self.mark(&unit)?;
            unit.close();
            (preparation.progress)(spec.total_bytes(), spec.total_bytes());
            return Ok(Prepared { reused: true, notes: Vec::new() });
        }
        self.owner.disks = Some(record);
        self.owner.prepared = false;
        let mut notes = Vec::new();
        if let Some(found) = self.destroys.take() {
            let path = self.name.display().to_string();
            notes.push(DatastoreFact::HeldData { path, found });
            // A signature left at the end would be found by the next program that looks.
            unit.write_at(&vec![0; EDGE_BYTES as usize], self.facts.bytes() - EDGE_BYTES)?;
        }
        self.mark(&unit)?;
        let name = self.name.display().to_string();
        let mut disks = self.transport(&Vec::from_iter(0..spec.count), spec, fill::MEMORY)?;
        fill(&mut disks, preparation, &name)?;
        disks
            .finish()
            .map_err(|error| DatastoreError::Broken { name, reason: error.to_string() })?;
        unit.sync()?;
        self.owner.prepared = true;
        self.mark(&unit)?;
        unit.close();
        Ok(Prepared { reused: false, notes })
    }

    /// Writes the header, and zeros behind it to the end of the first MiB.
    fn mark(&mut self, unit: &Unit) -> Result<(), DatastoreError> {
        let mut head = vec![0; EDGE_BYTES as usize];
        head[..header::HEADER_BYTES].copy_from_slice(&header::encode(&self.owner));
        self.is_marked = true;
        unit.write_at(&head, 0)?;
        unit.sync()?;
        // Another run that started at the same moment may have overwritten our mark.
        let head = self.head(unit)?;
        match header::decode(&head) {
            Some(owner) if owner == self.owner => Ok(()),
            Some(owner) => {
                self.is_marked = false;
                Err(DatastoreError::InUse { path: self.name.clone(), pid: owner.pid })
            }
            None if head.iter().all(|&byte| byte == 0) => {
                self.is_marked = false;
                if !self.notes.contains(&DatastoreFact::KeepsNothing) {
                    self.notes.push(DatastoreFact::KeepsNothing);
                }
                Ok(())
            }
            None => Err(DatastoreError::Changed { path: self.name.clone() }),
        }
    }

    /// Where a mark is, if there is one.
    fn head(&self, unit: &Unit) -> Result<Vec<u8>, DatastoreError> {
        let mut head = vec![0; header::HEADER_BYTES];
        unit.read_exact_at(&mut head, 0)
            .map_err(|error| DatastoreError::system("read", &self.name, error))?;
        Ok(head)
    }

    /// Frees the blocks of some of the disks.
    pub(crate) fn discard(
        &mut self,
        disks: Range<u32>,
        size_bytes: u64,
    ) -> Result<(), DatastoreError> {
        let Some(most_blocks) = self.facts.unmap_blocks else {
            return Err(DatastoreError::NoDiscard {
                path: self.name.clone(),
                reason: "the LUN does not offer UNMAP; it is not thin provisioned".into(),
            });
        };
        let unit = self.unit()?;
        // A process that resumes a killed run must not take its disks for written.
        let was_prepared = std::mem::replace(&mut self.owner.prepared, false);
        self.mark(&unit)?;
        self.owner.prepared = was_prepared;
        let block_bytes = u64::from(self.facts.block_bytes);
        for disk in disks {
            let mut lba = claim::base_bytes(disk, size_bytes) / block_bytes;
            let mut left = size_bytes / block_bytes;
            while left > 0 {
                let blocks = left.min(u64::from(most_blocks)) as u32;
                unit.unmap(lba, blocks)?;
                lba += u64::from(blocks);
                left -= u64::from(blocks);
            }
        }
        unit.close();
        Ok(())
    }

    /// Forgets that the disks are written; the next preparation writes them again.
    pub(crate) fn forget(&mut self) {
        self.owner.prepared = false;
    }

    /// Opens some of the disks on the calling thread.
    pub(crate) fn disks(
        &self,
        numbers: &[u32],
        spec: DiskSpec,
        open: OpenDisks,
    ) -> Result<NetworkDisks<Session>, DatastoreError> {
        self.transport(numbers, spec, open)
    }

    fn transport(
        &self,
        numbers: &[u32],
        spec: DiskSpec,
        memory: OpenDisks,
    ) -> Result<NetworkDisks<Session>, DatastoreError> {
        let extent = |&disk: &u32| claim::base_bytes(disk, spec.size_bytes);
        let extents: Vec<u64> = numbers.iter().map(extent).collect();
        let facts = &self.facts;
        // The cache is the unit's: a flush on one path covers what was written on any.
        let cache = Rc::new(UnitCache::new(facts.write_cache, facts.forced_unit_access));
        let max_transfer = self.facts.max_transfer_bytes.filter(|&bytes| bytes > 0);
        let sessions = self.addresses.iter().map(|&address| {
            let number = self.session_number();
            let mut options = self.login.options(
                number,
                self.facts.block_bytes,
                extents.clone(),
                spec.size_bytes,
                Rc::clone(&cache),
            );
            if let Some(bytes) = max_transfer {
                options.max_transfer_bytes = options.max_transfer_bytes.min(bytes);
            }
            (address, Session::new(options))
        });
        let options = TransportOptions {
            engine: self.engine,
            memory,
            policy: match self.url.policy {
                PathPolicy::Fixed => Policy::Fixed,
                PathPolicy::RoundRobin => Policy::RoundRobin,
            },
            patience_ns: self.url.timeout.as_nanos() as u64,
            is_impatient: false,
            disks: extents.len() as u32,
            disk_bytes: spec.size_bytes,
        };
        NetworkDisks::open(sessions.collect(), options, RealClock::new())
            .map_err(|failure| failure.of(self.name.display().to_string()))
    }

    /// Takes our header off the LUN, if it is still ours; says if that failed.
    pub(crate) fn remove(&mut self) -> Option<DatastoreFact> {
        if !std::mem::take(&mut self.is_marked) {
            return None;
        }
        self.owner.disks = None;
        self.owner.prepared = false;
        let wipe = || -> Result<(), DatastoreError> {
            let unit = self.unit()?;
            let owner = header::decode(&self.head(&unit)?);
            if owner.is_none_or(|owner| owner.run_id != self.owner.run_id) {
                return Err(DatastoreError::Changed { path: self.name.clone() });
            }
            unit.write_at(&vec![0; EDGE_BYTES as usize], 0)?;
            unit.sync()?;
            unit.close();
            Ok(())
        };
        let said = wipe().err()?.to_string();
        Some(DatastoreFact::HeaderStays { path: self.name.display().to_string(), said })
    }
}
