//! The study file of a job file: datastores, workloads, load and timing, with the remarks as comments.

use std::collections::BTreeMap;
use std::fmt::Write;

use stormeter_trial::{Arrivals, Distribution, Workload};

use super::error::Remark;
use super::job::Job;
use super::options::Findings;
use super::phases::{Phase, key_of_place};

/// The window of jobs that end after an amount of work.
const DEFAULT_DURATION_NS: u64 = 10_000_000_000;
/// The shortest window of a study.
const LEAST_DURATION_NS: u64 = 100_000_000;

/// What all trials of the study have in common.
struct Common {
    ramp_ns: u64,
    duration_ns: u64,
    vms: u32,
    verify: bool,
}

/// The text; what cannot be in one study is refused.
pub(super) fn text(jobs: &[Job], phases: Vec<Phase>, findings: &mut Findings) -> String {
    let common = common(jobs, &phases, findings);
    if phases.len() > 1 {
        let options = &jobs[phases[1].job].options;
        let key = if options.get("stonewall").is_some() { "stonewall" } else { "wait_for" };
        let at = options.at(key);
        findings.remark(
            &at,
            "fio runs these one after another; a study measures them in a new random order in each block, on disks \
             that are written before (design: {order: as-written} keeps the order)",
        );
    }
    let (datastores, workloads) = crossed(jobs, phases, findings);
    let description = description(jobs, findings);
    let mut text = comments(&findings.remarks);
    let title = description.unwrap_or_else(|| title(&workloads));
    // Writing to a string does not fail.
    let _ = writeln!(text, "study: {}", quoted(&title));
    text += "datastores:\n";
    for (name, url) in &datastores {
        let _ = writeln!(text, "  {}: {}", quoted(name), quoted(url));
    }
    text += "workloads:\n";
    for phase in &workloads {
        for (index, (key, value)) in lines(phase).into_iter().enumerate() {
            let lead = if index == 0 { "  - " } else { "    " };
            let _ = writeln!(text, "{lead}{key}: {value}");
        }
    }
    let _ = writeln!(text, "load: {{vms: {}}}", common.vms);
    let verify = if common.verify { ", verify: true" } else { "" };
    let (ramp, duration) = (time(common.ramp_ns), time(common.duration_ns));
    let _ = writeln!(text, "measure: {{ramp: {ramp}, duration: {duration}{verify}}}");
    text
}

/// The description that all jobs share; others are remarked on.
fn description(jobs: &[Job], findings: &mut Findings) -> Option<String> {
    let of = |job: &Job| job.options.get("description").map(|given| given.text().to_owned());
    let first = jobs.first().and_then(of).filter(|text| !text.is_empty());
    if first.is_some() && jobs.iter().all(|job| of(job) == first) {
        return first;
    }
    for at in jobs.iter().filter_map(|job| job.options.get("description")) {
        findings.remark(at, format!("no effect: {}", at.text()));
    }
    None
}

/// Remarks with the same words are one comment.
fn comments(remarks: &std::collections::BTreeSet<Remark>) -> String {
    let mut of_text: BTreeMap<&str, Vec<&Remark>> = BTreeMap::new();
    for remark in remarks {
        of_text.entry(&remark.text).or_default().push(remark);
    }
    let mut groups: Vec<_> = of_text.into_iter().collect();
    groups.sort_by_key(|(_, remarks)| remarks.first().map(|remark| &remark.place));
    let mut text = String::from("# From a job file of fio. Its keys, by lines:\n");
    for (words, remarks) in groups {
        let keys: Vec<String> =
            remarks.iter().map(|remark| format!("{} ({})", remark.key, remark.place)).collect();
        for (index, line) in
            wrapped(&format!("{}: {words}", keys.join(", "))).into_iter().enumerate()
        {
            let lead = if index == 0 { "# - " } else { "#   " };
            let _ = writeln!(text, "{lead}{line}");
        }
    }
    text + "\n"
}

fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 100;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = word.into(),
            Some(line) if line.chars().count() + word.chars().count() < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

fn common(jobs: &[Job], phases: &[Phase], findings: &mut Findings) -> Common {
    let ramp_ns = jobs.iter().map(|job| job.ramp_ns).max().unwrap_or(0);
    for job in jobs.iter().filter(|job| job.ramp_ns != ramp_ns) {
        let reason = "all trials of a study have the same ramp, and another job has a longer one";
        findings.refuse(&job.options.at("ramp_time"), reason, "write the same for all jobs");
    }
    let mut duration_ns = None;
    for job in jobs {
        let at = job.options.at("runtime");
        match (duration_ns, job.duration_ns) {
            (None, given) => duration_ns = given,
            (Some(before), Some(given)) if before != given => findings.refuse(
                &at,
                format!(
                    "all trials of a study have the same duration, and another job has {}",
                    time(before)
                ),
                "write the same for all jobs, or a study for each",
            ),
            _ => {}
        }
        if job.duration_ns.is_some_and(|ns| ns < LEAST_DURATION_NS) {
            findings.refuse(&at, "a trial this short cannot be measured", "write runtime=10s");
        }
    }
    let window_ns = duration_ns.unwrap_or(DEFAULT_DURATION_NS);
    for job in jobs.iter().filter(|job| job.duration_ns.is_none()) {
        let at = job.options.missing("runtime");
        findings.remark(
            &at,
            format!(
                "fio ends when all has been read or written once; the trial lasts {}, and starts over at the disk's \
                 end",
                time(window_ns)
            ),
        );
    }
    let vms = phases.first().map_or(1, |phase| phase.vms);
    for phase in phases.iter().filter(|phase| phase.vms != vms) {
        let options = &jobs[phase.job].options;
        let reason = format!(
            "[{}] has {} disks and another job {vms}, and each workload of a study is measured at the same numbers",
            options.name, phase.vms
        );
        findings.refuse(
            &options.at("numjobs"),
            reason,
            "write the same for all jobs, or a study for each",
        );
    }
    Common { ramp_ns, duration_ns: window_ns, vms, verify: verify(jobs, findings) }
}

fn verify(jobs: &[Job], findings: &mut Findings) -> bool {
    let Some(at) = jobs.iter().find_map(|job| job.verify.as_ref()) else { return false };
    for job in jobs.iter().filter(|job| job.verify.is_none()) {
        if job.workload.read_percent == 0.0 {
            let reason = format!(
                "a study checks all of its workloads, and [{}] reads nothing that could be checked",
                job.options.name
            );
            findings.refuse(at, reason, "leave verify out, or write a study for each job");
        } else {
            findings.remark(
                &job.options.missing("verify"),
                "this job is checked, too, since another one is",
            );
        }
    }
    if let Some(job) = jobs.iter().find(|job| job.workload.content.duplicate_percent > 0.0) {
        let reason = "duplicates do not say from which write they come, so they cannot be checked";
        findings.refuse(
            &job.options.at("dedupe_percentage"),
            reason,
            "leave out dedupe_percentage or verify",
        );
    }
    true
}

/// Datastores and workloads of which each is measured with each.
fn crossed(
    jobs: &[Job],
    phases: Vec<Phase>,
    findings: &mut Findings,
) -> (Vec<(String, String)>, Vec<Phase>) {
    let mut of_url: Vec<(String, Vec<Phase>)> = Vec::new();
    for phase in phases {
        match of_url.iter_mut().find(|(url, _)| *url == phase.url) {
            Some((_, phases)) => phases.push(phase),
            None => of_url.push((phase.url.clone(), vec![phase])),
        }
    }
    let what = |phases: &[Phase]| -> Vec<(Workload, u64)> {
        let nameless = |phase: &Phase| {
            (Workload { name: String::new(), ..phase.workload.clone() }, phase.disk_bytes)
        };
        phases.iter().map(nameless).collect()
    };
    if let Some(((url, first), others)) = of_url.split_first() {
        for (other, phases) in others.iter().filter(|(_, phases)| what(phases) != what(first)) {
            let options = &jobs[phases[0].job].options;
            let key = key_of_place(options, other, url);
            let reason = format!(
                "{other} is another datastore than {url}, and each workload of a study is measured on each datastore"
            );
            findings.refuse(
                &options.at(key),
                reason,
                "write the same for all jobs, or a study for each",
            );
        }
    }
    let mut datastores: Vec<(String, String)> = Vec::new();
    for (url, _) in &of_url {
        let name =
            unique(&datastore_name(url), |name| datastores.iter().any(|(other, _)| other == name));
        datastores.push((name, url.clone()));
    }
    let mut workloads: Vec<Phase> = Vec::new();
    for mut phase in of_url.into_iter().next().map(|(_, phases)| phases).unwrap_or_default() {
        let name = plain(&phase.workload.name);
        phase.workload.name =
            unique(&name, |name| workloads.iter().any(|other| other.workload.name == name));
        workloads.push(phase);
    }
    (datastores, workloads)
}

fn unique(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let candidates = (2..).map(|number| format!("{name}-{number}"));
    let first = std::iter::once(name.to_owned());
    first.chain(candidates).find(|name| !is_taken(name)).unwrap_or_else(|| name.to_owned())
}

/// A word for the datastore, such as `nvme0n1` for `/dev/nvme0n1`.
fn datastore_name(url: &str) -> String {
    let body = url.split('?').next().unwrap_or_default();
    match body.split_once(':') {
        Some((scheme @ ("null" | "nfs" | "iscsi" | "rbd"), _)) => scheme.replace("null", "nothing"),
        _ => match body.rsplit('/').find(|part| !part.is_empty() && *part != ".") {
            Some(part) => plain(part),
            None if body.starts_with('/') => "root".into(),
            None => "here".into(),
        },
    }
}

/// A name that a study file and its questions can have.
fn plain(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_control() || "\"'`".contains(c) { '-' } else { c })
        .take(56)
        .collect();
    match name.trim() {
        "" => "job".into(),
        name => name.into(),
    }
}

fn title(workloads: &[Phase]) -> String {
    let names: Vec<&str> = workloads.iter().map(|phase| phase.workload.name.as_str()).collect();
    format!("{} (from fio)", names.join(", "))
}

/// A text in quotes, whatever YAML would take it for.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn lines(phase: &Phase) -> Vec<(&'static str, String)> {
    let io = &phase.workload;
    let sizes = match io.sizes.as_slice() {
        [only] => size(u64::from(only.bytes)),
        several => {
            let total: f64 = several.iter().map(|size| size.share).sum();
            let sign = if (total - 100.0).abs() < 0.01 { "%" } else { "" };
            let share = |of: &stormeter_trial::SizeShare| {
                format!("{}: {}{sign}", size(u64::from(of.bytes)), of.share)
            };
            format!("{{{}}}", several.iter().map(share).collect::<Vec<_>>().join(", "))
        }
    };
    let mut lines = vec![
        ("name", quoted(&io.name)),
        ("request-size", sizes),
        ("read", format!("{}%", io.read_percent)),
        ("random", format!("{}%", io.random_percent)),
    ];
    if let Distribution::Zipf { exponent } = io.distribution {
        lines.push(("zipf", exponent.to_string()));
    }
    if let Some(align) = io.alignment_bytes {
        lines.push(("align", size(align)));
    }
    match io.arrivals {
        Arrivals::Closed { outstanding } => lines.push(("outstanding", outstanding.to_string())),
        Arrivals::Poisson { rate_per_s } => {
            lines.extend([("rate", rate_per_s.to_string()), ("arrivals", "poisson".into())]);
        }
        Arrivals::Constant { rate_per_s } => {
            lines.extend([("rate", rate_per_s.to_string()), ("arrivals", "constant".into())]);
        }
    }
    if let Some(burst) = io.burst {
        lines.push((
            "burst",
            format!("{{length: {}, delay: {}}}", burst.length, time(burst.delay_ns)),
        ));
    }
    if io.durable {
        lines.push(("durable", "true".into()));
    }
    if let Some(flush) = io.flush {
        lines.push(("flush", flush.to_string()));
    }
    if io.content.compressible_percent > 0.0 {
        lines.push(("compressible", format!("{}%", io.content.compressible_percent)));
    }
    if io.content.duplicate_percent > 0.0 {
        lines.push(("dedupable", format!("{}%", io.content.duplicate_percent)));
    }
    lines.push(("size", size(phase.disk_bytes)));
    lines
}

/// A size in the largest unit that divides it.
fn size(bytes: u64) -> String {
    let units = [("TiB", 1u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let fits = units.into_iter().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
    fits.map_or_else(|| format!("{bytes}B"), |(name, unit)| format!("{}{name}", bytes / unit))
}

/// A duration in the largest unit that divides it.
fn time(ns: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)];
    let fits = units.into_iter().find(|(_, unit)| ns.is_multiple_of(*unit));
    fits.map_or_else(|| format!("{ns}ns"), |(name, unit)| format!("{}{name}", ns / unit))
}
