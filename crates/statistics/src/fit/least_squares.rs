//! Nonlinear least squares: the parameters under which a model misses its observations least.
//!
//! Levenberg's and Marquardt's method (Marquardt 1963, *SIAM J.* 11, 431; damping as Nielsen 1999,
//! IMM-REP-1999-05): between Gauss-Newton, which is quick near the minimum, and steepest descent,
//! which is safe far from it. Derivatives are differences, for the models are simulations; the step
//! is the caller's, because it has to be larger than the model's own rounding or noise.

use super::symmetric::eigen;

/// Where the search starts and how far it goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// The parameters' values.
    pub values: Vec<f64>,
    /// The step of each for its derivative. Above 0.
    pub steps: Vec<f64>,
    /// The least of each.
    pub lowest: Vec<f64>,
    /// The most of each.
    pub highest: Vec<f64>,
    /// The most times that the derivatives are taken.
    pub rounds: u32,
    /// A round that lowers the sum of squares by less than this share of it is the last.
    pub tolerance: f64,
}

/// The minimum that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The parameters.
    pub values: Vec<f64>,
    /// The residuals there.
    pub residuals: Vec<f64>,
    /// Derivative of each residual (row) by each parameter (column) there.
    pub jacobian: Vec<Vec<f64>>,
    /// Whether the last round made no further progress.
    pub converged: bool,
    /// Runs of the model.
    pub runs: u32,
}

impl Minimum {
    /// Sum of the squared residuals.
    pub fn sum_of_squares(&self) -> f64 {
        sum_of_squares(&self.residuals)
    }

    /// Eigenvalues of the normal matrix, the largest first, with their directions: what the
    /// observations say of each combination of parameters.
    pub fn directions(&self) -> Vec<(f64, Vec<f64>)> {
        eigen(&normal_matrix(&self.jacobian, self.values.len()))
    }
}

/// Finds the minimum of the sum of squares of what `model` gives.
///
/// # Errors
/// The first error of the model at the start. Later ones count as a step too far.
pub fn least_squares<E>(
    start: &Start,
    mut model: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
) -> Result<Minimum, E> {
    let clamped = |values: &[f64]| -> Vec<f64> {
        let bounds = start.lowest.iter().zip(&start.highest);
        values.iter().zip(bounds).map(|(value, (low, high))| value.clamp(*low, *high)).collect()
    };
    let mut values = clamped(&start.values);
    let mut residuals = model(&values)?;
    let mut runs = 1;
    let mut damping: Option<f64> = None;
    let mut growth = 2.0;
    let mut jacobian = Vec::new();
    let mut converged = false;
    for _round in 0..start.rounds {
        jacobian = derivatives(start, &values, &residuals, &mut model, &mut runs);
        let normal = normal_matrix(&jacobian, values.len());
        let gradient: Vec<f64> = (0..values.len())
            .map(|column| jacobian.iter().zip(&residuals).map(|(row, r)| row[column] * r).sum())
            .collect();
        let largest = (0..values.len()).map(|at| normal[at][at]).fold(0.0, f64::max);
        let mut mu = damping.unwrap_or(1e-3 * largest);
        let before = sum_of_squares(&residuals);
        let mut gained = None;
        // Eight refusals are a factor of 2^36 in the damping: there is nothing to gain from here.
        for _attempt in 0..8 {
            let change = damped(&normal, &gradient, mu);
            let moved: Vec<f64> = values.iter().zip(&change).map(|(v, c)| v - c).collect();
            let candidate = clamped(&moved);
            if candidate == values {
                break;
            }
            runs += 1;
            let found = model(&candidate).ok().filter(|found| found.iter().all(|r| r.is_finite()));
            if let Some(found) = found
                && sum_of_squares(&found) < before
            {
                let after = sum_of_squares(&found);
                (values, residuals) = (candidate, found);
                gained = Some(before - after);
                mu /= 3.0;
                growth = 2.0;
                break;
            }
            mu *= growth;
            growth *= 2.0;
        }
        damping = Some(mu.max(f64::MIN_POSITIVE));
        if gained.is_none_or(|gained| gained <= start.tolerance * before) {
            converged = true;
            break;
        }
    }
    if start.rounds > 0 {
        jacobian = derivatives(start, &values, &residuals, &mut model, &mut runs);
    }
    Ok(Minimum { values, residuals, jacobian, converged, runs })
}

/// By rows of residuals. A parameter at its upper bound is moved the other way.
fn derivatives<E>(
    start: &Start,
    values: &[f64],
    residuals: &[f64],
    model: &mut impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
    runs: &mut u32,
) -> Vec<Vec<f64>> {
    let mut jacobian = vec![vec![0.0; values.len()]; residuals.len()];
    for column in 0..values.len() {
        let up = values[column] + start.steps[column] <= start.highest[column];
        let step = if up { start.steps[column] } else { -start.steps[column] };
        let mut moved = values.to_vec();
        moved[column] += step;
        *runs += 1;
        let Ok(found) = model(&moved) else { continue };
        for (row, (after, before)) in jacobian.iter_mut().zip(found.iter().zip(residuals)) {
            let slope = (after - before) / step;
            row[column] = if slope.is_finite() { slope } else { 0.0 };
        }
    }
    jacobian
}

fn normal_matrix(jacobian: &[Vec<f64>], size: usize) -> Vec<Vec<f64>> {
    let element =
        |left: usize, right: usize| jacobian.iter().map(|row| row[left] * row[right]).sum();
    (0..size).map(|left| (0..size).map(|right| element(left, right)).collect()).collect()
}

/// The damped step. Each direction is damped by its own scale, so that parameters of any size do.
fn damped(normal: &[Vec<f64>], gradient: &[f64], mu: f64) -> Vec<f64> {
    let size = gradient.len();
    let scale: Vec<f64> =
        (0..size).map(|at| normal[at][at].sqrt().max(f64::MIN_POSITIVE.sqrt())).collect();
    let scaled: Vec<Vec<f64>> = (0..size)
        .map(|row| {
            (0..size).map(|column| normal[row][column] / (scale[row] * scale[column])).collect()
        })
        .collect();
    let largest = scale.iter().fold(0.0f64, |most, s| most.max(s * s));
    let relative = if largest > 0.0 { mu / largest } else { mu };
    let mut change = vec![0.0; size];
    for (value, vector) in eigen(&scaled) {
        let along: f64 = (0..size).map(|at| vector[at] * gradient[at] / scale[at]).sum();
        let denominator = value.max(0.0) + relative.max(1e-14);
        for at in 0..size {
            change[at] += vector[at] * along / denominator / scale[at];
        }
    }
    change
}

fn sum_of_squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST StRD, Misra1a (Misra 1978): 14 observations of monomolecular adsorption, (y, x).
    const MISRA1A: [(f64, f64); 14] = [
        (10.07, 77.6),
        (14.73, 114.9),
        (17.94, 141.1),
        (23.93, 190.8),
        (29.61, 239.9),
        (35.18, 289.0),
        (40.02, 332.8),
        (44.82, 378.4),
        (50.76, 434.8),
        (55.05, 477.3),
        (61.01, 536.8),
        (66.40, 593.1),
        (75.47, 689.1),
        (81.78, 760.0),
    ];

    fn misra1a(start: [f64; 2]) -> Minimum {
        let begin = Start {
            values: start.to_vec(),
            steps: vec![1e-4, 1e-10],
            lowest: vec![f64::NEG_INFINITY; 2],
            highest: vec![f64::INFINITY; 2],
            rounds: 200,
            tolerance: 1e-14,
        };
        least_squares(&begin, |b| -> Result<Vec<f64>, ()> {
            Ok(MISRA1A.iter().map(|(y, x)| y - b[0] * (1.0 - (-b[1] * x).exp())).collect())
        })
        .expect("a minimum")
    }

    #[test]
    fn nists_certified_values_are_found_from_both_starts() {
        for start in [[500.0, 0.0001], [250.0, 0.0005]] {
            let minimum = misra1a(start);
            let close = |found: f64, certified: f64| (found / certified - 1.0).abs() < 1e-6;
            assert!(close(minimum.values[0], 2.3894212918e+02), "{minimum:?}");
            assert!(close(minimum.values[1], 5.5015643181e-04), "{minimum:?}");
            assert!(close(minimum.sum_of_squares(), 1.2455138894e-01), "{minimum:?}");
            assert!(minimum.converged);
        }
    }

    #[test]
    fn bounds_are_kept_and_failing_models_are_stepped_around() {
        let begin = Start {
            values: vec![1.0],
            steps: vec![1e-6],
            lowest: vec![0.0],
            highest: vec![2.0],
            rounds: 50,
            tolerance: 1e-12,
        };
        let minimum = least_squares(&begin, |b| {
            if b[0] > 1.9 && b[0] < 1.95 { Err(()) } else { Ok(vec![b[0] - 5.0]) }
        })
        .expect("a minimum");
        assert_eq!(minimum.values, [2.0]);
        assert!(least_squares(&begin, |_| Err::<Vec<f64>, _>("no")).is_err());
    }
}
