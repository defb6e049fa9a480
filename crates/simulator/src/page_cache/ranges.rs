//! Sets of bytes of one disk, as ranges that neither touch nor overlap.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    /// End by start.
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Adds bytes; returns how many of them are new.
    pub(super) fn add(&mut self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let (mut start, mut end, mut known) = (range.start, range.end, 0);
        let before = self.ends.range(..=range.end).rev();
        let touching: Vec<(u64, u64)> = before
            .map(|(start, end)| (*start, *end))
            .take_while(|(_, end)| *end >= range.start)
            .collect();
        for (own_start, own_end) in touching {
            self.ends.remove(&own_start);
            known += own_end.min(range.end).saturating_sub(own_start.max(range.start));
            (start, end) = (start.min(own_start), end.max(own_end));
        }
        self.ends.insert(start, end);
        range.end - range.start - known
    }

    /// Whether all these bytes are in it.
    pub(super) fn contains(&self, range: Range<u64>) -> bool {
        let own = self.ends.range(..=range.start).next_back();
        own.is_some_and(|(_, end)| *end >= range.end)
    }

    /// Takes out the first bytes at or after a place, at most `most` of them; from the start when none follow it.
    pub(super) fn take_from(&mut self, place: u64, most: u64) -> Option<Range<u64>> {
        let within = self.ends.range(..=place).next_back().filter(|(_, end)| **end > place);
        let next = within.or_else(|| self.ends.range(place..).next());
        let (&start, &end) = next.or_else(|| self.ends.iter().next())?;
        let from = if (start..end).contains(&place) { place } else { start };
        let to = end.min(from.saturating_add(most));
        self.remove(from..to);
        Some(from..to)
    }

    /// Takes bytes out that may be in it; returns how many were.
    pub(super) fn remove(&mut self, range: Range<u64>) -> u64 {
        let overlapping: Vec<(u64, u64)> = self
            .ends
            .range(..range.end)
            .rev()
            .map(|(start, end)| (*start, *end))
            .take_while(|(_, end)| *end > range.start)
            .collect();
        let mut removed = 0;
        for (start, end) in overlapping {
            self.ends.remove(&start);
            if start < range.start {
                self.ends.insert(start, range.start);
            }
            if end > range.end {
                self.ends.insert(range.end, end);
            }
            removed += end.min(range.end) - start.max(range.start);
        }
        removed
    }

    /// Its parts that touch these bytes.
    pub(super) fn within(&self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let from = range.start;
        let own = self.ends.range(..range.end).rev();
        own.map(|(start, end)| *start..*end).take_while(move |own| own.end > from)
    }

    /// Whether it is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    #[test]
    fn it_is_the_set_that_a_bit_for_each_byte_is() {
        for seed in 0..200 {
            let mut random = SplitMix64::seed_from_u64(seed);
            let mut below = |count: u64| random.next_u64() % count;
            let (mut ranges, mut bits) = (Ranges::default(), [false; 64]);
            for _ in 0..60 {
                let start = below(60);
                let range = start..start + 1 + below(64 - start);
                let own = &mut bits[range.start as usize..range.end as usize];
                match below(4) {
                    0 | 1 => {
                        let new = own.iter().filter(|bit| !**bit).count() as u64;
                        own.fill(true);
                        assert_eq!(ranges.add(range), new);
                    }
                    2 => {
                        let known = own.iter().filter(|bit| **bit).count() as u64;
                        own.fill(false);
                        assert_eq!(ranges.remove(range), known);
                    }
                    _ => {
                        let most = 1 + below(8);
                        let first = (start..64).chain(0..start).find(|at| bits[*at as usize]);
                        let taken = ranges.take_from(start, most);
                        assert_eq!(taken.as_ref().map(|taken| taken.start), first, "seed {seed}");
                        for at in taken.unwrap_or(0..0) {
                            assert!(std::mem::take(&mut bits[at as usize]));
                        }
                    }
                }
                let start = below(60);
                let range = start..start + 1 + below(64 - start);
                let all = bits[range.start as usize..range.end as usize].iter().all(|bit| *bit);
                assert_eq!(ranges.contains(range), all);
                assert_eq!(ranges.is_empty(), !bits.contains(&true));
            }
        }
    }
}
