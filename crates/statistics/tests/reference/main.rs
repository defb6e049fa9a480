//! The statistics of the field against values of scipy, statsmodels and mpmath
//! (`field.py`), to at least nine significant digits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod anova;
mod field;
mod power;
mod ranks;
mod series;
mod two_sample;

/// Asserts that `value` agrees with the reference value `name` to nine significant digits.
fn agree(name: &str, value: f64) {
    let known = field::VALUES.iter().find(|known| known.0 == name);
    let expected = known.unwrap_or_else(|| panic!("no reference value {name}")).1;
    let error = (value / expected - 1.0).abs();
    assert!(error <= 1e-9, "{name}: {value:e} is not {expected:e} ({error:.1e})");
}
