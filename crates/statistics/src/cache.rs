//! The ninth law for measurements: a working set that fits into a memory on the way gives that memory's
//! result and not the storage's.
//!
//! A memory of known size is compared with the disks of a trial. Where its size is not known (a server
//! elsewhere) one can only say so, with what was read again. A stream that reads again what it read
//! before is suspicious wherever it happens: what people ask of streams is how fast new data come.

use stormeter_trial::{Memory, MemoryPlace, Workload};
use stormeter_units::format_bytes;

use crate::laws::{Check, LawFinding, Severity};
use crate::touched::Touched;

/// Of this share on, what is read again is worth a word.
const OFTEN: f64 = 0.5;
/// A memory that can hold this share of the disks answers so many requests that it is worth a note.
const PARTLY: f64 = 0.25;

/// What is to be said of the trials of a datastore or cell: `memories` are those on its way, `trials` how many
/// there were.
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

fn finding(severity: Severity, what: String, advice: &str) -> Option<LawFinding> {
    Some(LawFinding { law: 9, check: Check::Cache, severity, what, advice: advice.into() })
}

fn check_memory(workload: &Workload, memory: &Memory, touched: &Touched) -> Option<LawFinding> {
    let disks = touched.working_set_bytes;
    let whose = match memory.place {
        MemoryPlace::PageCacheAsked => "the page cache, which was asked for".into(),
        MemoryPlace::PageCache => {
            format!("the page cache, since {} refuses direct I/O", memory.name)
        }
        MemoryPlace::FileSystem => format!("the cache of {}", memory.name),
        MemoryPlace::LoopDevice => format!(
            "the page cache below the loop device {}, which does not use direct I/O",
            memory.name
        ),
        MemoryPlace::ServerHere => {
            format!("the memory of its server {}, which is this machine", memory.name)
        }
        MemoryPlace::ServerElsewhere => {
            return finding(
                Severity::Note,
                format!(
                    "how much memory {} has is not known here, and it may hold the disks ({} in all){}",
                    memory.name,
                    format_bytes(disks),
                    again(workload, touched),
                ),
                "for the storage behind it, use disks that are larger than that memory",
            );
        }
    };
    let bytes = memory.bytes?;
    let share = bytes as f64 / disks.max(1) as f64;
    if share < PARTLY {
        return None;
    }
    let severity = match memory.place {
        MemoryPlace::PageCacheAsked => Severity::Note,
        _ if share >= 1.0 => Severity::Warning,
        _ => Severity::Note,
    };
    let fits = match share >= 1.0 {
        true => "the working set fits into".to_string(),
        false => format!("{:.0} % of the working set fit into", share * 100.0),
    };
    let advice = match memory.place {
        MemoryPlace::LoopDevice => {
            "attach the loop device with direct I/O (losetup --direct-io=on), or use disks larger than the \
             memory"
        }
        _ => {
            "the result may be that memory's: for the storage behind it, use disks larger than the memory"
        }
    };
    finding(
        severity,
        format!(
            "{fits} {whose}: disks {}, memory {}{}",
            format_bytes(disks),
            format_bytes(bytes),
            again(workload, touched)
        ),
        advice,
    )
}

/// What was touched again, where it is worth a word.
fn again(workload: &Workload, touched: &Touched) -> String {
    if touched.again_share < OFTEN || workload.read_percent == 0.0 {
        return String::new();
    }
    format!(
        "; {:.0} % of the bytes moved had been read or written before in the same run",
        touched.again_share * 100.0
    )
}

/// A stream that comes by the same places again.
fn stream(workload: &Workload, touched: &Touched, trials: usize) -> Option<LawFinding> {
    let is_stream = workload.random_percent == 0.0 && workload.read_percent > 0.0;
    if !is_stream || touched.again_share < OFTEN {
        return None;
    }
    finding(
        Severity::Warning,
        format!(
            "in {trials} {} {:.0} % of the bytes read had been read before: a cache on the way that holds \
             the disks ({} in all) can answer",
            if trials == 1 { "trial" } else { "trials" },
            touched.again_share * 100.0,
            format_bytes(touched.working_set_bytes),
        ),
        "use larger disks, or fewer and shorter trials, so that streams read what no trial read before",
    )
}

#[cfg(test)]
mod tests {
    use stormeter_study::profile;

    use super::*;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    fn found(name: &str, place: MemoryPlace, bytes: Option<u64>, disks: u64, again: f64) -> String {
        let workload = profile(name).unwrap().workload;
        let touched = Touched {
            trial_share: 0.5,
            run_share: 1.0,
            again_share: again,
            working_set_bytes: disks,
        };
        let memory = Memory { place, name: "x".into(), bytes };
        let found = check_caches(&workload, &[memory], &touched, 10);
        let texts = found.iter().map(|it| format!("{:?} {}", it.severity, it.what));
        texts.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_working_set_that_fits_into_a_known_memory_is_a_warning_with_both_sizes() {
        use MemoryPlace::{FileSystem, LoopDevice, PageCache, PageCacheAsked, ServerHere};
        for place in [LoopDevice, ServerHere, PageCache, FileSystem] {
            let found = found("vm-4k", place, Some(24 * GIB), 64 * MIB, 0.9);
            assert!(found.starts_with("Warning the working set fits into"), "{found}");
            assert!(found.contains("disks 64MiB, memory 24GiB; 90 % of the bytes"), "{found}");
        }
        let asked = found("vm-4k", PageCacheAsked, Some(24 * GIB), 64 * MIB, 0.1);
        assert!(asked.starts_with("Note") && asked.ends_with("memory 24GiB"), "{asked}");
    }

    #[test]
    fn a_larger_one_fits_in_part_or_is_not_mentioned() {
        let place = MemoryPlace::ServerHere;
        let partly = found("vm-4k", place, Some(24 * GIB), 48 * GIB, 0.0);
        assert!(partly.starts_with("Note 50 % of the working set fit into"), "{partly}");
        assert_eq!(found("vm-4k", place, Some(24 * GIB), 240 * GIB, 0.9), "");
    }

    #[test]
    fn a_memory_elsewhere_is_unknown_and_said_to_be() {
        let place = MemoryPlace::ServerElsewhere;
        let unknown = found("vm-4k", place, None, 64 * MIB, 0.62);
        assert!(unknown.starts_with("Note how much memory x has is not known"), "{unknown}");
        assert!(unknown.contains("64MiB in all") && unknown.contains("62 %"), "{unknown}");
        assert!(!found("vm-4k", place, None, 64 * MIB, 0.2).contains('%'));
    }

    #[test]
    fn a_stream_that_comes_by_again_is_a_warning_wherever_it_reads() {
        let workload = profile("seq-read-1m").unwrap().workload;
        let touched = |again_share| Touched {
            trial_share: 0.1,
            run_share: 0.1,
            again_share,
            working_set_bytes: 256 * MIB,
        };
        let found = check_caches(&workload, &[], &touched(0.94), 10);
        assert_eq!((found.len(), found[0].severity), (1, Severity::Warning));
        assert!(
            found[0].what.starts_with("in 10 trials 94 % of the bytes read had been read before")
        );
        assert_eq!(check_caches(&workload, &[], &touched(0.1), 10), []);
        let random = profile("vm-4k").unwrap().workload;
        assert_eq!(check_caches(&random, &[], &touched(0.94), 10), []);
    }
}
