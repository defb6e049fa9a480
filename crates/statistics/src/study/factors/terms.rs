//! The answer about factors: the terms that were named, and how large their differences are.

use stormeter_study::question::{Factor, Scope};
use stormeter_study::{Metric, Order, Unit};

use super::super::answer_table::AnswerTable;
use super::super::answered::{FTest, FactorGrounds, Grounds, Outlook, TermResult};
use super::super::draft::Draft;
use super::super::effect::Effect;
use super::super::effect::exponential;
use super::super::level_difference::{LevelDifference, LevelPair};
use super::super::measured::Measured;
use super::super::observations::Observations;
use super::super::region::{Region, Ruling};
use super::super::remark::AnswerRemark;
use super::super::reply::Reply;
use super::super::test_used::{TestUsed, VarianceTest};
use super::super::unanswered::Unanswered;
use super::design::{Analysed, Crossed};
use crate::anova::{AnovaError, residual_checks};
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
    factors: Vec<Factor>,
    test: FTest,
    /// P-value of the tests that each of its differences is within the margin.
    p_small: f64,
    differences: Vec<Difference>,
}

/// A difference between levels, estimated.
struct Difference {
    between: Vec<LevelPair>,
    effect: Effect,
}

/// A difference between levels as weights of the combinations.
struct WeightedDifference {
    between: Vec<LevelPair>,
    weights: Vec<f64>,
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
    let mut analysed = crossed.anova().map_err(|error| match error {
        // A model without noise leaves nothing for a test to compare with.
        AnovaError::Sample(SampleError::NoSpread { .. }) if measured.is_predicted => {
            Unanswered::ExactModel
        }
        error => Unanswered::Variance(error),
    })?;
    let is_corrected = correct_for_stopping(&crossed, &mut analysed);
    let margin = design.margin.ln_1p();
    let mut named: Vec<Named> = Vec::new();
    for first in 0..asked.factors.len() {
        named.extend(Named::of(&crossed, &analysed, &[first], margin));
    }
    if asked.interaction {
        for first in 0..asked.factors.len() {
            for second in first + 1..asked.factors.len() {
                named.extend(Named::of(&crossed, &analysed, &[first, second], margin));
            }
        }
    }
    let ruling = ruling(asked.depends, &named);
    let alpha = 1.0 - design.level;
    let reply = ruling.reply(alpha, named.len());
    let mut differences = named.iter().flat_map(|term| &term.differences);
    let is_exact = differences.all(|own| measured.is_exact(&own.effect.interval(design.level)));
    let observations = crossed.observations();
    let terms = named.iter().map(|term| {
        // One of several terms that has no effect is enough for a no.
        term.result(is_exact, design.level, alpha / named.len() as f64)
    });
    let is_open = reply == Reply::Inconclusive && !is_exact;
    let is_settled_by_blocks = is_open && matches!(observations, Observations::Blocks(_));
    let needed = || blocks_needed(asked.depends, &named, design.level, margin);
    let grounds = Grounds::Factors(FactorGrounds {
        metric: asked.metric,
        depends: asked.depends,
        factors: asked.factors.to_vec(),
        interaction: asked.interaction,
        margin: design.margin,
        terms: terms.collect(),
        outlook: is_settled_by_blocks.then(|| Outlook::of(needed())),
    });
    let mut draft = Draft::new(reply, grounds);
    // A model that repeats itself has no residual for an F test: its differences stand for
    // themselves.
    if is_exact {
        return Ok(draft);
    }
    draft.test = Some(TestUsed::Variance(VarianceTest {
        metric: asked.metric,
        factors: asked.factors.to_vec(),
        residual_df: analysed.table.residual.df,
        observations,
        is_corrected,
        has_equivalence_tests: !asked.depends,
    }));
    draft.p_value = Some(ruling.p);
    draft.table = Some(AnswerTable::of(asked.factors, &analysed.table, &analysed.terms));
    draft.remarks = remarks(measured, asked, &named, &analysed);
    if asked.depends && reply == Reply::Yes {
        draft.remarks.extend(named.iter().filter_map(|term| {
            let difference = term.largest()?.found(Some(design.level));
            Some(AnswerRemark::LargestDifference { factors: term.factors.clone(), difference })
        }));
    }
    Ok(draft)
}

impl Named {
    /// The term of these factors, by their places in ascending order.
    fn of(crossed: &Crossed, analysed: &Analysed, factors: &[usize], margin: f64) -> Option<Self> {
        let row = analysed.row(factors)?;
        let residual_df = analysed.table.residual.df;
        let test = FTest { f: row.f, df: row.df, residual_df, p: row.p };
        let region = Region::Inside(-margin, margin);
        let mut p_small = 0f64;
        let mut differences = Vec::new();
        for WeightedDifference { between, weights } in differences_of(crossed, factors) {
            let effect = crossed.effect(&weights)?;
            p_small = p_small.max(region.rule(&effect).p);
            differences.push(Difference { between, effect });
        }
        let factors = factors.iter().map(|&at| crossed.factors[at]).collect();
        Some(Self { factors, test, p_small, differences })
    }

    /// Its largest difference; of several, the first.
    fn largest(&self) -> Option<&Difference> {
        self.differences.iter().reduce(|known, own| match known.size() < own.size() {
            true => own,
            false => known,
        })
    }

    fn result(&self, is_exact: bool, level: f64, alpha: f64) -> TermResult {
        let level = (!is_exact).then(|| equivalence_level(level));
        TermResult {
            factors: self.factors.clone(),
            test: (!is_exact).then_some(self.test),
            is_within_margin: self.p_small < alpha,
            largest: self.largest().map(|own| own.found(level)),
        }
    }
}

impl Difference {
    fn size(&self) -> f64 {
        self.effect.estimate().abs()
    }

    /// With its interval at this level; `None` for a model that repeats itself.
    fn found(&self, level: Option<f64>) -> LevelDifference {
        LevelDifference {
            between: self.between.clone(),
            ratio: self.effect.estimate().exp(),
            interval: level.map(|level| exponential(&self.effect.interval(level))),
        }
    }
}

/// Every difference between two levels of one factor, or of two factors every difference of
/// differences.
fn differences_of(crossed: &Crossed, factors: &[usize]) -> Vec<WeightedDifference> {
    let pairs = |factor: usize| {
        let levels = crossed.levels[factor].len();
        (0..levels).flat_map(move |a| (a + 1..levels).map(move |b| (a, b)))
    };
    let sign = |(a, b): (usize, usize), level: usize| {
        f64::from(u8::from(level == b)) - f64::from(u8::from(level == a))
    };
    let named = |factor: usize, (a, b): (usize, usize)| LevelPair {
        level: crossed.levels[factor][b].clone(),
        base: crossed.levels[factor][a].clone(),
    };
    let combinations = &crossed.combinations;
    match *factors {
        [only] => {
            let share = crossed.levels[only].len() as f64 / combinations.len() as f64;
            pairs(only)
                .map(|pair| {
                    let weights = combinations.iter().map(|own| share * sign(pair, own[only]));
                    let between = vec![named(only, pair)];
                    WeightedDifference { between, weights: weights.collect() }
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
                        .map(|own| share * sign(first, own[one]) * sign(second, own[two]));
                    let between = vec![named(one, first), named(two, second)];
                    WeightedDifference { between, weights: weights.collect() }
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Dependence on all of them has to be shown for each; that one of them is without effect is the
/// contrary, and the other way round.
fn ruling(depends: bool, named: &[Named]) -> Ruling {
    let f = || named.iter().map(|term| term.test.p);
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
/// [`crate::stopping`], four blocks do not count: every F is that much smaller. Whether that was done.
fn correct_for_stopping(crossed: &Crossed, analysed: &mut Analysed) -> bool {
    let (Some(looks), Observations::Blocks(blocks)) = (crossed.looks(), crossed.observations())
    else {
        return false;
    };
    if looks.precision <= 0.0 || blocks <= looks.min_blocks {
        return false;
    }
    let share = (blocks - CONFIRMING_BLOCKS) as f64 / blocks as f64;
    let table = &mut analysed.table;
    for row in &mut table.rows {
        row.f *= share;
        row.p = f_upper(row.f, row.df, table.residual.df);
    }
    true
}

/// How many blocks would probably settle it: of each open term, until its clearest difference is shown,
/// or until all its differences are placed inside or outside the margin.
fn blocks_needed(depends: bool, named: &[Named], level: f64, margin: f64) -> Option<usize> {
    let alpha = 1.0 - level;
    let mut needed = 0;
    for term in named {
        let open = if depends { term.test.p >= alpha } else { term.p_small >= alpha };
        if !open {
            continue;
        }
        let needs = |region: Region| {
            let differences = term.differences.iter();
            differences.map(move |own| region.blocks_needed(&own.effect, level))
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

fn remarks(
    measured: &Measured<'_>,
    asked: &Asked<'_>,
    named: &[Named],
    analysed: &Analysed,
) -> Vec<AnswerRemark> {
    let design = &measured.plan.design;
    let mut remarks = Vec::new();
    let (alpha, margin) = (1.0 - design.level, design.margin);
    for term in named.iter().filter(|term| term.test.p < alpha && term.p_small < alpha) {
        remarks.push(AnswerRemark::WithinMargin { factors: term.factors.clone(), margin });
    }
    // The order within a block is not that of the table, so order is not judged here.
    let checks = residual_checks(&analysed.residuals, &analysed.groups).unwrap_or_default();
    let doubts = checks.into_iter().filter(|check| check.is_concern() && !check.is_of_order());
    remarks.extend(doubts.map(AnswerRemark::Residuals));
    if measured.unit(asked.metric) == Unit::Interval {
        remarks.push(AnswerRemark::CorrelatedResiduals);
    }
    if design.order == Order::AsWritten {
        remarks.push(AnswerRemark::FixedOrder { of_factors: true });
    }
    remarks
}
