//! Every finding in words, with its remedy for measurements and for predictions.
//!
//! The sentences are in `tests/golden/findings.txt`, to be read as a whole; `UPDATE_GOLDEN=1` rewrites it.

use std::collections::HashSet;

use stormeter_results::{Acknowledged, Promise, PromiseEvidence};
use stormeter_statistics::{
    Backlog, BrokenBy, CeilingKind, Fact, FailedTrials, GuestWait, LawFinding, MeasuredAgain,
    Promised, SeenIn, Tally,
};
use stormeter_study::Metric;
use stormeter_trial::{
    BlockName, Corruption, DeviceError, Ended, ExpectedBlock, FlushEvery, FoundBlock, IoFailure,
    IoFailureOutcome, Kind, MemoryPlace, TrialFailure,
};

use super::{Remedies, Setting, SettingNames, finding, remedy, study_key};
use crate::title::Titles;

fn all() -> Vec<Fact> {
    const GIB: u64 = 1 << 30;
    let first = || IoFailure {
        disk: 1,
        kind: Kind::Write,
        offset_bytes: 8192,
        length_bytes: 4096,
        outcome: IoFailureOutcome::Failed(DeviceError(5)),
    };
    let corruption = Corruption {
        expected: ExpectedBlock { disk: 1, offset_bytes: 8192, generations: vec![5] },
        found: FoundBlock::Block(BlockName { disk: 1, offset_bytes: 8192, generation: 3 }),
        at_ns: 7,
        covered: false,
    };
    let seen = SeenIn { trials: 3, of: 10 };
    let failed = |first: TrialFailure| {
        let by_storage = first.is_by_storage();
        Fact::TrialsFailed(FailedTrials { count: 2, first, by_storage })
    };
    let again = |keeps_failing| {
        let first = BrokenBy::Law(Box::new(Fact::NoIo));
        let again = MeasuredAgain { blocks: 2, of: 5, first, by_storage: 2 };
        Fact::MeasuredAgain { again, keeps_failing }
    };
    let cached = |place, disks_bytes, again_share| {
        let (name, memory_bytes) = ("nas1".into(), 24 * GIB);
        Fact::CachedDisks { place, name, disks_bytes, memory_bytes, again_share }
    };
    let unlike = |first, metric, first_value, other_value| Fact::UnlikeFirstBlocks {
        metric,
        first,
        others: 11,
        first_value,
        other_value,
    };
    let waits = |count: usize| {
        let names = ["pe1", "pe2", "core", "ce1", "san"].iter().zip([0.31, 0.23, 0.2, 0.14, 0.11]);
        let wait = |(guest, share): (&&str, f64)| GuestWait { guest: (*guest).into(), share };
        names.map(wait).take(count).collect::<Vec<_>>()
    };
    let mut all = vec![
        Fact::ImpossibleBytes {
            kind: Kind::Read,
            operations: 10,
            smallest_bytes: 512,
            largest_bytes: 4096,
            moved_bytes: 99_999,
        },
        Fact::LittlesLaw { product: 4.61, outstanding: 4.0 },
        Fact::UsersLost { came: 180, ended: 179, served: 170 },
        Fact::UsersUnserved { came: 180, refused: 4, gone: 3, waiting: 2 },
        Fact::UsersUnserved { came: 180, refused: 0, gone: 0, waiting: 1 },
        Fact::AnsweredAtOnce { outstanding: 11.3, configured: 32.0 },
        Fact::TalliesDiffer { operations: 500, tally: Tally::Histograms, count: 499 },
        Fact::TalliesDiffer { operations: 500, tally: Tally::Intervals, count: 499 },
        Fact::TalliesDiffer { operations: 500, tally: Tally::Disks, count: 499 },
        Fact::TalliesDiffer { operations: 500, tally: Tally::Flushes, count: 499 },
        Fact::LowCeiling { iops: 90_000.0, ceiling_iops: 200_000.0 },
        Fact::LowWay { kind: CeilingKind::NullServer, ceiling_iops: 60_000.0 },
        Fact::LowWay { kind: CeilingKind::NamedWay, ceiling_iops: 60_000.0 },
        Fact::IoErrors { count: 2, first: Some(first()), disturbed: false },
        Fact::IoErrors { count: 2, first: None, disturbed: true },
        Fact::NoIo,
        Fact::EndedEarly(Ended::Stalled { outstanding: 4 }),
        Fact::Backlog {
            offered_per_s: 5000.0,
            served_per_s: 4100.0,
            left: Backlog::NeverIssued(900),
        },
        Fact::Backlog { offered_per_s: 5000.0, served_per_s: 4900.0, left: Backlog::Grew(800.0) },
        Fact::IssuedLate { mean_ns: 60_000.0, p99_ns: 1_200_000.0, service_ns: 200_000.0 },
        Fact::Starved { share: 0.4, pushed_off: 1200 },
        Fact::OtherPrograms { share: 0.42, waited_share: Some(0.75) },
        Fact::OtherPrograms { share: 0.42, waited_share: None },
        Fact::ShortOfMemory(0.2),
        Fact::BusyBefore(0.125),
        Fact::AccountsReadLate { late_ns: 100_000_000 },
        Fact::HostBelowParts { whole: 0.71, parts: 0.82, busier_before: false },
        Fact::HostBelowParts { whole: 0.71, parts: 0.82, busier_before: true },
        Fact::Stolen(0.12),
        Fact::WrongBlocks { wrong: 1, of: 123_456, first: Some(corruption) },
        Fact::UnknownMemory { name: "nas1".into(), disks_bytes: GIB, again_share: Some(0.62) },
        cached(MemoryPlace::PageCacheAsked, GIB, None),
        cached(MemoryPlace::PageCache, GIB, None),
        cached(MemoryPlace::FileSystem, GIB, Some(0.9)),
        cached(MemoryPlace::LoopDevice, GIB, None),
        cached(MemoryPlace::ServerHere, 48 * GIB, None),
        Fact::StreamsReadAgain { trials: 10, share: 0.94, disks_bytes: GIB },
        Fact::UnevenLoad { candidate_per_s: 42_000.0, baseline_per_s: 9_000.0 },
        Fact::UnlikePromises { promised: promised(), workloads: vec![] },
        Fact::NoFlush(FlushEvery::Interval { ns: 5_000_000_000 }),
        Fact::NoFlush(FlushEvery::Writes { writes: 4096 }),
        Fact::NotSettled(seen),
        Fact::GuestsStarved { seen_in: SeenIn { trials: 1, of: 1 }, waits: waits(1) },
        Fact::GuestsStarved { seen_in: seen, waits: waits(5) },
        Fact::Drift { seen_in: seen, most: -0.041 },
        Fact::SlowFluctuation(seen),
        unlike(1, Metric::Iops, 4778.0, 1200.0),
        unlike(2, Metric::LatencyP99, 4.7e6, 1.2e6),
        Fact::Trend {
            metric: Metric::Iops,
            from: 1500.0,
            to: 1100.0,
            change: -0.267,
            blocks: 12,
            p_value: 0.0031,
        },
        Fact::BlocksAlike(0.71),
        Fact::FewBlocks(1),
        Fact::FewBlocks(3),
        failed(TrialFailure::Datastore { said: "/srv/vm does not exist".into() }),
        failed(TrialFailure::ClocksDisagree { share: 0.021 }),
        again(true),
        again(false),
        Fact::NotRecovered { seen_in: seen, least_ns: 123_000_000 },
        Fact::ReadsOfZeros,
        Fact::FixedOrder,
        Fact::IntervalsAsObservations,
        Fact::ResumedAfterVerdict(1),
    ];
    all.push(Fact::ResumedAfterVerdict(3));
    all
}

/// What a server and a LUN might promise.
fn promised() -> Vec<Promised> {
    let of = |name: &str, acknowledged, evidence| {
        let promise = Promise::new(acknowledged, evidence);
        Promised { datastore: 0, name: name.into(), promise }
    };
    let stable = "FILE_SYNC".into();
    vec![
        of("nas1", Acknowledged::Stable, PromiseEvidence::NfsWrites { stable }),
        of("san", Acknowledged::VolatileCache, PromiseEvidence::ModePage { write_cache: true }),
    ]
}

/// What a command might call settings.
fn option(setting: Setting) -> &'static str {
    match setting {
        Setting::Duration => "OPTION-duration",
        Setting::Ramp => "OPTION-ramp",
        Setting::Threads => "OPTION-threads",
        Setting::Vms => "OPTION-vms",
        Setting::TimeLimit => "OPTION-time-limit",
        Setting::Blocks => "OPTION-blocks",
        Setting::EqualLoad => "OPTION-equal-load",
        Setting::AsPlanned => "OPTION-as-planned",
        Setting::Durable => "OPTION-durable",
        Setting::Flush => "OPTION-flush",
        Setting::FlushEveryWrite => "OPTION-flush every-write",
        other => panic!("no remedy for a finding names {other:?}"),
    }
}

#[test]
fn every_finding_reads_as_the_golden_file_has_it() {
    let mut text = String::new();
    for fact in all() {
        let found = LawFinding::warning(fact);
        let predicted = Remedies::Predicted { names: study_key, shortened: false };
        let predicted = remedy(&found, predicted);
        let [options, study] = [option, study_key]
            .map(|names: SettingNames| remedy(&found, Remedies::Measured(names)));
        text += &format!("{}\n  {options}\n", finding(&found, Titles::Usual));
        if study != options {
            text += &format!("  in a study: {study}\n");
        }
        if predicted != study {
            text += &format!("  in a prediction: {predicted}\n");
        }
        text.push('\n');
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/findings.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    for (line, expected) in text.lines().zip(golden.lines()) {
        assert_eq!(line, expected);
    }
    assert_eq!(text.len(), golden.len());
}

/// A new kind of finding has to be in the list above, or no test ever reads its sentence.
#[test]
fn every_kind_of_finding_is_in_the_golden_file() {
    let kinds: HashSet<_> = all().iter().map(std::mem::discriminant).collect();
    let source = include_str!("../../../statistics/src/finding.rs");
    let (_, declared) = source.split_once("pub enum Fact {").unwrap();
    let (declared, _) = declared.split_once("\n}").unwrap();
    let is_variant = |line: &&str| {
        line.strip_prefix("    ").is_some_and(|it| it.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    assert_eq!(kinds.len(), declared.lines().filter(is_variant).count());
}

#[test]
fn users_of_desktops_are_no_ios() {
    let are_of_operations = |fact: &Fact| {
        matches!(
            fact,
            Fact::LittlesLaw { .. }
                | Fact::NoIo
                | Fact::IoErrors { .. }
                | Fact::UnevenLoad { .. }
                | Fact::BusyBefore(_)
                | Fact::NotSettled(_)
                | Fact::Drift { .. }
                | Fact::SlowFluctuation(_)
                | Fact::UnlikeFirstBlocks { .. }
                | Fact::Trend { .. }
                | Fact::TalliesDiffer { tally: Tally::Histograms | Tally::Intervals, .. }
        )
    };
    let found = all().into_iter().filter(are_of_operations).map(LawFinding::invalid);
    let all: Vec<String> = found.map(|found| finding(&found, Titles::Users)).collect();
    assert!(all.len() >= 9, "{all:#?}");
    for text in &all {
        assert!(!text.contains("I/O") && !text.contains("IOPS"), "{text}");
    }
}

#[test]
fn what_several_trials_show_is_said_with_how_many() {
    let seen_in = Some(SeenIn { trials: 3, of: 9 });
    let found = LawFinding { seen_in, ..LawFinding::invalid(Fact::NoIo) };
    let expected =
        "in 3 of 9 trials, for example: not one I/O completed within the measured window";
    assert_eq!(finding(&found, Titles::Usual), expected);
}

#[test]
fn no_remedy_of_a_prediction_speaks_of_what_a_model_does_not_have() {
    let of_machine = |fact: &Fact| {
        // A model has no CPUs of this machine, no measured ceiling, and nothing is measured again or resumed.
        matches!(
            fact,
            Fact::AnsweredAtOnce { .. }
                | Fact::LowCeiling { .. }
                | Fact::LowWay { .. }
                | Fact::IssuedLate { .. }
                | Fact::Starved { .. }
                | Fact::OtherPrograms { .. }
                | Fact::ShortOfMemory(_)
                | Fact::BusyBefore(_)
                | Fact::AccountsReadLate { .. }
                | Fact::HostBelowParts { .. }
                | Fact::Stolen(_)
                | Fact::WrongBlocks { .. }
                | Fact::UnlikeFirstBlocks { .. }
                | Fact::Trend { .. }
                | Fact::MeasuredAgain { .. }
                | Fact::ResumedAfterVerdict(_)
        )
    };
    for shortened in [false, true] {
        let remedies = Remedies::Predicted { names: study_key, shortened };
        for fact in all().into_iter().filter(|fact| !of_machine(fact)) {
            let text = remedy(&LawFinding::warning(fact), remedies);
            for word in ["dmesg", "kernel log", "SSD", "measure again", "OPTION"] {
                assert!(!text.contains(word), "{text}");
            }
        }
    }
}
