//! The fit of a site, and how well it then predicts.

use serde::Serialize;
use stormeter_site::Site;
use stormeter_statistics::fit::{Fit, FitError, FitParameter, fit};
use stormeter_study::{Cell, Metric};

use super::hold_back::Parts;
use super::observation::{Observation, Outcome};

/// What cells of a study give on a site, in their order.
pub type Predict<'a> = &'a dyn Fn(&Site, &[Cell]) -> Result<Vec<Outcome>, String>;

/// What a fit needs to know.
pub struct Request<'a> {
    /// The free parameters.
    pub parameters: &'a [FitParameter],
    /// What is fitted to and what is kept back.
    pub parts: &'a Parts,
    /// Confidence level of the intervals.
    pub level: f64,
    /// The site with these values of the parameters, in their order.
    pub site: &'a dyn Fn(&[f64]) -> Result<Site, String>,
    /// Runs the model.
    pub predict: Predict<'a>,
}

/// A fitted site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// The parameters, and what the data cannot tell of them.
    pub fit: Fit,
    /// What the site was fitted to, and what it gives.
    pub fitted: Vec<Compared>,
    /// What it had not seen, and what it gives.
    pub kept_back: Vec<Compared>,
    /// The error of its predictions, by metric: of what was kept back where something was, else of the
    /// fit itself.
    pub errors: Vec<MetricError>,
}

/// An observation beside what the site gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// What was seen.
    #[serde(flatten)]
    pub observation: Observation,
    /// What the fitted site gives; `None` where it has no such figure.
    pub predicted: Option<f64>,
}

impl Compared {
    /// Predicted over observed, less 1.
    pub fn error(&self) -> Option<f64> {
        Some(self.predicted? / self.observation.value - 1.0)
    }
}

/// How far predictions of a metric are off.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricError {
    /// The metric.
    pub metric: Metric,
    /// Whether these are predictions of what the fit had not seen.
    pub unseen: bool,
    /// How many.
    pub count: usize,
    /// Mean of the absolute relative errors.
    pub mean_absolute: f64,
    /// The largest of them.
    pub largest: f64,
    /// Mean of the relative errors: above 0 where too much is predicted.
    pub bias: f64,
}

/// Fits a site.
///
/// # Errors
/// See [`FitError`].
pub fn calibrate(request: &Request<'_>) -> Result<Calibration, FitError> {
    let Parts { fitted, kept_back } = request.parts;
    let observed: Vec<f64> = fitted.iter().map(|observation| observation.value).collect();
    let figures = |values: &[f64], of: &[Observation]| -> Result<Vec<Option<f64>>, String> {
        let site = (request.site)(values)?;
        let mut cells: Vec<Cell> = Vec::new();
        for cell in of.iter().flat_map(|observation| observation.of.cells()) {
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        let outcomes = (request.predict)(&site, &cells)?;
        let outcome = |cell: Cell| {
            cells.iter().position(|other| *other == cell).and_then(|at| outcomes.get(at))
        };
        Ok(of.iter().map(|observation| observation.of.value(outcome)).collect())
    };
    let found = fit(request.parameters, &observed, request.level, |values| {
        figures(values, fitted)?
            .into_iter()
            .zip(fitted)
            .map(|(figure, of)| {
                figure
                    .ok_or_else(|| format!("the site gives no {}; leave that metric out", of.label))
            })
            .collect()
    })?;
    let values: Vec<f64> = found.parameters.iter().map(|fitted| fitted.value).collect();
    let compared = |of: &[Observation]| -> Result<Vec<Compared>, FitError> {
        let predicted = figures(&values, of).map_err(FitError::Model)?;
        let pairs = of.iter().zip(predicted);
        Ok(pairs
            .map(|(observation, predicted)| Compared {
                observation: observation.clone(),
                predicted,
            })
            .collect())
    };
    let (fitted, kept_back) = (compared(fitted)?, compared(kept_back)?);
    let errors =
        if kept_back.is_empty() { errors_of(&fitted, false) } else { errors_of(&kept_back, true) };
    Ok(Calibration { fit: found, fitted, kept_back, errors })
}

/// The errors by metric, in the order in which metrics occur.
pub fn errors_of(compared: &[Compared], unseen: bool) -> Vec<MetricError> {
    let mut metrics: Vec<Metric> = Vec::new();
    for metric in compared.iter().map(|one| one.observation.of.metric()) {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    let of_metric = |metric| {
        let errors: Vec<f64> = compared
            .iter()
            .filter(|one| one.observation.of.metric() == metric)
            .filter_map(Compared::error)
            .collect();
        let count = errors.len().max(1) as f64;
        MetricError {
            metric,
            unseen,
            count: errors.len(),
            mean_absolute: errors.iter().map(|error| error.abs()).sum::<f64>() / count,
            largest: errors.iter().map(|error| error.abs()).fold(0.0, f64::max),
            bias: errors.iter().sum::<f64>() / count,
        }
    };
    metrics.into_iter().map(of_metric).collect()
}
