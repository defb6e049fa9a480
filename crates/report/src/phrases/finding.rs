//! The finding of a law or a check, as a clause without a full stop.

use stormeter_statistics::laws::CEILING_FACTOR;
use stormeter_statistics::steadiness::FEWEST_EFFECTIVE;
use stormeter_statistics::{
    Backlog, BrokenBy, CeilingKind, Fact, GuestWait, LawFinding, SeenIn, Tally,
};
use stormeter_study::Metric;
use stormeter_trial::{IoFailureOutcome, MemoryPlace, RECOVERED_SHARE};
use stormeter_units::{format_bytes, format_count, format_duration_ns};

use super::number::p_value as p_value_of;
use super::promise::unlike;
use crate::title::Titles;
use crate::wording::{listed, plural};

/// A finding: `in 3 of 9 trials, for example: 2 I/Os failed or came back short`.
pub(crate) fn finding(finding: &LawFinding, titles: Titles) -> String {
    let what = fact(&finding.fact, titles);
    match finding.seen_in {
        Some(SeenIn { trials, of }) => format!("in {trials} of {of} trials, for example: {what}"),
        None => what,
    }
}

/// Why a trial is not a measurement.
fn broken_by(broken: &BrokenBy, titles: Titles) -> String {
    match broken {
        BrokenBy::Failure(failure) => failure.to_string(),
        BrokenBy::Law(law) => fact(law, titles),
    }
}

/// What was found. One match without a wildcard, so that no kind of finding goes without words.
fn fact(fact: &Fact, titles: Titles) -> String {
    let rate = titles.of(Metric::Iops);
    match fact {
        Fact::ImpossibleBytes { kind, operations, smallest_bytes, largest_bytes, moved_bytes } => {
            format!(
                "{operations} {kind}s of {smallest_bytes} to {largest_bytes} bytes cannot have moved {moved_bytes} \
                 bytes"
            )
        }
        Fact::UsersLost { came, ended, served } => format!(
            "{} came, but {ended} were served, were refused, went away or wait, and {served} waits were recorded",
            plural(*came, "user")
        ),
        Fact::UsersUnserved { came, refused, gone, waiting } => {
            let parts = [(refused, "were refused"), (gone, "went away"), (waiting, "still waited at the end")];
            let parts = parts.iter().filter(|(users, _)| **users > 0);
            let parts = parts.map(|(users, what)| format!("{users} {what}"));
            let count = match gone + waiting {
                0 => "waits are those of the others",
                _ => "in waits they count with the time until then, which is too short",
            };
            format!("of {}, {}: {count}", plural(*came, "user"), listed(parts))
        }
        Fact::LittlesLaw { product, outstanding } if titles == Titles::Users => format!(
            "users served a second × mean wait is {product:.2} waiting users, but {outstanding:.2} waited on average \
             (Little's law)"
        ),
        Fact::LittlesLaw { product, outstanding } => format!(
            "IOPS × mean latency is {product:.2} outstanding I/Os, but {outstanding:.2} were outstanding on \
             average (Little's law)"
        ),
        Fact::AnsweredAtOnce { outstanding, configured } => format!(
            "{outstanding:.1} of {configured:.0} I/Os were outstanding on average: requests complete while others \
             are still being submitted"
        ),
        Fact::TalliesDiffer { operations, tally, count } => {
            let counted = format!("{}s", titles.operation());
            let (what, tally) = match tally {
                Tally::Histograms => (counted.as_str(), "the histograms hold"),
                Tally::Intervals => (counted.as_str(), "the intervals hold"),
                Tally::Disks => (counted.as_str(), "the disks hold"),
                Tally::Flushes => ("flushes", "their histogram holds"),
            };
            format!("{operations} {what} were counted, but {tally} {count}")
        }
        Fact::LowCeiling { iops, ceiling_iops } => format!(
            "{iops:.0} IOPS were measured, but the generator's own ceiling is {ceiling_iops:.0}: less than \
             {CEILING_FACTOR} times as much, so it may be the generator that was measured"
        ),
        // The same words for all that share a path: a report gathers them.
        Fact::LowWay { kind: CeilingKind::NullServer, ceiling_iops } => format!(
            "the same client reaches {ceiling_iops:.0} IOPS against a server that answers from nothing, less than \
             {CEILING_FACTOR} times what was measured, so part of that is the client's and the network stack's"
        ),
        Fact::LowWay { kind: CeilingKind::Generator | CeilingKind::NamedWay, ceiling_iops } => {
            format!(
                "the path to the storage by itself reaches {ceiling_iops:.0} IOPS, less than {CEILING_FACTOR} \
                 times what was measured, so part of that is the path's"
            )
        }
        Fact::IoErrors { count, first, disturbed } => {
            let when = if *disturbed { ", while the study's steps disturbed the storage" } else { "" };
            match titles {
                Titles::Usual => {
                    let first = first.as_ref().map(|first| format!(", first: {first}"));
                    format!("{count} I/Os failed or came back short{}{when}", first.unwrap_or_default())
                }
                // A desktop is a disk to what counts failures, and an I/O of no length.
                Titles::Users => {
                    let first = first.as_ref().map(|first| match first.outcome {
                        IoFailureOutcome::Failed(error) => {
                            format!(", first in place {}: {error}", first.disk)
                        }
                        IoFailureOutcome::Short(_) => String::new(),
                    });
                    let desktops = plural(*count, "desktop");
                    format!("{desktops} could not be made or died{}{when}", first.unwrap_or_default())
                }
            }
        }
        Fact::NoIo => match titles {
            Titles::Usual => "not one I/O completed within the measured window".into(),
            Titles::Users => "not one user was served within the measured window".into(),
        },
        Fact::EndedEarly(ended) => format!("the trial did not come to its end: {ended}"),
        Fact::Backlog { offered_per_s, served_per_s, left } => {
            let left = match left {
                Backlog::NeverIssued(count) => format!("{count} were never issued"),
                Backlog::Grew(count) => format!("the queue grew by {count:.0} within the window"),
            };
            format!("{offered_per_s:.0} I/Os a second were offered and {served_per_s:.0} served; {left}")
        }
        Fact::IssuedLate { mean_ns, p99_ns, service_ns } => format!(
            "requests were issued late, by {} on average and {} at the 99th percentile, with a mean service time of \
             {}: latencies contain the delay, service times do not",
            format_duration_ns(*mean_ns),
            format_duration_ns(*p99_ns),
            format_duration_ns(*service_ns),
        ),
        Fact::WrongBlocks { wrong, of, first } => {
            let first = first.as_ref().map_or_else(String::new, |first| format!(", first: {first}"));
            let were = if *wrong == 1 { "was" } else { "were" };
            let count = |count: u64| format_count(count as f64);
            let (wrong, of) = (count(*wrong), count(*of));
            format!("{wrong} of {of} blocks read back {were} not what was written{first}")
        }
        Fact::UnevenLoad { candidate_per_s, baseline_per_s } => format!(
            "CPU time per {} is compared at {:.0} and {:.0} {}: it depends on the rate, so part of the difference is due \
             to the load",
            titles.operation(),
            titles.value(Metric::Iops, *candidate_per_s),
            titles.value(Metric::Iops, *baseline_per_s),
            titles.counted(),
        ),
        Fact::TrialsFailed(failed) => {
            format!("{} failed: {}", plural(u64::from(failed.count), "trial"), failed.first)
        }
        Fact::MeasuredAgain { again, .. } => {
            let were = if again.blocks == 1 { "was" } else { "were" };
            format!(
                "{} of {} blocks {were} measured again because a trial broke; the first: {}",
                again.blocks,
                again.of,
                broken_by(&again.first, titles)
            )
        }
        // The machine that drives the load: its CPUs and its memory.
        Fact::Starved { share, pushed_off } => format!(
            "the load generator was ready to run but had no CPU for {:.1} % of the time and was preempted \
             {pushed_off} times: its latencies are partly this machine's",
            share * 100.0
        ),
        Fact::GuestsStarved { seen_in, waits } => guests_starved(seen_in, waits),
        Fact::OtherPrograms { share, waited_share } => {
            let waited = waited_share.map_or_else(String::new, |share| {
                format!(", and some task waited for a CPU for {:.0} % of the time", share * 100.0)
            });
            let share = share * 100.0;
            format!("other programs had {share:.0} % of this machine's CPUs meanwhile{waited}")
        }
        Fact::ShortOfMemory(share) => format!(
            "tasks on this machine waited for memory for {:.0} % of the time (pressure)",
            share * 100.0
        ),
        Fact::BusyBefore(share) => format!(
            "this machine's CPUs were {:.0} % busy before the load began; that share is subtracted from {}, which \
             is uncertain by as much as that share varies",
            share * 100.0,
            titles.of(Metric::HostCpuPerIo)
        ),
        Fact::AccountsReadLate { late_ns } => format!(
            "the CPU time of process, target and host was read {} after an end of the window",
            format_duration_ns(*late_ns as f64)
        ),
        Fact::HostBelowParts { whole, parts, busier_before } => {
            let why = match busier_before {
                true => "this machine was busier before the load began than during the trial",
                false => "the kernel counts by ticks",
            };
            let (whole, parts) = (whole * 1e3, parts * 1e3);
            format!(
                "host CPU is below initiator + target ({whole:.0} and {parts:.0} ms a second): {why}"
            )
        }
        Fact::Stolen(share) => format!(
            "the hypervisor gave {:.1} % of this machine's CPU time to others (steal)",
            share * 100.0
        ),
        // Memories between the load and the storage.
        Fact::UnknownMemory { name, disks_bytes, again_share } => format!(
            "how much memory {name} has is not known here, and it may hold the disks ({} in all){}",
            format_bytes(*disks_bytes),
            read_again(*again_share)
        ),
        Fact::CachedDisks { place, name, disks_bytes, memory_bytes, again_share } => {
            let whose = match place {
                MemoryPlace::PageCacheAsked => "the page cache, as requested".into(),
                MemoryPlace::PageCache => {
                    format!("the page cache, since {name} refuses direct I/O")
                }
                MemoryPlace::FileSystem => format!("the cache of {name}"),
                MemoryPlace::LoopDevice => {
                    format!(
                        "the page cache below the loop device {name}, which does not use direct I/O"
                    )
                }
                MemoryPlace::ServerHere | MemoryPlace::ServerElsewhere => {
                    format!("the memory of its server {name}, which is this machine")
                }
            };
            let share = *memory_bytes as f64 / (*disks_bytes).max(1) as f64;
            let fits = match share >= 1.0 {
                true => "the working set fits into".to_string(),
                false => format!("{:.0} % of the working set fits into", share * 100.0),
            };
            let (disks, memory) = (format_bytes(*disks_bytes), format_bytes(*memory_bytes));
            format!("{fits} {whose}: disks {disks}, memory {memory}{}", read_again(*again_share))
        }
        Fact::StreamsReadAgain { trials, share, disks_bytes } => format!(
            "in {} {:.0} % of the bytes read had been read before: a cache on the path that holds the disks ({} in \
             all) can answer",
            plural(*trials as u64, "trial"),
            share * 100.0,
            format_bytes(*disks_bytes),
        ),
        // What writes mean.
        Fact::UnlikePromises { promised, workloads } => unlike(promised, workloads),
        Fact::NoFlush(every) => format!(
            "the workload flushes {every}, and no flush ended within the window of any trial"
        ),
        // How the load went over time.
        Fact::NotSettled(seen) => {
            format!("{} {rate} had not settled when the window opened (MSER-5)", in_trials(seen))
        }
        Fact::Drift { seen_in, most } => format!(
            "{} {rate} drifted within the window, by up to {}",
            in_trials(seen_in),
            signed(*most)
        ),
        Fact::SlowFluctuation(seen) => format!(
            "{} {rate} fluctuated slowly (strong autocorrelation), so a trial is worth fewer than \
             {FEWEST_EFFECTIVE} independent samples",
            in_trials(seen)
        ),
        Fact::UnlikeFirstBlocks { metric, first, others, first_value, other_value } => {
            let had = match first {
                1 => "the first block had".to_string(),
                _ => format!("the first {first} blocks had"),
            };
            format!(
                "{had} {}, the other {others} had {} ({}): the verdict contains both",
                named(*metric, *first_value, titles),
                titles.quantity(*metric, *other_value),
                signed(other_value / first_value - 1.0),
            )
        }
        Fact::Trend { metric, from, to, change, blocks, p_value } => {
            format!(
                "from block to block the trend was {} to {} ({} over {blocks} blocks, {}): the verdict \
                 holds for this time only",
                named(*metric, *from, titles),
                titles.quantity(*metric, *to),
                signed(*change),
                p_value_of(*p_value),
            )
        }
        Fact::BlocksAlike(lag1) => format!(
            "neighbouring blocks resemble one another (autocorrelation {lag1:.2}), so the interval may be too narrow"
        ),
        Fact::NotRecovered { seen_in, least_ns } => format!(
            "{} throughput was not back at {:.0} % of its level before the steps when the trial ended, {} or more \
             after the last one, so no recovery time is given",
            in_trials(seen_in),
            RECOVERED_SHARE * 100.0,
            format_duration_ns(*least_ns as f64)
        ),
        Fact::FewBlocks(blocks) => {
            let were = if *blocks == 1 { "was" } else { "were" };
            format!(
                "only {} {were} finished; at least 5 are the rule",
                plural(u64::from(*blocks), "block")
            )
        }
        Fact::ReadsOfZeros => {
            "the disks were prepared with zeros, which many datastores keep without storing them".into()
        }
        Fact::FixedOrder => "the cells took their turns in the same order in every block, so whatever drifts with \
                             time looks like a difference"
            .into(),
        Fact::IntervalsAsObservations => {
            "intervals count as observations although those of one run are correlated, as the study asks".into()
        }
        Fact::ResumedAfterVerdict(times) => {
            let times = if *times == 1 { String::new() } else { format!(" {times} times") };
            format!(
                "the run was resumed{times} after its verdict could be read; stopping and resuming until a verdict \
                 pleases makes more than 5 % of verdicts wrong"
            )
        }
    }
}

/// The guests that waited longest by name, the others by their number.
fn guests_starved(seen_in: &SeenIn, waits: &[GuestWait]) -> String {
    const NAMED: usize = 3;
    let percent = |wait: &GuestWait| format!("{:.0} %", wait.share * 100.0);
    let what = match waits {
        [one] => format!(
            "the guest {} waited {} of the time for a CPU of this machine: its figures are also about the emulation",
            one.guest,
            percent(one)
        ),
        all => {
            let named = all.iter().take(NAMED);
            let mut named: Vec<String> =
                named.map(|wait| format!("{} ({})", wait.guest, percent(wait))).collect();
            if all.len() > NAMED {
                named.push(plural((all.len() - NAMED) as u64, "more guest"));
            }
            format!(
                "guests waited for CPUs of this machine: {}; their figures are also about the emulation",
                named.join(", ")
            )
        }
    };
    match seen_in.trials {
        1 if seen_in.of == 1 => what,
        _ => format!("{}, the worst of them here: {what}", in_trials(seen_in)),
    }
}

/// What share was read again, where that is known, as the end of a sentence.
fn read_again(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| {
        format!(
            "; {:.0} % of the bytes moved had been read or written before in the same run",
            share * 100.0
        )
    })
}

/// `in 3 of 9 trials`.
fn in_trials(seen: &SeenIn) -> String {
    format!("in {} of {} trials", seen.trials, seen.of)
}

/// A value with its metric: `1 201 IOPS`, `mean latency 3.4ms`.
fn named(metric: Metric, value: f64, titles: Titles) -> String {
    let (title, value) = (titles.of(metric), titles.quantity(metric, value));
    match metric {
        Metric::Iops => format!("{value} {title}"),
        _ => format!("{title} {value}"),
    }
}

/// `−75 %`.
fn signed(change: f64) -> String {
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{:.0} %", change.abs() * 100.0)
}
