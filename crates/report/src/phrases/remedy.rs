//! What to do about a finding, as a clause without a full stop.

use stormeter_statistics::{CeilingKind, Fact, LawFinding};
use stormeter_trial::MemoryPlace;

use super::{Setting, SettingNames};

/// The kind of results that remedies are for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Remedies {
    /// For measurements.
    Measured(SettingNames),
    /// For predictions.
    Predicted {
        /// The names of settings.
        names: SettingNames,
        /// Whether ramp, window or blocks are shorter than in the study's plan.
        shortened: bool,
    },
}

/// The remedy for a finding.
pub(crate) fn remedy(finding: &LawFinding, remedies: Remedies) -> String {
    match remedies {
        Remedies::Measured(names) => measured(&finding.fact, names),
        Remedies::Predicted { names, shortened } => predicted(&finding.fact, names, shortened),
    }
}

/// For the results of a model, where it differs from that for measurements.
fn predicted(fact: &Fact, name: SettingNames, shortened: bool) -> String {
    let (ramp, duration) = (name(Setting::Ramp), name(Setting::Duration));
    // Those of the study may be longer than those of the prediction.
    let planned = match shortened {
        true => {
            format!("; {} uses the study's own ramp, window and blocks", name(Setting::AsPlanned))
        }
        false => String::new(),
    };
    match fact {
        Fact::IoErrors { disturbed: false, .. } => {
            "in a model requests fail only because of a fault that was planned, or because the site has no room; \
             figures with errors in them say nothing about speed"
                .into()
        }
        Fact::EndedEarly(_) | Fact::TrialsFailed(_) => {
            "in a model a trial fails only because of a fault that was planned, or because the site has no room; \
             change that and predict again"
                .into()
        }
        Fact::NoIo => {
            format!("increase {duration}, or check whether a fault keeps the site from answering{planned}")
        }
        Fact::NotSettled(_) => format!("increase {ramp}{planned}"),
        Fact::Drift { .. } => format!(
            "increase {ramp}, and look for a cache that fills or a fault within the window{planned}"
        ),
        Fact::SlowFluctuation(_) => format!(
            "increase {duration}, so that a trial averages over the site's own rhythm{planned}"
        ),
        Fact::Backlog { .. } => "the rate exceeds what the datastore can serve, so latency grows for as long as the \
                                 trial lasts; choose a lower rate in the study"
            .into(),
        Fact::FewBlocks(_) if shortened => format!("use more blocks{planned}"),
        Fact::FewBlocks(_) => format!("let the study plan more blocks ({})", name(Setting::Blocks)),
        _ => measured(fact, name),
    }
}

fn measured(fact: &Fact, name: SettingNames) -> String {
    let (ramp, duration) = (name(Setting::Ramp), name(Setting::Duration));
    match fact {
        Fact::UsersUnserved { .. } => format!(
            "read waits together with these numbers; give the broker more room (capacity, at-once, pool) or users more \
             patience, or increase {duration}"
        ),
        Fact::ImpossibleBytes { .. }
        | Fact::LittlesLaw { .. }
        | Fact::TalliesDiffer { .. }
        | Fact::UsersLost { .. } => {
            "the counters contradict one another; this is a defect in the program that produced the result: please \
             report it, with the results file"
                .into()
        }
        Fact::AnsweredAtOnce { .. } => "a cache in this machine answers, or a disk as fast as memory; to measure the \
                                        storage behind the cache, use direct I/O and disks larger than the cache"
            .into(),
        Fact::LowCeiling { .. } => format!(
            "use more {}, larger requests or fewer {}, so that the storage is the limit",
            name(Setting::Threads),
            name(Setting::Vms)
        ),
        Fact::LowWay { kind: CeilingKind::NullServer, .. } => {
            "the true ceiling is higher where the datastore's server has CPUs of its own: the server that answers from \
             nothing shared this machine's; several connections or sessions, or larger requests, raise it"
                .into()
        }
        Fact::LowWay { kind: CeilingKind::Generator | CeilingKind::NamedWay, .. } => {
            "limit the storage further or speed up what lies before it, unless the path is what you want to measure".into()
        }
        Fact::IoErrors { disturbed: true, .. } => {
            "they count in no other figure; applications on such storage see them as errors".into()
        }
        Fact::IoErrors { disturbed: false, .. } => {
            "look for the cause in the kernel log (dmesg) and on the storage; figures with errors in them say nothing \
             about speed"
                .into()
        }
        Fact::NoIo => {
            format!("increase {duration}, or check whether the storage answers at all")
        }
        Fact::EndedEarly(_) => {
            "look for the cause in the kernel log (dmesg) and on the storage, then measure again".into()
        }
        Fact::Backlog { .. } => {
            "the rate exceeds what the datastore can serve, so latency grows for as long as the trial lasts; choose a \
             lower rate"
                .into()
        }
        Fact::IssuedLate { .. } => format!(
            "leave the load generator a CPU of its own: end other programs, or set {} below the number of CPUs; or \
             go by the service times",
            name(Setting::Threads)
        ),
        Fact::Starved { .. } => format!(
            "leave it a CPU of its own: end other programs, or set {} below the number of CPUs",
            name(Setting::Threads)
        ),
        Fact::GuestsStarved { .. } => {
            "limit links and disks further, or load the guests less, so that these limits are what is compared; or \
             run fewer guests, or a machine with more CPUs"
                .into()
        }
        Fact::OtherPrograms { .. } => {
            "end them, or measure when they do not run; a datastore's server on this machine that is not known as \
             such counts as one of them"
                .into()
        }
        Fact::ShortOfMemory(_) => {
            "free memory: end other programs, or use direct I/O unless the page cache is what you want to measure".into()
        }
        Fact::BusyBefore(_) => {
            "end other programs, or go by the initiator's and the target's CPU time".into()
        }
        Fact::AccountsReadLate { .. } => {
            format!("leave a CPU free in addition to those of the driving threads, or increase {duration}")
        }
        Fact::HostBelowParts { busier_before: false, .. } => {
            "host CPU is unreliable on this machine: go by the initiator's and the target's CPU time".into()
        }
        Fact::HostBelowParts { busier_before: true, .. } => {
            "end other programs and measure again, or go by the initiator's and the target's CPU time".into()
        }
        Fact::Stolen(_) => {
            "measure in a VM with reserved CPUs, or when its neighbours are quiet".into()
        }
        Fact::WrongBlocks { .. } => {
            "the datastore, or something on the path to it, loses or mixes up data: keep nothing on it before the \
             cause is found (kernel log, storage, cabling, caches, another writer)"
                .into()
        }
        Fact::UnknownMemory { .. } => {
            "to measure the storage behind it, use disks larger than that memory".into()
        }
        Fact::CachedDisks { place: MemoryPlace::LoopDevice, .. } => {
            "attach the loop device with direct I/O (see losetup), or use disks larger than the memory"
                .into()
        }
        Fact::CachedDisks { .. } => "the result may be that memory's: to measure the storage behind it, use disks \
                                     larger than the memory"
            .into(),
        Fact::StreamsReadAgain { .. } => {
            "use larger disks, or fewer and shorter trials, so that streams read what no trial has read before".into()
        }
        Fact::UnlikePromises { promised, .. } => format!(
            "to compare like with like, make every write durable on {} ({}) or flush after every write ({})",
            if promised.len() == 2 { "both" } else { "all of them" },
            name(Setting::Durable),
            name(Setting::FlushEveryWrite)
        ),
        Fact::NoFlush(_) => format!(
            "increase {duration} so that a window holds several flushes, or flush more often ({})",
            name(Setting::Flush)
        ),
        Fact::UnevenLoad { .. } => {
            format!("to compare CPU time, use {}", name(Setting::EqualLoad))
        }
        Fact::NotSettled(_) => {
            format!("increase {ramp}; an SSD may need minutes of writes before it is steady")
        }
        Fact::Drift { .. } => format!(
            "increase {ramp}, and look for a cache that fills, a burst allowance that runs out, or a background job"
        ),
        Fact::SlowFluctuation(_) => {
            format!("increase {duration}, so that a trial averages over the storage's own rhythm")
        }
        Fact::UnlikeFirstBlocks { metric, first_value, other_value, .. } => {
            match (first_value > other_value) == metric.higher_is_better() {
                true => format!(
                    "burst credit or an empty write cache may have been used up: use them up beforehand, with a \
                     longer ramp ({ramp}) or an earlier run on the same storage, and measure again"
                ),
                false => format!(
                    "it may have been warming up, or filling what was thinly provisioned: increase {ramp}, or run on \
                     the same storage once before, and measure again"
                ),
            }
        }
        Fact::Trend { .. } => {
            "the storage was not in a steady state: write to an SSD until it is (preconditioning), wait for a rebuild \
             or a background job to end, or measure until it levels off"
                .into()
        }
        Fact::BlocksAlike(_) => format!(
            "increase {duration}, so that a block outlasts whatever disturbs one of the datastores"
        ),
        Fact::FewBlocks(_) => format!(
            "measure more blocks: increase {}, or shorten {duration}",
            name(Setting::TimeLimit)
        ),
        Fact::TrialsFailed(failed) if failed.by_storage => {
            "look for the cause in the kernel log (dmesg) and on the storage, then measure again; blocks with a failed \
             trial do not count"
                .into()
        }
        Fact::TrialsFailed(_) => {
            "fix the cause, then measure again; blocks with a failed trial do not count".into()
        }
        Fact::MeasuredAgain { keeps_failing: true, .. } => {
            "storage that fails this often is not judged by the trials that went well: look for the cause in the \
             kernel log (dmesg) and on the storage, then measure again"
                .into()
        }
        Fact::MeasuredAgain { keeps_failing: false, .. } => {
            "the last attempt at a block counts, the others are in the results file; look for the cause if it happens \
             again"
                .into()
        }
        Fact::NotRecovered { .. } => {
            format!("increase {duration}, or check whether the storage recovers at all")
        }
        Fact::ReadsOfZeros => {
            "prepare with random content, unless reads of zeros are what you want to measure".into()
        }
        Fact::FixedOrder => {
            "use order: randomized, or abba where the order has to be known".into()
        }
        Fact::IntervalsAsObservations => {
            "read the effective numbers next to the answers, or use unit: trial".into()
        }
        Fact::ResumedAfterVerdict(_) => {
            "for a verdict that counts, measure again from the start, with more time".into()
        }
    }
}
