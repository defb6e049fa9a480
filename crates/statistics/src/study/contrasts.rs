//! The answer to a claim about one number: at one load, on average over several, or at each.

use super::answer_estimate::AnswerEstimate;
use super::answered::{AnswerPart, Grounds, NumberGrounds, Outlook, TestedLoads};
use super::claims::{Asked, LoadContrast};
use super::draft::Draft;
use super::effect::{Basis, Contrast, Effect, Weighted, exponential};
use super::load::Load;
use super::measured::Measured;
use super::measured::sound;
use super::number_claim::NumberClaim;
use super::region::{Region, Ruling};
use super::remark::AnswerRemark;
use super::remarks;
use super::reply::Reply;
use super::test_used::{TTest, TestSides, TestUsed, TestedNumber, TestedOver};
use super::unanswered::Unanswered;
use crate::estimate::Interval;

/// A claim at one load.
struct AtLoad<'a> {
    load: &'a Load,
    contrast: &'a Contrast,
    effect: Effect,
    ruling: Ruling,
}

/// Tests a claim.
///
/// # Errors
/// Why it cannot be answered.
pub(super) fn draft(measured: &Measured<'_>, asked: &Asked) -> Result<Draft, Unanswered> {
    for own in asked.loads.iter().flat_map(|load| &load.contrast) {
        sound(measured, own.cell)?;
    }
    let mut loads = Vec::new();
    let mut missing = Vec::new();
    for LoadContrast { load, contrast } in &asked.loads {
        match Effect::of(measured, asked.metric(), contrast) {
            Ok(effect) => {
                let ruling = asked.region.rule(&effect);
                loads.push(AtLoad { load, contrast, effect, ruling });
            }
            Err(why) => missing.push(why),
        }
    }
    let left_out = missing.len();
    let first_missing = missing.into_iter().next();
    if let Some(why) = &first_missing
        && (loads.is_empty() || asked.everywhere)
    {
        return Err(why.clone());
    }
    let level = measured.plan.design.level;
    let mut draft = match asked.everywhere && loads.len() > 1 {
        true => everywhere(measured, asked, &loads, level)?,
        false => average(measured, asked, &loads, level)?,
    };
    if loads.len() > 1 {
        // Where one load decides the whole, each is answered with the error that the whole is.
        let places = if asked.everywhere { loads.len() } else { 1 };
        draft.parts = loads.iter().map(|load| part(measured, asked, load, level, places)).collect();
    }
    if let Some(why) = first_missing {
        draft.remarks.push(AnswerRemark::LoadsLeftOut { count: left_out, why });
    }
    draft.remarks.extend(remarks::of_contrasts(measured, asked));
    Ok(draft)
}

/// The mean over the loads, which for one load is that load.
fn average(
    measured: &Measured<'_>,
    asked: &Asked,
    loads: &[AtLoad<'_>],
    level: f64,
) -> Result<Draft, Unanswered> {
    let share = 1.0 / loads.len() as f64;
    let shared = |own: &Weighted| Weighted { weight: own.weight * share, ..*own };
    let contrast: Contrast = loads.iter().flat_map(|load| load.contrast).map(shared).collect();
    let effect = Effect::of(measured, asked.metric(), &contrast)?;
    let ruling = asked.region.rule(&effect);
    let reply = ruling.reply(1.0 - level, 1);
    let (tested, over) = match loads {
        [only] if measured.cells.len() > measured.plan.datastores.len() => {
            (TestedLoads::One(only.load.clone()), TestedOver::One)
        }
        [_] => (TestedLoads::Only, TestedOver::One),
        several => (TestedLoads::Mean(several.len()), TestedOver::Mean),
    };
    let open: &[&Effect] = if reply == Reply::Inconclusive { &[&effect] } else { &[] };
    let found = Found { loads: tested, over, effect: &effect, contrast: &contrast, open };
    Ok(found.draft(measured, asked, reply, ruling.p))
}

/// Every load by itself: yes if the claim is shown at each (an intersection-union test: each at the
/// full level, Berger, *Technometrics* 24 (1982) 295-300), no if the contrary is at one of them,
/// where the error is shared among the loads.
///
/// # Errors
/// There is no load.
fn everywhere(
    measured: &Measured<'_>,
    asked: &Asked,
    loads: &[AtLoad<'_>],
    level: f64,
) -> Result<Draft, Unanswered> {
    let of = loads.len();
    let replies: Vec<Reply> = loads.iter().map(|load| load.ruling.reply(1.0 - level, of)).collect();
    let count = |wanted: Reply| replies.iter().filter(|&&reply| reply == wanted).count();
    let worst = worst(loads, &replies).ok_or(Unanswered::NoLoad)?;
    let (yes, no) = (count(Reply::Yes), count(Reply::No));
    let reply = match (yes, no) {
        (yes, _) if yes == of => Reply::Yes,
        (_, 0) => Reply::Inconclusive,
        _ => Reply::No,
    };
    let is_open = |own: &Reply| reply == Reply::Inconclusive && *own == Reply::Inconclusive;
    let open = loads.iter().zip(&replies).filter(|(_, own)| is_open(own));
    let open: Vec<&Effect> = open.map(|(load, _)| &load.effect).collect();
    let found = Found {
        loads: TestedLoads::Each { of, yes, no, worst: worst.load.clone() },
        over: TestedOver::Each(of),
        effect: &worst.effect,
        contrast: worst.contrast,
        open: &open,
    };
    Ok(found.draft(measured, asked, reply, worst.ruling.p))
}

/// The load that speaks most against the claim, which the answer shows: among those that show the
/// contrary the one that shows it most clearly, and where none does, the one that shows the claim
/// least. The two can differ: a load with much noise shows neither, and so shows the claim less than
/// one that is surely a little off.
fn worst<'l, 'a>(loads: &'l [AtLoad<'a>], replies: &[Reply]) -> Option<&'l AtLoad<'a>> {
    let says_no = |reply: &Reply| *reply == Reply::No;
    let no = loads.iter().zip(replies).filter(|(_, reply)| says_no(reply)).map(|(load, _)| load);
    if replies.iter().any(says_no) {
        return no.min_by(|a, b| {
            let key = |load: &AtLoad<'_>| (load.ruling.p_contrary, -load.ruling.p);
            key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
        });
    }
    loads.iter().max_by(|a, b| {
        let key = |load: &AtLoad<'_>| (load.ruling.p, -load.ruling.p_contrary);
        key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
    })
}

/// What was found of a claim.
struct Found<'a> {
    loads: TestedLoads,
    over: TestedOver,
    /// The effect that the answer shows.
    effect: &'a Effect,
    contrast: &'a Contrast,
    /// The effects that leave the claim open.
    open: &'a [&'a Effect],
}

impl Found<'_> {
    fn draft(self, measured: &Measured<'_>, asked: &Asked, reply: Reply, p: f64) -> Draft {
        let level = measured.plan.design.level;
        let interval = self.effect.interval(asked.region.interval_level(level));
        let grounds = Grounds::Number(NumberGrounds {
            claim: asked.claim.clone(),
            loads: self.loads,
            observations: self.effect.observations(),
            is_negligible: interval.low > -asked.least && interval.high < asked.least,
            outlook: outlook(asked, self.open, level),
        });
        let mut draft = Draft::new(reply, grounds);
        draft.estimate = Some(estimate(measured, &interval, self.effect));
        // A model that repeats itself is put to no test.
        if !measured.is_exact(&interval) {
            draft.test = Some(TestUsed::T(test(asked, self.effect, self.over)));
            draft.p_value = Some(p);
            draft.remarks = remarks::of_effect(measured, asked, self.effect, self.contrast);
        }
        draft
    }
}

fn part(
    measured: &Measured<'_>,
    asked: &Asked,
    at: &AtLoad<'_>,
    level: f64,
    places: usize,
) -> AnswerPart {
    let interval = at.effect.interval(asked.region.interval_level(level));
    let AnswerEstimate { value, interval, .. } = estimate(measured, &interval, &at.effect);
    let reply = at.ruling.reply(1.0 - level, places);
    AnswerPart { load: at.load.clone(), value, interval, reply }
}

/// An effect with its interval, which is one of logarithms.
fn estimate(measured: &Measured<'_>, interval: &Interval, effect: &Effect) -> AnswerEstimate {
    AnswerEstimate {
        value: effect.estimate().exp(),
        interval: (!measured.is_exact(interval)).then(|| exponential(interval)),
        level: interval.level,
    }
}

/// What would decide it.
fn outlook(asked: &Asked, open: &[&Effect], level: f64) -> Option<Outlook> {
    let rests_on_blocks = open.iter().all(|effect| matches!(effect.basis, Basis::Blocks { .. }));
    if !rests_on_blocks || open.is_empty() {
        return None;
    }
    let needed: Option<Vec<usize>> =
        open.iter().map(|effect| asked.region.blocks_needed(effect, level)).collect();
    Some(Outlook::of(needed.and_then(|needed| needed.into_iter().max())))
}

fn test(asked: &Asked, effect: &Effect, over: TestedOver) -> TTest {
    let is_corrected = match &effect.basis {
        Basis::Blocks { values, looks, .. } => {
            looks.precision > 0.0 && values.len() > looks.min_blocks
        }
        Basis::Intervals { .. } => false,
    };
    TTest {
        sides: match asked.region {
            Region::Above(_) | Region::Below(_) => TestSides::One,
            Region::Different { .. } => TestSides::Two,
            Region::Inside(..) | Region::Same { .. } => TestSides::OneEach,
        },
        of: match asked.claim {
            NumberClaim::Compared { .. } => TestedNumber::LogRatio,
            NumberClaim::Trend { .. } => TestedNumber::Slope,
            NumberClaim::Bounded { .. } => TestedNumber::LogValue,
        },
        over,
        df: effect.df(),
        observations: effect.observations(),
        is_corrected,
    }
}
