//! Quantiles and p-values against values computed with 40 digits (`values.py`).

mod values;

use stormeter_statistics::quantile::{
    chi_squared_cdf, chi_squared_quantile, chi_squared_upper, f_cdf, f_quantile, f_upper,
    normal_cdf, normal_quantile, student_t_cdf, student_t_quantile, student_t_two_sided_p,
};

/// Asserts agreement to `digits` significant digits.
fn agree(what: &str, value: f64, expected: f64, digits: i32) {
    let error = (value / expected - 1.0).abs();
    assert!(error < 10f64.powi(-digits), "{what}: {value:e} is not {expected:e} ({error:e})");
}

#[test]
fn normal() {
    for &(p, z) in values::NORMAL_QUANTILES {
        agree(&format!("quantile {p}"), normal_quantile(p), z, 10);
        agree(&format!("cdf {z}"), normal_cdf(z), p, 10);
    }
}

#[test]
fn student_t() {
    for &(p, df, t) in values::T_QUANTILES {
        // The logarithm of the gamma function of a large number has fewer digits after the point.
        let digits = if df < 10_000.0 { 10 } else { 9 };
        agree(&format!("quantile {p}, {df}"), student_t_quantile(p, df), t, digits);
        agree(&format!("cdf {t}, {df}"), student_t_cdf(t, df), p, digits);
    }
    for &(t, df, p) in values::T_TWO_SIDED {
        agree(&format!("two-sided {t}, {df}"), student_t_two_sided_p(t, df), p, 10);
    }
}

#[test]
fn chi_squared() {
    for &(p, df, x) in values::CHI_SQUARED_QUANTILES {
        agree(&format!("quantile {p}, {df}"), chi_squared_quantile(p, df), x, 10);
        agree(&format!("cdf {x}, {df}"), chi_squared_cdf(x, df), p, 10);
        agree(&format!("upper {x}, {df}"), chi_squared_upper(x, df), 1.0 - p, 10);
    }
}

#[test]
fn f() {
    for &(p, df1, df2, x) in values::F_QUANTILES {
        agree(&format!("quantile {p}, {df1}, {df2}"), f_quantile(p, df1, df2), x, 10);
        agree(&format!("cdf {x}, {df1}, {df2}"), f_cdf(x, df1, df2), p, 10);
        agree(&format!("upper {x}, {df1}, {df2}"), f_upper(x, df1, df2), 1.0 - p, 10);
    }
}
