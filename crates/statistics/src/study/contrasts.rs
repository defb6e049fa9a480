//! The answer to a claim about one number: at one load, on average over several, or at each.

use stormeter_study::Unit;

use super::answer::{Draft, Unanswered, sound};
use super::claims::{Asked, Shown};
use super::conclusion::{AnswerEstimate, AnswerPart, Reply};
use super::effect::{Basis, Contrast, Effect};
use super::measured::Measured;
use super::region::{Region, Ruling};
use super::remarks;
use super::words::{change_with_interval, percent, plural, quantity};
use crate::estimate::Interval;

/// A claim at one load.
struct AtLoad {
    name: String,
    effect: Effect,
    ruling: Ruling,
}

/// Tests a claim.
///
/// # Errors
/// Why it cannot be answered.
pub(super) fn draft(measured: &Measured<'_>, asked: &Asked) -> Result<Draft, Unanswered> {
    for &(cell, _) in asked.loads.iter().flat_map(|(_, contrast)| contrast) {
        sound(measured, cell)?;
    }
    let mut loads = Vec::new();
    let mut missing = Vec::new();
    for (name, contrast) in &asked.loads {
        match Effect::of(measured, asked.metric, contrast) {
            Ok(effect) => {
                let ruling = asked.region.rule(&effect);
                loads.push(AtLoad { name: name.clone(), effect, ruling });
            }
            Err(why) => missing.push(why),
        }
    }
    let level = measured.plan.design.level;
    let mut draft = if loads.is_empty() || (asked.everywhere && !missing.is_empty()) {
        return Err(missing.remove(0).into());
    } else if asked.everywhere && loads.len() > 1 {
        everywhere(measured, asked, &loads, level)
    } else {
        average(measured, asked, &loads, level)?
    };
    if loads.len() > 1 {
        // Where one load decides the whole, each is answered with the error that the whole is.
        let places = if asked.everywhere { loads.len() } else { 1 };
        draft.parts = loads.iter().map(|load| part(measured, asked, load, level, places)).collect();
    }
    if let Some(why) = missing.first() {
        let left_out = plural(missing.len(), "load");
        draft.remarks.push(format!("{left_out} could not be compared and was left out: {why}"));
    }
    draft.remarks.extend(remarks::of_contrasts(measured, asked));
    Ok(draft)
}

/// The mean over the loads, which for one load is that load.
fn average(
    measured: &Measured<'_>,
    asked: &Asked,
    loads: &[AtLoad],
    level: f64,
) -> Result<Draft, String> {
    let share = 1.0 / loads.len() as f64;
    let used = asked.loads.iter().filter(|(name, _)| loads.iter().any(|load| load.name == *name));
    let contrast: Contrast = used
        .flat_map(|(_, contrast)| contrast.iter().map(|&(cell, weight)| (cell, weight * share)))
        .collect();
    let effect = Effect::of(measured, asked.metric, &contrast)?;
    let ruling = asked.region.rule(&effect);
    let reply = ruling.reply(1.0 - level, 1);
    let interval = effect.interval(asked.region.interval_level(level));
    let is_exact = measured.is_exact(&interval);
    let shown = measure(asked, effect.estimate(), (!is_exact).then_some(&interval));
    let mut where_ = format!("{}{shown}, {}", worth(asked, &interval), size(&effect));
    match loads {
        [only] if measured.cells.len() > measured.plan.datastores.len() => {
            where_.push_str(&format!(", at {}", only.name));
        }
        [_] => {}
        several => where_.push_str(&format!(", mean over {} loads", several.len())),
    }
    let sentence = match reply {
        Reply::Yes => format!("{}: {where_}.", asked.phrase.yes),
        Reply::No => format!("{}: {where_}.", asked.phrase.no),
        Reply::Inconclusive | Reply::NotAnswered => format!(
            "It is inconclusive whether {}: {where_}{}.",
            asked.phrase.yes,
            outlook(asked, &[&effect], level)
        ),
    };
    let test = test_name(asked, &effect, loads.len(), false);
    let mut draft = tested(Draft::new(reply, sentence, test), is_exact, ruling.p);
    draft.estimate = Some(estimate(measured, asked, &effect, level));
    if !is_exact {
        draft.remarks = remarks::of_effect(measured, asked, &effect, &contrast);
    }
    Ok(draft)
}

/// Every load by itself: yes if the claim is shown at each (an intersection-union test: each at the
/// full level, Berger, *Technometrics* 24 (1982) 295-300), no if the contrary is at one of them,
/// where the error is shared among the loads.
fn everywhere(measured: &Measured<'_>, asked: &Asked, loads: &[AtLoad], level: f64) -> Draft {
    let alpha = 1.0 - level;
    let replies: Vec<Reply> =
        loads.iter().map(|load| load.ruling.reply(alpha, loads.len())).collect();
    let count = |wanted: Reply| replies.iter().filter(|&&reply| reply == wanted).count();
    let Some(worst) = worst(loads, &replies) else {
        return Draft::new(Reply::NotAnswered, "There is no load.".into(), String::new());
    };
    let interval = worst.effect.interval(asked.region.interval_level(level));
    let is_exact = measured.is_exact(&interval);
    let worst_text = format!(
        "{}{} at {}, {}",
        worth(asked, &interval),
        measure(asked, worst.effect.estimate(), (!is_exact).then_some(&interval)),
        worst.name,
        size(&worst.effect)
    );
    let of = loads.len();
    let (reply, sentence) = if count(Reply::Yes) == of {
        let yes = &asked.phrase.yes;
        (Reply::Yes, format!("{yes} at each of {of} loads: least clearly with {worst_text}."))
    } else if count(Reply::No) > 0 {
        let no = &asked.phrase.no;
        let at = plural(count(Reply::No), "load");
        (
            Reply::No,
            format!("{no} everywhere: the contrary is shown at {at} of {of}, {worst_text}."),
        )
    } else {
        let open: Vec<&Effect> = loads
            .iter()
            .zip(&replies)
            .filter(|(_, reply)| **reply == Reply::Inconclusive)
            .map(|(load, _)| &load.effect)
            .collect();
        let sentence = format!(
            "It is inconclusive whether {} at each of {of} loads: shown at {}; least clearly with \
             {worst_text}{}.",
            asked.phrase.yes,
            count(Reply::Yes),
            outlook(asked, &open, level)
        );
        (Reply::Inconclusive, sentence)
    };
    let test = test_name(asked, &worst.effect, of, true);
    let mut draft = tested(Draft::new(reply, sentence, test), is_exact, worst.ruling.p);
    draft.estimate = Some(estimate(measured, asked, &worst.effect, level));
    let contrast = asked.loads.iter().find(|(name, _)| *name == worst.name);
    if let Some((_, contrast)) = contrast.filter(|_| !is_exact) {
        draft.remarks = remarks::of_effect(measured, asked, &worst.effect, contrast);
    }
    draft
}

/// The load that speaks most against the claim, which the answer shows: among those that show the
/// contrary the one that shows it most clearly, and where none does, the one that shows the claim
/// least. The two can differ: a load with much noise shows neither, and so shows the claim less than
/// one that is surely a little off.
fn worst<'l>(loads: &'l [AtLoad], replies: &[Reply]) -> Option<&'l AtLoad> {
    let says_no = |reply: &Reply| *reply == Reply::No;
    let no = loads.iter().zip(replies).filter(|(_, reply)| says_no(reply)).map(|(load, _)| load);
    if replies.iter().any(says_no) {
        return no.min_by(|a, b| {
            let key = |load: &AtLoad| (load.ruling.p_contrary, -load.ruling.p);
            key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
        });
    }
    loads.iter().max_by(|a, b| {
        let key = |load: &AtLoad| (load.ruling.p, -load.ruling.p_contrary);
        key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
    })
}

/// With the test that it rests on; a model that repeats itself is not put to one.
fn tested(draft: Draft, is_exact: bool, p: f64) -> Draft {
    match is_exact {
        true => Draft { test: "none".into(), p_value: None, ..draft },
        false => Draft { p_value: Some(p), ..draft },
    }
}

fn part(
    measured: &Measured<'_>,
    asked: &Asked,
    load: &AtLoad,
    level: f64,
    places: usize,
) -> AnswerPart {
    let interval = load.effect.interval(asked.region.interval_level(level));
    AnswerPart {
        load: load.name.clone(),
        value: load.effect.estimate().exp(),
        interval: (!measured.is_exact(&interval)).then(|| exponential(&interval)),
        reply: load.ruling.reply(1.0 - level, places),
    }
}

fn estimate(measured: &Measured<'_>, asked: &Asked, effect: &Effect, level: f64) -> AnswerEstimate {
    let level = asked.region.interval_level(level);
    let interval = effect.interval(level);
    let (of, metric) = match &asked.shown {
        Shown::Ratio(of) => (of.clone(), None),
        Shown::PerDoubling(of, factor) => (format!("{of} of {factor}"), None),
        Shown::Value(of) => (of.clone(), Some(asked.metric)),
    };
    AnswerEstimate {
        of,
        value: effect.estimate().exp(),
        interval: (!measured.is_exact(&interval)).then(|| exponential(&interval)),
        level,
        metric,
    }
}

fn exponential(interval: &Interval) -> Interval {
    Interval { low: interval.low.exp(), high: interval.high.exp(), level: interval.level }
}

/// What a difference is called that is surely none worth the name.
fn worth(asked: &Asked, interval: &Interval) -> &'static str {
    let is_none = interval.low > -asked.least && interval.high < asked.least;
    if is_none { "no difference worth the name: " } else { "" }
}

/// The estimate with its interval in words.
pub(super) fn measure(asked: &Asked, log: f64, interval: Option<&Interval>) -> String {
    match &asked.shown {
        Shown::Ratio(_) => change_with_interval(log, interval),
        Shown::PerDoubling(_, factor) => {
            format!("{} at each doubling of {factor}", change_with_interval(log, interval))
        }
        Shown::Value(_) => {
            let write = |log: f64| quantity(asked.metric, log.exp());
            match interval {
                None => write(log),
                Some(Interval { low, high, level }) => format!(
                    "{} ({} CI {} to {})",
                    write(log),
                    percent(*level),
                    write(*low),
                    write(*high)
                ),
            }
        }
    }
}

/// How many observations an effect rests on.
fn size(effect: &Effect) -> String {
    match &effect.basis {
        Basis::Blocks { values, .. } => plural(values.len(), "block"),
        Basis::Intervals { cells } => {
            plural(cells.iter().map(|(_, moments, _)| moments.n).sum(), "interval")
        }
    }
}

/// What would settle it.
fn outlook(asked: &Asked, open: &[&Effect], level: f64) -> String {
    let rests_on_blocks = open.iter().all(|effect| matches!(effect.basis, Basis::Blocks { .. }));
    if !rests_on_blocks || open.is_empty() {
        return String::new();
    }
    let needed: Option<Vec<usize>> =
        open.iter().map(|effect| asked.region.blocks_needed(effect, level)).collect();
    match needed.and_then(|needed| needed.into_iter().max()) {
        Some(blocks) => format!("; about {blocks} blocks would probably decide it"),
        None => "; more blocks are unlikely to decide it".into(),
    }
}

/// The test in words.
fn test_name(asked: &Asked, effect: &Effect, loads: usize, everywhere: bool) -> String {
    let (sides, tests) = match asked.region {
        Region::Above(_) | Region::Below(_) => ("one-sided ", "t test"),
        Region::Different { .. } => ("two-sided ", "t test"),
        Region::Inside(..) | Region::Same { .. } => ("two one-sided ", "t tests (TOST)"),
    };
    let of = match (&asked.shown, loads > 1 && !everywhere) {
        (Shown::Ratio(_), false) => "the log-ratio",
        (Shown::Ratio(_), true) => "the mean log-ratio over the loads",
        (Shown::PerDoubling(..), false) => "the least-squares slope of log metric on log load",
        (Shown::PerDoubling(..), true) => "the mean slope of log metric on log load",
        (Shown::Value(_), false) => "the logarithm of the metric",
        (Shown::Value(_), true) => "the mean logarithm of the metric over the loads",
    };
    let df = effect.df();
    let mut name = match &effect.basis {
        Basis::Blocks { values, looks, .. } => {
            let stopped = if looks.precision > 0.0 && values.len() > looks.min_blocks {
                ", corrected for stopping by width"
            } else {
                ""
            };
            format!("{sides}{tests} of {of} within blocks, df {df:.0}, {}{stopped}", size(effect))
        }
        Basis::Intervals { .. } => format!(
            "{sides}Welch {tests} of {of} by the delta method, intervals taken as independent, df \
             {df:.1}, {}",
            size(effect)
        ),
    };
    if everywhere {
        name.push_str(&format!("; intersection-union over {loads} loads"));
    }
    name
}

/// Whether this answer rests on intervals.
pub(super) fn rests_on_intervals(measured: &Measured<'_>, asked: &Asked) -> bool {
    measured.unit(asked.metric) == Unit::Interval
}
