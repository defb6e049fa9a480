//! The functions that draw conclusions. The statistics are those of `stormeter-statistics`; this
//! converts their arguments.

use stormeter_statistics::quantile::{f_quantile, student_t_quantile};
use stormeter_statistics::two_sample::{Method, RATIO_LIMIT, Rule};
use stormeter_statistics::{Moments, TwoSample};

use super::value::{Value, number, whole};

type Outcome = Result<Value, String>;

/// A placeholder level for quantities that do not depend on one.
const ANY_LEVEL: f64 = 0.95;

pub(super) fn moments(a: &[Value]) -> Outcome {
    let (n, mean, sd) = (whole(&a[0])?, a[1].number()?, a[2].number()?);
    if n < 2 || sd < 0.0 {
        return Err("a summary has 2 values or more and an SD of 0 or more".to_owned());
    }
    Ok(Value::Sample(Moments::new(n, mean, sd)))
}

fn compare(a: &[Value], rule: Rule) -> Result<TwoSample, String> {
    let level = a.get(2).map_or(Ok(ANY_LEVEL), Value::number)?;
    TwoSample::compare(a[0].sample()?, a[1].sample()?, rule, level)
        .map_err(|error| error.to_string())
}

fn by_ratio_rule(a: &[Value]) -> Result<TwoSample, String> {
    compare(a, Rule::SdRatio(RATIO_LIMIT))
}

fn by_welch(a: &[Value]) -> Result<TwoSample, String> {
    compare(a, Rule::Welch)
}

pub(super) fn sd_ratio(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.sd_ratio)
}

pub(super) fn pools(a: &[Value]) -> Outcome {
    Ok(Value::Truth(by_ratio_rule(a)?.method == Method::Pooled))
}

pub(super) fn pooled_ss(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.pooled_sum_of_squares)
}

pub(super) fn pooled_sd(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.pooled_sd)
}

pub(super) fn rule_var(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.difference_variance)
}

pub(super) fn rule_se(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.standard_error)
}

pub(super) fn rule_df(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.df)
}

pub(super) fn rule_t(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.critical_t)
}

pub(super) fn rule_margin(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.margin)
}

pub(super) fn rule_low(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.interval.low)
}

pub(super) fn rule_high(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.interval.high)
}

pub(super) fn rule_p(a: &[Value]) -> Outcome {
    number(by_ratio_rule(a)?.p_two_sided)
}

pub(super) fn welch_low(a: &[Value]) -> Outcome {
    number(by_welch(a)?.interval.low)
}

pub(super) fn welch_high(a: &[Value]) -> Outcome {
    number(by_welch(a)?.interval.high)
}

pub(super) fn welch_df(a: &[Value]) -> Outcome {
    number(by_welch(a)?.df)
}

pub(super) fn welch_p(a: &[Value]) -> Outcome {
    number(by_welch(a)?.p_two_sided)
}

pub(super) fn cohen_d(a: &[Value]) -> Outcome {
    number(by_welch(a)?.effect.cohen_d)
}

pub(super) fn hedges_g(a: &[Value]) -> Outcome {
    number(by_welch(a)?.effect.hedges_g)
}

/// Welch's comparison of the logarithms: their difference is the logarithm of a ratio.
fn by_logarithms(a: &[Value]) -> Result<TwoSample, String> {
    let logarithms = |value: &Value| {
        let list = value.list()?;
        if list.iter().any(|x| *x <= 0.0) {
            return Err("a ratio needs values above 0".to_owned());
        }
        Ok(Value::List(list.into_iter().map(f64::ln).collect()))
    };
    let mut arguments = vec![logarithms(&a[0])?, logarithms(&a[1])?];
    arguments.extend(a.get(2).cloned());
    by_welch(&arguments)
}

pub(super) fn ratio(a: &[Value]) -> Outcome {
    number(by_logarithms(a)?.difference.exp())
}

pub(super) fn ratio_low(a: &[Value]) -> Outcome {
    number(by_logarithms(a)?.interval.low.exp())
}

pub(super) fn ratio_high(a: &[Value]) -> Outcome {
    number(by_logarithms(a)?.interval.high.exp())
}

/// s₁ / s₂ over √F: the interval of a ratio of two normal spreads (NIST/SEMATECH e-Handbook of
/// Statistical Methods, 1.3.5.9).
fn sd_ratio_at(a: &[Value], tail: impl Fn(f64) -> f64) -> Outcome {
    let (first, second, level) = (a[0].sample()?, a[1].sample()?, a[2].number()?);
    if first.n < 2 || second.n < 2 {
        return Err("two values are needed for a spread".to_owned());
    }
    if !(level > 0.0 && level < 1.0) {
        return Err("the level must be between 0 and 1, such as 0.95".to_owned());
    }
    let quantile = f_quantile(tail(level), first.n as f64 - 1.0, second.n as f64 - 1.0);
    number(first.sd / second.sd / quantile.sqrt())
}

pub(super) fn sd_ratio_low(a: &[Value]) -> Outcome {
    sd_ratio_at(a, |level| 0.5 + 0.5 * level)
}

pub(super) fn sd_ratio_high(a: &[Value]) -> Outcome {
    sd_ratio_at(a, |level| 0.5 - 0.5 * level)
}

pub(super) fn t_quantile(a: &[Value]) -> Outcome {
    number(student_t_quantile(a[0].number()?, a[1].number()?))
}

pub(super) fn corr(a: &[Value]) -> Outcome {
    let (x, y) = (a[0].list()?, a[1].list()?);
    if x.len() != y.len() || x.len() < 3 {
        return Err("a correlation needs two lists of one length, 3 values or more".to_owned());
    }
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let (mean_x, mean_y) = (mean(&x), mean(&y));
    let mut sums = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(&y) {
        let (x, y) = (x - mean_x, y - mean_y);
        sums = (sums.0 + x * y, sums.1 + x * x, sums.2 + y * y);
    }
    number(sums.0 / (sums.1 * sums.2).sqrt())
}
