//! Runs of other tools audited: what their own figures say of each other.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use stormeter_import::{Direction, Figure as Stated, Imported, Run, Series, Way};
use stormeter_replicate::Role;

use crate::finding::{Amount, Detail, Explanation, Finding, Level};
use crate::identities::{Figure, little, throughput};
use crate::law::Law;
use crate::length::short;
use crate::span::Span;
use crate::summary;

/// Every finding of these files, each with its name.
pub fn audit_runs(files: &[(String, Imported)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, imported) in files {
        for run in &imported.runs {
            findings.extend(run_findings(&place(file, &run), &run));
        }
    }
    findings.extend(between(files));
    findings
}

/// What the figures of trials of our own say of each other, each run named by its trial. Length, order and repetition
/// are the report's business.
pub fn audit_trials(file: &str, imported: &Imported) -> Vec<Finding> {
    let found = imported.runs.iter().flat_map(|run| run_findings(&place(file, &run), &run));
    found.filter(|finding| finding.law != Law::Length).collect()
}

fn place(file: &str, run: &Run) -> String {
    match run.name.is_empty() {
        true => format!("{file}, {}", run.place),
        false => format!("{file}, {}", run.name),
    }
}

fn span(figure: Stated) -> Span {
    Span::around(figure.value, figure.half)
}

fn in_unit(figure: Stated, unit: &str, one: f64) -> Figure {
    Figure { span: span(figure).scaled(1.0 / one), unit: unit.to_owned(), readings: vec![one] }
}

fn run_findings(place: &str, run: &Run) -> Vec<Finding> {
    let mut findings = Vec::new();
    for direction in &run.directions {
        let place = match direction.way {
            Way::Both => place.to_owned(),
            way => format!("{place}, {}", name(way)),
        };
        findings.extend(direction_findings(&place, run, direction));
    }
    findings.extend(in_flight(place, run));
    let seconds = run.window_s.map(|window| window.value).or(run.load.duration_s);
    findings.extend(seconds.and_then(|seconds| short(place, seconds)));
    if let Some(errors @ 1..) = run.errors {
        let detail = Detail::Fact(format!("{errors} I/Os failed"));
        findings.push(Finding::new(Law::Errors, Level::Doubtful, place, detail));
    }
    if let Some(busy) = run.cpu_busy
        && span(busy).is_above(Span::exact(1.0))
    {
        let detail = Detail::Limit {
            stated: Amount::new("CPU", span(busy).scaled(100.0), "%"),
            limit: Amount::new("all of it", Span::exact(100.0), "%"),
            is_least: false,
            beyond: (1, 1),
        };
        findings.push(Finding::new(Law::Share, Level::Doubtful, place, detail));
    }
    findings
}

fn name(way: Way) -> &'static str {
    match way {
        Way::Read => "reads",
        Way::Write => "writes",
        Way::Both => "all",
        Way::Flush => "flushes",
        Way::Trim => "discards",
    }
}

const MB: f64 = 1e6;
const MS: f64 = 1e6;

fn direction_findings(place: &str, run: &Run, direction: &Direction) -> Vec<Finding> {
    let mut findings = Vec::new();
    let iops = direction.iops.map(|iops| in_unit(iops, "IOPS", 1.0));
    let rate = direction.bytes_per_s.map(|rate| in_unit(rate, "MB/s", MB));
    if let (Some(iops), Some(rate), Some(bytes)) = (&iops, &rate, run.load.request_bytes)
        && iops.span.middle > 0.0
    {
        let size = in_unit(Stated::exact(bytes as f64), "KiB", 1024.0);
        findings.extend(throughput(place, "throughput", iops, &size, rate, &[]));
    }
    findings.extend(rates(place, run, direction));
    findings.extend(latency(place, direction));
    findings
}

/// Rates against counts and time.
fn rates(place: &str, run: &Run, direction: &Direction) -> Vec<Finding> {
    let Some(window) = direction.runtime_s.or(run.window_s).map(span) else { return Vec::new() };
    if window.low <= 0.0 {
        return Vec::new();
    }
    let check = |what: &str,
                 (unit, counted): (&str, &str),
                 one: f64,
                 count: Option<Stated>,
                 rate: Option<Stated>| {
        let (count, rate) = (span(count?), span(rate?));
        let follows = count.over(window);
        let apart = rate.apart(follows)?;
        // Tools take the time of the slowest worker, or of each: a few percent are a definition.
        let level = match apart {
            apart if apart < 1.02 => return None,
            apart if apart < 1.25 => Level::Note,
            _ => Level::Doubtful,
        };
        let amount = |what: String, span: Span| Amount::new(what, span.scaled(1.0 / one), unit);
        let moved = Amount::new("", count.scaled(1.0 / one), counted);
        let detail = Detail::Mismatch {
            stated: amount(what.to_owned(), rate),
            follows: amount(format!("{what} over the time"), follows),
            from: vec![moved, Amount::new("", window, "s")],
        };
        Some(Finding::new(Law::MovedInTime, level, place, detail))
    };
    let iops = check("IOPS", ("IOPS", "I/Os"), 1.0, direction.operations, direction.iops);
    let bytes = check("throughput", ("MB/s", "MB"), MB, direction.bytes, direction.bytes_per_s);
    iops.into_iter().chain(bytes).collect()
}

fn latency(place: &str, direction: &Direction) -> Vec<Finding> {
    let latency = &direction.latency;
    let ms = |figure: Option<Stated>| figure.map(|figure| span(figure).scaled(1.0 / MS));
    let stated = summary::Stated {
        figures: [
            (Role::Mean, ms(latency.mean)),
            (Role::Sd, ms(latency.sd)),
            (Role::Min, ms(latency.min)),
            (Role::Max, ms(latency.max)),
            (Role::N, direction.operations.map(span)),
        ]
        .into_iter()
        .filter_map(|(role, span)| Some((role, span?)))
        .collect(),
        unit: "ms".to_owned(),
    };
    // Latencies have tails; that is no finding.
    let mut findings: Vec<Finding> = summary::check(place, &stated)
        .into_iter()
        .filter(|finding| finding.level != Level::Note)
        .collect();
    let did_something = direction.operations.is_none_or(|operations| operations.value > 0.0)
        && direction.iops.is_none_or(|iops| iops.value > 0.0);
    if did_something && latency.mean.is_some_and(|mean| mean.value == 0.0) {
        let detail = Detail::Fact("the mean latency is 0".to_owned());
        findings.push(Finding::new(Law::ZeroLatency, Level::Doubtful, place, detail));
    }
    findings.extend(percentiles(place, direction));
    findings.extend(conservation(place, direction));
    findings
}

fn percentiles(place: &str, direction: &Direction) -> Option<Finding> {
    let latency = &direction.latency;
    // Not from the least latency: fio's is from submission, its percentiles are from the kernel's taking over.
    let mut least: Option<(String, Span)> = None;
    let mut steps: Vec<(String, Span)> = latency
        .percentiles
        .iter()
        .map(|percentile| (format!("p{}", trimmed(100.0 * percentile.share)), span(percentile.ns)))
        .collect();
    steps.extend(latency.max.map(|max| ("longest".to_owned(), span(max))));
    for (what, value) in steps {
        if let Some((before, lower)) = &least
            // Tools read percentiles from buckets of up to 2 %, whose middle or end may be beyond the extremes.
            && lower.scaled(0.97).is_above(value)
        {
            let detail = Detail::Limit {
                stated: Amount::new(what, value.scaled(1.0 / MS), "ms"),
                limit: Amount::new(before.clone(), lower.scaled(1.0 / MS), "ms"),
                is_least: true,
                beyond: (1, 1),
            };
            return Some(Finding::new(Law::Distribution, Level::Broken, place, detail));
        }
        least = Some((what, value));
    }
    None
}

fn trimmed(percent: f64) -> String {
    let text = format!("{percent:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn conservation(place: &str, direction: &Direction) -> Option<Finding> {
    let operations = span(direction.operations?);
    let buckets = &direction.latency.histogram;
    if buckets.is_empty() {
        return None;
    }
    let counted = Span::exact(buckets.iter().map(|bucket| bucket.count as f64).sum());
    let apart = operations.apart(counted)?;
    // A few I/Os at the ends of a window may be counted in one of the two.
    let level = match apart {
        apart if apart < 1.001 => return None,
        apart if apart < 1.01 => Level::Doubtful,
        _ => Level::Broken,
    };
    let detail = Detail::Mismatch {
        stated: Amount::new("I/Os", operations, ""),
        follows: Amount::new("I/Os in the histogram", counted, ""),
        from: Vec::new(),
    };
    Some(Finding::new(Law::Conservation, level, place, detail))
}

/// Little's law over all kinds of a run.
fn in_flight(place: &str, run: &Run) -> Option<Finding> {
    let outstanding = run.load.outstanding?;
    // An open loop promises a rate, and pauses keep slots empty.
    if run.load.rate_per_s.is_some() {
        return None;
    }
    let both = run.directions.iter().find(|direction| direction.way == Way::Both);
    let of: Vec<&Direction> = match both {
        Some(both) => vec![both],
        None => run
            .directions
            .iter()
            .filter(|direction| matches!(direction.way, Way::Read | Way::Write | Way::Trim))
            .collect(),
    };
    let mut in_flight = Span::exact(0.0);
    let mut iops = Span::exact(0.0);
    for direction in of {
        if direction.iops.is_some_and(|iops| iops.value == 0.0) {
            continue;
        }
        let (rate, mean) = (span(direction.iops?), span(direction.latency.mean?));
        iops = iops.plus(rate);
        in_flight = in_flight.plus(rate.times(mean.scaled(1e-9)));
    }
    if iops.middle <= 0.0 {
        return None;
    }
    let latency = in_flight.over(iops).scaled(1e3);
    little(
        place,
        &Figure { span: iops, unit: "IOPS".to_owned(), readings: vec![1.0] },
        &Figure { span: latency, unit: "ms".to_owned(), readings: vec![1e-3] },
        &Figure::plain(Span::exact(outstanding as f64)),
    )
}

/// What only several runs show: repetitions, their order, and unlike promises.
fn between(files: &[(String, Imported)]) -> Vec<Finding> {
    // Unpacked, and without their figures, which are compared no more.
    let runs: Vec<Run> = files
        .iter()
        .flat_map(|(_, imported)| &imported.runs)
        .map(|run| Run { directions: Vec::new(), intervals: Series::default(), ..run })
        .collect();
    let mut findings = Vec::new();
    findings.extend(same_figures(files));
    let mut cells: BTreeMap<(String, String), Vec<&Run>> = BTreeMap::new();
    for run in &runs {
        let target = run.target.clone().unwrap_or_default();
        cells.entry((run.name.clone(), target)).or_default().push(run);
    }
    let single = cells.values().filter(|runs| runs.len() == 1).count();
    if single > 0 {
        let detail = Detail::Fact(match (single, cells.len()) {
            (1, 1) => "one run: no interval can be had".to_owned(),
            (single, all) => format!("{single} of {all} cells were measured once"),
        });
        findings.push(Finding::new(Law::Repetition, Level::Note, "all files", detail));
    }
    findings.extend(order(&cells));
    findings.extend(durability(&runs));
    findings
}

/// Runs whose figures are all the same: one run that is counted twice, since two never agree to the last digit.
fn same_figures(files: &[(String, Imported)]) -> Option<Finding> {
    let mut known: HashMap<u64, String> = HashMap::new();
    for (file, imported) in files {
        for run in &imported.runs {
            let Some(figures) = figures(&run) else { continue };
            let place = format!("{}, {}", place(file, &run), run.place);
            if let Some(first) = known.insert(figures, place.clone()) {
                let text = format!("the same figures as {first}: one run, counted twice");
                let detail = Detail::Fact(text);
                return Some(Finding::new(Law::Independence, Level::Doubtful, place, detail));
            }
        }
    }
    None
}

/// A hash of a run's figures; `None`: so few that two runs may well agree.
fn figures(run: &Run) -> Option<u64> {
    const ENOUGH: usize = 3;
    let mut hasher = DefaultHasher::new();
    let mut count = 0;
    for direction in &run.directions {
        let latency = &direction.latency;
        let means = [direction.iops, direction.bytes_per_s, direction.bytes, latency.mean];
        for figure in means.into_iter().chain([latency.max, latency.sd]) {
            let value = figure.map_or(0.0, |figure| figure.value);
            value.to_bits().hash(&mut hasher);
            // Whole numbers of a few digits are settings, or agree by chance.
            count += usize::from(value.fract() != 0.0 || value > 1e4);
        }
    }
    (count >= ENOUGH).then(|| hasher.finish())
}

/// All runs of one target before all of another.
fn order(cells: &BTreeMap<(String, String), Vec<&Run>>) -> Option<Finding> {
    let mut targets: BTreeMap<&str, (f64, f64, usize)> = BTreeMap::new();
    for ((_, target), runs) in cells {
        for run in runs {
            let began = run.began_s?;
            let entry = targets.entry(target).or_insert((began, began, 0));
            *entry = (entry.0.min(began), entry.1.max(began), entry.2 + 1);
        }
    }
    let mut spans: Vec<_> = targets.into_iter().filter(|(_, (.., runs))| *runs > 1).collect();
    spans.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let apart = spans.windows(2).find(|pair| pair[0].1.1 < pair[1].1.0)?;
    let text = format!(
        "all runs of {} came before all runs of {}: what changed with time counts as their difference",
        apart[0].0, apart[1].0
    );
    Some(Finding::new(Law::Order, Level::Doubtful, "all files", Detail::Fact(text)))
}

fn durability(runs: &[Run]) -> Option<Finding> {
    let writes = |run: &&Run| run.load.read_share != Some(1.0);
    let mut promises: Vec<(String, &Run)> = Vec::new();
    for run in runs.iter().filter(writes) {
        let mut promise = run.load.durability.clone().unwrap_or_else(|| "no flushes".to_owned());
        if run.load.direct == Some(false) {
            promise += " through the page cache";
        }
        if promises.iter().all(|(known, _)| *known != promise) {
            promises.push((promise, run));
        }
    }
    let [(one, a), (other, b), ..] = &promises[..] else { return None };
    // Different loads may differ in that on purpose; one load on two targets may not.
    (a.name == b.name && a.target != b.target).then(|| {
        let text = format!("{}: {one} on one target, {other} on another", a.name);
        Finding::new(Law::Durability, Level::Doubtful, "all files", Detail::Fact(text))
            .explained([Explanation::Cache])
    })
}
