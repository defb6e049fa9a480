//! The combinations of levels that a question is about, with their values.

use std::collections::BTreeMap;

use stormeter_study::question::{Factor, Scope};
use stormeter_study::{Cell, Metric, Unit};

use super::super::claims::in_scope;
use super::super::effect::{CellIntervals, Effect, Weighted};
use super::super::measured::Measured;
use super::super::measured::sound;
use super::super::observations::Observations;
use super::super::unanswered::Unanswered;
use crate::anova::{
    self, AnovaError, AnovaRow, AnovaTable, CellTable, LinearModel, Observation, Term,
};
use crate::moments::Moments;
use crate::stopping::Looks;

/// A crossed design: every combination of the factors' levels.
pub(super) struct Crossed {
    pub(super) factors: Vec<Factor>,
    /// Per factor, the names of its levels.
    pub(super) levels: Vec<Vec<String>>,
    /// Per combination, the level of each factor.
    pub(super) combinations: Vec<Vec<usize>>,
    values: Values,
}

enum Values {
    /// Per combination, one value a block: the mean logarithm.
    Blocks(Vec<Vec<f64>>, Looks),
    /// Per combination, the intervals of its cells, each with the same share.
    Intervals(Vec<Vec<CellIntervals>>),
}

/// An analysis of variance.
pub(super) struct Analysed {
    /// Its table.
    pub(super) table: AnovaTable,
    /// The terms of its rows. The block is a factor behind those that were asked about.
    pub(super) terms: Vec<Term>,
    /// What is left of each observation.
    pub(super) residuals: Vec<f64>,
    /// The combination of each residual.
    pub(super) groups: Vec<usize>,
}

impl Analysed {
    /// The row of the term of these factors, by their places.
    pub(super) fn row(&self, factors: &[usize]) -> Option<&AnovaRow> {
        let place = self.terms.iter().position(|term| term.factors() == factors)?;
        self.table.rows.get(place)
    }
}

/// A level of a factor, in an order that puts numbers first to last and names as in the plan.
fn level_of(factor: Factor, cell: &Cell) -> Option<usize> {
    match factor {
        Factor::Datastore => Some(cell.datastore),
        Factor::Workload => Some(cell.workload),
        Factor::Vms => Some(cell.vms as usize),
        Factor::Outstanding => cell.outstanding.map(|level| level as usize),
    }
}

impl Crossed {
    /// The combinations of these factors in the cells of the scope.
    ///
    /// # Errors
    /// A combination without data, too few blocks, or an invalid cell.
    pub(super) fn of(
        measured: &Measured<'_>,
        metric: Metric,
        factors: &[Factor],
        scope: &Scope,
    ) -> Result<Self, Unanswered> {
        let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (index, cell) in measured.cells.iter().enumerate() {
            let key: Option<Vec<usize>> =
                factors.iter().map(|&factor| level_of(factor, cell)).collect();
            if let Some(key) = key.filter(|_| in_scope(measured, scope, cell)) {
                groups.entry(key).or_default().push(index);
            }
        }
        let mut keys: Vec<Vec<usize>> = vec![Vec::new(); factors.len()];
        for key in groups.keys() {
            for (levels, level) in keys.iter_mut().zip(key) {
                levels.push(*level);
            }
        }
        for levels in &mut keys {
            levels.sort_unstable();
            levels.dedup();
        }
        if let Some(at) = keys.iter().position(|levels| levels.len() < 2) {
            return Err(Unanswered::OneLevel(factors[at]));
        }
        if groups.len() != keys.iter().map(Vec::len).product::<usize>() {
            return Err(Unanswered::MissingCombination);
        }
        let combinations = groups
            .keys()
            .map(|key| {
                let places = key.iter().zip(&keys);
                places
                    .map(|(level, levels)| levels.partition_point(|known| known < level))
                    .collect()
            })
            .collect();
        let name = |factor: Factor, level: usize| match factor {
            Factor::Datastore => measured.plan.datastores[level].name.clone(),
            Factor::Workload => measured.plan.workloads[level].name.clone(),
            Factor::Vms | Factor::Outstanding => level.to_string(),
        };
        let levels = factors
            .iter()
            .zip(&keys)
            .map(|(&factor, levels)| levels.iter().map(|&level| name(factor, level)).collect())
            .collect();
        let cells: Vec<Vec<usize>> = groups.into_values().collect();
        check(measured, &cells)?;
        let values = match measured.unit(metric) {
            Unit::Trial => blocks(measured, metric, &cells)?,
            Unit::Interval => intervals(measured, metric, &cells)?,
        };
        Ok(Self { factors: factors.to_vec(), levels, combinations, values })
    }

    /// The observations that an analysis rests on.
    pub(super) fn observations(&self) -> Observations {
        match &self.values {
            Values::Blocks(values, _) => Observations::Blocks(values.first().map_or(0, Vec::len)),
            Values::Intervals(cells) => {
                Observations::Intervals(cells.iter().flatten().map(|own| own.moments.n).sum())
            }
        }
    }

    /// How blocks were added, where the trial is the unit.
    pub(super) fn looks(&self) -> Option<Looks> {
        match &self.values {
            Values::Blocks(_, looks) => Some(*looks),
            Values::Intervals(_) => None,
        }
    }

    /// A weighted sum over the combinations, estimated.
    pub(super) fn effect(&self, weights: &[f64]) -> Option<Effect> {
        match &self.values {
            Values::Blocks(values, looks) => {
                let blocks = values.first()?.len();
                let sum = |block: usize| {
                    values.iter().zip(weights).map(|(own, weight)| weight * own[block]).sum()
                };
                let weight: f64 = weights.iter().map(|weight| weight.abs()).sum();
                let looks = Looks { resolution: weight * looks.resolution, ..*looks };
                Effect::of_values((0..blocks).map(sum).collect(), looks)
            }
            Values::Intervals(cells) => {
                let cells = cells.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
                let weighted = cells.flat_map(|(own, weight)| {
                    own.iter().map(move |cell| CellIntervals {
                        weight: weight / own.len() as f64,
                        ..*cell
                    })
                });
                Some(Effect::of_cells(weighted.collect(), |own| own.moments.n as f64))
            }
        }
    }

    /// The analysis of all main effects and interactions, and of the block.
    pub(super) fn anova(&self) -> Result<Analysed, AnovaError> {
        let mut factors: Vec<anova::Factor> = self
            .factors
            .iter()
            .zip(&self.levels)
            .map(|(factor, levels)| anova::Factor::new(factor.name(), levels.iter().cloned()))
            .collect();
        let named = factors.len();
        match &self.values {
            Values::Blocks(values, _) => {
                let blocks = values.first().map_or(0, Vec::len);
                factors.push(anova::Factor::new("block", (1..=blocks).map(|n| n.to_string())));
                let mut observations = Vec::new();
                let mut groups = Vec::new();
                for block in 0..blocks {
                    for (group, (levels, own)) in self.combinations.iter().zip(values).enumerate() {
                        let mut levels = levels.clone();
                        levels.push(block);
                        observations.push(Observation { levels, value: own[block] });
                        groups.push(group);
                    }
                }
                let table = CellTable::from_observations(factors, &observations)?;
                let mut terms = all_terms(named);
                terms.push(Term::main(named));
                let model = LinearModel::new(table, terms)?;
                // Balanced: all types of sums of squares agree, and this one is the quickest.
                let table = model.anova(anova::SumsOfSquares::Sequential)?;
                let residuals = model.residuals(&observations)?;
                Ok(Analysed { table, terms: model.terms().to_vec(), residuals, groups })
            }
            Values::Intervals(cells) => {
                let cells: Vec<(Vec<usize>, Moments)> = self
                    .combinations
                    .iter()
                    .zip(cells)
                    .map(|(levels, own)| (levels.clone(), together(own)))
                    .collect();
                let model = LinearModel::full(CellTable::from_moments(factors, &cells)?)?;
                let table = model.anova(anova::SumsOfSquares::TypeIII)?;
                let terms = model.terms().to_vec();
                Ok(Analysed { table, terms, residuals: Vec::new(), groups: Vec::new() })
            }
        }
    }
}

/// Main effects first, then pairs, and so on.
fn all_terms(factors: usize) -> Vec<Term> {
    let mut terms: Vec<Term> = (1..1usize << factors)
        .map(|set| Term::new((0..factors).filter(|factor| set >> factor & 1 == 1)))
        .collect();
    terms.sort_by_key(|term| (term.factors().len(), term.clone()));
    terms
}

fn check(measured: &Measured<'_>, cells: &[Vec<usize>]) -> Result<(), Unanswered> {
    for &cell in cells.iter().flatten() {
        sound(measured, cell)?;
        if measured.trials(cell).is_empty() {
            return Err(Unanswered::NoTrial(measured.loaded(cell)));
        }
    }
    Ok(())
}

fn blocks(
    measured: &Measured<'_>,
    metric: Metric,
    cells: &[Vec<usize>],
) -> Result<Values, Unanswered> {
    let values: Vec<Vec<BTreeMap<u32, f64>>> = cells
        .iter()
        .map(|own| own.iter().map(|&cell| measured.values(cell, metric)).collect())
        .collect();
    let first = values.first().and_then(|own| own.first());
    let complete: Vec<u32> = first
        .into_iter()
        .flat_map(BTreeMap::keys)
        .copied()
        .filter(|block| values.iter().flatten().all(|own| own.contains_key(block)))
        .collect();
    if complete.len() < 2 {
        return Err(Unanswered::FewCompleteBlocks { blocks: complete.len(), metric });
    }
    let mean_log = |own: &[BTreeMap<u32, f64>], block: &u32| {
        own.iter().filter_map(|values| values.get(block)).map(|value| value.ln()).sum::<f64>()
            / own.len() as f64
    };
    let values =
        values.iter().map(|own| complete.iter().map(|block| mean_log(own, block)).collect());
    // The coarsest of the cells stands for all of them.
    let resolutions = cells.iter().flatten().map(|&cell| measured.resolution(cell, metric));
    let looks = Looks { resolution: resolutions.fold(0.0, f64::max), ..measured.looks(metric) };
    Ok(Values::Blocks(values.collect(), looks))
}

fn intervals(
    measured: &Measured<'_>,
    metric: Metric,
    cells: &[Vec<usize>],
) -> Result<Values, Unanswered> {
    let of_cell = |cell| CellIntervals::of(measured, metric, &Weighted { cell, weight: 1.0 });
    let of_combination = |own: &Vec<usize>| own.iter().copied().map(of_cell).collect();
    let all: Result<Vec<Vec<CellIntervals>>, Unanswered> =
        cells.iter().map(of_combination).collect();
    Ok(Values::Intervals(all?))
}

/// The cells of a combination as one: the mean of their means, and the spread within them.
fn together(cells: &[CellIntervals]) -> Moments {
    let n: usize = cells.iter().map(|own| own.moments.n).sum();
    let mean = cells.iter().map(|own| own.moments.mean).sum::<f64>() / cells.len() as f64;
    let squares: f64 = cells.iter().map(|own| own.moments.sum_of_squares()).sum();
    let df = (n - cells.len()) as f64;
    Moments { n, mean, sd: (squares / df).sqrt() }
}
