//! Subjects measured at every level of one factor (within), and divided by another (between).
//!
//! Values of one subject are alike, so two kinds of noise must be kept apart: between subjects,
//! for the factor that divides them, and within subjects, for the factor that each has met in all
//! its levels. A study that takes the values as independent tests the first by the noise of the
//! second and finds what is not there.
//!
//! The values of each subject are turned into its mean and orthonormal contrasts; each contrast
//! is then a one-way layout of the groups. With groups of different size the effect of the within
//! factor is that of the unweighted group means (type III).
//!
//! Sources: B. J. Winer, *Statistical Principles in Experimental Design* (1971), 7.2; Greenhouse &
//! Geisser, *Psychometrika* 24 (1959) 95-112; Huynh & Feldt, *Journal of Educational Statistics* 1
//! (1976) 69-82, as corrected by B. Lecoutre, the same journal 16 (1991) 371-372.

use super::AnovaError;
use super::cells::Factor;
use super::table::{AnovaRow, ErrorRow};
use crate::moments::SampleError;
use crate::quantile::f_upper;
use crate::sum::{Twofold, sum};
use serde::{Deserialize, Serialize};

/// One subject: a volume, a host, a VM, or a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The level of the between factor it belongs to; 0 where there is none.
    pub group: usize,
    /// Its values, one for each level of the within factor, in their order.
    pub values: Vec<f64>,
}

/// A mixed design, or without a between factor one of repeated measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixedDesign {
    /// What divides the subjects, if anything does.
    pub between: Option<Factor>,
    /// What every subject has met in all levels.
    pub within: Factor,
    /// The subjects, in any order.
    pub subjects: Vec<Subject>,
}

/// The analysis of a mixed design, with its two errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixedAnova {
    /// The between factor, tested by `subjects_error`.
    pub between: Option<AnovaRow>,
    /// Subjects within their groups.
    pub subjects_error: ErrorRow,
    /// The within factor, tested by `within_error`.
    pub within: AnovaRow,
    /// Both together, tested by `within_error`.
    pub interaction: Option<AnovaRow>,
    /// The within factor × subjects within their groups.
    pub within_error: ErrorRow,
    /// Greenhouse and Geisser's ε, from 1 (the differences between all levels spread alike, as F
    /// supposes) down to 1 / (levels − 1).
    pub greenhouse_geisser: f64,
    /// Huynh and Feldt's ε, less cautious; at most 1.
    pub huynh_feldt: f64,
    /// P-value of the within factor with degrees of freedom cut by Greenhouse and Geisser's ε.
    pub within_p_corrected: f64,
    /// P-value of the interaction, cut alike.
    pub interaction_p_corrected: Option<f64>,
}

impl MixedDesign {
    /// Carries out the analysis.
    ///
    /// # Errors
    /// A factor with fewer than two levels, a group without subjects, a subject without a value
    /// at each level, too few subjects, a value that is not finite, or no noise.
    pub fn anova(&self) -> Result<MixedAnova, AnovaError> {
        let groups = self.checked()?;
        let levels = self.within.levels.len();
        let (n, k, g) = (self.subjects.len() as f64, levels as f64, groups as f64);

        let grand =
            Twofold::sum(self.subjects.iter().flat_map(|s| s.values.iter().copied())).over(n * k);
        let centred: Vec<Vec<f64>> = self
            .subjects
            .iter()
            .map(|subject| subject.values.iter().map(|&value| grand.below(value)).collect())
            .collect();
        let total = sum(centred.iter().flatten().map(|value| value * value));
        let largest =
            self.subjects.iter().flat_map(|s| &s.values).fold(0f64, |m, v| m.max(v.abs()));
        let rounding =
            (0.25 * f64::EPSILON * largest).powi(2) * n * k + (8.0 * f64::EPSILON).powi(2) * total;

        // Coordinate 0 is √k times the subject's mean; the others are the contrasts.
        let turned: Vec<Layout> = (0..levels)
            .map(|coordinate| {
                let weights = contrast(coordinate, levels);
                let values = centred
                    .iter()
                    .map(|row| sum(row.iter().zip(&weights).map(|(value, weight)| value * weight)));
                self.layout(values.collect(), groups)
            })
            .collect();

        let subjects_error = ErrorRow::new(turned[0].within, n - g);
        let contrasts = &turned[1..];
        let within_error =
            ErrorRow::new(sum(contrasts.iter().map(|c| c.within)), (k - 1.0) * (n - g));
        if within_error.sum_of_squares <= rounding || subjects_error.sum_of_squares <= rounding {
            let what = "the subjects of each group".into();
            return Err(SampleError::NoSpread { what }.into());
        }
        let row = |term: String, squares, df, error: &ErrorRow| {
            AnovaRow::new(term, squares, df, error, total)
        };
        let between = self
            .between
            .as_ref()
            .map(|factor| row(factor.name.clone(), turned[0].between, g - 1.0, &subjects_error));
        let within = row(
            self.within.name.clone(),
            sum(contrasts.iter().map(|c| c.overall)),
            k - 1.0,
            &within_error,
        );
        let interaction = self.between.as_ref().map(|factor| {
            let term = format!("{} × {}", factor.name, self.within.name);
            let squares = sum(contrasts.iter().map(|c| c.between));
            row(term, squares, (g - 1.0) * (k - 1.0), &within_error)
        });

        let greenhouse_geisser = epsilon(contrasts);
        let huynh_feldt = {
            let share = (k - 1.0) * greenhouse_geisser;
            let value = ((n - g + 1.0) * share - 2.0) / ((k - 1.0) * (n - g - share));
            // Few subjects make the denominator 0 or negative: nothing is known against 1.
            if value > 0.0 { value.min(1.0) } else { 1.0 }
        };
        let corrected = |row: &AnovaRow| {
            f_upper(row.f, greenhouse_geisser * row.df, greenhouse_geisser * within_error.df)
        };
        Ok(MixedAnova {
            within_p_corrected: corrected(&within),
            interaction_p_corrected: interaction.as_ref().map(corrected),
            between,
            subjects_error,
            within,
            interaction,
            within_error,
            greenhouse_geisser,
            huynh_feldt,
        })
    }

    /// The number of groups, if all is as it should be.
    fn checked(&self) -> Result<usize, AnovaError> {
        for factor in self.between.iter().chain([&self.within]) {
            if factor.levels.len() < 2 {
                let (factor, levels) = (factor.name.clone(), factor.levels.len());
                return Err(AnovaError::TooFewLevels { factor, levels });
            }
        }
        let expected = self.within.levels.len();
        let groups = self.between.as_ref().map_or(1, |factor| factor.levels.len());
        for (index, subject) in self.subjects.iter().enumerate() {
            let name = || format!("subject {}", index + 1);
            if subject.values.len() != expected {
                let found = subject.values.len();
                return Err(AnovaError::Incomplete { subject: name(), found, expected });
            }
            if subject.values.iter().any(|value| !value.is_finite()) {
                return Err(SampleError::NotFinite { what: name() }.into());
            }
            if subject.group >= groups {
                return Err(AnovaError::BadLevels { what: name(), factors: 1 });
            }
        }
        for group in 0..groups {
            if !self.subjects.iter().any(|subject| subject.group == group) {
                let (factor, level) = match &self.between {
                    Some(factor) => (factor.name.clone(), factor.levels[group].clone()),
                    None => ("subject".into(), "all".into()),
                };
                return Err(AnovaError::EmptyLevel { factor, level });
            }
        }
        if self.subjects.len() <= groups {
            let (observations, parameters) = (self.subjects.len(), groups);
            return Err(AnovaError::NoResidual { observations, parameters });
        }
        Ok(groups)
    }

    /// One coordinate of all subjects as a one-way layout of the groups.
    fn layout(&self, values: Vec<f64>, groups: usize) -> Layout {
        let members = |group| {
            let pairs = self.subjects.iter().zip(&values);
            pairs.filter(move |(subject, _)| subject.group == group).map(|(_, &value)| value)
        };
        let sizes: Vec<f64> = (0..groups).map(|group| members(group).count() as f64).collect();
        let means: Vec<f64> = (0..groups).map(|group| sum(members(group)) / sizes[group]).collect();
        let mean = sum(values.iter().copied()) / values.len() as f64;
        let residuals: Vec<f64> = self
            .subjects
            .iter()
            .zip(&values)
            .map(|(subject, value)| value - means[subject.group])
            .collect();
        // The unweighted mean of the groups, and how its variance follows from their sizes.
        let unweighted = means.iter().sum::<f64>();
        let share: f64 = sizes.iter().map(|size| size.recip()).sum();
        Layout {
            between: sum(sizes.iter().zip(&means).map(|(n, m)| n * (m - mean).powi(2))),
            within: sum(residuals.iter().map(|residual| residual * residual)),
            overall: unweighted * unweighted / share,
            residuals,
        }
    }
}

/// One coordinate of the subjects, divided up.
struct Layout {
    /// Between the groups.
    between: f64,
    /// Within the groups.
    within: f64,
    /// Of the unweighted mean of the groups about 0.
    overall: f64,
    /// What each subject has more than its group.
    residuals: Vec<f64>,
}

/// Helmert's contrasts, of length 1: each level against the mean of those before it. Number 0 is
/// the mean itself.
fn contrast(number: usize, levels: usize) -> Vec<f64> {
    if number == 0 {
        return vec![(levels as f64).sqrt().recip(); levels];
    }
    let length = ((number * (number + 1)) as f64).sqrt();
    (0..levels)
        .map(|level| match level {
            _ if level < number => -1.0 / length,
            _ if level == number => number as f64 / length,
            _ => 0.0,
        })
        .collect()
}

/// Greenhouse and Geisser's ε from the covariances of the contrasts within groups.
fn epsilon(contrasts: &[Layout]) -> f64 {
    let covariance =
        |a: &Layout, b: &Layout| sum(a.residuals.iter().zip(&b.residuals).map(|(a, b)| a * b));
    let trace: f64 = contrasts.iter().map(|c| c.within).sum();
    let squares: f64 = contrasts
        .iter()
        .flat_map(|a| contrasts.iter().map(move |b| covariance(a, b).powi(2)))
        .sum();
    (trace * trace / (contrasts.len() as f64 * squares)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrasts_are_orthonormal() {
        for levels in 2..6 {
            for a in 0..levels {
                for b in 0..levels {
                    let product: f64 = contrast(a, levels)
                        .iter()
                        .zip(contrast(b, levels))
                        .map(|(a, b)| a * b)
                        .sum();
                    assert!((product - f64::from(u8::from(a == b))).abs() < 1e-15);
                }
            }
        }
    }

    /// With two levels within, the within test is the paired t test, and ε is 1.
    #[test]
    fn two_levels_within_are_a_paired_t_test() {
        let (a, b) = ([10.0, 12.0, 9.0, 11.0, 13.5], [11.0, 12.5, 9.2, 12.1, 13.6]);
        let subjects = a.iter().zip(b).map(|(&a, b)| Subject { group: 0, values: vec![a, b] });
        let within = Factor::new("cache", ["off", "on"]);
        let design = MixedDesign { between: None, within, subjects: subjects.collect() };
        let anova = design.anova().unwrap();
        let paired = crate::Paired::compare(&a, &b, 0.95).unwrap();
        assert!((anova.within.f / paired.t.powi(2) - 1.0).abs() < 1e-12);
        assert!((anova.within.p / paired.p_two_sided - 1.0).abs() < 1e-12);
        assert_eq!((anova.greenhouse_geisser, anova.huynh_feldt), (1.0, 1.0));
        assert_eq!(anova.between, None);
    }

    #[test]
    fn designs_with_holes_are_refused() {
        let within = Factor::new("size", ["4k", "32k"]);
        let between = Some(Factor::new("datastore", ["local", "nas"]));
        let subject = |group, values: &[f64]| Subject { group, values: values.to_vec() };
        let message = |subjects: Vec<Subject>| {
            let design = MixedDesign { between: between.clone(), within: within.clone(), subjects };
            design.anova().unwrap_err().to_string()
        };
        let (a, b) = (subject(0, &[1.0, 2.0]), subject(1, &[2.0, 5.0]));
        assert!(message(vec![a.clone(), subject(1, &[2.0])]).contains("subject 2 has 1 value(s)"));
        assert!(message(vec![a.clone(), a.clone()]).contains("no observation at level nas"));
        assert!(message(vec![a.clone(), b.clone()]).contains("leave nothing"));
        assert!(message(vec![a.clone(), a, b.clone(), b]).contains("all values are equal"));
    }
}
