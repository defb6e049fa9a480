//! Phrases that the text and the page share: the workload, the datastores, why the run ended.

use stormeter_results::DatastoreDescription;
use stormeter_study::EqualLoad;
use stormeter_trial::{Arrivals, Distribution, Verified, Workload};
use stormeter_units::{format_bytes, format_count, format_duration_ns};

use crate::compact::model::{Ceiling, Compact};
use crate::model::Status;
use crate::quantity::percent;

/// The workload in a line: `4KiB, 75 % read, 100 % random, queue depth 4`.
pub(crate) fn workload(workload: &Workload) -> String {
    let total: f64 = workload.sizes.iter().map(|size| size.share).sum();
    let sizes: Vec<String> = match workload.sizes.as_slice() {
        [only] => vec![format_bytes(u64::from(only.bytes))],
        sizes => sizes
            .iter()
            .map(|size| {
                let share = percent(size.share / total);
                format!("{share} % {}", format_bytes(u64::from(size.bytes)))
            })
            .collect(),
    };
    let spread = match workload.distribution {
        Distribution::Uniform => "random".to_string(),
        Distribution::Zipf { exponent } => format!("random (zipf {exponent})"),
    };
    let arrivals = match workload.arrivals {
        Arrivals::Closed { outstanding } => format!("queue depth {outstanding}"),
        Arrivals::Constant { rate_per_s } => {
            format!("{} I/Os a second", format_count(rate_per_s))
        }
        Arrivals::Poisson { rate_per_s } => {
            format!("{} I/Os a second (Poisson)", format_count(rate_per_s))
        }
    };
    let mut text = format!(
        "{}, {} % read, {} % {spread}, {arrivals}",
        sizes.join(" + "),
        percent(workload.read_percent / 100.0),
        percent(workload.random_percent / 100.0),
    );
    if let Some(burst) = workload.burst {
        let pause = format_duration_ns(burst.delay_ns as f64);
        text += &format!(", bursts of {} with {pause} between", burst.length);
    }
    if workload.durable {
        text += ", durable writes";
    }
    if let Some(every) = workload.flush {
        text += &format!(", flush {every}");
    }
    text
}

/// The workload with its name: `vm-4k: 4KiB, 75 % read, …`.
pub(crate) fn named_workload(report: &Compact) -> String {
    let words = report.workload().map(|it| workload(&it)).unwrap_or_default();
    format!("{}: {words}", report.workload_name())
}

/// The load in a line: `4 VMs with a disk of 1GiB each`.
pub(crate) fn load(report: &Compact) -> String {
    let plan = &report.header.plan;
    let size = format_bytes(plan.disk_bytes_of(0));
    let vms = plan.vms.first().copied().unwrap_or(0);
    let mut text = match vms {
        1 => format!("1 VM with a disk of {size}"),
        vms => format!("{vms} VMs with a disk of {size} each"),
    };
    match plan.design.equal_load {
        Some(EqualLoad::Rate { rate_per_s }) => {
            text += &format!(", all driven at {} I/Os a second", format_count(rate_per_s));
        }
        Some(EqualLoad::Auto) => text += ", all driven at 70 % of the slowest one's capacity",
        None => {}
    }
    text
}

/// The kind of a datastore: `ext4 on /dev/sda1, O_DIRECT, io_uring`, `NFSv3, native client, io_uring`.
pub(crate) fn datastore(description: &DatastoreDescription) -> String {
    if description.kind == "null" {
        return "completes at once, without any storage".into();
    }
    let mut parts = Vec::new();
    match (&description.file_system, &description.source) {
        (Some(kind), Some(source)) => parts.push(format!("{kind} on {source}")),
        (Some(kind), None) => parts.push(kind.clone()),
        (None, Some(source)) => parts.push(format!("{} on {source}", description.kind)),
        (None, None) => parts.push(match description.kind.as_str() {
            "nfs" => "NFSv3".into(),
            "iscsi" => "iSCSI".into(),
            other => other.into(),
        }),
    }
    parts.push(match (description.kind.as_str(), description.direct) {
        ("nfs" | "iscsi", _) => "native client".into(),
        (_, true) => "O_DIRECT".into(),
        (_, false) => "through the page cache".into(),
    });
    parts.push(description.engine.clone());
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// How far the run got: `Ended after 9 blocks (18 trials, 1.52min): the precision was reached.`
pub(crate) fn status(status: &Status) -> String {
    status_in(status, "")
}

/// The same with the kind of time after the time: ` of virtual time`.
pub(crate) fn status_in(status: &Status, time: &str) -> String {
    let blocks = plural(u64::from(status.blocks), "block");
    let trials = plural(u64::from(status.trials), "trial");
    let failed = match status.failed_trials {
        0 => String::new(),
        failed => format!(", {failed} more failed"),
    };
    let elapsed = format_duration_ns(status.elapsed_ns as f64);
    let done = format!("{blocks} ({trials}{failed}, {elapsed}{time})");
    match &status.reason {
        Some(reason) => format!("Ended after {done}: {reason}."),
        None => format!("Not finished: {done} so far."),
    }
}

/// The result of verification: `Verified: a: 1 234 blocks read back, none wrong; b: …`.
pub(crate) fn verified(report: &Compact) -> Option<String> {
    let each = report.datastores.iter().filter_map(|datastore| {
        let Verified { blocks, unknown_blocks, wrong_blocks, .. } = *datastore.verified.as_ref()?;
        let count = |count: u64| format_count(count as f64);
        let wrong = if wrong_blocks == 0 { "none".into() } else { count(wrong_blocks) };
        let unknown = match unknown_blocks {
            0 => String::new(),
            unknown => {
                format!(" ({} by offset and checksum only, after resuming)", count(unknown))
            }
        };
        let label = &datastore.label;
        Some(format!("{label}: {} blocks read back, {wrong} wrong{unknown}", count(blocks)))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("Verified: {}.", each.join("; ")))
}

/// The ceilings in sentences: for each datastore that of its own path.
pub(crate) fn ceilings(report: &Compact) -> Vec<String> {
    let times = |times: Option<f64>, most: &str| {
        times
            .map(|times| format!(": {times:.1} times the highest measured{most}"))
            .unwrap_or_default()
    };
    let mut sentences = Vec::new();
    if let Some(Ceiling { iops, times_measured }) = report.ceiling {
        let has_own = |datastore| report.way_ceilings.iter().any(|it| it.datastore == datastore);
        let mut others = (0..report.datastores.len()).filter(|datastore| !has_own(*datastore));
        // Where each has its own, that of the generator limits none of them.
        if others.clone().next().is_some() {
            let most = if report.way_ceilings.is_empty() { "" } else { " without a network" };
            let is_far = others.any(|it| is_in_the_network(&report.datastores[it].description));
            let lacks = match is_far {
                true => "; the client and the network stack are not in that",
                false => "",
            };
            sentences.push(format!(
                "The load generator alone reaches {} IOPS{}{lacks}.",
                format_count(iops),
                times(times_measured, most)
            ));
        }
    }
    sentences.extend(report.way_ceilings.iter().map(|way| {
        format!(
            "The way to {} reaches {} IOPS by itself{}; measured through the same client with a server that \
             answers from nothing, which shared this machine's CPUs, so it may reach more.",
            report.label(way.datastore),
            format_count(way.iops),
            times(way.times_measured, " there")
        )
    }));
    sentences
}

/// Whether a client of Stormeter talks to a server there.
pub(crate) fn is_in_the_network(description: &DatastoreDescription) -> bool {
    ["nfs", "iscsi"].contains(&description.kind.as_str())
}

/// The times of an open loop, and which of them other generators measure.
pub(crate) const OPEN_LOOP_TIMES: &str = "Latency counts from when a request was due (response time), service \
                                          time from when it was issued, as lat and clat of fio do: compare \
                                          service times with those. Between the two lies the lateness of the \
                                          load generator.";

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(parts: impl Iterator<Item = String>) -> String {
    let mut parts: Vec<String> = parts.collect();
    match (parts.pop(), parts.as_slice()) {
        (None, _) => String::new(),
        (Some(last), []) => last,
        (Some(last), others) => format!("{} and {last}", others.join(", ")),
    }
}

/// `1 block`, `9 blocks`.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A command line that a POSIX shell reads back as these words.
pub fn shell_command(words: &[String]) -> String {
    let quote = |word: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_says_how_durable_its_writes_are() {
        let mut load = stormeter_study::profile("wal").unwrap().workload;
        assert!(
            workload(&load).ends_with(", queue depth 1, flush every write"),
            "{}",
            workload(&load)
        );
        (load.durable, load.flush) = (true, None);
        assert!(
            workload(&load).ends_with(", queue depth 1, durable writes"),
            "{}",
            workload(&load)
        );
        load.durable = false;
        assert!(workload(&load).ends_with(", queue depth 1"), "{}", workload(&load));
    }

    #[test]
    fn a_command_survives_the_shell() {
        let words = ["stormeter", "compare", "/a b", "nfs://h/x?a=1&b=2", "it's", ""];
        let text = shell_command(&words.map(String::from));
        assert_eq!(text, r#"stormeter compare '/a b' 'nfs://h/x?a=1&b=2' 'it'\''s' ''"#);
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("printf '%s\\n' {text}")])
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            words.map(|w| w.to_string() + "\n").concat()
        );
    }
}
