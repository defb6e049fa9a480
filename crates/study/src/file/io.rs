//! Reads load on virtual disks: an access specification, written out or as a profile with changes.

use stormeter_trial::{Arrivals, Burst, Distribution, FlushEvery, SizeShare, Workload};

use super::keys;
use stormeter_yaml::Diagnostics;
use stormeter_yaml::Section;
use stormeter_yaml::{Node, Value};

/// The workload: `base` with the changes in the mapping.
pub(super) fn read(
    section: &Section<'_>,
    base: &Workload,
    diagnostics: &mut Diagnostics,
) -> Workload {
    let mut io = pattern(section, base, diagnostics);
    if let Some(node) = section.get("burst") {
        io.burst = burst(node, diagnostics).or(io.burst);
    }
    if io.burst.is_some() && io.arrivals.rate_per_s().is_some() {
        diagnostics.error_at(
            section.place_of(if section.has("burst") { "burst" } else { "rate" }),
            "bursts with pauses and a fixed rate exclude each other; leave out burst or rate",
        );
    }
    durability(section, &mut io, diagnostics);
    let content = &mut io.content;
    content.compressible_percent =
        section.percent("compressible", diagnostics).unwrap_or(content.compressible_percent);
    content.duplicate_percent =
        section.percent("dedupable", diagnostics).unwrap_or(content.duplicate_percent);
    io
}

/// What requests are and when they come: `base` with the changes in the mapping.
pub(super) fn pattern(
    section: &Section<'_>,
    base: &Workload,
    diagnostics: &mut Diagnostics,
) -> Workload {
    let mut io = base.clone();
    if let Some(node) = section.get("request-size") {
        io.sizes = sizes(node, diagnostics).unwrap_or(io.sizes);
    }
    io.read_percent = section.percent("read", diagnostics).unwrap_or(io.read_percent);
    io.random_percent = section.percent("random", diagnostics).unwrap_or(io.random_percent);
    if let Some(exponent) = section.number("zipf", diagnostics) {
        if !(exponent > 0.0 && exponent <= 5.0) {
            diagnostics.error_at(
                section.place_of("zipf"),
                format!(
                    "zipf is an exponent above 0 and at most 5, not {exponent}; write zipf: 1.1"
                ),
            );
        }
        io.distribution = Distribution::Zipf { exponent };
    }
    if let Some(align) = section.size("align", diagnostics) {
        if align % 512 != 0 {
            diagnostics.error_at(
                section.place_of("align"),
                format!(
                    "an alignment of {align} bytes is not a multiple of 512; write align: 4KiB"
                ),
            );
        }
        io.alignment_bytes = Some(align);
    }
    io.arrivals = arrivals(section, io.arrivals, diagnostics);
    io
}

/// `durable: true` and `flush: every 8 writes`, which need writes.
fn durability(section: &Section<'_>, io: &mut Workload, diagnostics: &mut Diagnostics) {
    io.durable = section.flag("durable", diagnostics).unwrap_or(io.durable);
    if let Some(node) = section.get("flush") {
        match node.text() {
            Some(text) => match FlushEvery::parse(text) {
                Ok(flush) => io.flush = flush,
                Err(error) => diagnostics.error_at(node.place, error.to_string()),
            },
            None => diagnostics.error_at(
                node.place,
                format!(
                    "flush says when the disk is flushed, not {}; write flush: every 8 writes, flush: every \
                     10ms or flush: never",
                    node.found()
                ),
            ),
        }
    }
    if io.writes() || !io.asks_for_durability() {
        return;
    }
    let key = if io.durable { "durable" } else { "flush" };
    let cause = if section.has(key) { key } else { "read" };
    let neutral = if io.durable { "false" } else { "never" };
    diagnostics.error_at(
        section.place_of(cause),
        format!(
            "this workload reads only, and {key} is about writes; leave out {key} (or write {key}: {neutral}), or \
             let it write with read: 50%"
        ),
    );
}

/// `4KiB`, or `{4KiB: 70%, 8KiB: 30%}`.
fn sizes(node: &Node, diagnostics: &mut Diagnostics) -> Option<Vec<SizeShare>> {
    const EXAMPLE: &str = "request-size: 4KiB or request-size: {4KiB: 70%, 64KiB: 30%}";
    let pairs = match &node.value {
        Value::Text(_) => {
            let bytes = stormeter_yaml::request_size(node, "request-size", "4KiB", diagnostics)?;
            return Some(vec![SizeShare { bytes, share: 1.0 }]);
        }
        Value::Map(pairs) if !pairs.is_empty() => pairs,
        _ => {
            diagnostics.error_at(
                node.place,
                format!(
                    "request-size is a size, or sizes with their shares, not {}; write {EXAMPLE}",
                    node.found()
                ),
            );
            return None;
        }
    };
    let mut sizes: Vec<SizeShare> = Vec::new();
    let mut all_percent = true;
    for (key, value) in pairs {
        let bytes = stormeter_yaml::request_size(key, "a request size", "4KiB", diagnostics)?;
        let text = value.text().unwrap_or_default().trim();
        all_percent &= text.ends_with('%');
        let share = text.trim_end_matches('%').trim_end().parse::<f64>().ok();
        let Some(share) = share.filter(|share| *share > 0.0 && share.is_finite()) else {
            diagnostics.error_at(
                if value.value == Value::Nothing { key.place } else { value.place },
                format!("the share of a size is above 0%, not {}; write {EXAMPLE}", value.found()),
            );
            return None;
        };
        if sizes.iter().any(|size| size.bytes == bytes) {
            diagnostics.error_at(key.place, "this size is there twice; add up its shares");
            return None;
        }
        sizes.push(SizeShare { bytes, share });
    }
    let sum: f64 = sizes.iter().map(|size| size.share).sum();
    if all_percent && (sum - 100.0).abs() > 0.01 {
        diagnostics.error_at(
            node.place,
            format!(
                "the shares of the sizes add up to {}%, not 100%; fix them, or write them without \
                 % as parts of their sum",
                (sum * 100.0).round() / 100.0
            ),
        );
        return None;
    }
    Some(sizes)
}

/// A closed loop from `outstanding`, an open one from `rate` and `arrivals`.
fn arrivals(section: &Section<'_>, base: Arrivals, diagnostics: &mut Diagnostics) -> Arrivals {
    let outstanding = section.count("outstanding", 1, diagnostics);
    if outstanding.is_some_and(|outstanding| outstanding > 65_536) {
        diagnostics.error_at(section.place_of("outstanding"), "outstanding is at most 65536 a VM");
    }
    let rate = section.number("rate", diagnostics);
    if let Some(rate) = rate
        && !(1e-4..=1e9).contains(&rate)
    {
        diagnostics.error_at(
            section.place_of("rate"),
            format!("a rate of {rate} I/Os a second generates no load; write rate: 500"),
        );
    }
    if section.has("outstanding") && section.has("rate") {
        diagnostics.error_at(
            section.place_of("rate"),
            "a fixed rate and a fixed number of outstanding I/Os exclude each other; leave out \
             rate or outstanding",
        );
    }
    let names = [("poisson", true), ("constant", false)];
    let poisson = section.choice("arrivals", &names, diagnostics);
    let by_rate = |rate_per_s: f64, poisson: bool| match poisson {
        true => Arrivals::Poisson { rate_per_s },
        false => Arrivals::Constant { rate_per_s },
    };
    let was_poisson = !matches!(base, Arrivals::Constant { .. });
    match (rate.or(base.rate_per_s()), outstanding) {
        (_, Some(outstanding)) => {
            if section.has("arrivals") && !section.has("rate") {
                diagnostics.error_at(
                    section.place_of("arrivals"),
                    "arrivals say how requests of a fixed rate come; write a rate instead of \
                     outstanding",
                );
            }
            Arrivals::Closed { outstanding }
        }
        (Some(rate), None) => by_rate(rate, poisson.unwrap_or(was_poisson)),
        (None, None) => {
            if section.has("arrivals") && !section.has("rate") {
                diagnostics.error_at(
                    section.place_of("arrivals"),
                    "arrivals say how requests of a fixed rate come, and there is no rate; write \
                     rate: 500 next to it",
                );
            }
            base
        }
    }
}

/// `{length: 8, delay: 10ms}`.
fn burst(node: &Node, diagnostics: &mut Diagnostics) -> Option<Burst> {
    let section = Section::open(node, "burst", &keys::BURST, diagnostics)?;
    for key in ["length", "delay"] {
        if !section.has(key) {
            let example = keys::BURST.example(key);
            diagnostics
                .error_at(node.place, format!("a burst needs a {key}; write {key}: {example}"));
        }
    }
    let length = section.count("length", 1, diagnostics)?;
    let delay_ns = section.duration("delay", diagnostics)?;
    Some(Burst { length, delay_ns })
}
