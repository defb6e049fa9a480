//! The laws that a trial's figures must obey, measured or predicted.
//!
//! A broken law makes a result invalid; a bent one is a warning. The numbers are those of the project's list of
//! laws:
//!
//! 1. throughput = IOPS × request size;
//! 2. Little's law, L = λW (J. D. C. Little, Operations Research 9(3), 1961): IOPS × mean latency is the
//!    mean number of outstanding I/Os, which is counted separately;
//! 4. histogram counts = operations = sum of the intervals (= sum of the disks); the same of flushes, which
//!    intervals and disks leave out;
//! 8. the generator's own ceiling is at least three times what was measured;
//! 9. the working set does not fit into a memory on the path (in `crate::cache`);
//! 10. no error, no short I/O, no wrong data, the trial completed (drift and warm-up are judged
//!     over all trials together, in [`crate::steadiness`]; blocks in [`crate::course`]; data in
//!     [`crate::data`]);
//! 11. users of desktops are conserved (in `crate::desktop_laws`).
//!
//! The third law, that nothing moves faster than its link or bus, applies to predictions and published
//! tables only: the nominal speed of a virtual NIC or disk is not its limit.

use stormeter_disk::Kind;
use stormeter_study::WorkloadKind;
use stormeter_trial::{CpuUsage, Ended, KindTotals, Sample};

use crate::desktop_laws;
use crate::finding::{Backlog, Fact, LawFinding, Severity, Tally};
use crate::lateness::lateness;
use crate::neighbours::check_cpus;
pub use crate::trial_facts::TrialFacts;

/// The generator's ceiling must be this many times what was measured.
pub const CEILING_FACTOR: f64 = 3.0;
/// IOPS × latency and the outstanding I/Os are counted separately and are equal, except for rounding and for the
/// last step of fixed work: from this relative difference on the law is bent…
const LITTLE_BENT: f64 = 0.01;
/// … and from this on it is broken.
const LITTLE_BROKEN: f64 = 0.05;
/// From this share of slots that wait for their turn on, a note says that the storage answers at once.
const AT_ONCE: f64 = 0.05;
/// A queue that grew by more than this many standard deviations of the number of arrivals (that of a Poisson
/// process, whose variance is its mean) did not do so by chance.
const GROWING_SD: f64 = 3.0;

/// Checks one trial against all laws that concern a single trial.
pub fn check_trial(facts: &TrialFacts<'_>) -> Vec<LawFinding> {
    // Failed I/Os first: they disturb what the other laws count.
    let checks =
        [errors, throughput, little, answered_at_once, tallies, ceiling, backlog, lateness];
    let mut found: Vec<_> = checks.iter().filter_map(|check| check(facts)).collect();
    if let Some(cpu) = facts.cpu {
        found.extend(check_cpus(cpu, facts.sample.window_ns));
    }
    found
}

/// Checks a trial of fixed work, which ends when its work is done, against the laws about its
/// counters and its end. The sizes of its I/Os and their number at once are up to the work.
pub fn check_fixed_work(sample: &Sample) -> Vec<LawFinding> {
    [ended(sample), counted(sample)].into_iter().flatten().collect()
}

/// Checks a trial of sessions with a service, or of desktops: what moves in an operation is up to these.
pub fn check_sessions(sample: &Sample, cpu: &CpuUsage) -> Vec<LawFinding> {
    let mut found = sessions(sample);
    found.extend(check_cpus(cpu, sample.window_ns));
    found
}

fn sessions(sample: &Sample) -> Vec<LawFinding> {
    let found = [ended(sample), little_of(sample), counted(sample)].into_iter().flatten();
    found.chain(desktop_laws::check(sample)).collect()
}

/// The law that a trial breaks by itself, the generator's ceiling aside; `None` if it is sound. The ceiling is a
/// law about the machine: measuring again would not change it.
pub fn broken_law(kind: &WorkloadKind, sample: &Sample, is_null: bool) -> Option<Fact> {
    let found = match kind {
        WorkloadKind::Io(workload) => {
            check_trial(&TrialFacts { workload, sample, is_null, ceiling_iops: None, cpu: None })
        }
        WorkloadKind::File(_) | WorkloadKind::Transfer(_) | WorkloadKind::Deploy(_) => {
            check_fixed_work(sample)
        }
        WorkloadKind::Ftp(_) | WorkloadKind::Vnc(_) | WorkloadKind::Desktops(_) => sessions(sample),
    };
    let broken = found.into_iter().find(|finding| finding.severity == Severity::Invalid);
    broken.map(|finding| finding.fact)
}

fn throughput(facts: &TrialFacts<'_>) -> Option<LawFinding> {
    let smallest_bytes = facts.workload.sizes.iter().map(|size| size.bytes).min()?;
    let largest_bytes = facts.workload.largest_bytes();
    let is_impossible = |(_, totals): &(Kind, &KindTotals)| {
        totals.bytes < totals.operations * u64::from(smallest_bytes)
            || totals.bytes > totals.operations * u64::from(largest_bytes)
    };
    let kinds = [Kind::Read, Kind::Write, Kind::DurableWrite];
    let mut totals = kinds.into_iter().map(|kind| (kind, facts.sample.kind(kind)));
    let (kind, totals) = totals.find(is_impossible)?;
    Some(LawFinding::invalid(Fact::ImpossibleBytes {
        kind,
        operations: totals.operations,
        smallest_bytes,
        largest_bytes,
        moved_bytes: totals.bytes,
    }))
}

fn little(facts: &TrialFacts<'_>) -> Option<LawFinding> {
    if facts.is_null { None } else { little_of(facts.sample) }
}

fn little_of(sample: &Sample) -> Option<LawFinding> {
    let total = sample.total();
    let outstanding = sample.outstanding_mean;
    if total.operations == 0 || outstanding == 0.0 {
        return None;
    }
    let busy_ns = total.latency_sum_ns as f64 + sample.carried_ns as f64;
    let product = busy_ns / sample.window_ns as f64;
    // I/Os that failed were outstanding too, but their latency is not in the sum. Flushes are outstanding to nobody.
    let faulty = (total.errors + total.short_operations) as f64;
    let unseen = faulty / (faulty + total.operations as f64);
    let deviation = match sample.turn_wait_ns {
        Some(_) => (product / outstanding - 1.0).abs() - unseen,
        // Samples of earlier versions count a slot that waited for its turn as outstanding.
        None => product / outstanding - 1.0,
    };
    let fact = Fact::LittlesLaw { product, outstanding };
    if deviation <= LITTLE_BENT {
        None
    } else if deviation > LITTLE_BROKEN {
        Some(LawFinding::invalid(fact))
    } else {
        Some(LawFinding::warning(fact))
    }
}

/// A loop that cannot keep as many I/Os outstanding as configured, because the first of a batch complete before the
/// rest are submitted. That is how fast storage behaves, and no fault.
fn answered_at_once(facts: &TrialFacts<'_>) -> Option<LawFinding> {
    let sample = facts.sample;
    let configured = sample.outstanding_configured? as f64;
    let outstanding = sample.outstanding_mean;
    let waited = sample.turn_wait_ns? as f64 / sample.window_ns.max(1) as f64;
    (!facts.is_null && waited >= AT_ONCE * configured)
        .then(|| LawFinding::note(Fact::AnsweredAtOnce { outstanding, configured }))
}

fn tallies(facts: &TrialFacts<'_>) -> Option<LawFinding> {
    counted(facts.sample)
}

fn counted(sample: &Sample) -> Option<LawFinding> {
    let operations = sample.operations();
    let Sample { flushes, .. } = sample;
    let (ended, counted) = (flushes.operations, flushes.histogram.count());
    if ended != counted {
        let tally = Tally::Flushes;
        return Some(LawFinding::invalid(Fact::TalliesDiffer {
            operations: ended,
            tally,
            count: counted,
        }));
    }
    let histograms = sample.ios().iter().map(|kind| kind.histogram.count()).sum();
    let rows = sample.intervals.iter().map(|r| r.reads.operations + r.writes.operations).sum();
    let disks = sample.disks.iter().map(|disk| disk.operations).sum();
    let counts: [(Tally, u64); 3] =
        [(Tally::Histograms, histograms), (Tally::Intervals, rows), (Tally::Disks, disks)];
    let (tally, count) = counts.into_iter().find(|&(_, count)| count != operations)?;
    Some(LawFinding::invalid(Fact::TalliesDiffer { operations, tally, count }))
}

fn ceiling(facts: &TrialFacts<'_>) -> Option<LawFinding> {
    let ceiling_iops = facts.ceiling_iops?;
    let iops = facts.sample.iops();
    (!facts.is_null && iops * CEILING_FACTOR > ceiling_iops)
        .then(|| LawFinding::invalid(Fact::LowCeiling { iops, ceiling_iops }))
}

fn errors(facts: &TrialFacts<'_>) -> Option<LawFinding> {
    ended(facts.sample)
}

fn ended(sample: &Sample) -> Option<LawFinding> {
    let count = sample.failed_operations();
    if count > 0 {
        let disturbed = !sample.disturbances.is_empty();
        let fact = Fact::IoErrors { count, first: sample.io_failures.first().cloned(), disturbed };
        return Some(if disturbed { LawFinding::warning(fact) } else { LawFinding::invalid(fact) });
    }
    match &sample.ended {
        Ended::Completed if sample.operations() == 0 => Some(LawFinding::invalid(Fact::NoIo)),
        Ended::Completed => None,
        ended => Some(LawFinding::invalid(Fact::EndedEarly(ended.clone()))),
    }
}

fn backlog(facts: &TrialFacts<'_>) -> Option<LawFinding> {
    let sample = facts.sample;
    let offered_per_s = sample.offered_rate_per_s?;
    let due = sample.due_operations as f64;
    // One request in a thousand may fall due just before the window's end.
    let was_left = sample.backlog_operations as f64 > 1.0 + due * 1e-3;
    // Fewer I/Os ended in the window than fell due, by as many as the queue grew. A queue of constant length
    // changes by chance, and less than arrivals vary; one that grows does so in proportion to time.
    let total = sample.total();
    let gained = due - (total.operations + total.errors + total.short_operations) as f64;
    let chance = due.sqrt();
    let grows = gained > 1.0 + GROWING_SD * chance
        && gained_late(sample, offered_per_s) > 0.25 * gained + chance;
    let left = match (was_left, grows) {
        (true, _) => Backlog::NeverIssued(sample.backlog_operations),
        (false, true) => Backlog::Grew(gained),
        (false, false) => return None,
    };
    let served_per_s = sample.iops();
    Some(LawFinding::warning(Fact::Backlog { offered_per_s, served_per_s, left }))
}

/// By how much the queue grew in the second half of the window: one that only had to reach its length grew
/// before.
fn gained_late(sample: &Sample, offered_per_s: f64) -> f64 {
    let rows = sample.intervals.get(sample.intervals.len() / 2..).unwrap_or_default();
    let gained = rows.iter().map(|row| {
        let ended = row.reads.operations + row.writes.operations;
        offered_per_s * row.length_ns as f64 / 1e9 - ended as f64
    });
    gained.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;
    use stormeter_driver::drive;
    use stormeter_simulator::{
        FaultPlan, HostNoise, Model, NoisePlan, Service, SimulatedDisks, VirtualTime,
    };
    use stormeter_trial::{Arrivals, Limits, Trial};

    fn trial() -> Trial {
        Trial {
            workload: stormeter_study::profile("vm-4k").unwrap().workload,
            first_disk: 0,
            disks: 2,
            disk_bytes: 1 << 30,
            seed: 1,
            start: Default::default(),
            content_seed: 0,
            ramp_ns: 10_000_000,
            duration_ns: 1_000_000_000,
            interval_ns: 100_000_000,
            limits: Limits::default(),
            verify: false,
        }
    }

    fn sample_of(trial: &Trial, faults: FaultPlan) -> Sample {
        let time = VirtualTime::new();
        let noise = Rc::new(RefCell::new(HostNoise::new(NoisePlan::QUIET, 1)));
        let service = Service::Exponential { mean_ns: 100_000 };
        let model = Model { servers: 2, service, faults };
        let mut disks = SimulatedDisks::new(time.clone(), model, noise, 1);
        drive(trial, || Some(0), &mut disks, &mut time.clock(), &mut ()).unwrap()
    }

    fn findings(sample: &Sample, ceiling_iops: Option<f64>) -> Vec<(u8, Severity)> {
        let workload = &trial().workload;
        check_trial(&TrialFacts { workload, sample, is_null: false, ceiling_iops, cpu: None })
            .iter()
            .map(|finding| (finding.fact.law().unwrap_or(0), finding.severity))
            .collect()
    }

    #[test]
    fn an_honest_sample_passes() {
        let sample = sample_of(&trial(), FaultPlan::default());
        assert_eq!(findings(&sample, Some(1e7)), []);
    }

    /// Each law is broken by changing just what it watches.
    #[test]
    fn each_law_sees_its_own_lie() {
        type Lie = fn(&mut Sample);
        let lies: [(Lie, u8); 8] = [
            (|s| s.reads.bytes += 1, 1),
            (|s| s.writes.latency_sum_ns *= 3, 2),
            (|s| s.reads.latency_sum_ns /= 2, 2),
            (|s| s.reads.histogram.record(1000), 4),
            (|s| s.flushes.histogram.record(1000), 4),
            (|s| s.intervals[3].reads.operations += 1, 4),
            (|s| s.disks[1].operations -= 1, 4),
            (|s| s.ended = Ended::Stalled { outstanding: 1 }, 10),
        ];
        for (index, (lie, law)) in lies.into_iter().enumerate() {
            let mut sample = sample_of(&trial(), FaultPlan::default());
            lie(&mut sample);
            assert_eq!(findings(&sample, None), [(law, Severity::Invalid)], "lie {index}");
        }
    }

    /// Failed I/Os that took long leave the sum of latencies short, and are what is wrong.
    #[test]
    fn failed_operations_come_before_the_laws_that_they_disturb() {
        let mut sample = sample_of(&trial(), FaultPlan::default());
        sample.reads.errors = 10;
        sample.reads.latency_sum_ns /= 2;
        let kind = WorkloadKind::Io(trial().workload);
        let broken = broken_law(&kind, &sample, false);
        assert!(matches!(broken, Some(Fact::IoErrors { count: 10, .. })), "{broken:?}");
        let sessions = check_sessions(&sample, &CpuUsage::default());
        let first = sessions.first().map(|finding| &finding.fact);
        assert!(matches!(first, Some(Fact::IoErrors { count: 10, .. })), "{sessions:?}");
    }

    /// What a session moves in an operation is up to its service, and everything else is law to it, too.
    #[test]
    fn sessions_obey_all_but_the_law_of_sizes() {
        let found = |sample: &Sample| -> Vec<(u8, Severity)> {
            let all = check_sessions(sample, &CpuUsage::default()).into_iter();
            all.map(|finding| (finding.fact.law().unwrap_or(0), finding.severity)).collect()
        };
        let mut sample = sample_of(&trial(), FaultPlan::default());
        sample.reads.bytes += 1;
        assert_eq!(found(&sample), []);
        type Lie = fn(&mut Sample);
        let lies: [(Lie, u8); 4] = [
            (|s| s.reads.latency_sum_ns *= 3, 2),
            (|s| s.reads.histogram.record(1000), 4),
            (|s| s.reads.errors = 1, 10),
            (|s| s.ended = Ended::Stalled { outstanding: 1 }, 10),
        ];
        for (lie, law) in lies {
            let mut sample = sample.clone();
            lie(&mut sample);
            assert_eq!(found(&sample), [(law, Severity::Invalid)]);
        }
        let ftp = stormeter_trial::VncLoad {
            password_file: "vnc.txt".into(),
            pause_ns: 0,
            pointer_per_s: 0,
            keys_at: None,
            fields: None,
            port: 5900,
        };
        let kind = WorkloadKind::Vnc(ftp);
        assert_eq!(broken_law(&kind, &sample, false), None);
        sample.ended = Ended::TooManyErrors;
        assert!(broken_law(&kind, &sample, false).is_some());
    }

    /// A durable write is an I/O like any other, a flush is none: it takes no part in rates, sizes and tallies.
    #[test]
    fn durable_writes_are_counted_as_ios_and_flushes_by_themselves() {
        let mut sample = sample_of(&trial(), FaultPlan::default());
        std::mem::swap(&mut sample.writes, &mut sample.durable);
        assert!(sample.durable.operations > 1000);
        for _ in 0..500 {
            sample.flushes.operations += 1;
            sample.flushes.latency_sum_ns += 70_000_000;
            sample.flushes.histogram.record(70_000_000);
        }
        assert_eq!(findings(&sample, Some(1e7)), []);
        type Lie = fn(&mut Sample);
        let lies: [(Lie, u8); 4] = [
            (|s| s.durable.bytes += 1, 1),
            (|s| s.durable.latency_sum_ns *= 3, 2),
            (|s| s.durable.histogram.record(1000), 4),
            (|s| s.flushes.errors += 1, 10),
        ];
        for (index, (lie, law)) in lies.into_iter().enumerate() {
            let mut sample = sample.clone();
            lie(&mut sample);
            assert_eq!(findings(&sample, None), [(law, Severity::Invalid)], "lie {index}");
        }
    }

    /// The last part of the window is a stall: what is outstanding then has no latency yet.
    #[test]
    fn a_stall_at_the_window_s_end_breaks_no_law() {
        let at_ns = trial().ramp_ns + 600_000_000;
        let stall = Some(stormeter_simulator::Stall { at_ns, for_ns: 900_000_000 });
        let sample = sample_of(&trial(), FaultPlan { stall, ..FaultPlan::default() });
        assert!(sample.carried_ns > 2_000_000_000, "{}", sample.carried_ns);
        assert_eq!(findings(&sample, None), []);
    }

    #[test]
    fn a_low_ceiling_breaks_the_eighth_law_but_not_for_null() {
        let sample = sample_of(&trial(), FaultPlan::default());
        let low = Some(sample.iops() * 2.9);
        assert_eq!(findings(&sample, low), [(8, Severity::Invalid)]);
        assert_eq!(findings(&sample, Some(sample.iops() * 3.1)), []);
        let workload = &trial().workload;
        let facts =
            TrialFacts { workload, sample: &sample, is_null: true, ceiling_iops: low, cpu: None };
        assert_eq!(check_trial(&facts), []);
    }

    #[test]
    fn one_error_or_short_io_in_a_trial_breaks_the_tenth_law() {
        for faults in [
            FaultPlan { errors: 0.001, ..FaultPlan::default() },
            FaultPlan { shorts: 0.001, ..FaultPlan::default() },
        ] {
            let sample = sample_of(&trial(), faults);
            assert!(sample.failed_operations() > 0);
            assert_eq!(findings(&sample, None), [(10, Severity::Invalid)]);
        }
    }

    #[test]
    fn a_rate_beyond_capacity_is_a_warning() {
        let mut trial = trial();
        trial.workload.arrivals = Arrivals::Constant { rate_per_s: 20_000.0 };
        trial.limits.open_loop_outstanding = 16;
        let sample = sample_of(&trial, FaultPlan::default());
        let found = findings(&sample, None);
        assert_eq!(found, [(10, Severity::Warning)]);
        trial.workload.arrivals = Arrivals::Constant { rate_per_s: 5_000.0 };
        assert_eq!(findings(&sample_of(&trial, FaultPlan::default()), None), []);
    }

    #[test]
    fn a_queue_that_grows_is_told_before_anything_is_dropped_and_one_that_keeps_its_length_is_not()
    {
        let mut trial = trial();
        trial.duration_ns = 5_000_000_000;
        trial.limits.open_loop_outstanding = 1 << 16;
        // Two servers of 100 µs each take 20 000 a second, from two disks.
        for seed in 0..20 {
            trial.seed = seed;
            trial.workload.arrivals = Arrivals::Poisson { rate_per_s: 12_000.0 };
            let over = sample_of(&trial, FaultPlan::default());
            assert!(over.backlog_operations <= 1 + over.due_operations / 1000);
            assert_eq!(findings(&over, None), [(10, Severity::Warning)], "seed {seed}");
            trial.workload.arrivals = Arrivals::Poisson { rate_per_s: 9_500.0 };
            let under = sample_of(&trial, FaultPlan::default());
            assert_eq!(findings(&under, None), [], "seed {seed}");
        }
        // No ramp, so that an interval goes by until the queue has its length.
        let mut early = sample_of(&trial, FaultPlan::default());
        early.reads.operations -= 1200;
        early.intervals[0].reads.operations -= 1200;
        let workload = &trial.workload;
        let facts =
            TrialFacts { workload, sample: &early, is_null: false, ceiling_iops: None, cpu: None };
        assert_eq!(backlog(&facts), None);
    }

    #[test]
    fn in_an_open_loop_few_ios_on_the_edge_are_no_contradiction_but_a_lie_is_told() {
        let mut trial = trial();
        trial.duration_ns = 20_000_000;
        trial.interval_ns = 1_000_000;
        trial.workload.arrivals = Arrivals::Poisson { rate_per_s: 300.0 };
        for seed in 0..200 {
            trial.seed = seed;
            let sample = sample_of(&trial, FaultPlan::default());
            if sample.operations() > 0 {
                assert_eq!(findings(&sample, None), [], "seed {seed}");
            }
        }
        trial.duration_ns = 1_000_000_000;
        let mut sample = sample_of(&trial, FaultPlan::default());
        sample.reads.latency_sum_ns *= 3;
        assert_eq!(findings(&sample, None), [(2, Severity::Invalid)]);
    }

    /// Storage that answers while the rest of a batch is handed over: fast, and no fault.
    #[test]
    fn fast_storage_is_told_of_and_never_invalid() {
        let honest = sample_of(&trial(), FaultPlan::default());
        let half_ns = (honest.outstanding_mean / 2.0) * honest.window_ns as f64;
        let mut fast = honest.clone();
        // Half the latency, and half of the slots waiting for their turn.
        let shorten = |kind: &mut stormeter_trial::KindTotals| kind.latency_sum_ns /= 2;
        shorten(&mut fast.reads);
        shorten(&mut fast.writes);
        fast.carried_ns /= 2;
        fast.outstanding_mean /= 2.0;
        fast.turn_wait_ns = Some(half_ns as u64);
        assert_eq!(findings(&fast, None), [(0, Severity::Note)]);
        // As a version would have written it that took the waiting slots for outstanding.
        let before =
            Sample { outstanding_mean: honest.outstanding_mean, turn_wait_ns: None, ..fast };
        assert_eq!(findings(&before, None), []);
    }

    #[test]
    fn a_window_without_io_is_no_result() {
        let mut sample = sample_of(&trial(), FaultPlan::default());
        sample.reads = Default::default();
        sample.writes = Default::default();
        sample.intervals.clear();
        sample.disks.clear();
        assert_eq!(findings(&sample, None), [(10, Severity::Invalid)]);
    }
}
