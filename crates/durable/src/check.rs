//! Reads the whole disk back.

use stormeter_disk::{Clock, DeviceError, Disks, DisksError, Kind, Operation, Wait};

use crate::{Place, Ring, look};

/// How long one wait for completions lasts.
const TURN_NS: u64 = 100_000_000;
/// EIO, where a read ends before the block does: a disk that has become shorter.
const SHORT: DeviceError = DeviceError::IO;

/// Reads every place of the ring, with `outstanding` reads at once. Uses as many buffers and slots. A block that
/// cannot be read is reported as such and ends nothing.
///
/// # Errors
/// The disks no longer work, `cancelled` says to give up, or the storage answers nothing for `patience_ns`.
pub fn read_back(
    disks: &mut impl Disks,
    clock: &mut impl Clock,
    ring: &Ring,
    outstanding: u32,
    patience_ns: u64,
    cancelled: &dyn Fn() -> bool,
) -> Result<Vec<Place>, DisksError> {
    let places = ring.places();
    let mut found = vec![Place::Unread; places as usize];
    let mut free: Vec<u32> = (0..outstanding.max(1)).rev().collect();
    let slots = free.len();
    let mut at = vec![0; slots];
    let (mut next, mut done) = (0, Vec::new());
    let mut heard_ns = clock.now_ns();
    while next < places || free.len() < slots {
        while next < places
            && let Some(slot) = free.pop()
        {
            at[slot as usize] = next;
            disks.submit(&[Operation {
                offset_bytes: ring.offset_bytes(next),
                length_bytes: ring.block_bytes,
                disk: 0,
                slot,
                buffer: slot,
                kind: Kind::Read,
            }])?;
            next += 1;
        }
        disks.reap(Wait::AtMost(TURN_NS), &mut done)?;
        let now = clock.now_ns();
        if !done.is_empty() {
            heard_ns = now;
        } else if cancelled() {
            return Err(broken("interrupted"));
        } else if now.saturating_sub(heard_ns) > patience_ns {
            return Err(broken("the storage does not answer"));
        }
        for completion in done.drain(..) {
            let place = at[completion.slot as usize];
            found[place as usize] = match completion.outcome() {
                Ok(moved) if moved == ring.block_bytes => {
                    let buffer = disks.buffer(completion.slot);
                    let block = buffer.and_then(|bytes| bytes.get(..ring.block_bytes as usize));
                    let block = block.ok_or_else(|| broken("a buffer is missing"))?;
                    Place::Holds(look(block, ring.run, ring.offset_bytes(place)))
                }
                Ok(_) => Place::Unreadable(SHORT),
                Err(error) => Place::Unreadable(error),
            };
            free.push(completion.slot);
        }
        if cancelled() {
            return Err(broken("interrupted"));
        }
    }
    Ok(found)
}

fn broken(reason: &str) -> DisksError {
    DisksError { action: "reading the records back", reason: reason.into() }
}
