//! Looking into an interaction: the effect of one factor at each level of the other, and the
//! differences between cells, all measured by the noise of the whole table.
//!
//! Source: R. E. Kirk, *Experimental Design* (1995), 9.6; the corrections, [`crate::multiple`].

use super::AnovaError;
use super::cells::CellTable;
use super::linear_model::LinearModel;
use super::table::ErrorRow;
use crate::estimate::Interval;
use crate::multiple::{Correction, bonferroni_level};
use crate::quantile::{f_upper, student_t_quantile, student_t_two_sided_p};
use crate::sum::sum;
use serde::{Deserialize, Serialize};

/// The effect of one factor at one level of the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimpleEffect {
    /// The factor whose effect it is.
    pub factor: String,
    /// The level of the other factor.
    pub at: String,
    /// Sum of squares, in the squared unit of the data.
    pub sum_of_squares: f64,
    /// Its degrees of freedom.
    pub df: f64,
    /// `sum_of_squares / df`.
    pub mean_square: f64,
    /// Degrees of freedom of the error.
    pub error_df: f64,
    /// The F statistic, by the error of the whole table.
    pub f: f64,
    /// P-value of "no effect at this level", by itself.
    pub p: f64,
    /// The same after Bonferroni's correction for the number of levels.
    pub p_bonferroni: f64,
    /// The same after Holm's.
    pub p_holm: f64,
}

/// The effect of factor `factor` (0 or 1) of a two-factor table at each level of the other.
///
/// # Errors
/// Not exactly two factors, an empty cell, or no noise to measure by.
pub fn simple_effects(table: &CellTable, factor: usize) -> Result<Vec<SimpleEffect>, AnovaError> {
    if table.factors.len() != 2 || factor > 1 {
        let found = table.factors.len();
        let what = "the effect of one factor at each level of another";
        return Err(AnovaError::wrong_factors(what, "exactly 2 factors", found));
    }
    let error = cell_error(table)?;
    let other = 1 - factor;
    let mut effects = Vec::new();
    for (index, level) in table.factors[other].levels.iter().enumerate() {
        let cells = || table.cells.iter().filter(|cell| cell.levels[other] == index);
        let n: f64 = cells().map(|cell| cell.n as f64).sum();
        let mean = sum(cells().map(|cell| cell.n as f64 * cell.deviation)) / n;
        let sum_of_squares =
            sum(cells().map(|cell| cell.n as f64 * (cell.deviation - mean).powi(2)));
        let df = (table.factors[factor].levels.len() - 1) as f64;
        let mean_square = sum_of_squares / df;
        let f = mean_square / error.mean_square;
        effects.push(SimpleEffect {
            factor: table.factors[factor].name.clone(),
            at: level.clone(),
            sum_of_squares,
            df,
            mean_square,
            error_df: error.df,
            f,
            p: f_upper(f, df, error.df),
            p_bonferroni: f64::NAN,
            p_holm: f64::NAN,
        });
    }
    let p_values: Vec<f64> = effects.iter().map(|effect| effect.p).collect();
    let bonferroni = Correction::Bonferroni.adjusted_p_values(&p_values);
    let holm = Correction::Holm.adjusted_p_values(&p_values);
    for ((effect, bonferroni), holm) in effects.iter_mut().zip(bonferroni).zip(holm) {
        (effect.p_bonferroni, effect.p_holm) = (bonferroni, holm);
    }
    Ok(effects)
}

/// The difference of two cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairwiseDifference {
    /// The name of the first cell.
    pub a: String,
    /// The name of the second cell.
    pub b: String,
    /// Mean of the first less mean of the second, in the unit of the data.
    pub difference: f64,
    /// Its standard error, from the noise of the whole table.
    pub standard_error: f64,
    /// Degrees of freedom of the noise.
    pub df: f64,
    /// The t statistic.
    pub t: f64,
    /// Two-sided p-value, by itself.
    pub p: f64,
    /// The same after Bonferroni's correction for the number of pairs.
    pub p_bonferroni: f64,
    /// The same after Holm's.
    pub p_holm: f64,
    /// The interval at Bonferroni's level: all intervals hold together.
    pub interval: Interval,
}

/// All differences between two cells, by the noise of the whole table, for a family-wise error
/// of 1 − `level`.
///
/// # Errors
/// A level outside 0 to 1, or no noise to measure by.
pub fn pairwise_differences(
    table: &CellTable,
    level: f64,
) -> Result<Vec<PairwiseDifference>, AnovaError> {
    let level = crate::moments::checked_level(level)?;
    let error = cell_error(table)?;
    let count = table.cells.len() * (table.cells.len() - 1) / 2;
    let each = bonferroni_level(count, 1.0 - level);
    let critical = student_t_quantile(0.5 + 0.5 * each, error.df);
    let mut pairs = Vec::with_capacity(count);
    for (index, a) in table.cells.iter().enumerate() {
        for b in &table.cells[index + 1..] {
            let difference = a.mean.minus(b.mean);
            let variance = error.mean_square * (1.0 / a.n as f64 + 1.0 / b.n as f64);
            let standard_error = variance.sqrt();
            let t = difference / standard_error;
            let reach = critical * standard_error;
            let (low, high) = (difference - reach, difference + reach);
            pairs.push(PairwiseDifference {
                a: table.cell_name(&a.levels),
                b: table.cell_name(&b.levels),
                difference,
                standard_error,
                df: error.df,
                t,
                p: student_t_two_sided_p(t, error.df),
                p_bonferroni: f64::NAN,
                p_holm: f64::NAN,
                interval: Interval { low, high, level: each },
            });
        }
    }
    let p_values: Vec<f64> = pairs.iter().map(|pair| pair.p).collect();
    let bonferroni = Correction::Bonferroni.adjusted_p_values(&p_values);
    let holm = Correction::Holm.adjusted_p_values(&p_values);
    for ((pair, bonferroni), holm) in pairs.iter_mut().zip(bonferroni).zip(holm) {
        (pair.p_bonferroni, pair.p_holm) = (bonferroni, holm);
    }
    Ok(pairs)
}

/// The spread within cells, which is the residual of the full model.
fn cell_error(table: &CellTable) -> Result<ErrorRow, AnovaError> {
    if let Some(cell) = table.empty_cell() {
        return Err(AnovaError::EmptyCell(cell));
    }
    LinearModel::full(table.clone())?.residual()
}

#[cfg(test)]
mod tests {
    use super::super::Factor;
    use super::*;
    use crate::two_sample::Rule;
    use crate::{Moments, TwoSample};

    /// Two groups alone are the pooled t test, p-value, interval and all.
    #[test]
    fn the_difference_of_two_groups_is_a_pooled_t_test() {
        let (a, b) = ([5.0, 6.0, 7.5, 8.0], [4.0, 4.5, 5.0]);
        let table = CellTable::one_way("datastore", &[("a", &a[..]), ("b", &b[..])]).unwrap();
        let pairs = pairwise_differences(&table, 0.95).unwrap();
        let test = TwoSample::compare(&a, &b, Rule::Pooled, 0.95).unwrap();
        assert_eq!(pairs.len(), 1);
        assert!((pairs[0].t / test.t - 1.0).abs() < 1e-13);
        assert!((pairs[0].p_holm / test.p_two_sided - 1.0).abs() < 1e-12);
        assert!((pairs[0].interval.low / test.interval.low - 1.0).abs() < 1e-12);
    }

    /// The simple effects share out the factor's and the interaction's sum of squares.
    #[test]
    fn simple_effects_add_up() {
        let cell = |a, b, mean| (vec![a, b], Moments::new(500, mean, 20.0));
        let cells = [cell(0, 0, 27.4), cell(0, 1, 4.1), cell(1, 0, 27.5), cell(1, 1, 9.3)];
        let factors =
            vec![Factor::new("size", ["4k", "32k"]), Factor::new("via", ["ide", "iscsi"])];
        let table = CellTable::from_moments(factors, &cells).unwrap();
        let effects = simple_effects(&table, 1).unwrap();
        let model = LinearModel::full(table.clone()).unwrap();
        let anova = model.anova(super::super::SumsOfSquares::TypeIII).unwrap();
        let sum: f64 = effects.iter().map(|effect| effect.sum_of_squares).sum();
        let expected = anova.rows[1].sum_of_squares + anova.rows[2].sum_of_squares;
        assert!((sum / expected - 1.0).abs() < 1e-12);
        assert_eq!((effects[0].at.as_str(), effects[0].error_df), ("4k", 1996.0));
        assert!(simple_effects(&table, 2).is_err());
    }
}
