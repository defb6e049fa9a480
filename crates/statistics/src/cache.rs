//! The ninth law for measurements: with a working set that fits into a memory on the path, a trial measures that
//! memory and not the storage.
//!
//! A memory of known size is compared with the disks of a trial. Where its size is not known (a server
//! elsewhere) the finding says so, with the share that was read again. A stream that reads the same data again
//! is suspicious anywhere: a stream is to show how fast new data arrive.

use stormeter_trial::{Memory, MemoryPlace, Workload};

use crate::finding::{Fact, LawFinding};
use crate::touched::Touched;

/// From this share on, data that is read again is worth a finding.
const OFTEN: f64 = 0.5;
/// A memory that can hold this share of the disks answers enough requests to be worth a note.
const PARTLY: f64 = 0.25;

/// The findings about the trials of a datastore or cell: `memories` are those on its path, `trials` is their number.
pub(crate) fn check_caches(
    workload: &Workload,
    memories: &[Memory],
    touched: &Touched,
    trials: usize,
) -> Vec<LawFinding> {
    let mut findings: Vec<LawFinding> =
        memories.iter().filter_map(|memory| check_memory(workload, memory, touched)).collect();
    findings.extend(stream(workload, touched, trials));
    findings
}

fn check_memory(workload: &Workload, memory: &Memory, touched: &Touched) -> Option<LawFinding> {
    let disks_bytes = touched.working_set_bytes;
    let is_often = touched.again_share >= OFTEN && workload.read_percent > 0.0;
    let again_share = is_often.then_some(touched.again_share);
    let name = memory.name.clone();
    if memory.place == MemoryPlace::ServerElsewhere {
        return Some(LawFinding::note(Fact::UnknownMemory { name, disks_bytes, again_share }));
    }
    let memory_bytes = memory.bytes?;
    let share = memory_bytes as f64 / disks_bytes.max(1) as f64;
    let place = memory.place;
    let fact = Fact::CachedDisks { place, name, disks_bytes, memory_bytes, again_share };
    if share < PARTLY {
        None
    } else if place == MemoryPlace::PageCacheAsked || share < 1.0 {
        Some(LawFinding::note(fact))
    } else {
        Some(LawFinding::warning(fact))
    }
}

/// A stream that reads the same places again.
fn stream(workload: &Workload, touched: &Touched, trials: usize) -> Option<LawFinding> {
    let is_stream = workload.random_percent == 0.0 && workload.read_percent > 0.0;
    let (share, disks_bytes) = (touched.again_share, touched.working_set_bytes);
    (is_stream && share >= OFTEN)
        .then(|| LawFinding::warning(Fact::StreamsReadAgain { trials, share, disks_bytes }))
}

#[cfg(test)]
mod tests {
    use stormeter_study::profile;

    use super::*;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    fn found(
        name: &str,
        place: MemoryPlace,
        bytes: Option<u64>,
        disks: u64,
        again: f64,
    ) -> Vec<LawFinding> {
        let workload = profile(name).unwrap().workload;
        let touched = Touched {
            trial_share: 0.5,
            run_share: 1.0,
            again_share: again,
            working_set_bytes: disks,
        };
        let memory = Memory { place, name: "x".into(), bytes };
        check_caches(&workload, &[memory], &touched, 10)
    }

    fn cached(place: MemoryPlace, disks_bytes: u64, again_share: Option<f64>) -> Fact {
        let (name, memory_bytes) = ("x".into(), 24 * GIB);
        Fact::CachedDisks { place, name, disks_bytes, memory_bytes, again_share }
    }

    #[test]
    fn a_working_set_that_fits_into_a_known_memory_is_a_warning_with_both_sizes() {
        use MemoryPlace::{FileSystem, LoopDevice, PageCache, PageCacheAsked, ServerHere};
        for place in [LoopDevice, ServerHere, PageCache, FileSystem] {
            let found = found("vm-4k", place, Some(24 * GIB), 64 * MIB, 0.9);
            assert_eq!(found, [LawFinding::warning(cached(place, 64 * MIB, Some(0.9)))]);
        }
        let asked = found("vm-4k", PageCacheAsked, Some(24 * GIB), 64 * MIB, 0.1);
        assert_eq!(asked, [LawFinding::note(cached(PageCacheAsked, 64 * MIB, None))]);
    }

    #[test]
    fn a_larger_working_set_fits_in_part_or_is_not_mentioned() {
        let place = MemoryPlace::ServerHere;
        let partly = found("vm-4k", place, Some(24 * GIB), 48 * GIB, 0.0);
        assert_eq!(partly, [LawFinding::note(cached(place, 48 * GIB, None))]);
        assert_eq!(found("vm-4k", place, Some(24 * GIB), 240 * GIB, 0.9), []);
    }

    #[test]
    fn the_size_of_a_memory_elsewhere_is_reported_as_unknown() {
        let place = MemoryPlace::ServerElsewhere;
        for (again, again_share) in [(0.62, Some(0.62)), (0.2, None)] {
            let (name, disks_bytes) = ("x".into(), 64 * MIB);
            let unknown = Fact::UnknownMemory { name, disks_bytes, again_share };
            assert_eq!(found("vm-4k", place, None, 64 * MIB, again), [LawFinding::note(unknown)]);
        }
    }

    #[test]
    fn a_stream_that_reads_the_same_places_again_is_a_warning_anywhere() {
        let workload = profile("seq-read-1m").unwrap().workload;
        let touched = |again_share| Touched {
            trial_share: 0.1,
            run_share: 0.1,
            again_share,
            working_set_bytes: 256 * MIB,
        };
        let found = check_caches(&workload, &[], &touched(0.94), 10);
        let again = Fact::StreamsReadAgain { trials: 10, share: 0.94, disks_bytes: 256 * MIB };
        assert_eq!(found, [LawFinding::warning(again)]);
        assert_eq!(check_caches(&workload, &[], &touched(0.1), 10), []);
        let random = profile("vm-4k").unwrap().workload;
        assert_eq!(check_caches(&random, &[], &touched(0.94), 10), []);
    }
}
