//! What a job requests: kinds, sizes and places, as a workload of Stormeter.
//!
//! When its requests come is in `pace`; both refuse by name what a workload cannot say.

use stormeter_trial::{Arrivals, Content, Distribution, SizeShare, Workload};

use super::options::{Findings, Given, Options};
use super::value::by_direction;

/// Sizes that a range may stand for: more are not worth a line each.
const MOST_SIZES: u64 = 64;
/// Smallest and largest request of a workload.
const SIZES: std::ops::RangeInclusive<u64> = 512..=64 << 20;

/// The workload of a job without its pace.
pub(super) fn workload(options: &Options, findings: &mut Findings) -> Workload {
    let kind = kind(options, findings);
    let read_percent = read_percent(options, &kind, findings);
    let random_percent = random_percent(options, &kind, findings);
    if kind.reads && kind.writes && random_percent < 100.0 {
        let text = "fio has a position for reads and one for writes; here each sequential request follows the one before";
        findings.remark(&options.at("rw"), text);
    }
    let used = (read_percent > 0.0, read_percent < 100.0);
    Workload {
        name: options.name.clone(),
        sizes: sizes(options, used, findings),
        read_percent,
        random_percent,
        distribution: distribution(options, random_percent, findings),
        alignment_bytes: alignment(options, findings),
        arrivals: Arrivals::Closed { outstanding: 1 },
        burst: None,
        content: content(options, read_percent, findings),
        durable: false,
        flush: None,
    }
}

/// The value of `rw`.
struct Kind {
    reads: bool,
    writes: bool,
    random: bool,
    /// What follows the colon.
    modifier: Option<String>,
}

fn kind(options: &Options, findings: &mut Findings) -> Kind {
    let at = options.at("rw");
    let text = at.value.as_deref().unwrap_or("read");
    let (word, modifier) = match text.split_once(':') {
        Some((word, modifier)) => (word.trim(), Some(modifier.trim().to_owned())),
        None => (text, None),
    };
    let (reads, writes, random) = match word {
        "read" => (true, false, false),
        "write" => (false, true, false),
        "rw" | "readwrite" => (true, true, false),
        "randread" => (true, false, true),
        "randwrite" => (false, true, true),
        "randrw" => (true, true, true),
        "trim" | "randtrim" | "trimwrite" | "randtrimwrite" => {
            let advice = "leave the job out, or write rw=write or rw=randwrite";
            findings.refuse(&at, format!("{word}: discards are no part of a workload"), advice);
            (false, true, word.starts_with("rand"))
        }
        _ => {
            findings.refuse(
                &at,
                format!("\"{word}\" is no kind of I/O"),
                "write rw=randread, or another of fio's",
            );
            (true, false, false)
        }
    };
    Kind { reads, writes, random, modifier }
}

fn read_percent(options: &Options, kind: &Kind, findings: &mut Findings) -> f64 {
    let read = options.percent("rwmixread", findings);
    let write = options.percent("rwmixwrite", findings);
    if !(kind.reads && kind.writes) {
        for key in ["rwmixread", "rwmixwrite"] {
            if let Some(at) = options.get(key) {
                findings.remark(at, "no effect: the job does not mix reads and writes");
            }
        }
        return if kind.reads { 100.0 } else { 0.0 };
    }
    match (read, write) {
        (Some(read), Some(write)) if read + write != 100.0 => {
            let reason =
                format!("reads of {read} % and writes of {write} % are not 100 % together");
            findings.refuse(
                &options.at("rwmixwrite"),
                reason,
                "leave it out, since rwmixread says it all",
            );
            read
        }
        (Some(read), _) => read,
        (None, Some(write)) => 100.0 - write,
        (None, None) => 50.0,
    }
}

fn random_percent(options: &Options, kind: &Kind, findings: &mut Findings) -> f64 {
    let at = options.at("rw");
    let random = options.parsed("percentage_random", "percentage_random=50", findings, |given| {
        let (read, write) = by_direction(given.text());
        let number = |text: Option<&str>| {
            text.unwrap_or("100").parse::<f64>().ok().filter(|n| (0.0..=100.0).contains(n))
        };
        match (kind.reads, kind.writes) {
            (true, false) => number(read),
            (false, _) => number(write),
            (true, true) => number(read).filter(|read| number(write) == Some(*read)),
        }
    });
    if !kind.random {
        if let Some(modifier) = &kind.modifier {
            let what = if modifier.starts_with('-') { "backwards" } else { "with gaps" };
            let reason =
                format!(":{modifier}: sequential requests follow each other, and do not go {what}");
            findings.refuse(&at, reason, "leave out the part after the colon");
        }
        if let Some(at) = options.get("percentage_random") {
            findings.remark(at, "no effect: the job is sequential");
        }
        return 0.0;
    }
    let random = random.unwrap_or(100.0);
    let Some(modifier) = &kind.modifier else { return random };
    match modifier.parse::<u32>() {
        Ok(run) if run > 0 && random == 100.0 => {
            if run > 1 {
                findings.remark(
                    &at,
                    format!(
                        "one request of {run} goes to a random place, and the others follow it; the share is the \
                         same here, and lengths of runs vary"
                    ),
                );
            }
            100.0 / f64::from(run)
        }
        _ => {
            let reason = format!(":{modifier} is no number of requests for each random place");
            findings.refuse(&at, reason, "write rw=randread:8, without percentage_random");
            random
        }
    }
}

/// The sizes of the requests that the job has: reads, writes or both.
fn sizes(
    options: &Options,
    (reads, writes): (bool, bool),
    findings: &mut Findings,
) -> Vec<SizeShare> {
    const DEFAULT: [SizeShare; 1] = [SizeShare { bytes: 4096, share: 100.0 }];
    let (bs, range, split) = (options.get("bs"), options.get("bsrange"), options.get("bssplit"));
    let is_later = |range: &Given| bs.is_none_or(|bs| bs.place < range.place);
    type Read = fn(&Options, &str) -> Result<Vec<SizeShare>, String>;
    let (at, read): (&Given, Read) = match (split, range.filter(|range| is_later(range)), bs) {
        (Some(split), ..) => (split, of_split),
        (None, Some(range), _) => (range, of_range),
        (None, None, Some(bs)) => (bs, of_size),
        (None, None, None) => return DEFAULT.to_vec(),
    };
    for other in [bs, range].into_iter().flatten().filter(|other| *other != at) {
        findings.remark(other, format!("no effect: {} of the same job says it", at.key));
    }
    let (of_reads, of_writes) = by_direction(at.text());
    let mut of =
        |text: Option<&str>| match text.map_or(Ok(DEFAULT.to_vec()), |text| read(options, text)) {
            Ok(sizes) => sizes,
            Err(reason) => {
                findings.refuse(at, reason, "write bs=4k, or bssplit=4k/70:64k/30");
                DEFAULT.to_vec()
            }
        };
    match (reads, writes) {
        (true, false) => of(of_reads),
        (false, _) => of(of_writes),
        (true, true) if of_reads == of_writes => of(of_reads),
        (true, true) => {
            let (for_reads, for_writes) = (of(of_reads), of(of_writes));
            if for_reads != for_writes {
                findings.refuse(
                    at,
                    "reads and writes of a workload have the same sizes",
                    "write one value for both, or two jobs with stonewall",
                );
            }
            for_reads
        }
    }
}

fn one_size(options: &Options, text: &str) -> Result<u32, String> {
    let bytes = options.bytes(text).ok_or_else(|| format!("\"{text}\" is no size"))?;
    if !SIZES.contains(&bytes) || bytes % 512 != 0 {
        let hint = match text.to_ascii_lowercase().ends_with("ib") {
            true => " (fio counts KiB by 1000 unless kb_base=1000)",
            false => "",
        };
        return Err(format!(
            "a request of {bytes} bytes{hint} is not possible: requests are multiples of 512 bytes, 64 MiB at most"
        ));
    }
    u32::try_from(bytes).map_err(|error| error.to_string())
}

fn of_size(options: &Options, text: &str) -> Result<Vec<SizeShare>, String> {
    Ok(vec![SizeShare { bytes: one_size(options, text)?, share: 100.0 }])
}

/// `1k-4k`: fio draws a length up to the largest and rounds it up to a multiple of the smallest, so each multiple is
/// equally likely.
fn of_range(options: &Options, text: &str) -> Result<Vec<SizeShare>, String> {
    let (least, most) = text.split_once('-').ok_or_else(|| format!("\"{text}\" is no range"))?;
    let (least, most) = (one_size(options, least.trim())?, one_size(options, most.trim())?);
    if most < least || most % least != 0 {
        return Err(format!("{text} is no range from a size to a multiple of it"));
    }
    let count = most / least;
    if u64::from(count) > MOST_SIZES {
        return Err(format!("{text} is {count} sizes, more than {MOST_SIZES}"));
    }
    let share = if count == 1 { 100.0 } else { 1.0 };
    Ok((1..=count).map(|multiple| SizeShare { bytes: multiple * least, share }).collect())
}

/// `4k/50:1k/:32k/`: what has no share divides the rest.
fn of_split(options: &Options, text: &str) -> Result<Vec<SizeShare>, String> {
    let mut entries = Vec::new();
    for part in text.split(':').map(str::trim).filter(|part| !part.is_empty()) {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let share = match share.trim().trim_end_matches('%') {
            "" => None,
            number => Some(
                number.parse::<u32>().map_err(|_| format!("{number} is no share in per cent"))?,
            ),
        };
        if share != Some(0) {
            entries.push((one_size(options, size.trim())?, share.map(f64::from)));
        }
    }
    let given: f64 = entries.iter().filter_map(|(_, share)| *share).sum();
    let open = entries.iter().filter(|(_, share)| share.is_none()).count();
    let is_whole = if open == 0 { given == 100.0 } else { given < 100.0 };
    if !is_whole {
        return Err(format!("the shares of {text} add up to {given} %, not 100 %"));
    }
    let rest = (100.0 - given) / open.max(1) as f64;
    let mut sizes: Vec<SizeShare> = Vec::new();
    for (bytes, share) in entries {
        let share = share.unwrap_or(rest);
        match sizes.iter_mut().find(|size| size.bytes == bytes) {
            Some(same) => same.share += share,
            None => sizes.push(SizeShare { bytes, share }),
        }
    }
    Ok(sizes)
}

fn alignment(options: &Options, findings: &mut Findings) -> Option<u64> {
    options.parsed("blockalign", "blockalign=4k, a multiple of 512 bytes", findings, |given| {
        let (read, write) = by_direction(given.text());
        let bytes = read.filter(|_| read == write).and_then(|text| options.bytes(text))?;
        (bytes > 0 && bytes % 512 == 0).then_some(bytes)
    })
}

fn distribution(options: &Options, random_percent: f64, findings: &mut Findings) -> Distribution {
    let Some(at) = options.get("random_distribution") else { return Distribution::Uniform };
    if random_percent == 0.0 {
        findings.remark(at, "no effect: the job is sequential");
        return Distribution::Uniform;
    }
    let text = at.text();
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    match (word, rest.parse::<f64>()) {
        ("random", _) => return Distribution::Uniform,
        ("zipf", Ok(exponent)) if exponent > 0.0 && exponent <= 5.0 => {
            return Distribution::Zipf { exponent };
        }
        ("zipf", _) => {
            let reason = format!(
                "\"{text}\": the exponent is above 0 and at most 5, and hot places are anywhere"
            );
            findings.refuse(at, reason, "write random_distribution=zipf:1.1");
        }
        _ => {
            let reason = format!("{word}: random places are all alike, or follow Zipf's law");
            findings.refuse(at, reason, "write random_distribution=zipf:1.1, or leave it out");
        }
    }
    Distribution::Uniform
}

fn content(options: &Options, read_percent: f64, findings: &mut Findings) -> Content {
    let compressible = options.percent("buffer_compress_percentage", findings);
    let duplicate = options.percent("dedupe_percentage", findings);
    if read_percent == 100.0 {
        for key in ["buffer_compress_percentage", "dedupe_percentage"] {
            if let Some(at) = options.get(key) {
                findings.remark(at, "no effect: the job writes nothing");
            }
        }
        return Content::default();
    }
    Content {
        compressible_percent: compressible.unwrap_or(0.0),
        duplicate_percent: duplicate.unwrap_or(0.0),
    }
}
