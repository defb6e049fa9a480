//! Whether groups spread alike: an analysis of variance of the distances from each group's
//! centre.
//!
//! Sources: H. Levene, in *Contributions to Probability and Statistics* (1960) 278-292 (the
//! mean); Brown & Forsythe, *JASA* 69 (1974) 364-367 (the median, which stands skewed data).

use super::AnovaError;
use super::cells::CellTable;
use super::linear_model::LinearModel;
use super::sums_of_squares::SumsOfSquares;
use super::table::AnovaTable;
use crate::describe::{Summary, quantile_of_sorted};
use crate::moments::checked_values;
use crate::sum;
use serde::{Deserialize, Serialize};

/// What distances are taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Centre {
    /// The group's mean: Levene's test.
    Mean,
    /// The group's median: Brown and Forsythe's test.
    #[default]
    Median,
}

/// Tests whether groups (a name and values each) spread alike. The table's only row is the test.
///
/// # Errors
/// Fewer than two groups, an empty one, a value that is not finite, or distances without spread.
pub fn equal_spread<S: AsRef<str>, V: AsRef<[f64]>>(
    groups: &[(S, V)],
    centre: Centre,
) -> Result<AnovaTable, AnovaError> {
    let mut distances = Vec::with_capacity(groups.len());
    for (name, values) in groups {
        let name = name.as_ref();
        let values = checked_values(values.as_ref(), name, 0)?;
        let from_centre = match (centre, Summary::of(values)) {
            (Centre::Median, Some(_)) => {
                let mut sorted = values.to_vec();
                sorted.sort_by(f64::total_cmp);
                let median = quantile_of_sorted(&sorted, 0.5);
                values.iter().map(|value| (value - median).abs()).collect()
            }
            _ => sum::deviations(values).into_iter().map(f64::abs).collect::<Vec<_>>(),
        };
        distances.push((name, from_centre));
    }
    let table = CellTable::one_way("group", &distances)?;
    LinearModel::full(table)?.anova(SumsOfSquares::TypeII)
}
