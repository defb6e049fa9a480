//! How far predictions are from what was said, and how far those of a predictor that knows nothing.

use stormeter_study::Metric;

use crate::case::Case;
use crate::leave_out::LeftOut;
use crate::links::slowest;
use crate::relation::{Claim, Said};

/// A predicted difference below 1 % counts as none: it is below the resolution of the model.
const RESOLUTION: f64 = 0.01;
/// What is said to be the same may differ by this much.
const SAME: f64 = 0.05;
/// The error that counts as near.
const NEAR: f64 = 0.15;

/// What a metric is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    Rate,
    Latency,
    Cpu,
}

impl About {
    pub(crate) fn of(metric: Metric) -> Self {
        match metric {
            Metric::CpuPerIo | Metric::TargetCpuPerIo | Metric::HostCpuPerIo | Metric::HostCpu => {
                Self::Cpu
            }
            metric if metric.higher_is_better() => Self::Rate,
            _ => Self::Latency,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Latency => "latency",
            Self::Cpu => "CPU",
        }
    }
}

/// A predictor of ratios.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Predictor {
    /// The simulator.
    Model,
    /// Nothing makes a difference.
    NoEffect,
    /// Everything is as fast as the slowest link.
    SlowestLink,
}

impl Predictor {
    pub(crate) const ALL: [Self; 3] = [Self::Model, Self::NoEffect, Self::SlowestLink];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::NoEffect => "no effect",
            Self::SlowestLink => "slowest link",
        }
    }

    /// Its prediction of a relation between two cells; `None` of a single cell.
    fn predicts(self, case: &Case, out: &LeftOut<'_>) -> Option<f64> {
        let mut cells = out.placed.observed.cells();
        let (cell, base) = (cells.next()?, cells.next()?);
        let rate = |cell| slowest(&case.file.site, case.datastore(out.placed, cell));
        match self {
            Self::Model => Some(out.predicted),
            Self::NoEffect => Some(1.0),
            Self::SlowestLink => Some(match About::of(out.placed.observed.metric()) {
                About::Cpu => 1.0,
                about => {
                    let ratio = rate(cell).zip(rate(base)).map_or(1.0, |(of, to)| of / to);
                    if about == About::Rate { ratio } else { 1.0 / ratio }
                }
            }),
        }
    }
}

/// The score of a predictor.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Score {
    /// Relations between two cells, and those of them whose direction is right.
    pub(crate) asked: usize,
    pub(crate) right: usize,
    /// |ln(predicted / published)| of those with a figure, in ascending order.
    pub(crate) errors: Vec<f64>,
}

impl Score {
    /// The score of a predictor on what was left out.
    pub(crate) fn of(predictor: Predictor, case: &Case, all: &[LeftOut<'_>]) -> Self {
        let mut score = Self::default();
        for out in all {
            let Some(predicted) = predictor.predicts(case, out) else { continue };
            score.asked += 1;
            score.right += usize::from(is_right(out.placed.relation.said, predicted));
            if let Said::Figure(figure) = out.placed.relation.said {
                score.errors.push((predicted / figure).ln().abs());
            }
        }
        score.errors.sort_by(f64::total_cmp);
        score
    }

    /// Adds another's.
    pub(crate) fn add(&mut self, other: &Self) {
        self.asked += other.asked;
        self.right += other.right;
        self.errors.extend(&other.errors);
        self.errors.sort_by(f64::total_cmp);
    }

    /// The median error, as a fraction; `None` without figures.
    pub(crate) fn median(&self) -> Option<f64> {
        quantile(&self.errors, 0.5).map(|error| error.exp() - 1.0)
    }

    /// The share of errors within 15 %.
    pub(crate) fn near(&self) -> Option<f64> {
        let near = self.errors.iter().filter(|error| error.exp() - 1.0 <= NEAR).count();
        (!self.errors.is_empty()).then(|| near as f64 / self.errors.len() as f64)
    }
}

/// A quantile of values in ascending order, the mean of two where it falls between them.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = share * last as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    Some(low + (high - low) * at.fract())
}

/// Whether a predicted ratio has the direction that was said.
fn is_right(said: Said, predicted: f64) -> bool {
    let differs = (predicted - 1.0).abs() >= RESOLUTION;
    let claim = match said {
        Said::Claim(claim) => claim,
        Said::Figure(figure) if (figure - 1.0).abs() < RESOLUTION => Claim::Same,
        Said::Figure(figure) if figure > 1.0 => Claim::Higher,
        Said::Figure(_) => Claim::Lower,
    };
    match claim {
        Claim::Higher => differs && predicted > 1.0,
        Claim::Lower => differs && predicted < 1.0,
        Claim::Same => predicted.ln().abs() <= (1.0 + SAME).ln(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_is_right_beyond_the_resolution_and_the_same_within_five_per_cent() {
        let figure = |value: f64, predicted: f64| is_right(Said::Figure(value), predicted);
        assert!(figure(1.3, 1.02) && !figure(1.3, 1.005) && !figure(1.3, 0.9));
        assert!(figure(0.7, 0.98) && !figure(0.7, 1.2));
        assert!(figure(1.004, 0.96) && !figure(1.004, 0.94));
        assert!(is_right(Said::Claim(Claim::Same), 1.04));
        assert!(!is_right(Said::Claim(Claim::Higher), 1.0));
    }

    #[test]
    fn errors_are_factors() {
        let score = Score { asked: 3, right: 2, errors: vec![0.0, 1.1f64.ln(), 2f64.ln()] };
        let near = |a: Option<f64>, b: f64| (a.expect("a figure") - b).abs() < 1e-9;
        assert!(near(score.median(), 0.1) && near(score.near(), 2.0 / 3.0), "{score:?}");
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0, 2.0], 0.75), Some(1.75));
        assert_eq!(Score::default().median(), None);
    }
}
