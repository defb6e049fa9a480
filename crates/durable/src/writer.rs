//! Writes numbered records in turn over a disk and flushes after every group of them.
//!
//! Groups are strictly one after the other: several writes of a group may be outstanding, but the next group starts
//! only when all of them have completed, the flush after them has completed, and the caller has kept its number. On
//! that the check relies; see [`Ring`].

use stormeter_disk::{Clock, Completion, DeviceError, Disks, DisksError, Kind, Operation, Wait};

use crate::{Ring, fill};

/// How long one wait for completions lasts, before asking again whether to stop.
const TURN_NS: u64 = 100_000_000;

/// How the records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speed {
    /// The largest number of outstanding writes. Buffers 0 to this less 1, and its slots, are used; a flush has the
    /// slot after them.
    pub outstanding: u32,
    /// Each write is durable by itself, and nothing is flushed.
    pub durable: bool,
    /// Writing gives up on storage that answers nothing for this long after it was told to stop.
    pub patience_ns: u64,
}

/// Why writing ended before it was told to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError<E> {
    /// A write failed.
    #[error("writing record {number} at byte {offset_bytes} failed: {error}")]
    Write {
        /// The record.
        number: u64,
        /// Where it belongs.
        offset_bytes: u64,
        /// The storage's reason.
        error: DeviceError,
    },
    /// A write moved only a part.
    #[error("writing record {number} moved {moved} of {block_bytes} bytes")]
    Short {
        /// The record.
        number: u64,
        /// Bytes moved.
        moved: u32,
        /// Bytes of a record.
        block_bytes: u32,
    },
    /// A flush failed: nothing that it covered counts.
    #[error("the flush of the records {from} to {to} failed ({error}): none of them counts")]
    Flush {
        /// The first record that it covered.
        from: u64,
        /// The last one.
        to: u64,
        /// The storage's reason.
        error: DeviceError,
    },
    /// The storage answers no longer.
    #[error("the storage does not answer: {outstanding} operations are outstanding")]
    Stalled {
        /// Operations without an answer.
        outstanding: u32,
    },
    /// The disks no longer work.
    #[error(transparent)]
    Disks(#[from] DisksError),
    /// The caller could not keep the number.
    #[error("{0}")]
    Keep(E),
}

/// Writes records until `stop` says so, and tells `acknowledged` the number up to which they are on stable storage,
/// as the storage says. `stop` is given the time on `clock`; a group that was started is brought to its end. Returns the
/// last acknowledged number.
///
/// # Errors
/// Whatever ends it; what was acknowledged before stays so.
pub fn write<D: Disks, E>(
    disks: &mut D,
    clock: &mut impl Clock,
    ring: &Ring,
    speed: Speed,
    stop: &mut dyn FnMut(u64) -> bool,
    acknowledged: &mut dyn FnMut(&mut D, u64) -> Result<(), E>,
) -> Result<u64, WriteError<E>> {
    let mut writer = Writer { disks, clock, ring, speed, stop, stopped_ns: None };
    let mut last = 0;
    while !writer.is_stopped() {
        let (from, to) = (last + 1, last + u64::from(ring.group));
        writer.group(from, to)?;
        if !speed.durable {
            writer.flush(from, to)?;
        }
        acknowledged(writer.disks, to).map_err(WriteError::Keep)?;
        last = to;
    }
    Ok(last)
}

struct Writer<'a, D, C> {
    disks: &'a mut D,
    clock: &'a mut C,
    ring: &'a Ring,
    speed: Speed,
    stop: &'a mut dyn FnMut(u64) -> bool,
    /// When it was seen that it is to stop.
    stopped_ns: Option<u64>,
}

impl<D: Disks, C: Clock> Writer<'_, D, C> {
    fn is_stopped(&mut self) -> bool {
        let now = self.clock.now_ns();
        if self.stopped_ns.is_none() && (self.stop)(now) {
            self.stopped_ns = Some(now);
        }
        self.stopped_ns.is_some()
    }

    /// Waits for completions; at least one, unless the storage is silent for too long after the end.
    fn reap<E>(&mut self, outstanding: u32) -> Result<Vec<Completion>, WriteError<E>> {
        let mut done = Vec::new();
        loop {
            self.disks.reap(Wait::AtMost(TURN_NS), &mut done)?;
            if !done.is_empty() {
                return Ok(done);
            }
            let (now, patience_ns) = (self.clock.now_ns(), self.speed.patience_ns);
            let is_silent = |since: u64| now.saturating_sub(since) > patience_ns;
            if self.is_stopped() && self.stopped_ns.is_some_and(is_silent) {
                return Err(WriteError::Stalled { outstanding });
            }
        }
    }

    /// Writes the records of a group and waits for all of them.
    fn group<E>(&mut self, from: u64, to: u64) -> Result<(), WriteError<E>> {
        let slots = self.speed.outstanding.max(1);
        let mut free: Vec<u32> = (0..slots).rev().collect();
        let mut numbers = vec![0; slots as usize];
        let mut next = from;
        while next <= to || free.len() < slots as usize {
            let mut submitted = false;
            while next <= to
                && let Some(slot) = free.pop()
            {
                // A buffer may be in use for a moment after its write has completed.
                let Some(buffer) = self.disks.buffer(slot) else {
                    free.insert(0, slot);
                    break;
                };
                let place = self.ring.place_of(next);
                let offset_bytes = self.ring.offset_bytes(place);
                let block = &mut buffer[..self.ring.block_bytes as usize];
                fill(block, self.ring.run, next, offset_bytes);
                numbers[slot as usize] = next;
                let kind = if self.speed.durable { Kind::DurableWrite } else { Kind::Write };
                let length_bytes = self.ring.block_bytes;
                let write =
                    Operation { offset_bytes, length_bytes, disk: 0, slot, buffer: slot, kind };
                self.disks.submit(&[write])?;
                submitted = true;
                next += 1;
            }
            let outstanding = slots - free.len() as u32;
            if outstanding == 0 && !submitted {
                let mut none = Vec::new();
                self.disks.reap(Wait::AtMost(TURN_NS), &mut none)?;
                continue;
            }
            for completion in self.reap(outstanding)? {
                let number = numbers[completion.slot as usize];
                self.judge(number, completion)?;
                free.push(completion.slot);
            }
        }
        Ok(())
    }

    fn judge<E>(&self, number: u64, completion: Completion) -> Result<(), WriteError<E>> {
        let block_bytes = self.ring.block_bytes;
        match completion.outcome() {
            Ok(moved) if moved == block_bytes => Ok(()),
            Ok(moved) => Err(WriteError::Short { number, moved, block_bytes }),
            Err(error) => {
                let offset_bytes = self.ring.offset_bytes(self.ring.place_of(number));
                Err(WriteError::Write { number, offset_bytes, error })
            }
        }
    }

    fn flush<E>(&mut self, from: u64, to: u64) -> Result<(), WriteError<E>> {
        let slot = self.speed.outstanding.max(1);
        self.disks.submit(&[Operation {
            offset_bytes: 0,
            length_bytes: 0,
            disk: 0,
            slot,
            buffer: 0,
            kind: Kind::Flush,
        }])?;
        // Nothing else is outstanding.
        for completion in self.reap(1)? {
            completion.outcome().map_err(|error| WriteError::Flush { from, to, error })?;
        }
        Ok(())
    }
}
