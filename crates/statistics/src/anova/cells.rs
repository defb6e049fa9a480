//! Observations reduced to cells: one for each combination of levels that occurs.
//!
//! All terms of a model are constant within a cell, so size, mean and spread of the cells hold
//! all that an analysis needs. Means are kept with the rest of their division and relative to the
//! grand mean, since data may agree in their first thirteen digits.

use super::AnovaError;
use crate::moments::Moments;
use crate::sum::{Twofold, mean, squares_about};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something that was varied on purpose (or a block), with its levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factor {
    /// Its name, such as `datastore`.
    pub name: String,
    /// The names of its levels.
    pub levels: Vec<String>,
}

impl Factor {
    /// A factor with these levels.
    pub fn new<L: Into<String>>(
        name: impl Into<String>,
        levels: impl IntoIterator<Item = L>,
    ) -> Self {
        Self { name: name.into(), levels: levels.into_iter().map(Into::into).collect() }
    }
}

/// One trial's value, and where in the design it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// For each factor the index of its level.
    pub levels: Vec<usize>,
    /// What was measured.
    pub value: f64,
}

/// A combination of levels.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) levels: Vec<usize>,
    pub(crate) n: usize,
    pub(crate) mean: Twofold,
    /// Σ (y − cell mean)².
    pub(crate) squares: f64,
    /// Cell mean less grand mean.
    pub(crate) deviation: f64,
}

/// Cells and their factors.
#[derive(Clone, Debug)]
pub struct CellTable {
    pub(crate) factors: Vec<Factor>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) grand_mean: Twofold,
    pub(crate) observations: usize,
    /// The largest magnitude among the data: the measure of what is rounding.
    largest: f64,
}

impl CellTable {
    /// From single observations, in any order.
    ///
    /// # Errors
    /// A factor with fewer than two levels or an empty one, an observation that does not fit the
    /// factors or is not finite.
    pub fn from_observations(
        factors: Vec<Factor>,
        observations: &[Observation],
    ) -> Result<Self, AnovaError> {
        let mut groups: BTreeMap<&[usize], Vec<f64>> = BTreeMap::new();
        for (index, observation) in observations.iter().enumerate() {
            let what = || format!("observation {}", index + 1);
            check_levels(&factors, &observation.levels, what)?;
            if !observation.value.is_finite() {
                return Err(crate::SampleError::NotFinite { what: what() }.into());
            }
            groups.entry(&observation.levels).or_default().push(observation.value);
        }
        let largest = observations.iter().map(|o| o.value.abs()).fold(0.0, f64::max);
        let cells = groups.into_iter().map(|(levels, values)| Cell::of(levels.to_vec(), &values));
        Self::assemble(factors, cells.collect(), largest)
    }

    /// From the published size, mean and SD of each cell, in any order. A cell of one
    /// observation has no SD (NaN).
    ///
    /// # Errors
    /// As [`CellTable::from_observations`], or a cell given twice.
    pub fn from_moments(
        factors: Vec<Factor>,
        cells: &[(Vec<usize>, Moments)],
    ) -> Result<Self, AnovaError> {
        let mut table: BTreeMap<&[usize], Cell> = BTreeMap::new();
        for (index, (levels, moments)) in cells.iter().enumerate() {
            check_levels(&factors, levels, || format!("cell {}", index + 1))?;
            let name = cell_name(&factors, levels);
            let moments = moments.checked(&name, 1)?;
            let cell = Cell {
                levels: levels.clone(),
                n: moments.n,
                mean: Twofold::new(moments.mean),
                squares: moments.sum_of_squares(),
                deviation: 0.0,
            };
            if table.insert(levels, cell).is_some() {
                return Err(AnovaError::RepeatedCell(name));
            }
        }
        let largest = cells.iter().map(|(_, m)| m.mean.abs()).fold(0.0, f64::max);
        Self::assemble(factors, table.into_values().collect(), largest)
    }

    /// One factor: a name and the values of each of its levels.
    ///
    /// # Errors
    /// As [`CellTable::from_observations`].
    pub fn one_way<S: AsRef<str>, V: AsRef<[f64]>>(
        name: &str,
        groups: &[(S, V)],
    ) -> Result<Self, AnovaError> {
        let factor = Factor::new(name, groups.iter().map(|(level, _)| level.as_ref()));
        let mut cells = Vec::new();
        let mut largest = 0f64;
        for (index, (level, values)) in groups.iter().enumerate() {
            let values = crate::moments::checked_values(values.as_ref(), level.as_ref(), 0)?;
            largest = values.iter().map(|value| value.abs()).fold(largest, f64::max);
            if !values.is_empty() {
                cells.push(Cell::of(vec![index], values));
            }
        }
        Self::assemble(vec![factor], cells, largest)
    }

    fn assemble(
        factors: Vec<Factor>,
        mut cells: Vec<Cell>,
        largest: f64,
    ) -> Result<Self, AnovaError> {
        for (place, factor) in factors.iter().enumerate() {
            if factor.levels.len() < 2 {
                let (factor, levels) = (factor.name.clone(), factor.levels.len());
                return Err(AnovaError::TooFewLevels { factor, levels });
            }
            for (index, level) in factor.levels.iter().enumerate() {
                if !cells.iter().any(|cell| cell.levels[place] == index) {
                    let (factor, level) = (factor.name.clone(), level.clone());
                    return Err(AnovaError::EmptyLevel { factor, level });
                }
            }
        }
        if factors.is_empty() {
            return Err(AnovaError::BadTerms);
        }
        let observations: usize = cells.iter().map(|cell| cell.n).sum();
        let total = cells.iter().fold(Twofold::default(), |total, cell| {
            total.plus_twofold(cell.mean.times(cell.n as f64))
        });
        let grand_mean = total.over(observations as f64);
        for cell in &mut cells {
            cell.deviation = cell.mean.minus(grand_mean);
        }
        Ok(Self { factors, cells, grand_mean, observations, largest })
    }

    /// The factors.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// Observations in all.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// The mean of all observations.
    pub fn grand_mean(&self) -> f64 {
        self.grand_mean.value()
    }

    /// Size, mean and SD of the cell at `levels`; `None` where nothing was measured.
    pub fn moments(&self, levels: &[usize]) -> Option<Moments> {
        let cell = self.cells.iter().find(|cell| cell.levels == levels)?;
        let sd = if cell.n > 1 { (cell.squares / (cell.n as f64 - 1.0)).sqrt() } else { f64::NAN };
        Some(Moments { n: cell.n, mean: cell.mean.value(), sd })
    }

    /// The name of a cell, such as `nas, vm-4k`.
    pub fn cell_name(&self, levels: &[usize]) -> String {
        cell_name(&self.factors, levels)
    }

    /// Whether every possible cell has data, and all the same number of observations.
    pub fn is_balanced(&self) -> bool {
        self.is_complete() && self.cells.iter().all(|cell| cell.n == self.cells[0].n)
    }

    /// Whether every possible cell has data.
    pub fn is_complete(&self) -> bool {
        self.cells.len() == self.factors.iter().map(|factor| factor.levels.len()).product::<usize>()
    }

    /// Spread about the cell means: sum of squares and its degrees of freedom.
    pub(crate) fn within(&self) -> (f64, f64) {
        let squares = crate::sum::sum(self.cells.iter().map(|cell| cell.squares));
        (squares, (self.observations - self.cells.len()) as f64)
    }

    /// Sums of squares up to this are rounding: half a unit in the last place of the largest
    /// value for each observation, and the rounding of the fit.
    pub(crate) fn rounding(&self) -> f64 {
        let spread = self.cells.iter().map(|cell| cell.deviation.abs()).fold(0.0, f64::max);
        let (of_data, of_fit) = (0.25 * f64::EPSILON * self.largest, 8.0 * f64::EPSILON * spread);
        (of_data * of_data + of_fit * of_fit) * self.observations as f64
    }

    /// The first cell without data, by name.
    pub(crate) fn empty_cell(&self) -> Option<String> {
        let mut levels = vec![0; self.factors.len()];
        loop {
            if !self.cells.iter().any(|cell| cell.levels == levels) {
                return Some(self.cell_name(&levels));
            }
            // Count up, the last factor fastest.
            let place = (0..levels.len())
                .rev()
                .find(|&place| levels[place] + 1 < self.factors[place].levels.len())?;
            levels[place] += 1;
            levels[place + 1..].fill(0);
        }
    }
}

impl Cell {
    fn of(levels: Vec<usize>, values: &[f64]) -> Self {
        let mean = mean(values);
        let squares = squares_about(values, mean);
        Self { levels, n: values.len(), mean, squares, deviation: 0.0 }
    }
}

fn cell_name(factors: &[Factor], levels: &[usize]) -> String {
    let names: Vec<&str> = factors
        .iter()
        .zip(levels)
        .filter_map(|(factor, &level)| factor.levels.get(level).map(String::as_str))
        .collect();
    names.join(", ")
}

fn check_levels(
    factors: &[Factor],
    levels: &[usize],
    what: impl Fn() -> String,
) -> Result<(), AnovaError> {
    let fits = levels.len() == factors.len()
        && levels.iter().zip(factors).all(|(&level, factor)| level < factor.levels.len());
    if fits {
        return Ok(());
    }
    Err(AnovaError::BadLevels { what: what(), factors: factors.len() })
}
