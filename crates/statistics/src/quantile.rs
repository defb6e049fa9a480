//! Distribution functions and quantiles of the normal, Student t, chi-squared and F laws.
//!
//! `statrs` supplies the incomplete beta and gamma functions, which are good to 10 digits and more.
//! Quantiles are found here, by a Newton iteration on the distribution function held inside a
//! bracket so that it cannot run away: their accuracy is then that of the function, in every tail.
//! The solver always works on the smaller tail, since subtracting from one would lose the digits
//! of a small p-value.
//!
//! Arguments outside a function's domain (a NaN, a probability outside 0 to 1, degrees of freedom
//! that are not positive and finite) give NaN. `tests/quantiles/values.py` makes the table that the
//! tests compare with.
//!
//! Source of the identities: Abramowitz & Stegun, *Handbook of Mathematical Functions*, 26.2,
//! 26.6 and 26.7.

use statrs::function::beta::{beta_reg, ln_beta};
use statrs::function::erf::erfc;
use statrs::function::gamma::{gamma_lr, gamma_ur, ln_gamma};
use std::f64::consts::{PI, SQRT_2};

/// P(Z ≤ `z`) for a standard normal Z.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / SQRT_2)
}

/// The `z` with P(Z ≤ z) = `p` for a standard normal Z.
pub fn normal_quantile(p: f64) -> f64 {
    symmetric_quantile(p, |z| normal_cdf(-z), |z| (-0.5 * z * z).exp() / (2.0 * PI).sqrt())
}

/// P(T ≤ `t`) for Student's t with `df` degrees of freedom (need not be whole).
pub fn student_t_cdf(t: f64, df: f64) -> f64 {
    student_t_upper(-t, df)
}

/// P(T ≥ `t`) for Student's t with `df` degrees of freedom: the p-value of a one-sided test,
/// accurate far into the tail. An infinite `t` gives 0.
pub fn student_t_upper(t: f64, df: f64) -> f64 {
    // T² is F with 1 and `df`.
    let tail = 0.5 * f_tails(t * t, 1.0, df).1;
    if t < 0.0 { 1.0 - tail } else { tail }
}

/// P(|T| ≥ |`t`|): the two-sided p-value of a t statistic. An infinite `t` gives 0.
pub fn student_t_two_sided_p(t: f64, df: f64) -> f64 {
    (2.0 * student_t_upper(t.abs(), df)).min(1.0)
}

/// The `t` with P(T ≤ t) = `p` for Student's t with `df` degrees of freedom.
pub fn student_t_quantile(p: f64, df: f64) -> f64 {
    if !is_positive(df) {
        return f64::NAN;
    }
    let ln_scale = -ln_beta(0.5 * df, 0.5) - 0.5 * df.ln();
    symmetric_quantile(
        p,
        |t| student_t_upper(t, df),
        |t| (ln_scale - 0.5 * (df + 1.0) * (t * t / df).ln_1p()).exp(),
    )
}

/// P(X ≤ `x`) for chi-squared with `df` degrees of freedom.
pub fn chi_squared_cdf(x: f64, df: f64) -> f64 {
    chi_squared_tails(x, df).0
}

/// P(X > `x`) for chi-squared with `df` degrees of freedom: the p-value of a statistic.
pub fn chi_squared_upper(x: f64, df: f64) -> f64 {
    chi_squared_tails(x, df).1
}

/// The `x` with P(X ≤ x) = `p` for chi-squared with `df` degrees of freedom.
pub fn chi_squared_quantile(p: f64, df: f64) -> f64 {
    if !is_positive(df) {
        return f64::NAN;
    }
    let half = 0.5 * df;
    let ln_scale = -half * 2f64.ln() - ln_gamma(half);
    positive_quantile(
        p,
        df,
        |x| chi_squared_tails(x, df),
        |x| (ln_scale + (half - 1.0) * x.ln() - 0.5 * x).exp(),
    )
}

/// P(X ≤ `x`) for F with `df1` (numerator) and `df2` (denominator) degrees of freedom.
pub fn f_cdf(x: f64, df1: f64, df2: f64) -> f64 {
    f_tails(x, df1, df2).0
}

/// P(X > `x`) for F with `df1` and `df2` degrees of freedom: the p-value of a statistic.
pub fn f_upper(x: f64, df1: f64, df2: f64) -> f64 {
    f_tails(x, df1, df2).1
}

/// The `x` with P(X ≤ x) = `p` for F with `df1` and `df2` degrees of freedom.
pub fn f_quantile(p: f64, df1: f64, df2: f64) -> f64 {
    if !is_positive(df1) || !is_positive(df2) {
        return f64::NAN;
    }
    let (a, b) = (0.5 * df1, 0.5 * df2);
    let ln_scale = a * (df1 / df2).ln() - ln_beta(a, b);
    positive_quantile(
        p,
        1.0,
        |x| f_tails(x, df1, df2),
        |x| (ln_scale + (a - 1.0) * x.ln() - (a + b) * (df1 * x / df2).ln_1p()).exp(),
    )
}

/// Lower and upper tail of chi-squared.
fn chi_squared_tails(x: f64, df: f64) -> (f64, f64) {
    if !is_positive(df) || x.is_nan() {
        (f64::NAN, f64::NAN)
    } else if x <= 0.0 {
        (0.0, 1.0)
    } else if x.is_infinite() {
        (1.0, 0.0)
    } else {
        (gamma_lr(0.5 * df, 0.5 * x), gamma_ur(0.5 * df, 0.5 * x))
    }
}

/// Lower and upper tail of F.
fn f_tails(x: f64, df1: f64, df2: f64) -> (f64, f64) {
    if !is_positive(df1) || !is_positive(df2) || x.is_nan() {
        (f64::NAN, f64::NAN)
    } else if x <= 0.0 {
        (0.0, 1.0)
    } else if x.is_infinite() {
        (1.0, 0.0)
    } else {
        let total = df1 * x + df2;
        beta_tails(0.5 * df1, 0.5 * df2, df1 * x / total, df2 / total)
    }
}

/// Lower and upper tail of the beta law at `x`, given 1 − x as `rest` with its own digits.
///
/// `beta_reg` itself subtracts from one when its argument is beyond about the mean, which loses a
/// small `rest`; here it is only ever asked where it does not.
fn beta_tails(a: f64, b: f64, x: f64, rest: f64) -> (f64, f64) {
    if x <= (a + 1.0) / (a + b + 2.0) {
        let lower = beta_reg(a, b, x);
        (lower, if rest <= (b + 1.0) / (a + b + 2.0) { beta_reg(b, a, rest) } else { 1.0 - lower })
    } else {
        let upper = beta_reg(b, a, rest);
        (1.0 - upper, upper)
    }
}

/// Quantile of a law that is symmetric about 0, from its upper tail and density.
fn symmetric_quantile(p: f64, upper: impl Fn(f64) -> f64, density: impl Fn(f64) -> f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let tail = p.min(1.0 - p);
    if tail == 0.5 {
        return 0.0;
    }
    let magnitude =
        if tail == 0.0 { f64::INFINITY } else { solve(1.0, |x| upper(x) - tail, density) };
    if p < 0.5 { -magnitude } else { magnitude }
}

/// Quantile of a law on the positive half line, from both tails and the density.
fn positive_quantile(
    p: f64,
    guess: f64,
    tails: impl Fn(f64) -> (f64, f64),
    density: impl Fn(f64) -> f64,
) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 {
        0.0
    } else if p == 1.0 {
        f64::INFINITY
    } else if p <= 0.5 {
        solve(guess, |x| p - tails(x).0, density)
    } else {
        solve(guess, |x| tails(x).1 - (1.0 - p), density)
    }
}

/// The root x > 0 of `excess`, a falling function whose slope is −`density`; infinite when it lies
/// beyond 10²⁰⁰.
fn solve(guess: f64, excess: impl Fn(f64) -> f64, density: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, guess);
    while excess(high) > 0.0 {
        low = high;
        high *= 2.0;
        if high > 1e200 {
            return f64::INFINITY;
        }
    }
    let mut x = 0.5 * (low + high);
    // Bisection alone needs some 60 halvings for all digits of a root of order one and up to
    // 1100 for a denormal one; Newton needs about 6 steps.
    for _ in 0..1200 {
        let value = excess(x);
        if value == 0.0 {
            return x;
        }
        if value > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let newton = x + value / density(x);
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - x).abs() <= 4.0 * f64::EPSILON * x {
            return next;
        }
        x = next;
    }
    x
}

fn is_positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_of_the_domain_are_defined() {
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert_eq!(normal_quantile(0.5), 0.0);
        assert_eq!(student_t_quantile(1.0, 3.0), f64::INFINITY);
        assert_eq!(chi_squared_quantile(0.0, 3.0), 0.0);
        assert_eq!(chi_squared_quantile(1.0, 3.0), f64::INFINITY);
        assert_eq!(f_quantile(1.0, 3.0, 4.0), f64::INFINITY);
        assert_eq!(f_cdf(-1.0, 3.0, 4.0), 0.0);
        assert_eq!(student_t_two_sided_p(f64::INFINITY, 4.0), 0.0);
        assert_eq!(student_t_two_sided_p(0.0, 4.0), 1.0);
    }

    #[test]
    fn arguments_outside_the_domain_give_nan() {
        for value in [
            normal_quantile(-0.1),
            normal_quantile(f64::NAN),
            student_t_quantile(0.9, 0.0),
            student_t_quantile(1.1, 3.0),
            student_t_cdf(f64::NAN, 3.0),
            chi_squared_quantile(0.5, -1.0),
            f_quantile(0.5, 2.0, f64::INFINITY),
        ] {
            assert!(value.is_nan());
        }
    }

    #[test]
    fn quantiles_undo_the_distribution_functions() {
        for p in [1e-12, 1e-4, 0.025, 0.3, 0.7, 0.999] {
            for df in [1.0, 2.5, 9.0, 120.0] {
                let back = [
                    student_t_cdf(student_t_quantile(p, df), df),
                    chi_squared_cdf(chi_squared_quantile(p, df), df),
                    f_cdf(f_quantile(p, df, 7.0), df, 7.0),
                ];
                for value in back {
                    assert!((value / p - 1.0).abs() < 1e-11, "p {p} df {df}: {value}");
                }
            }
        }
    }
}
