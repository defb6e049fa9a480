//! Which bytes of a read have arrived: in order in practice, in any order by the protocol, each
//! once.

/// The most out-of-order runs that are kept. Targets send in order or nearly so; one that scatters
/// single bytes is broken or hostile.
const MAX_RUNS: usize = 1024;

/// The bytes of one command that have arrived.
#[derive(Debug, Clone, Default)]
pub(super) struct Coverage {
    /// Everything before this has arrived.
    through: u32,
    /// Runs beyond it, as (start, end), in order, neither touching nor overlapping `through`.
    runs: Vec<(u32, u32)>,
}

impl Coverage {
    /// Resets it and keeps its memory.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.through = 0;
        self.runs.clear();
    }

    /// Records a run. `false` if part of it arrived before, or there are too many runs.
    #[inline]
    pub(super) fn add(&mut self, offset: u32, length: u32) -> bool {
        let Some(end) = offset.checked_add(length) else { return false };
        if length == 0 {
            return true;
        }
        if offset == self.through && self.runs.is_empty() {
            self.through = end;
            return true;
        }
        self.insert(offset, end)
    }

    fn insert(&mut self, begin: u32, end: u32) -> bool {
        let at = self.runs.partition_point(|run| run.0 < begin);
        let before =
            at.checked_sub(1).and_then(|at| self.runs.get(at)).map_or(self.through, |run| run.1);
        let after = self.runs.get(at).map_or(u32::MAX, |run| run.0);
        if begin < before || end > after || self.runs.len() >= MAX_RUNS {
            return false;
        }
        self.runs.insert(at, (begin, end));
        let mut joined = 0;
        for &(begin, end) in &self.runs {
            if begin != self.through {
                break;
            }
            self.through = end;
            joined += 1;
        }
        self.runs.drain(..joined);
        true
    }

    /// Number of bytes that have arrived from the start on; `None` if there is a hole.
    #[inline]
    pub(super) fn whole(&self) -> Option<u32> {
        self.runs.is_empty().then_some(self.through)
    }

    /// Bytes from the beginning to the first hole.
    pub(super) fn through(&self) -> u32 {
        self.through
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_fills_and_no_byte_comes_twice() {
        let mut coverage = Coverage::default();
        assert!(coverage.add(20, 10));
        assert!(coverage.add(0, 10));
        assert_eq!(coverage.whole(), None);
        assert_eq!(coverage.through(), 10);
        assert!(!coverage.add(5, 2));
        assert!(!coverage.add(25, 10));
        assert!(!coverage.add(15, 6));
        assert!(!coverage.add(u32::MAX, 2));
        assert!(coverage.add(7, 0));
        assert!(coverage.add(40, 1));
        assert!(coverage.add(10, 10));
        assert_eq!(coverage.through(), 30);
        assert!(coverage.add(30, 10));
        assert_eq!(coverage.whole(), Some(41));
        assert!(!coverage.add(0, 1));
    }

    #[test]
    fn runs_are_bounded() {
        let mut coverage = Coverage::default();
        for at in 0..MAX_RUNS as u32 {
            assert!(coverage.add(at * 2 + 1, 1));
        }
        assert!(!coverage.add(1_000_000, 1));
    }
}
