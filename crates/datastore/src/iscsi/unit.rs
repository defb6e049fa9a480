//! A logical unit, command by command: queries and writes outside of measurements.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use stormeter_disk::{Acknowledged, Clock, Promise, PromiseEvidence};
use stormeter_iscsi::scsi::{self, cdb};
use stormeter_iscsi::{Command, CommandError, Options, Session};
use stormeter_uring::EngineChoice;

use super::targets::offered;
use crate::network::{NetworkDisks, OpenFailure, Policy, TransportOptions};
use crate::signature::Source;
use crate::{DatastoreError, OpenDisks, RealClock};

/// Bytes moved by one command.
const COMMAND_BYTES: usize = 64 << 10;

/// Bytes freed by one command if the target sets no limit: a target that frees block by block
/// should answer each in time.
const UNMAP_BYTES: u32 = 256 << 20;

/// What a logical unit is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UnitFacts {
    pub(super) vendor: String,
    pub(super) product: String,
    pub(super) serial: Option<String>,
    pub(super) blocks: u64,
    pub(super) block_bytes: u32,
    /// The longest READ or WRITE, if the target reports it.
    pub(super) max_transfer_bytes: Option<u32>,
    pub(super) write_protected: bool,
    /// Whether the target answered MODE SENSE at all.
    pub(super) has_mode_data: bool,
    /// WCE of the caching page; `None` without that page.
    pub(super) write_cache: Option<bool>,
    /// DPOFUA.
    pub(super) forced_unit_access: bool,
    pub(super) thin: bool,
    /// The most blocks of one UNMAP; `None` without UNMAP.
    pub(super) unmap_blocks: Option<u32>,
}

impl UnitFacts {
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.saturating_mul(u64::from(self.block_bytes))
    }
}

impl UnitFacts {
    /// What an acknowledged write means: by the unit's caching mode page, if it has one, and weaker
    /// if it was seen to keep nothing.
    pub(super) fn promise(&self, keeps_nothing: bool) -> Promise {
        let (acknowledged, page) = match self.write_cache {
            None => (Acknowledged::Unknown, PromiseEvidence::NoModePage),
            Some(write_cache) => {
                let stable = Acknowledged::Stable;
                let acknowledged = if write_cache { Acknowledged::VolatileCache } else { stable };
                (acknowledged, PromiseEvidence::ModePage { write_cache })
            }
        };
        let mut promise = Promise::new(acknowledged, page);
        if self.has_mode_data {
            let supported = self.forced_unit_access;
            promise.evidence.push(PromiseEvidence::ForcedUnitAccess { supported });
        }
        if keeps_nothing {
            promise.acknowledged = acknowledged.and(Acknowledged::Memory);
            promise.evidence.push(PromiseEvidence::KeepsNothing);
        }
        promise
    }
}

/// A session for commands one after another.
pub(super) struct Unit {
    // Reading has to work with a shared reference, as for files.
    disks: RefCell<NetworkDisks<Session>>,
    name: String,
    patience: Duration,
    block_bytes: u32,
    next_tag: Cell<u64>,
}

impl Unit {
    /// Logs in at the first address that answers.
    pub(super) fn open(
        name: &str,
        addresses: &[SocketAddr],
        options: &dyn Fn() -> Options,
        engine: EngineChoice,
        patience: Duration,
    ) -> Result<Self, DatastoreError> {
        let (mut reasons, mut was_any_connected) = (Vec::new(), false);
        for &address in addresses {
            let transport = TransportOptions {
                engine,
                memory: OpenDisks { buffers: 1, buffer_bytes: 4096, in_flight: 1 },
                policy: Policy::Fixed,
                patience_ns: patience.as_nanos() as u64,
                is_impatient: true,
                disks: 0,
                disk_bytes: 0,
            };
            let session = (address, Session::new(options()));
            match NetworkDisks::open(vec![session], transport, RealClock::new()) {
                Ok(disks) => {
                    let disks = RefCell::new(disks);
                    return Ok(Self {
                        disks,
                        name: name.into(),
                        patience,
                        block_bytes: 512,
                        next_tag: Cell::new(1),
                    });
                }
                Err(OpenFailure::Engine(error)) => return Err(error.into()),
                Err(failure) => {
                    was_any_connected |=
                        matches!(failure, OpenFailure::NoPath { was_connected: true, .. });
                    reasons.push(failure.to_string());
                }
            }
        }
        if was_any_connected {
            let offer = |&address| offered(address, engine, options());
            reasons.extend(addresses.iter().find_map(offer));
        }
        let (name, reason) = (name.into(), reasons.join("; "));
        Err(match was_any_connected {
            true => DatastoreError::NoSession { name, reason },
            false => DatastoreError::Unreachable { name, reason },
        })
    }

    /// The unit's block size, if it is already known.
    pub(super) fn set_block_bytes(&mut self, block_bytes: u32) {
        if block_bytes > 0 {
            self.block_bytes = block_bytes;
        }
    }

    /// Executes one command and returns the data that it reads.
    fn command(&self, command: Command) -> Result<Vec<u8>, CommandFailure> {
        // A number of its own: a late result of an earlier command is not taken for this one's.
        let tag = self.next_tag.replace(self.next_tag.get() + 1);
        let mut disks = self.disks.borrow_mut();
        let until = Instant::now() + self.patience;
        let mut done = Vec::new();
        disks.with_session(0, |session, now_ns, memory, out| {
            session.command(command, tag, now_ns, memory, out);
        });
        loop {
            let result = disks.with_session(0, |session, _, _, _| session.control_result());
            if let Some((of, result)) = result {
                if of != tag {
                    continue;
                }
                return result.map_err(CommandFailure::Refused);
            }
            if let Some(reason) = disks.failure(0) {
                return Err(CommandFailure::Broken(reason));
            }
            if Instant::now() >= until {
                return Err(CommandFailure::Broken("the target does not answer".into()));
            }
            disks.pump(&mut done).map_err(|error| CommandFailure::Broken(error.to_string()))?;
        }
    }

    fn read_in(&self, cdb: cdb::Cdb, most_bytes: u32) -> Result<Vec<u8>, CommandFailure> {
        self.command(Command::reading(cdb, most_bytes))
    }

    fn asked(
        &self,
        action: &'static str,
        result: Result<Vec<u8>, CommandFailure>,
    ) -> Result<Vec<u8>, DatastoreError> {
        result.map_err(|failure| match failure {
            CommandFailure::Refused(error) => DatastoreError::Refused {
                action,
                path: self.name.clone().into(),
                reason: error.to_string(),
            },
            CommandFailure::Broken(reason) => {
                DatastoreError::Unreachable { name: self.name.clone(), reason }
            }
        })
    }

    /// Asks for everything that matters about a disk.
    pub(super) fn facts(&mut self) -> Result<UnitFacts, DatastoreError> {
        let data = self.asked("inquire about", self.read_in(cdb::inquiry(None, 255), 255))?;
        let inquiry = scsi::inquiry(&data).ok_or_else(|| self.nonsense("INQUIRY"))?;
        if !inquiry.is_disk() {
            return Err(DatastoreError::NotADisk {
                name: self.name.clone(),
                found: match inquiry.qualifier {
                    0 => format!("a device of type {:#04x} and no disk", inquiry.device_type),
                    _ => "not there: the target has no such logical unit".into(),
                },
                advice: "give the number of a LUN that is a disk (tgt's own begin at 1)",
            });
        }
        self.asked("test", self.command(Command::reading(cdb::test_unit_ready(), 0)))?;
        let capacity = self.capacity()?;
        self.block_bytes = capacity.block_bytes;
        // What follows is optional in SBC; a target that refuses it has not got it.
        let page = |page, bytes: u16| {
            self.read_in(cdb::inquiry(Some(page), bytes), u32::from(bytes)).unwrap_or_default()
        };
        let serial = scsi::serial_number(&page(cdb::page::SERIAL, 255));
        let limits = scsi::block_limits(&page(cdb::page::BLOCK_LIMITS, 64));
        let provisioning = scsi::logical_provisioning(&page(cdb::page::PROVISIONING, 64));
        let mode = |page| {
            let data = self.read_in(cdb::mode_sense_6(page, 255), 255).unwrap_or_default();
            scsi::mode_sense_6(&data)
        };
        // Where all pages are refused or do not fit, the caching page may be had by itself.
        let mode = match mode(cdb::mode_page::ALL) {
            Some(all) if all.write_cache.is_some() => Some(all),
            all => mode(cdb::mode_page::CACHING).or(all),
        };
        Ok(UnitFacts {
            vendor: inquiry.vendor,
            product: inquiry.product,
            serial: serial.filter(|serial| !serial.is_empty()),
            blocks: capacity.blocks,
            block_bytes: capacity.block_bytes,
            max_transfer_bytes: limits
                .and_then(|limits| limits.max_transfer_blocks)
                .map(|blocks| blocks.saturating_mul(capacity.block_bytes)),
            write_protected: mode.is_some_and(|mode| mode.write_protected),
            has_mode_data: mode.is_some(),
            write_cache: mode.and_then(|mode| mode.write_cache),
            forced_unit_access: mode.is_some_and(|mode| mode.forced_unit_access),
            thin: capacity.thin,
            unmap_blocks: provisioning.filter(|found| found.unmap).map(|_| {
                let most = UNMAP_BYTES / capacity.block_bytes;
                limits.and_then(|limits| limits.max_unmap_blocks).unwrap_or(most).min(most)
            }),
        })
    }

    fn capacity(&self) -> Result<scsi::Capacity, DatastoreError> {
        if let Ok(data) = self.read_in(cdb::read_capacity_16(32), 32)
            && let Some(capacity) = scsi::capacity_16(&data)
        {
            return self.sound(capacity);
        }
        let data = self.asked("measure", self.read_in(cdb::read_capacity_10(), 8))?;
        match scsi::capacity_10(&data).flatten() {
            Some(capacity) => self.sound(capacity),
            None => Err(self.nonsense("READ CAPACITY")),
        }
    }

    fn sound(&self, capacity: scsi::Capacity) -> Result<scsi::Capacity, DatastoreError> {
        let block = capacity.block_bytes;
        if block.is_power_of_two() && (512..=65_536).contains(&block) {
            return Ok(capacity);
        }
        Err(DatastoreError::NotADisk {
            name: self.name.clone(),
            found: format!("a disk of blocks of {block} bytes"),
            advice: "give a LUN of blocks of 512 or 4096 bytes",
        })
    }

    fn nonsense(&self, command: &str) -> DatastoreError {
        DatastoreError::Broken {
            name: self.name.clone(),
            reason: format!("the target's answer to {command} makes no sense"),
        }
    }

    /// Writes whole blocks.
    pub(super) fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), DatastoreError> {
        let block_bytes = u64::from(self.block_bytes);
        for (index, part) in bytes.chunks(COMMAND_BYTES).enumerate() {
            let at = offset + (index * COMMAND_BYTES) as u64;
            let cdb = cdb::write(at / block_bytes, (part.len() as u64 / block_bytes) as u32);
            self.asked("write to", self.command(Command::writing(cdb, part.to_vec())))?;
        }
        Ok(())
    }

    /// Frees blocks (SBC-3 section 5.28).
    pub(super) fn unmap(&self, lba: u64, blocks: u32) -> Result<(), DatastoreError> {
        let list = scsi::unmap_parameters(&[scsi::Range { lba, blocks }]);
        let command = Command::writing(cdb::unmap(list.len() as u16), list);
        self.asked("unmap blocks of", self.command(command)).map(|_| ())
    }

    /// Makes written data stable. A target without a cache may not know the command.
    pub(super) fn sync(&self) -> Result<(), DatastoreError> {
        match self.command(Command::reading(cdb::synchronize_cache(), 0)) {
            // INVALID COMMAND OPERATION CODE (SPC-4 annex F).
            Err(CommandFailure::Refused(CommandError::Check(sense))) if sense.asc == 0x20 => Ok(()),
            result => self.asked("flush", result).map(|_| ()),
        }
    }

    /// The negotiated parameters, as names and values.
    pub(super) fn negotiated(&self) -> Vec<(&'static str, String)> {
        self.disks.borrow_mut().with_session(0, |session, _, _, _| session.negotiated().rows())
    }

    /// The time from a NOP-Out to its answer.
    pub(super) fn ping(&self, clock: &RealClock) -> Result<u64, DatastoreError> {
        let broken = |reason| DatastoreError::Unreachable { name: self.name.clone(), reason };
        let (mut disks, mut clock) = (self.disks.borrow_mut(), clock.clone());
        let start_ns = clock.now_ns();
        let until_ns = start_ns.saturating_add(self.patience.as_nanos() as u64);
        let is_sent = disks.with_session(0, |session, now_ns, _, out| {
            session.ping(now_ns, out);
            session.is_pinging()
        });
        if !is_sent {
            return Err(broken("the session is not complete".into()));
        }
        let mut done = Vec::new();
        loop {
            disks.pump(&mut done).map_err(|error| broken(error.to_string()))?;
            let now_ns = clock.now_ns();
            if let Some(reason) = disks.failure(0) {
                return Err(broken(reason));
            }
            if !disks.with_session(0, |session, _, _, _| session.is_pinging()) {
                return Ok(now_ns.saturating_sub(start_ns));
            }
            if now_ns >= until_ns {
                return Err(broken("the target does not answer".into()));
            }
        }
    }

    /// Logs out.
    pub(super) fn close(self) {
        // Nothing was left unwritten; a target that does not answer drops the session by itself.
        let _ = self.disks.into_inner().finish();
    }
}

impl Source for Unit {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let block_bytes = u64::from(self.block_bytes);
        for (index, part) in bytes.chunks_mut(COMMAND_BYTES).enumerate() {
            let at = offset + (index * COMMAND_BYTES) as u64;
            let cdb = cdb::read(at / block_bytes, (part.len() as u64).div_ceil(block_bytes) as u32);
            let data = self
                .read_in(cdb, part.len() as u32)
                .map_err(|failure| io::Error::other(failure.to_string()))?;
            let data = data.get(..part.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
            part.copy_from_slice(data);
        }
        Ok(())
    }
}

/// Why a command came to nothing.
#[derive(Debug, thiserror::Error)]
enum CommandFailure {
    #[error(transparent)]
    Refused(CommandError),
    #[error("{0}")]
    Broken(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_page_says_what_an_acknowledged_write_means() {
        let of = |has_mode_data, write_cache, keeps_nothing| {
            let facts = UnitFacts { has_mode_data, write_cache, ..UnitFacts::default() };
            let promise = facts.promise(keeps_nothing);
            (promise.acknowledged, promise.evidence)
        };
        let page = |write_cache| PromiseEvidence::ModePage { write_cache };
        let no_fua = PromiseEvidence::ForcedUnitAccess { supported: false };
        assert_eq!(
            of(true, Some(true), false),
            (Acknowledged::VolatileCache, vec![page(true), no_fua.clone()])
        );
        assert_eq!(
            of(true, Some(false), false),
            (Acknowledged::Stable, vec![page(false), no_fua.clone()])
        );
        assert_eq!(
            of(true, None, false),
            (Acknowledged::Unknown, vec![PromiseEvidence::NoModePage, no_fua.clone()])
        );
        assert_eq!(
            of(false, None, false),
            (Acknowledged::Unknown, vec![PromiseEvidence::NoModePage])
        );
        assert_eq!(
            of(true, Some(false), true),
            (Acknowledged::Memory, vec![page(false), no_fua, PromiseEvidence::KeepsNothing])
        );
    }
}
