//! How far off a model may be, and whether it tells apart what a question asks about.
//!
//! An interval of a prediction covers chance in the simulation only. How far the model itself has been from published
//! findings that it was not fitted to is another matter, and mostly the larger one.

use stormeter_results::{Header, ModelError};
use stormeter_statistics::{Answer, NumberClaim};
use stormeter_study::Metric;

/// What a factor is of, for readers who see it for the first time.
pub(crate) const MEANING: &str = "Model error: the factor within which four of five predictions of published findings were that the model had not \
     been fitted to, for this kind of storage.";

/// The sentence on the model's error in an answer; `None` for measured results, for those of earlier versions, and for
/// answers without an estimate.
pub(crate) fn model_error(header: &Header, answer: &Answer) -> Option<String> {
    let claim = answer.claim()?;
    let factor = factor(header, claim)?;
    let value = answer.estimate.as_ref()?.value;
    let (ratio, within, beyond) = match claim {
        NumberClaim::Compared { .. } => {
            (value, "the model does not tell the two apart", "the difference is larger")
        }
        NumberClaim::Trend { .. } => {
            (value, "the model does not tell whether it changes", "the change is larger")
        }
        NumberClaim::Bounded { limit, .. } => (
            value / limit,
            "the model does not tell on which side of the limit it is",
            "the distance to the limit is larger",
        ),
    };
    let told = if ratio.ln().abs() <= factor.ln() { within } else { beyond };
    Some(format!("Model error {}: {told}.", band(factor)))
}

/// The factor for the number of a claim: the larger one of the datastores that it is about, or of all where it
/// compares something else.
fn factor(header: &Header, claim: &NumberClaim) -> Option<f64> {
    let errors = &header.prediction.as_ref()?.model_errors;
    let named = |name: &str| {
        let at = header.plan.datastores.iter().position(|datastore| datastore.name == name)?;
        errors.get(at)
    };
    let own: Vec<&ModelError> = match claim {
        NumberClaim::Compared { subject, object, .. } => {
            [subject, object].into_iter().filter_map(|name| named(name)).collect()
        }
        NumberClaim::Trend { datastore, .. } | NumberClaim::Bounded { datastore, .. } => {
            named(datastore).into_iter().collect()
        }
    };
    let of = |error: &ModelError| of_metric(error, claim.metric());
    match own.as_slice() {
        [] => errors.iter().map(of).reduce(f64::max),
        own => own.iter().map(|error| of(error)).reduce(f64::max),
    }
}

/// The factor for a metric.
pub(crate) fn of_metric(error: &ModelError, metric: Metric) -> f64 {
    match metric {
        Metric::CpuPerIo | Metric::TargetCpuPerIo | Metric::HostCpuPerIo | Metric::HostCpu => {
            error.cpu
        }
        metric if metric.higher_is_better() => error.rate,
        _ => error.latency,
    }
}

/// A factor as a band: `÷1.3 to ×1.3`.
pub(crate) fn band(factor: f64) -> String {
    let digits = if factor < 10.0 { 1 } else { 0 };
    // Rounded up: a band that is too narrow promises too much.
    let scale = 10f64.powi(digits);
    let shown = (factor * scale).ceil() / scale;
    let digits = digits as usize;
    format!("÷{shown:.digits$} to ×{shown:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_rounded_up() {
        assert_eq!(band(1.31), "÷1.4 to ×1.4");
        assert_eq!(band(1.3), "÷1.3 to ×1.3");
        assert_eq!(band(12.2), "÷13 to ×13");
    }
}
