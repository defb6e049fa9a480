//! Parameters of a model fitted to measurements: their values, how sure they are, and which of them
//! the measurements do not determine.
//!
//! Costs and times are positive and known up to a factor, and so are what they predict: everything is
//! fitted on the logarithmic scale, where an error of 10 % counts alike at a microsecond and at a
//! second.

mod least_squares;
mod symmetric;

use serde::Serialize;

pub use least_squares::{Minimum, Start, least_squares};

use crate::quantile::student_t_quantile;

/// A parameter that may be changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitParameter {
    /// Its name.
    pub name: String,
    /// Where the search starts. Above 0.
    pub start: f64,
    /// The least it may be. Above 0.
    pub lowest: f64,
    /// The most it may be.
    pub highest: f64,
}

/// A parameter after the fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fitted {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Lower end of its interval; `None` where the data do not determine it.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// By how many per cent all predictions change, in root mean square, when it changes by one: how
    /// much the data depend on it.
    pub sensitivity: f64,
    /// Whether it stands at one of its bounds.
    pub at_bound: bool,
}

/// Parameters of which only a combination is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undetermined {
    /// The parameters that take part, with their weights in the combination that the data do not
    /// determine. One alone: the data do not depend on it.
    pub parameters: Vec<(String, f64)>,
    /// The factor by which the combination may be wrong at the level asked for; infinite where the
    /// data do not depend on it.
    pub factor: f64,
}

/// A fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// The parameters.
    pub parameters: Vec<Fitted>,
    /// What the data do not determine.
    pub undetermined: Vec<Undetermined>,
    /// What the model predicts with them, in the order of the observations.
    pub predicted: Vec<f64>,
    /// Root mean square of the relative errors, as a factor less 1, with the degrees of freedom that
    /// the parameters leave.
    pub scatter: f64,
    /// Degrees of freedom: observations less parameters.
    pub freedom: usize,
    /// Whether the search converged.
    pub converged: bool,
    /// Runs of the model.
    pub runs: u32,
}

/// Why nothing can be fitted; `E` is the model's own error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError<E> {
    /// There is nothing to fit.
    #[error("no parameter is free; name some under `fit:` in the site file")]
    NoParameter,
    /// Impossible bounds.
    #[error("{0} must start above 0 and between its bounds; fix `from` and `to`")]
    Bounds(String),
    /// Fewer observations than parameters.
    #[error(
        "{observations} measurements cannot determine {parameters} parameters; measure more cells or \
         free fewer parameters"
    )]
    TooFew {
        /// Measurements.
        observations: usize,
        /// Parameters.
        parameters: usize,
    },
    /// An observation without a logarithm.
    #[error("a measurement of {0} is no positive number; leave that cell out")]
    Observation(f64),
    /// The model fails where the search starts.
    #[error("the model cannot be run: {0}")]
    Model(E),
}

/// The step of derivatives on the logarithmic scale: 3 %, more than the noise of a simulation with the
/// same random numbers, and too little for a queue's curve to bend.
const STEP: f64 = 0.03;
/// A combination known only to within this factor is not determined.
const USELESS_FACTOR: f64 = 2.0;
/// No model of a machine is more precise than this; a fit with less scatter (few data) would claim too much.
const LEAST_SCATTER: f64 = 0.005;

/// Fits parameters so that `model` predicts what was observed. Observations and predictions are
/// positive, in the same order; `level` is that of the intervals, such as 0.95.
///
/// # Errors
/// See [`FitError`].
pub fn fit<E>(
    parameters: &[FitParameter],
    observed: &[f64],
    level: f64,
    mut model: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
) -> Result<Fit, FitError<E>> {
    check(parameters, observed)?;
    let logs = |value: fn(&FitParameter) -> f64| -> Vec<f64> {
        parameters.iter().map(|parameter| value(parameter).ln()).collect()
    };
    let start = Start {
        values: logs(|parameter| parameter.start),
        steps: vec![STEP; parameters.len()],
        lowest: logs(|parameter| parameter.lowest),
        highest: logs(|parameter| parameter.highest),
        rounds: 25,
        tolerance: 1e-4,
    };
    let minimum = least_squares(&start, |logs| {
        let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        let predicted = model(&values)?;
        Ok(predicted.iter().zip(observed).map(|(found, seen)| (found / seen).ln()).collect())
    })
    .map_err(FitError::Model)?;
    Ok(concluded(parameters, observed, level, &start, &minimum))
}

fn check<E>(parameters: &[FitParameter], observed: &[f64]) -> Result<(), FitError<E>> {
    if parameters.is_empty() {
        return Err(FitError::NoParameter);
    }
    let sound = |p: &&FitParameter| {
        p.lowest > 0.0 && p.start >= p.lowest && p.start <= p.highest && p.highest.is_finite()
    };
    if let Some(wrong) = parameters.iter().find(|parameter| !sound(parameter)) {
        return Err(FitError::Bounds(wrong.name.clone()));
    }
    if let Some(&wrong) = observed.iter().find(|seen| !(seen.is_finite() && **seen > 0.0)) {
        return Err(FitError::Observation(wrong));
    }
    if observed.len() < parameters.len() {
        let (observations, parameters) = (observed.len(), parameters.len());
        return Err(FitError::TooFew { observations, parameters });
    }
    Ok(())
}

fn concluded(
    parameters: &[FitParameter],
    observed: &[f64],
    level: f64,
    start: &Start,
    minimum: &Minimum,
) -> Fit {
    let freedom = observed.len() - parameters.len();
    let spread = (minimum.sum_of_squares() / freedom.max(1) as f64).sqrt();
    // Without degrees of freedom nothing is known about the scatter.
    let known = if freedom == 0 { f64::INFINITY } else { spread.max(LEAST_SCATTER) };
    let quantile = match freedom {
        0 => f64::INFINITY,
        freedom => student_t_quantile(0.5 + level / 2.0, freedom as f64),
    };
    let directions = minimum.directions();
    let scatter = if known.is_finite() { known } else { LEAST_SCATTER };
    let reach = if quantile.is_finite() { quantile } else { 2.0 };
    // On the logarithmic scale, how far along a direction the data allow to go.
    let half_width = |eigenvalue: f64| match eigenvalue {
        value if value > 1e-12 => reach * scatter / value.sqrt(),
        _ => f64::INFINITY,
    };
    let undetermined: Vec<Undetermined> = directions
        .iter()
        .filter(|(value, _)| half_width(*value) > USELESS_FACTOR.ln())
        .map(|(value, vector)| Undetermined {
            parameters: taking_part(parameters, vector),
            factor: half_width(*value).exp(),
        })
        .collect();
    let fitted = parameters.iter().enumerate().map(|(at, parameter)| {
        let variance: f64 = directions
            .iter()
            .map(|(value, vector)| match *value > 1e-12 {
                true => vector[at].powi(2) / value,
                // A combination that the data do not depend on matters only to the parameters in it.
                false if vector[at].abs() > 1e-6 => f64::INFINITY,
                false => 0.0,
            })
            .sum();
        let half = quantile * known * variance.sqrt();
        let value = minimum.values[at].exp();
        let is_known = half.is_finite() && half <= (USELESS_FACTOR * 5.0).ln();
        let column: f64 = minimum.jacobian.iter().map(|row| row[at].powi(2)).sum();
        let near = |bound: f64| (minimum.values[at] - bound).abs() < 1e-9;
        Fitted {
            name: parameter.name.clone(),
            value,
            low: is_known.then(|| (minimum.values[at] - half).exp()),
            high: is_known.then(|| (minimum.values[at] + half).exp()),
            sensitivity: (column / observed.len() as f64).sqrt(),
            at_bound: near(start.lowest[at]) || near(start.highest[at]),
        }
    });
    Fit {
        parameters: fitted.collect(),
        undetermined,
        predicted: minimum.residuals.iter().zip(observed).map(|(r, seen)| r.exp() * seen).collect(),
        scatter: spread.exp() - 1.0,
        freedom,
        converged: minimum.converged,
        runs: minimum.runs,
    }
}

/// The parameters that matter in a direction, the largest weight first.
fn taking_part(parameters: &[FitParameter], vector: &[f64]) -> Vec<(String, f64)> {
    let mut found: Vec<(String, f64)> = parameters
        .iter()
        .zip(vector)
        .filter(|(_, weight)| weight.abs() > 0.25)
        .map(|(parameter, weight)| (parameter.name.clone(), *weight))
        .collect();
    found.sort_by(|(_, left), (_, right)| right.abs().total_cmp(&left.abs()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, start: f64) -> FitParameter {
        FitParameter { name: name.into(), start, lowest: start / 100.0, highest: start * 100.0 }
    }

    /// The error of a model.
    #[derive(Debug, PartialEq)]
    struct Refused;

    const SIZES: [f64; 8] = [4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

    /// Noise of about 2 % that adds up to none.
    fn noisy(value: f64, at: usize) -> f64 {
        value * (1.0 + 0.02 * [1.0, -0.5, 0.7, -1.2, 0.3, -0.9, 1.1, -0.5][at % 8])
    }

    #[test]
    fn the_true_parameters_are_found_and_lie_in_the_intervals() {
        let truth = [100.0, 0.8];
        let model =
            |b: &[f64]| Ok::<_, Refused>(SIZES.iter().map(|size| b[0] + b[1] * size).collect());
        let exact: Vec<f64> = model(&truth).unwrap();
        let observed: Vec<f64> =
            exact.iter().enumerate().map(|(at, value)| noisy(*value, at)).collect();
        let found =
            fit(&[parameter("fixed", 10.0), parameter("slope", 5.0)], &observed, 0.95, model)
                .unwrap();
        for (fitted, truth) in found.parameters.iter().zip(truth) {
            let (low, high) = (fitted.low.unwrap(), fitted.high.unwrap());
            assert!(low < truth && truth < high && high / low < 1.3, "{fitted:?}");
        }
        assert!(found.undetermined.is_empty() && found.converged, "{found:?}");
        assert!((0.01..0.04).contains(&found.scatter), "{}", found.scatter);
    }

    #[test]
    fn a_parameter_without_influence_and_a_product_are_undetermined() {
        let model =
            |b: &[f64]| Ok::<_, Refused>(SIZES.iter().map(|size| b[0] * b[1] * size).collect());
        let observed: Vec<f64> =
            SIZES.iter().enumerate().map(|(at, size)| noisy(6.0 * size, at)).collect();
        let parameters = [parameter("a", 1.0), parameter("b", 1.0), parameter("silent", 1.0)];
        let found = fit(&parameters, &observed, 0.95, model).unwrap();
        assert_eq!(found.undetermined.len(), 2, "{found:?}");
        let names: Vec<Vec<&str>> = found
            .undetermined
            .iter()
            .map(|one| one.parameters.iter().map(|(name, _)| name.as_str()).collect())
            .collect();
        assert!(
            names.iter().any(|names| names.contains(&"a") && names.contains(&"b")),
            "{names:?}"
        );
        assert!(names.contains(&vec!["silent"]), "{names:?}");
        assert!(found.parameters.iter().all(|fitted| fitted.low.is_none()), "{found:?}");
        assert_eq!(found.parameters[2].sensitivity, 0.0);
        // What is determined is right all the same.
        assert!(found.predicted.iter().zip(&observed).all(|(p, o)| (p / o - 1.0).abs() < 0.03));
    }

    #[test]
    fn nonsense_is_refused_with_advice() {
        let model = |_: &[f64]| Ok::<_, Refused>(vec![1.0]);
        let one = [parameter("a", 1.0)];
        assert_eq!(fit(&[], &[1.0], 0.95, model), Err(FitError::NoParameter));
        assert!(matches!(fit(&one, &[-1.0], 0.95, model), Err(FitError::Observation(_))));
        assert!(matches!(fit(&one, &[], 0.95, model), Err(FitError::TooFew { .. })));
        let zero = [FitParameter { lowest: 0.0, ..parameter("a", 1.0) }];
        assert!(matches!(fit(&zero, &[1.0], 0.95, model), Err(FitError::Bounds(_))));
        let broken = fit(&one, &[1.0], 0.95, |_| Err(Refused));
        assert_eq!(broken, Err(FitError::Model(Refused)));
    }
}
