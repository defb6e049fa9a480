//! Fits a site, and reports how well the fitted site predicts.

use serde::Serialize;
use stormeter_site::Site;
use stormeter_statistics::fit::{Fit, FitError, FitParameter, fit};
use stormeter_study::{Cell, Metric};

use super::hold_out::Split;
use super::observation::{Observation, Outcome};

/// Predicts cells of a study on a site; the outcomes are in the order of the cells.
pub type Predict<'a> = &'a dyn Fn(&Site, &[Cell]) -> Result<Vec<Outcome>, String>;

/// The inputs of a fit.
pub struct Request<'a> {
    /// The free parameters.
    pub parameters: &'a [FitParameter],
    /// The observations for the fit, and those held out.
    pub split: &'a Split,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Builds the site with these values of the parameters, in their order.
    pub site: &'a dyn Fn(&[f64]) -> Result<Site, String>,
    /// Runs the model.
    pub predict: Predict<'a>,
}

/// A fitted site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// The parameters, and those that the data do not determine.
    pub fit: Fit,
    /// The observations that the site was fitted to, with its predictions.
    pub fitted: Vec<Compared>,
    /// The observations held out, with its predictions.
    #[serde(rename = "kept_back")]
    pub held_out: Vec<Compared>,
    /// The error of its predictions, by metric: on the observations held out if there are any, otherwise on those of
    /// the fit.
    pub errors: Vec<MetricError>,
}

/// An observation with its prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The observation.
    #[serde(flatten)]
    pub observation: Observation,
    /// The prediction of the fitted site; `None` if it has no such figure.
    pub predicted: Option<f64>,
}

impl Compared {
    /// The relative error: predicted over observed, minus 1.
    pub fn error(&self) -> Option<f64> {
        Some(self.predicted? / self.observation.value - 1.0)
    }
}

/// The error of the predictions of a metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricError {
    /// The metric.
    pub metric: Metric,
    /// Whether the predictions are of observations held out of the fit.
    pub unseen: bool,
    /// The number of predictions.
    pub count: usize,
    /// Mean of the absolute relative errors.
    pub mean_absolute: f64,
    /// The largest absolute relative error.
    pub largest: f64,
    /// Mean of the relative errors: positive if predictions are too high.
    pub bias: f64,
}

/// Fits a site.
///
/// # Errors
/// See [`FitError`].
pub fn calibrate(request: &Request<'_>) -> Result<Calibration, FitError<String>> {
    let Split { fitted, held_out } = request.split;
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
                figure.ok_or_else(|| format!("the site has no {}; leave that metric out", of.label))
            })
            .collect()
    })?;
    let values: Vec<f64> = found.parameters.iter().map(|fitted| fitted.value).collect();
    let compared = |of: &[Observation]| -> Result<Vec<Compared>, FitError<String>> {
        let predicted = figures(&values, of).map_err(FitError::Model)?;
        let pairs = of.iter().zip(predicted);
        Ok(pairs
            .map(|(observation, predicted)| Compared {
                observation: observation.clone(),
                predicted,
            })
            .collect())
    };
    let (fitted, held_out) = (compared(fitted)?, compared(held_out)?);
    let errors =
        if held_out.is_empty() { errors_of(&fitted, false) } else { errors_of(&held_out, true) };
    Ok(Calibration { fit: found, fitted, held_out, errors })
}

/// The errors by metric, in the order of the metrics' first occurrence.
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
