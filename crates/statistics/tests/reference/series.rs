//! Descriptions and histograms of a series.

use super::{agree, field};
use stormeter_statistics::{Bins, Histogram, Summary};

#[test]
fn description() {
    let summary = Summary::of(field::SERIES).unwrap();
    agree("g1", summary.population_skewness.unwrap());
    agree("G1", summary.skewness.unwrap());
    agree("G2", summary.kurtosis.unwrap());
    agree("q1", summary.q1);
    agree("q3", summary.q3);
}

#[test]
fn histogram() {
    let histogram = Histogram::of(field::SERIES, Bins::Automatic { most: 100 }).unwrap();
    let counts: Vec<f64> = histogram.counts.iter().map(|&count| count as f64).collect();
    assert_eq!(counts, field::FD_COUNTS);
    agree("fd.width", histogram.width);
    agree("fd.expected", histogram.expected_count(histogram.edges()[4]).unwrap());
}
