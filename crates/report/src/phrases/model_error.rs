//! How far off a model may be, and whether it tells apart what a question asks about.
//!
//! An interval of a prediction covers chance in the simulation only. How far the model itself has been from published
//! findings that it was not fitted to is another matter, and mostly the larger one.

use stormeter_results::{Header, ModelError};
use stormeter_statistics::{Answer, NumberClaim};
use stormeter_study::Metric;
use stormeter_study::question::{Change, Relation};

/// What a factor is of, for readers who see it for the first time.
pub(crate) const MEANING: &str = "Model error: the factor within which four of five predictions of published findings were that the model had not \
     been fitted to, for this kind of storage.";

/// The sentence on the model's error in an answer; `None` for measured results, for those of earlier versions, and for
/// answers without an estimate.
pub(crate) fn model_error(header: &Header, answer: &Answer) -> Option<String> {
    let factor = factor(header, answer.claim()?)?;
    let effect = match is_told(header, answer) {
        true => "the answer is the same all over it",
        false => "the answer changes within it, so the model does not tell",
    };
    answer.estimate.as_ref()?;
    Some(format!("Model error {}: {effect}.", band(factor)))
}

/// Whether the model tells the answer: wherever within its error the number really is, the answer is the same. Measured
/// results always do.
pub(crate) fn is_told(header: &Header, answer: &Answer) -> bool {
    let (Some(claim), Some(estimate)) = (answer.claim(), &answer.estimate) else { return true };
    let Some(factor) = factor(header, claim) else { return true };
    let at = estimate.value.ln();
    edges(claim, header.plan.design.margin).iter().all(|edge| (at - edge).abs() > factor.ln())
}

/// The logarithms of the numbers at which the answer to a claim changes.
fn edges(claim: &NumberClaim, margin: f64) -> Vec<f64> {
    let edge = |metric: Metric, change: Change, percent: f64| {
        let share = percent / 100.0;
        vec![if change.is_up(metric) { share.ln_1p() } else { (-share).ln_1p() }]
    };
    match claim {
        NumberClaim::Bounded { limit, .. } => vec![limit.ln()],
        NumberClaim::Trend { .. } => vec![0.0],
        NumberClaim::Compared { relation, metric, .. } => match *relation {
            Relation::Differs => vec![0.0],
            Relation::Equal => vec![-margin.ln_1p(), margin.ln_1p()],
            Relation::Within { percent } => {
                let reach = (percent / 100.0).ln_1p();
                vec![-reach, reach]
            }
            Relation::AtLeast { change, percent } | Relation::AtMost { change, percent } => {
                edge(*metric, change, percent)
            }
        },
    }
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
    fn an_answer_changes_at_the_numbers_that_its_claim_names() {
        let compared = |relation| NumberClaim::Compared {
            subject: "b".into(),
            object: "a".into(),
            relation,
            metric: Metric::LatencyMean,
        };
        let near = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert!((found.exp() - expected).abs() < 1e-9, "{found} {expected}");
            }
        };
        near(edges(&compared(Relation::Differs), 0.05), &[1.0]);
        near(edges(&compared(Relation::Within { percent: 25.0 }), 0.05), &[0.8, 1.25]);
        // Less latency is faster.
        let faster = Relation::AtLeast { change: Change::Faster, percent: 20.0 };
        near(edges(&compared(faster), 0.05), &[0.8]);
    }

    #[test]
    fn a_band_is_rounded_up() {
        assert_eq!(band(1.31), "÷1.4 to ×1.4");
        assert_eq!(band(1.3), "÷1.3 to ×1.3");
        assert_eq!(band(12.2), "÷13 to ×13");
    }
}
