//! The answer about factors: the terms that were named, and how large their differences are.

use stormeter_study::question::{Factor, Scope};
use stormeter_study::{Metric, Order, Unit};

use super::super::answer::{Draft, Unanswered};
use super::super::conclusion::{AnswerTable, Reply};
use super::super::effect::Effect;
use super::super::measured::Measured;
use super::super::region::{Region, Ruling};
use super::super::words::{change_with_interval, p_value, percent, plural};
use super::design::Crossed;
use crate::anova::{AnovaError, AnovaRow, AnovaTable, RemarkKind, residual_checks};
use crate::moments::SampleError;
use crate::quantile::f_upper;
use crate::stopping::CONFIRMING_BLOCKS;
use crate::verdict::equivalence_level;

/// A claim about factors.
pub(in super::super) struct Asked<'a> {
    pub(in super::super) metric: Metric,
    pub(in super::super) depends: bool,
    pub(in super::super) factors: &'a [Factor],
    pub(in super::super) interaction: bool,
    pub(in super::super) scope: &'a Scope,
}

/// A term that the question names.
struct Named {
    name: String,
    f: f64,
    df: f64,
    p: f64,
    /// P-value of the tests that each of its differences is within the margin.
    p_small: f64,
    /// Its largest difference, and between what.
    largest: Option<(String, Effect)>,
    differences: Vec<Effect>,
}

/// Tests the claim.
///
/// # Errors
/// Why it cannot be answered.
pub(in super::super) fn draft(
    measured: &Measured<'_>,
    asked: &Asked<'_>,
) -> Result<Draft, Unanswered> {
    let design = &measured.plan.design;
    let crossed = Crossed::of(measured, asked.metric, asked.factors, asked.scope)?;
    let (mut table, residuals, groups) = crossed.anova().map_err(|error| match error {
        // Where a model throws no dice there is nothing that a test could weigh.
        AnovaError::Sample(SampleError::NoSpread { .. }) if measured.is_predicted => {
            "the model gives the same in every block, so there is no chance that a difference could be \
             held against; the tables have the figures"
                .into()
        }
        error => Unanswered::from(error.to_string()),
    })?;
    let reduced = correct_for_stopping(&crossed, &mut table);
    let margin = design.margin.ln_1p();
    let mut named: Vec<Named> = Vec::new();
    for (first, _) in asked.factors.iter().enumerate() {
        named.extend(Named::of(&crossed, &table, &[first], margin));
    }
    if asked.interaction {
        for first in 0..asked.factors.len() {
            for second in first + 1..asked.factors.len() {
                named.extend(Named::of(&crossed, &table, &[first, second], margin));
            }
        }
    }
    let ruling = ruling(asked.depends, &named);
    let alpha = 1.0 - design.level;
    let reply = ruling.reply(alpha, named.len());
    let differences = || named.iter().flat_map(|term| &term.differences);
    if differences().all(|own| measured.is_exact(&own.interval(design.level))) {
        return Ok(of_model(asked, reply, &named, design.margin));
    }
    let mut draft = Draft::new(
        reply,
        sentence(asked, reply, &crossed, &table, &named, (design.level, design.margin)),
        test_name(asked, &crossed, &table, reduced),
    );
    draft.p_value = Some(ruling.p);
    draft.table = Some(AnswerTable::of(asked.factors, &table));
    draft.remarks = remarks(measured, asked, &named, &residuals, &groups);
    if asked.depends && reply == Reply::Yes {
        draft.remarks.extend(named.iter().filter_map(|term| largest(term, design.level)));
    }
    Ok(draft)
}

impl Named {
    /// The term of these factors, by their places.
    fn of(crossed: &Crossed, table: &AnovaTable, factors: &[usize], margin: f64) -> Option<Self> {
        let mut sorted = factors.to_vec();
        sorted.sort_unstable();
        let names: Vec<&str> = sorted.iter().map(|&at| crossed.factors[at].name()).collect();
        let name = names.join(" × ");
        let AnovaRow { f, df, p, .. } = *table.row(&name)?;
        let region = Region::Inside(-margin, margin);
        let (mut p_small, mut largest) = (0f64, None::<(String, Effect)>);
        let mut differences = Vec::new();
        for (between, weights) in differences_of(crossed, &sorted) {
            let effect = crossed.effect(&weights)?;
            p_small = p_small.max(region.rule(&effect).p);
            let size = effect.estimate().abs();
            if largest.as_ref().is_none_or(|(_, known)| known.estimate().abs() < size) {
                largest = Some((between, effect.clone()));
            }
            differences.push(effect);
        }
        Some(Self { name, f, df, p, p_small, largest, differences })
    }
}

/// Every difference between two levels of one factor, or of two factors every difference of
/// differences, as weights of the combinations.
fn differences_of(crossed: &Crossed, factors: &[usize]) -> Vec<(String, Vec<f64>)> {
    let pairs = |factor: usize| {
        let levels = crossed.levels[factor].len();
        (0..levels).flat_map(move |a| (a + 1..levels).map(move |b| (a, b)))
    };
    let sign = |(a, b): (usize, usize), level: usize| {
        f64::from(u8::from(level == b)) - f64::from(u8::from(level == a))
    };
    let named = |factor: usize, (a, b): (usize, usize)| {
        format!("{} / {}", crossed.levels[factor][b], crossed.levels[factor][a])
    };
    let combinations = &crossed.combinations;
    match *factors {
        [only] => {
            let share = crossed.levels[only].len() as f64 / combinations.len() as f64;
            pairs(only)
                .map(|pair| {
                    let weights = combinations.iter().map(|own| share * sign(pair, own[only]));
                    (named(only, pair), weights.collect())
                })
                .collect()
        }
        [one, two] => {
            let levels = (crossed.levels[one].len() * crossed.levels[two].len()) as f64;
            let share = levels / combinations.len() as f64;
            pairs(one)
                .flat_map(|first| pairs(two).map(move |second| (first, second)))
                .map(|(first, second)| {
                    let weights = combinations
                        .iter()
                        .map(|own| share * sign(first, own[one]) * sign(second, own[two]))
                        .collect();
                    (format!("({}) / ({})", named(one, first), named(two, second)), weights)
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Dependence on all of them has to be shown for each; that one of them is without effect is the
/// contrary, and the other way round.
fn ruling(depends: bool, named: &[Named]) -> Ruling {
    let f = || named.iter().map(|term| term.p);
    let size = || named.iter().map(|term| term.p_small);
    let largest = |p: f64, q: f64| p.max(q);
    let smallest = |p: f64, q: f64| p.min(q);
    if depends {
        Ruling { p: f().fold(0.0, largest), p_contrary: size().fold(1.0, smallest) }
    } else {
        Ruling { p: size().fold(0.0, largest), p_contrary: f().fold(1.0, smallest) }
    }
}

/// A run that ended when its intervals were narrow ended when its spread was underestimated. As in
/// [`crate::stopping`], four blocks do not count: every F is that much smaller.
fn correct_for_stopping(crossed: &Crossed, table: &mut AnovaTable) -> bool {
    let (Some(looks), Some(blocks)) = (crossed.looks(), crossed.block_count()) else {
        return false;
    };
    if looks.precision <= 0.0 || blocks <= looks.min_blocks {
        return false;
    }
    let share = (blocks - CONFIRMING_BLOCKS) as f64 / blocks as f64;
    for row in &mut table.rows {
        row.f *= share;
        row.p = f_upper(row.f, row.df, table.residual.df);
    }
    true
}

/// What is claimed to matter: `datastore, vms and their interaction`.
fn list(asked: &Asked<'_>) -> String {
    let mut items: Vec<String> = asked.factors.iter().map(|f| f.name().to_string()).collect();
    if asked.interaction {
        items.push("their interaction".into());
    }
    match items.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The answer of a model that repeats itself: there is no residual that an F could be taken against, so
/// the differences speak for themselves.
fn of_model(asked: &Asked<'_>, reply: Reply, named: &[Named], margin: f64) -> Draft {
    let title = asked.metric.title();
    let list = list(asked);
    let sizes: Vec<String> = named
        .iter()
        .filter_map(|term| {
            let (between, effect) = term.largest.as_ref()?;
            let change = change_with_interval(effect.estimate(), None);
            Some(format!("{} {between} {change}", term.name))
        })
        .collect();
    let says = match (reply, asked.depends) {
        (Reply::Yes, true) => format!("{title} depends on {list}"),
        (Reply::No, false) => format!("{title} depends on {list} in part at least"),
        (Reply::Yes, false) => format!("{title} does not depend on {list}"),
        (Reply::No, true) => format!("{title} does not depend on {list} altogether"),
        _ => format!("It is not settled whether {title} depends on {list}"),
    };
    let margin = percent(margin);
    let sentence =
        format!("{says}: the largest differences are {} (margin {margin}).", sizes.join("; "));
    Draft::new(reply, sentence, "none".into())
}

fn sentence(
    asked: &Asked<'_>,
    reply: Reply,
    crossed: &Crossed,
    table: &AnovaTable,
    named: &[Named],
    (level, share): (f64, f64),
) -> String {
    let title = asked.metric.title();
    let list = list(asked);
    let tests: Vec<String> = named
        .iter()
        .map(|term| {
            let Named { name, f, df, p, .. } = term;
            format!("{name} F({df:.0}, {:.0}) = {f:.2}, {}", table.residual.df, p_value(*p))
        })
        .collect();
    let sizes: Vec<String> = named
        .iter()
        .filter_map(|term| {
            let (between, effect) = term.largest.as_ref()?;
            let interval = effect.interval(equivalence_level(level));
            let change = change_with_interval(effect.estimate(), Some(&interval));
            Some(format!("{} {between} {change}", term.name))
        })
        .collect();
    let (tests, sizes, margin) = (tests.join("; "), sizes.join("; "), percent(share));
    match (reply, asked.depends) {
        (Reply::Yes, true) => format!("{title} depends on {list}: {tests}."),
        (Reply::No, false) => format!("{title} depends on {list} in part at least: {tests}."),
        (Reply::Yes, false) => format!(
            "{title} does not depend on {list}: every difference is within the {margin} margin, the \
             largest being {sizes}."
        ),
        (Reply::No, true) => {
            let alpha = (1.0 - level) / named.len() as f64;
            let small = named.iter().filter(|term| term.p_small < alpha);
            let small: Vec<&str> = small.map(|term| term.name.as_str()).collect();
            format!(
                "{title} does not depend on {list} altogether: every difference of {} is within the \
                 {margin} margin; the largest are {sizes}.",
                small.join(" and of ")
            )
        }
        _ => {
            let not = if asked.depends { "depends" } else { "does not depend" };
            let outlook = match blocks_needed(asked.depends, named, level, share.ln_1p()) {
                _ if crossed.block_count().is_none() => String::new(),
                Some(blocks) => format!("; about {blocks} blocks would probably decide it"),
                None => "; more blocks are unlikely to decide it".into(),
            };
            format!(
                "It is inconclusive whether {title} {not} on {list}: {tests}; largest differences \
                 {sizes}{outlook}."
            )
        }
    }
}

/// How many blocks would probably settle it: of each open term, until its clearest difference is shown,
/// or until all its differences are placed inside or outside the margin.
fn blocks_needed(depends: bool, named: &[Named], level: f64, margin: f64) -> Option<usize> {
    let alpha = 1.0 - level;
    let mut needed = 0;
    for term in named {
        let open = if depends { term.p >= alpha } else { term.p_small >= alpha };
        if !open {
            continue;
        }
        let needs = |region: Region| {
            term.differences.iter().map(move |own| region.blocks_needed(own, level))
        };
        // Without a margin nothing is ever too small to be a difference.
        let shown = needs(Region::Different { margin: 0.0, least: 0.0 }).flatten().min();
        let small: Option<Vec<usize>> = needs(Region::Inside(-margin, margin)).collect();
        let small = small.and_then(|all| all.into_iter().max());
        let of_term = match (shown, small) {
            (Some(shown), Some(small)) => Some(shown.min(small)),
            (shown, small) => shown.or(small),
        };
        needed = needed.max(of_term?);
    }
    (needed > 0).then_some(needed)
}

fn test_name(asked: &Asked<'_>, crossed: &Crossed, table: &AnovaTable, reduced: bool) -> String {
    let names: Vec<&str> = asked.factors.iter().map(|factor| factor.name()).collect();
    let names = names.join(" × ");
    let title = asked.metric.title();
    let df = table.residual.df;
    let mut name = match crossed.block_count() {
        Some(blocks) => format!(
            "analysis of variance of log {title} by {names} in randomized blocks, residual df \
             {df:.0}, {}",
            plural(blocks, "block")
        ),
        None => format!(
            "analysis of variance of {title} by {names} (type III), intervals taken as independent, \
             residual df {df:.0}, {}",
            plural(table.observations, "interval")
        ),
    };
    if reduced {
        name.push_str(", F reduced for stopping by width");
    }
    if !asked.depends {
        name.push_str("; two one-sided t tests (TOST) of every difference of levels");
    }
    name
}

/// The largest difference of a term, in words.
fn largest(term: &Named, level: f64) -> Option<String> {
    let (between, effect) = term.largest.as_ref()?;
    let change = change_with_interval(effect.estimate(), Some(&effect.interval(level)));
    Some(format!("Largest difference of {}: {between} {change}.", term.name))
}

fn remarks(
    measured: &Measured<'_>,
    asked: &Asked<'_>,
    named: &[Named],
    residuals: &[f64],
    groups: &[usize],
) -> Vec<String> {
    let design = &measured.plan.design;
    let mut remarks = Vec::new();
    let (alpha, margin) = (1.0 - design.level, percent(design.margin));
    for term in named.iter().filter(|term| term.p < alpha && term.p_small < alpha) {
        remarks.push(format!(
            "{} makes a difference that is real but within the {margin} margin: too small to matter.",
            term.name
        ));
    }
    // The order within a block is not that of the table, so order is not judged here.
    let checks = residual_checks(residuals, groups).unwrap_or_default();
    let doubts =
        checks.into_iter().filter(|check| check.concern && check.kind != RemarkKind::Order);
    remarks.extend(doubts.map(|check| check.text));
    if measured.unit(asked.metric) == Unit::Interval {
        remarks.push(
            "Intervals of one run are correlated: they count for fewer than there are, F is too \
             large and its p-value too small. What differs from run to run is not in the residual."
                .into(),
        );
    }
    if design.order == Order::AsWritten {
        remarks.push(
            "The cells took their turns in the same order in every block: what drifts with time \
             looks like an effect."
                .into(),
        );
    }
    remarks
}
