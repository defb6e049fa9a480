//! When a job issues its requests: queue depth, rate, pauses, and what makes its writes durable.

use stormeter_trial::{Arrivals, Burst, FlushEvery, Workload};

use super::engines::Engine;
use super::options::{Findings, Given, Options};
use super::value::by_direction;

const MICROSECOND_NS: u64 = 1_000;

/// Adds them to a workload that has none yet. Without an engine, which was refused, a queue is assumed.
pub(super) fn add(
    workload: &mut Workload,
    options: &Options,
    engine: Option<Engine>,
    findings: &mut Findings,
) {
    let outstanding = outstanding(options, engine, findings);
    workload.arrivals = match rate(options, workload, findings) {
        Some((rate_per_s, at)) => {
            findings.remark(
                &at,
                "requests fall due whether or not earlier ones have completed; fio waits at iodepth, which is not \
                 used here",
            );
            match is_poisson(options, findings) {
                true => Arrivals::Poisson { rate_per_s },
                false => Arrivals::Constant { rate_per_s },
            }
        }
        None => {
            if let Some(at) = options.get("rate_process") {
                findings.remark(at, "no effect: the job has no rate");
            }
            Arrivals::Closed { outstanding }
        }
    };
    workload.burst = burst(options, workload, findings);
    durability(options, workload, findings);
}

fn outstanding(options: &Options, engine: Option<Engine>, findings: &mut Findings) -> u32 {
    let most = match engine {
        Some(Engine::Files { most_outstanding }) => most_outstanding,
        _ => None,
    };
    let depth = options.count("iodepth", findings).unwrap_or(1);
    if depth == 0 {
        findings.refuse(
            &options.at("iodepth"),
            "a queue depth of 0 requests nothing",
            "write iodepth=1",
        );
    }
    let outstanding = depth.clamp(1, most.unwrap_or(65_536));
    if outstanding < depth {
        let at = options.at("iodepth");
        if most.is_some() {
            findings.remark(
                &at,
                format!(
                    "no effect: the engine is synchronous, so that each job keeps {outstanding} request outstanding"
                ),
            );
        } else {
            findings.refuse(
                &at,
                "a VM keeps at most 65536 requests outstanding",
                "write a smaller number",
            );
        }
    }
    let low = options.count("iodepth_low", findings);
    if let (Some(at), Some(low)) = (options.get("iodepth_low"), low) {
        if low == 0 || low >= outstanding {
            findings.remark(at, "no effect: the queue is refilled at once");
        } else {
            let reason = "a closed loop refills its queue as each request completes";
            findings.refuse(at, reason, "leave it out");
        }
    }
    let batch = options.count("iodepth_batch_complete_min", findings);
    if let (Some(at), Some(batch)) = (options.get("iodepth_batch_complete_min"), batch) {
        if batch <= 1 || outstanding == 1 {
            findings.remark(at, "no effect: each completion is taken as it comes");
        } else {
            let reason =
                "each completion is taken as it comes, and the queue does not empty in groups";
            findings.refuse(at, reason, "leave it out");
        }
    }
    outstanding
}

/// Requests per second of the job, and the key that says so.
fn rate(options: &Options, workload: &Workload, findings: &mut Findings) -> Option<(f64, Given)> {
    let by_size = options.get("rate");
    let by_count = options.get("rate_iops");
    if let (Some(first), Some(_)) = (by_size, by_count) {
        findings.refuse(first, "a job has one rate", "leave out rate or rate_iops");
    }
    let at = by_count.or(by_size)?;
    let unit = if by_count.is_some() { 1.0 } else { workload.mean_bytes() };
    let (of_reads, of_writes) = by_direction(at.text());
    let mut of = |text: Option<&str>| {
        let Some(text) = text else { return Some(0.0) };
        let number = options.bytes(text);
        if number.is_none() {
            findings.refuse(
                at,
                format!("\"{text}\" is no rate"),
                "write rate_iops=500 or rate=10m",
            );
        }
        number.map(|number| number as f64 / unit)
    };
    let (read, write) = (of(of_reads)?, of(of_writes)?);
    let share = workload.read_percent / 100.0;
    let rate = if share == 1.0 {
        read
    } else if share == 0.0 {
        write
    } else if read == 0.0 && write == 0.0 {
        0.0
    } else if (read * (1.0 - share) - write * share).abs() <= 0.01 * read.max(write) {
        read + write
    } else {
        findings.refuse(
            at,
            format!(
                "reads are limited to {read:.4} a second and writes to {write:.4}, which is no mix of {} % reads; fio \
                 holds one of them back, and the mix is then another",
                workload.read_percent
            ),
            "write the rate of reads, a comma and the rate of writes in the proportion of rwmixread",
        );
        return None;
    };
    if rate == 0.0 {
        findings.remark(at, "no effect: 0 is no limit");
        return None;
    }
    if !(1e-4..=1e9).contains(&rate) {
        findings.refuse(at, format!("{rate} requests a second are no load"), "write rate_iops=500");
        return None;
    }
    Some((rate, at.clone()))
}

fn is_poisson(options: &Options, findings: &mut Findings) -> bool {
    let poisson = options.parsed(
        "rate_process",
        "rate_process=linear or rate_process=poisson",
        findings,
        |given| match given.text() {
            "linear" => Some(false),
            "poisson" => Some(true),
            _ => None,
        },
    );
    poisson.unwrap_or(false)
}

/// fio waits for what is outstanding before it pauses, as a burst does.
fn burst(options: &Options, workload: &Workload, findings: &mut Findings) -> Option<Burst> {
    let delay_ns = options.time_ns("thinktime", MICROSECOND_NS, findings);
    let length = options.count("thinktime_blocks", findings);
    let at = options.get("thinktime");
    let (Some(at), Some(delay_ns)) = (at, delay_ns.filter(|ns| *ns > 0)) else {
        for at in [at, options.get("thinktime_blocks")].into_iter().flatten() {
            findings.remark(at, "no effect: there is no pause");
        }
        return None;
    };
    if workload.arrivals.rate_per_s().is_some() {
        findings.refuse(at, "a rate and pauses exclude each other", "leave out one of them");
        return None;
    }
    let length = length.unwrap_or(1);
    if length == 0 {
        let at = options.at("thinktime_blocks");
        findings.refuse(&at, "a group of 0 requests is none", "write thinktime_blocks=1");
    }
    Some(Burst { length: length.max(1), delay_ns })
}

fn durability(options: &Options, workload: &mut Workload, findings: &mut Findings) {
    let durable = options.parsed("sync", "sync=dsync or sync=0", findings, |given| {
        match given.value.as_deref() {
            None | Some("1" | "sync" | "dsync") => Some(true),
            Some("0" | "none") => Some(false),
            Some(_) => None,
        }
    });
    let fsync = options.count("fsync", findings).filter(|writes| *writes > 0);
    let fdatasync = options.count("fdatasync", findings).filter(|writes| *writes > 0);
    if let (Some(_), Some(_), Some(at)) = (fsync, fdatasync, options.get("fsync")) {
        findings.refuse(at, "a disk has one kind of flush", "leave out fsync or fdatasync");
    }
    for (key, is_on) in [
        ("sync", durable == Some(true)),
        ("fsync", fsync.is_some()),
        ("fdatasync", fdatasync.is_some()),
    ] {
        let Some(at) = options.get(key) else { continue };
        if !workload.writes() {
            findings.remark(at, "no effect: the job writes nothing");
        } else if !is_on {
            findings.remark(at, "no effect: it is off");
        } else if key == "fsync" || key == "sync" && at.value.as_deref() != Some("dsync") {
            findings.remark(
                at,
                "the bytes are made durable, as by fdatasync or O_DSYNC; times of files are not",
            );
        }
    }
    if workload.writes() {
        workload.durable = durable.unwrap_or(false);
        workload.flush = fdatasync.or(fsync).map(|writes| FlushEvery::Writes { writes });
    }
}
