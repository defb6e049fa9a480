//! Jobs that run at the same time become one workload on a number of disks; a stonewall starts the next workload.
//!
//! A study drives every VM of a trial with the same workload. Jobs that differ and run at the same time are refused,
//! with the key in which they differ. Jobs that share a file share a disk, whose queue depth is the sum of theirs.

use std::collections::BTreeMap;

use stormeter_trial::{Arrivals, Workload};

use super::job::{After, Job};
use super::options::{Findings, Options};
use super::target::{Part, Target};

/// A workload on a datastore.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Phase {
    pub(super) url: String,
    pub(super) workload: Workload,
    pub(super) disk_bytes: u64,
    pub(super) vms: u32,
    /// The first of its jobs, by its place in the list.
    pub(super) job: usize,
}

/// The phases of the jobs in their order. Those that were refused are missing.
pub(super) fn phases(jobs: &[Job], findings: &mut Findings) -> Vec<Phase> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let starts = match &job.after {
            After::All => true,
            After::Nothing => groups.is_empty(),
            After::Job(at) => {
                let is_awaited = |other: &usize| jobs[*other].options.name == at.text();
                let last = groups.last();
                // Waiting for all that runs is a stonewall; otherwise waiting and running jobs overlap.
                if last.is_none_or(|last| !last.iter().all(is_awaited)) {
                    let reason = "other jobs run on while this one waits, and a study has no order within a trial";
                    findings.refuse(at, reason, "write stonewall");
                }
                true
            }
        };
        match groups.last_mut() {
            Some(group) if !starts => group.push(index),
            _ => groups.push(vec![index]),
        }
    }
    groups.iter().filter_map(|group| phase(jobs, group, findings)).collect()
}

/// Jobs of a disk.
type Disks<'j> = BTreeMap<&'j Part, Vec<usize>>;

fn phase(jobs: &[Job], group: &[usize], findings: &mut Findings) -> Option<Phase> {
    let first = *group.first()?;
    let targets: Option<Vec<(usize, &Target)>> = group
        .iter()
        .map(|index| jobs[*index].target.as_ref().map(|target| (*index, target)))
        .collect();
    // Differences are worth a word even if a job's place was refused.
    for &other in &group[1..] {
        for key in differences(&jobs[first].workload, &jobs[other].workload) {
            refuse_difference(&jobs[first], &jobs[other], key, findings);
        }
    }
    let targets = targets?;
    let (_, target) = *targets.first()?;
    let mut disks: Disks<'_> = BTreeMap::new();
    for (index, other) in &targets {
        if other.url != target.url {
            let key = key_of_place(&jobs[*index].options, &other.url, &target.url);
            let reason = format!(
                "this job uses {} while {} uses {}, and a trial drives one datastore",
                other.url, jobs[first].options.name, target.url
            );
            findings.refuse(&jobs[*index].options.at(key), reason, "write stonewall");
        } else if other.bytes != target.bytes {
            refuse_difference(&jobs[first], &jobs[*index], "size", findings);
        }
        for part in &other.parts {
            disks.entry(part).or_default().push(*index);
        }
    }
    refuse_overlaps(jobs, &disks, target.bytes, findings);
    let mut whole: Option<Workload> = None;
    for users in disks.values() {
        let together = together(jobs, users, findings);
        match &whole {
            None => whole = Some(together),
            Some(whole) if whole.arrivals != together.arrivals => {
                let key = pace_key(&together);
                refuse_difference(&jobs[first], &jobs[users[0]], key, findings);
            }
            Some(_) => {}
        }
    }
    let mut workload = whole?;
    workload.name = name(jobs, group);
    if let Err(error) = workload.check(target.bytes) {
        findings.refuse(
            &jobs[first].options.at("size"),
            error.to_string(),
            "write another size, or smaller requests",
        );
    } else if let Some(at) = &jobs[first].verify
        && let Err(error) = workload.check_verify(target.bytes)
    {
        findings.refuse(at, error.to_string(), "leave verify out, or write a smaller iodepth");
    }
    let vms = disks.len() as u32;
    remark_on_numbers(&jobs[first], &workload, vms, &disks, findings);
    Some(Phase { url: target.url.clone(), workload, disk_bytes: target.bytes, vms, job: first })
}

fn pace_key(workload: &Workload) -> &'static str {
    if workload.arrivals.rate_per_s().is_some() { "rate_iops" } else { "iodepth" }
}

/// The key that makes a datastore differ from another one.
pub(super) fn key_of_place(options: &Options, one: &str, other: &str) -> &'static str {
    let is_same_place = one.split('?').next() == other.split('?').next();
    let keys = match is_same_place {
        true => ["direct", "buffered"],
        false => ["filename", "directory"],
    };
    keys.into_iter().find(|key| options.get(key).is_some()).unwrap_or(keys[0])
}

/// The keys in which two workloads differ, names and queue depths aside.
fn differences(one: &Workload, other: &Workload) -> Vec<&'static str> {
    let mut keys = Vec::new();
    let mut differ = |key, is_different: bool| {
        if is_different && !keys.contains(&key) {
            keys.push(key);
        }
    };
    differ("rw", one.read_percent != other.read_percent);
    differ("rw", one.random_percent != other.random_percent);
    differ("bs", one.sizes != other.sizes);
    differ("random_distribution", one.distribution != other.distribution);
    differ("blockalign", one.alignment_bytes != other.alignment_bytes);
    differ("thinktime", one.burst != other.burst);
    differ("sync", one.durable != other.durable);
    differ("fsync", one.flush != other.flush);
    let content = (one.content, other.content);
    differ(
        "buffer_compress_percentage",
        content.0.compressible_percent != content.1.compressible_percent,
    );
    differ("dedupe_percentage", content.0.duplicate_percent != content.1.duplicate_percent);
    let kind = |arrivals| std::mem::discriminant::<Arrivals>(arrivals);
    differ("rate_iops", kind(&one.arrivals) != kind(&other.arrivals));
    keys
}

/// Other keys that say the same.
const ALSO: [(&str, &[&str]); 5] = [
    ("rw", &["rwmixread", "rwmixwrite", "percentage_random"]),
    ("bs", &["bssplit", "bsrange"]),
    ("fsync", &["fdatasync"]),
    ("rate_iops", &["rate", "rate_process"]),
    ("size", &["filesize"]),
];

fn refuse_difference(first: &Job, other: &Job, key: &'static str, findings: &mut Findings) {
    let also = ALSO.iter().find(|(of, _)| *of == key).map_or(&[] as &[&str], |(_, also)| *also);
    let differs = |key: &&'static str| {
        let values =
            [first, other].map(|job| job.options.get(key).map(|given| given.value.clone()));
        values[0] != values[1]
    };
    let key = [key].into_iter().chain(also.iter().copied()).find(differs).unwrap_or(key);
    let reason = format!(
        "[{}] differs in it from [{}] and runs at the same time; all VMs of a trial have the same load",
        other.options.name, first.options.name
    );
    let advice = "write stonewall, which measures them one after the other, or make them alike";
    findings.refuse(&other.options.at(key), reason, advice);
}

fn refuse_overlaps(jobs: &[Job], disks: &Disks<'_>, bytes: u64, findings: &mut Findings) {
    // In the order of files and starts, so that neighbours are those that may overlap.
    let mut before: Option<&Part> = None;
    for (part, users) in disks {
        if let Some(before) = before
            && before.of == part.of
            && before.start.saturating_add(bytes) > part.start
        {
            let options = &jobs[users[0]].options;
            let key = if options.get("offset_increment").is_some() {
                "offset_increment"
            } else {
                "offset"
            };
            let reason = "parts of a file that overlap are neither one disk nor two";
            findings.refuse(
                &options.at(key),
                reason,
                "write a size that is no larger than the distance",
            );
        }
        before = Some(part);
    }
}

/// What the jobs of a disk do together.
fn together(jobs: &[Job], users: &[usize], findings: &mut Findings) -> Workload {
    let first = &jobs[users[0]];
    let mut workload = first.workload.clone();
    if users.len() == 1 {
        return workload;
    }
    let sum_of_rates =
        || users.iter().filter_map(|index| jobs[*index].workload.arrivals.rate_per_s()).sum();
    workload.arrivals = match workload.arrivals {
        Arrivals::Closed { .. } => {
            let depth = |index: &usize| match jobs[*index].workload.arrivals {
                Arrivals::Closed { outstanding } => outstanding,
                _ => 0,
            };
            Arrivals::Closed { outstanding: users.iter().map(depth).fold(0, u32::saturating_add) }
        }
        Arrivals::Constant { .. } => Arrivals::Constant { rate_per_s: sum_of_rates() },
        Arrivals::Poisson { .. } => Arrivals::Poisson { rate_per_s: sum_of_rates() },
    };
    let options = &first.options;
    if matches!(workload.arrivals, Arrivals::Closed { outstanding } if outstanding > 65_536) {
        findings.refuse(
            &options.at("iodepth"),
            "a disk has 65536 requests outstanding at most",
            "write fewer jobs",
        );
    }
    if workload.burst.is_some() {
        let reason = "several jobs on one file pause each for itself, and a disk pauses as a whole";
        findings.refuse(
            &options.at("thinktime"),
            reason,
            "leave out filename, so that each has a file of its own",
        );
    }
    if workload.flush.is_some() {
        let key = if options.get("fdatasync").is_some() { "fdatasync" } else { "fsync" };
        findings.remark(
            &options.at(key),
            "the writes of all jobs on the file count, and all of them wait",
        );
    }
    if workload.random_percent < 100.0 {
        findings.remark(
            &options.at("rw"),
            "the jobs go through the same file, each on its own; here one stream goes through the disk, with the \
             requests of all outstanding",
        );
    }
    workload
}

fn remark_on_numbers(
    job: &Job,
    workload: &Workload,
    vms: u32,
    disks: &Disks<'_>,
    findings: &mut Findings,
) {
    let users = disks.values().map(Vec::len).max().unwrap_or(1);
    let each = match workload.arrivals {
        Arrivals::Closed { outstanding: 1 } => "1 request outstanding".to_owned(),
        Arrivals::Closed { outstanding } => format!("{outstanding} requests outstanding"),
        _ => "the rate of all its jobs".to_owned(),
    };
    if users > 1 {
        let text = format!("{users} jobs share a file, which is one disk with {each}");
        findings.remark(&job.options.at("numjobs"), text);
    } else if vms > 1 {
        let text = format!("{vms} jobs with files of their own are {vms} VMs, each with {each}");
        findings.remark(&job.options.at("numjobs"), text);
    }
}

/// The names of the jobs, of many the first.
fn name(jobs: &[Job], group: &[usize]) -> String {
    let mut names: Vec<&str> =
        group.iter().map(|index| jobs[*index].options.name.as_str()).collect();
    names.dedup();
    let all = names.join("+");
    match names.as_slice() {
        [first, .., _] if all.chars().count() > 40 => format!("{first}+{}", names.len() - 1),
        _ => all,
    }
}
