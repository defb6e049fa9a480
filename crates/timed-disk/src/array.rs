//! Several spindles behind one disk: RAID-10, as stripes over mirrored pairs.

use crate::schedule::{Access, Schedule};
use crate::spindle::{Counters, Speed, Spindle};
use crate::{COUNTERS, SPEED};

/// Consecutive bytes on one pair, as the kernel's md makes them unless asked otherwise.
const CHUNK_BYTES: u64 = 512 << 10;

/// A RAID-10. A write goes to both disks of its pair, a read to the one that is free first. Its files are those of a
/// [`Spindle`]; its counters are the sums of its disks', and its time is that of all of them.
#[derive(Debug)]
pub struct Raid10 {
    pairs: Vec<[Spindle; 2]>,
}

impl Raid10 {
    /// An array of mirrored pairs, at least one, of disks with this speed.
    #[must_use]
    pub fn new(speed: Speed, pairs: u32) -> Self {
        let pair = || [Spindle::new(speed), Spindle::new(speed)];
        Self { pairs: (0..pairs.max(1)).map(|_| pair()).collect() }
    }

    fn disks(&self) -> impl Iterator<Item = &Spindle> {
        self.pairs.iter().flatten()
    }
}

impl Schedule for Raid10 {
    fn admit(&mut self, arrived_ns: u64, access: Access) -> u64 {
        let pairs = self.pairs.len() as u64;
        let end = access.offset_bytes + access.length_bytes;
        let (mut at, mut done_ns) = (access.offset_bytes, arrived_ns);
        while at < end {
            let (chunk, within) = (at / CHUNK_BYTES, at % CHUNK_BYTES);
            let length_bytes = (CHUNK_BYTES - within).min(end - at);
            let offset_bytes = chunk / pairs * CHUNK_BYTES + within;
            let part = Access { offset_bytes, length_bytes, ..access };
            let pair = &mut self.pairs[(chunk % pairs) as usize];
            if access.is_write {
                for disk in pair {
                    done_ns = done_ns.max(disk.admit(arrived_ns, part));
                }
            } else {
                let first = usize::from(pair[1].free_ns() < pair[0].free_ns());
                done_ns = done_ns.max(pair[first].admit(arrived_ns, part));
            }
            at += length_bytes;
        }
        done_ns
    }

    fn flush(&mut self, arrived_ns: u64) -> u64 {
        let disks = self.pairs.iter_mut().flatten();
        disks.map(|disk| disk.flush(arrived_ns)).max().unwrap_or(arrived_ns)
    }

    fn files(&self) -> &'static [&'static str] {
        &[SPEED, COUNTERS]
    }

    fn read_file(&self, name: &str, now_ns: u64) -> String {
        if name != COUNTERS {
            return self
                .disks()
                .next()
                .map(|disk| disk.read_file(name, now_ns))
                .unwrap_or_default();
        }
        let sum =
            self.disks().map(|disk| disk.counters(now_ns)).fold(Counters::default(), |sum, one| {
                Counters {
                    requests: sum.requests + one.requests,
                    bytes: sum.bytes + one.bytes,
                    busy_ns: sum.busy_ns + one.busy_ns,
                    elapsed_ns: sum.elapsed_ns + one.elapsed_ns,
                }
            });
        serde_json::to_string(&sum).unwrap_or_default()
    }

    fn write_file(&mut self, name: &str, text: &str) -> bool {
        // One takes it if all do.
        self.pairs.iter_mut().flatten().all(|disk| disk.write_file(name, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Speed = Speed { position_ns: 8_000_000, bytes_per_s: 100_000_000 };

    fn at(offset_bytes: u64, is_write: bool) -> Access {
        Access { offset_bytes, length_bytes: 100_000, is_write }
    }

    #[test]
    fn reads_take_turns_in_a_pair_and_writes_take_both() {
        let mut array = Raid10::new(SLOW, 2);
        let reads = [0, 0, 0].map(|arrived_ns| array.admit(arrived_ns, at(0, false)));
        assert_eq!(reads, [9_000_000, 9_000_000, 18_000_000]);
        // The second chunk is on the other pair.
        assert_eq!(array.admit(0, at(CHUNK_BYTES, true)), 9_000_000);
        assert_eq!(array.admit(0, at(CHUNK_BYTES, true)), 18_000_000);
        let counters: Counters =
            serde_json::from_str(&array.read_file(COUNTERS, 18_000_000)).unwrap();
        assert_eq!((counters.requests, counters.elapsed_ns), (7, 4 * 18_000_000));
        assert_eq!(counters.busy_ns, 7 * 9_000_000);
    }

    #[test]
    fn an_access_over_two_chunks_is_done_when_both_parts_are() {
        let mut array = Raid10::new(SLOW, 2);
        let across = Access { length_bytes: 300_000, ..at(CHUNK_BYTES - 100_000, false) };
        assert_eq!(array.admit(0, across), 10_000_000);
        assert_eq!(array.flush(0), 10_000_000);
        assert!(array.write_file(SPEED, "1ms,100MB/s"));
        assert_eq!(array.admit(20_000_000, at(0, true)), 22_000_000);
    }
}
