//! Sides in words. This is the one place that words them.

use stormeter_statistics::Verdict;
use stormeter_statistics::runs::RunsCompared;
use stormeter_study::Metric;

use super::model::{SideMetric, SideRun, Sides, SidesLoad, Unlike};
use crate::change::{range, show};
use crate::model::{Finding, Severity};
use crate::quantity::{decimals, level_percent, metric_value, percent};
use crate::title::Titles;
use crate::wording::plural;

/// The most loads that have a sentence each; of more, the verdicts are counted.
const MOST_SENTENCES: usize = 4;

/// The first sentences, each with its verdict.
pub(crate) fn headline(sides: &Sides) -> Vec<(Option<Verdict>, String)> {
    let verdicts = sides.verdicts();
    if verdicts.is_empty() {
        let runs: usize = sides.sides.iter().map(|side| side.runs.len()).sum();
        let (runs, loads) = (plural(runs as u64, "run"), plural(sides.loads.len() as u64, "load"));
        return vec![(None, format!("{runs}, {loads}, and nothing to compare with."))];
    }
    if verdicts.len() > MOST_SENTENCES {
        return counted(sides, &verdicts);
    }
    let sentences = verdicts.iter().filter_map(|&(load, side, verdict)| {
        Some((Some(verdict), sentence(sides, &sides.loads[load], side, verdict)?))
    });
    sentences.collect()
}

/// How many loads have which verdict, side by side.
fn counted(sides: &Sides, verdicts: &[(usize, usize, Verdict)]) -> Vec<(Option<Verdict>, String)> {
    let title = Titles::Usual.of(sides.primary);
    let baseline = &sides.sides[0].name;
    let of_side = sides.sides.iter().enumerate().skip(1).filter_map(|(place, side)| {
        let own: Vec<Verdict> = verdicts
            .iter()
            .filter(|(_, of, _)| *of == place)
            .map(|(.., verdict)| *verdict)
            .collect();
        let kinds = [
            Verdict::Faster,
            Verdict::Slower,
            Verdict::Equivalent,
            Verdict::Inconclusive,
            Verdict::Invalid,
        ];
        let parts = kinds.into_iter().filter_map(|kind| {
            let count = own.iter().filter(|verdict| **verdict == kind).count();
            (count > 0).then(|| format!("{} in {count}", word(kind)))
        });
        let parts: Vec<String> = parts.collect();
        (!own.is_empty()).then(|| {
            let words = format!(
                "{} against {baseline} in {title}, over {}: {}.",
                side.name,
                plural(own.len() as u64, "load"),
                parts.join(", ")
            );
            (None, words)
        })
    });
    of_side.collect()
}

/// What a load says about a side.
fn sentence(sides: &Sides, load: &SidesLoad, side: usize, verdict: Verdict) -> Option<String> {
    let deciding = load.metrics.iter().find(|it| it.metric == sides.primary);
    let deciding = deciding.or(load.metrics.first())?;
    let [baseline, other] = [0, side].map(|place| deciding.values.get(place)?.as_ref());
    let (baseline, other) = (baseline?, other?);
    let compared = other.compared.as_ref()?;
    let [of, with] = [side, 0].map(|place| sides.sides[place].name.as_str());
    let subject = match sides.loads.len() {
        1 => String::new(),
        _ => format!("{}: ", load.name),
    };
    let title = Titles::Usual.of(deciding.metric);
    let amount = format!("{title} {}", show(compared.ratio));
    let runs = format!("{} against {}", plural(other.runs as u64, "run"), baseline.runs);
    let interval = match &compared.interval {
        Some(interval) => format!(
            " ({} % interval {})",
            level_percent(interval.level),
            range(compared.ratio, interval)
        ),
        None => String::new(),
    };
    let margin = percent(sides.margin);
    let small = if compared.within_margin { ", within the margin" } else { "" };
    Some(match (verdict, &compared.interval) {
        (Verdict::Faster | Verdict::Slower, _) => {
            format!(
                "{subject}{of} is {} than {with}: {amount}{interval}{small}, {runs}.",
                word(verdict)
            )
        }
        (Verdict::Equivalent, _) => format!(
            "{subject}{of} and {with} are equivalent: {amount}{interval}, within the margin of \
             {margin} %, {runs}."
        ),
        (Verdict::Inconclusive, Some(_)) => {
            format!("{subject}Inconclusive: {of} against {with}, {amount}{interval}, {runs}.")
        }
        (Verdict::Inconclusive, None) => {
            let within = compared
                .within
                .as_ref()
                .map(|within| format!("; within these two runs {}", range(compared.ratio, within)));
            format!(
                "{subject}No verdict from one run on each side: {of} against {with}, {amount}{}.",
                within.unwrap_or_default()
            )
        }
        (Verdict::Invalid, _) => format!(
            "{subject}No verdict, because the runs are not alike: {of} against {with}, {amount}."
        ),
    })
}

/// A verdict as a word.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Invalid => "not alike",
    }
}

/// A value with its spread between runs: `12 345 ± 1.2 %`.
pub(crate) fn value(metric: Metric, value: f64, between_runs: Option<f64>) -> String {
    let text = metric_value(metric, value);
    match between_runs {
        Some(spread) => format!("{text} ± {}\u{202f}%", decimals(100.0 * spread)),
        None => text,
    }
}

/// A change with the interval that there is: between runs, or in parentheses within them.
pub(crate) fn change(compared: &RunsCompared) -> String {
    let amount = show(compared.ratio);
    match (&compared.interval, &compared.within) {
        (Some(interval), _) => format!("{amount} ({})", range(compared.ratio, interval)),
        (None, Some(within)) => {
            format!("{amount} (within the runs {})", range(compared.ratio, within))
        }
        (None, None) => amount,
    }
}

/// What a metric is called.
pub(crate) fn title(metric: &SideMetric) -> &'static str {
    Titles::Usual.of(metric.metric)
}

/// What weakens the comparison, and what cannot be concluded.
pub(crate) fn findings(sides: &Sides) -> Vec<Finding> {
    let mut found = unlike(sides);
    found.extend(single_runs(sides));
    for side in &sides.sides {
        for (run, why) in side.runs.iter().filter_map(|run| Some((run, run.invalid.as_ref()?))) {
            found.push(unused(&run.file, why));
        }
    }
    found.extend(missing(sides));
    for only in &sides.only_in {
        found.push(Finding {
            severity: Severity::Note,
            subject: only.load.clone(),
            what: format!("only {} has it", sides.sides[only.side].name),
            advice: String::new(),
        });
    }
    found
}

/// A run that is not used.
pub(crate) fn unused(file: &str, why: &str) -> Finding {
    Finding {
        severity: Severity::Warning,
        subject: file.to_owned(),
        what: format!("it is not used: {why}"),
        advice: String::new(),
    }
}

/// Differences between runs, each once with the loads that have it.
fn unlike(sides: &Sides) -> Vec<Finding> {
    let mut all: Vec<(&Unlike, Vec<&str>)> = Vec::new();
    for load in &sides.loads {
        for unlike in &load.unlike {
            match all.iter_mut().find(|(known, _)| *known == unlike) {
                Some((_, loads)) => loads.push(&load.name),
                None => all.push((unlike, vec![&load.name])),
            }
        }
    }
    let of = |(unlike, loads): (&Unlike, Vec<&str>)| {
        let baseline = &sides.sides[0].name;
        let other = match unlike.side {
            0 => format!("other runs of {baseline}"),
            side => sides.sides[side].name.clone(),
        };
        let subject = match loads.len() == sides.loads.len() {
            true => String::new(),
            false => loads.join("; "),
        };
        Finding {
            severity: if unlike.is_allowed { Severity::Note } else { Severity::Invalid },
            subject,
            what: format!(
                "the runs differ in {}: {baseline} {}, {other} {}",
                unlike.aspect, unlike.baseline, unlike.other
            ),
            advice: match unlike.is_allowed {
                true => String::new(),
                false => format!(
                    "measure both alike, or say that they may differ in {} if that cannot matter",
                    unlike.aspect
                ),
            },
        }
    };
    all.into_iter().map(of).collect()
}

fn single_runs(sides: &Sides) -> Option<Finding> {
    let compared = sides.loads.iter().flat_map(|load| &load.metrics).flat_map(|it| &it.values);
    let mut compared = compared.flatten().filter_map(|value| value.compared.as_ref());
    compared.any(|compared| compared.interval.is_none()).then(|| Finding {
        severity: Severity::Warning,
        subject: String::new(),
        what: "there is one run on each side, so how much runs differ by themselves is not known, and \
               no difference can be told from it"
            .into(),
        advice: "measure each side three times or more, better five, in turn; or measure both in one \
                 comparison, which takes turns by itself"
            .into(),
    })
}

/// Metrics that some sides lack.
fn missing(sides: &Sides) -> Vec<Finding> {
    let mut by_side: Vec<Vec<&'static str>> = vec![Vec::new(); sides.sides.len()];
    for metric in sides.loads.iter().flat_map(|load| &load.metrics) {
        let is_shown = metric.values.iter().any(Option::is_some);
        for (side, value) in metric.values.iter().enumerate() {
            if is_shown && value.is_none() && !by_side[side].contains(&title(metric)) {
                by_side[side].push(title(metric));
            }
        }
    }
    let named = by_side.into_iter().zip(&sides.sides).filter(|(titles, _)| !titles.is_empty());
    named
        .map(|(titles, side)| Finding {
            severity: Severity::Note,
            subject: side.name.clone(),
            what: format!(
                "its results lack {} of some loads, so nothing can be concluded about these",
                titles.join(", ")
            ),
            advice: String::new(),
        })
        .collect()
}

/// A run in a line: `night.json, fio 3.33`.
pub(crate) fn run(run: &SideRun) -> String {
    let when = run.began_unix_ms.map(|ms| format!(", {}", crate::date::utc(ms)));
    format!("{}, {}{}", run.file, run.made_by, when.unwrap_or_default())
}

/// How values and changes are to be read.
pub(crate) fn caption(sides: &Sides) -> String {
    format!(
        "Values are geometric means over the runs, ± the SD between them. Changes are against {}, with their {} % \
         interval by the spread between runs. Verdicts hold over all loads and metrics (Holm); within {} % sides are \
         equivalent.",
        sides.sides[0].name,
        level_percent(sides.level),
        percent(sides.margin)
    )
}

/// A verdict's class on a page.
pub(crate) fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Invalid => "invalid",
        other => word(other),
    }
}
