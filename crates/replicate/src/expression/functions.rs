//! The functions that an expression can call: one table, from which documentation and messages are
//! made.

use stormeter_statistics::Summary;

use super::value::{Value, number, whole};
use super::{groups, inference};

/// A function of the language.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What it returns.
    pub gives: &'static str,
    /// Minimum and maximum number of arguments.
    arguments: (usize, usize),
    pub(super) compute: fn(&[Value]) -> Result<Value, String>,
}

impl Function {
    /// Whether it takes `count` arguments.
    pub(super) fn takes(&self, count: usize) -> bool {
        (self.arguments.0..=self.arguments.1).contains(&count)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

type Compute = fn(&[Value]) -> Result<Value, String>;

const fn of(
    name: &'static str,
    usage: &'static str,
    gives: &'static str,
    arguments: (usize, usize),
    compute: Compute,
) -> Function {
    Function { name, usage, gives, arguments, compute }
}

/// More arguments than anyone writes.
const MANY: usize = 64;

/// All functions, in the order of the documentation.
pub static FUNCTIONS: &[Function] = &[
    of("n", "n(list)", "the number of values", (1, 1), |a| number(a[0].list()?.len() as f64)),
    of("sum", "sum(list, …)", "the sum of all values", (1, MANY), |a| {
        number(flat(a)?.iter().sum())
    }),
    of("mean", "mean(list, …)", "the arithmetic mean of all values", (1, MANY), |a| {
        number(summary(&flat(a)?)?.mean)
    }),
    of("median", "median(list)", "the median", (1, 1), |a| number(summary(&a[0].list()?)?.median)),
    of("sd", "sd(list)", "the standard deviation, n − 1 in the denominator", (1, 1), |a| {
        number(spread(&a[0].list()?)?)
    }),
    of("var", "var(list)", "the variance, n − 1 in the denominator", (1, 1), |a| {
        number(spread(&a[0].list()?)?.powi(2))
    }),
    of("se", "se(list)", "the standard error of the mean", (1, 1), |a| {
        let list = a[0].list()?;
        number(spread(&list)? / (list.len() as f64).sqrt())
    }),
    of("min", "min(list or number, …)", "the least of all values", (1, MANY), |a| {
        number(summary(&flat(a)?)?.min)
    }),
    of("max", "max(list or number, …)", "the greatest of all values", (1, MANY), |a| {
        number(summary(&flat(a)?)?.max)
    }),
    of("range", "range(list)", "the greatest less the least", (1, 1), |a| {
        number(summary(&a[0].list()?)?.range)
    }),
    of("first", "first(list)", "the first value", (1, 1), |a| {
        a[0].list()?.first().copied().ok_or_else(empty).map(Value::Number)
    }),
    of("last", "last(list)", "the last value", (1, 1), |a| {
        a[0].list()?.last().copied().ok_or_else(empty).map(Value::Number)
    }),
    of("at", "at(list, k)", "the k-th value, counted from 1", (2, 2), |a| {
        let list = a[0].list()?;
        let value = whole(&a[1])?.checked_sub(1).and_then(|index| list.get(index).copied());
        let missing = || format!("the list has the values 1 to {}", list.len());
        value.ok_or_else(missing).map(Value::Number)
    }),
    of("tail", "tail(list, k)", "the list without its first k values", (2, 2), |a| {
        let skipped = whole(&a[1])?;
        Ok(Value::List(a[0].list()?.into_iter().skip(skipped).collect()))
    }),
    of("abs", "abs(x)", "the magnitude, value by value", (1, 1), |a| each(&a[0], f64::abs)),
    of("sqrt", "sqrt(x)", "the square root, value by value", (1, 1), |a| each(&a[0], f64::sqrt)),
    of("ln", "ln(x)", "the natural logarithm, value by value", (1, 1), |a| each(&a[0], f64::ln)),
    of("exp", "exp(x)", "e to the power x, value by value", (1, 1), |a| each(&a[0], f64::exp)),
    of("round", "round(x, digits)", "x rounded to a number of decimals", (2, 2), |a| {
        let scale = scale(&a[1])?;
        each(&a[0], |x| (x * scale).round() / scale)
    }),
    of("trunc", "trunc(x, digits)", "x truncated to a number of decimals", (2, 2), |a| {
        let scale = scale(&a[1])?;
        each(&a[0], |x| (x * scale).trunc() / scale)
    }),
    of(
        "pct_change",
        "pct_change(new, old)",
        "the change in percent of the old value: 100 (new / old − 1)",
        (2, 2),
        |a| ratio_pct(&a[0], &a[1]),
    ),
    of(
        "pct_faster",
        "pct_faster(a, b)",
        "by how many percent of the quicker time the slower one is longer; lists stand for their means",
        (2, 2),
        |a| {
            let (a, b) = (mean_of(&a[0])?, mean_of(&a[1])?);
            number(100.0 * (a.max(b) / a.min(b) - 1.0))
        },
    ),
    of(
        "improvement",
        "improvement(old, new)",
        "the gain in percent where less is better: 100 (old / new − 1)",
        (2, 2),
        |a| ratio_pct(&a[0], &a[1]),
    ),
    of(
        "little",
        "little(iops, latency_ms)",
        "requests outstanding by Little's law: rate × time",
        (2, 2),
        |a| number(a[0].number()? * a[1].number()? / 1000.0),
    ),
    of(
        "mib_s",
        "mib_s(iops, kib)",
        "throughput in MiB/s from requests per second and KiB per request",
        (2, 2),
        |a| number(a[0].number()? * a[1].number()? / 1024.0),
    ),
    of("mb_s", "mb_s(iops, kib)", "the same in MB/s, as links are counted", (2, 2), |a| {
        number(a[0].number()? * a[1].number()? * 1024.0 / 1e6)
    }),
    of(
        "moments",
        "moments(n, mean, sd)",
        "a published summary, to be used where a list can be",
        (3, 3),
        inference::moments,
    ),
    of("sd_ratio", "sd_ratio(a, b)", "larger SD over smaller SD", (2, 2), inference::sd_ratio),
    of(
        "pools",
        "pools(a, b)",
        "whether the ratio rule pools: larger SD / smaller SD < 2",
        (2, 2),
        inference::pools,
    ),
    of("pooled_ss", "pooled_ss(a, b)", "the pooled sum of squares", (2, 2), inference::pooled_ss),
    of(
        "pooled_sd",
        "pooled_sd(a, b)",
        "the pooled standard deviation",
        (2, 2),
        inference::pooled_sd,
    ),
    of(
        "rule_var",
        "rule_var(a, b)",
        "variance of the difference, ratio rule",
        (2, 2),
        inference::rule_var,
    ),
    of(
        "rule_se",
        "rule_se(a, b)",
        "standard error of the difference, ratio rule",
        (2, 2),
        inference::rule_se,
    ),
    of("rule_df", "rule_df(a, b)", "degrees of freedom, ratio rule", (2, 2), inference::rule_df),
    of(
        "rule_t",
        "rule_t(a, b, level)",
        "two-sided critical t, ratio rule",
        (3, 3),
        inference::rule_t,
    ),
    of(
        "rule_margin",
        "rule_margin(a, b, level)",
        "half width of the interval, ratio rule",
        (3, 3),
        inference::rule_margin,
    ),
    of(
        "rule_low",
        "rule_low(a, b, level)",
        "lower end of the interval of mean a − mean b, ratio rule",
        (3, 3),
        inference::rule_low,
    ),
    of("rule_high", "rule_high(a, b, level)", "its upper end", (3, 3), inference::rule_high),
    of(
        "welch_low",
        "welch_low(a, b, level)",
        "lower end of Welch's interval of mean a − mean b",
        (3, 3),
        inference::welch_low,
    ),
    of("welch_high", "welch_high(a, b, level)", "its upper end", (3, 3), inference::welch_high),
    of(
        "welch_df",
        "welch_df(a, b)",
        "Satterthwaite's degrees of freedom",
        (2, 2),
        inference::welch_df,
    ),
    of("welch_p", "welch_p(a, b)", "two-sided p-value of Welch's test", (2, 2), inference::welch_p),
    of(
        "cohen_d",
        "cohen_d(a, b)",
        "difference of the means in pooled SDs",
        (2, 2),
        inference::cohen_d,
    ),
    of(
        "hedges_g",
        "hedges_g(a, b)",
        "the same, corrected for small samples",
        (2, 2),
        inference::hedges_g,
    ),
    of("ratio", "ratio(a, b)", "geometric mean of a over that of b", (2, 2), inference::ratio),
    of(
        "ratio_low",
        "ratio_low(a, b, level)",
        "lower end of Welch's interval of that ratio, on logarithms",
        (3, 3),
        inference::ratio_low,
    ),
    of("ratio_high", "ratio_high(a, b, level)", "its upper end", (3, 3), inference::ratio_high),
    of(
        "sd_ratio_low",
        "sd_ratio_low(a, b, level)",
        "lower end of the interval of SD a / SD b, by F",
        (3, 3),
        inference::sd_ratio_low,
    ),
    of(
        "sd_ratio_high",
        "sd_ratio_high(a, b, level)",
        "its upper end",
        (3, 3),
        inference::sd_ratio_high,
    ),
    of("t_quantile", "t_quantile(p, df)", "the t with P(T ≤ t) = p", (2, 2), inference::t_quantile),
    of(
        "effective_n",
        "effective_n(n, lag1)",
        "independent values that say as much about a mean as n with this autocorrelation: n (1 − r) / (1 + r)",
        (2, 2),
        |a| {
            let (n, lag1) = (a[0].number()?, a[1].number()?);
            number(n * (1.0 - lag1) / (1.0 + lag1))
        },
    ),
    of("rule_p", "rule_p(a, b)", "two-sided p-value of the ratio rule", (2, 2), inference::rule_p),
    of("t_p", "t_p(t, df)", "two-sided p-value of a t statistic", (2, 2), groups::t_p),
    of(
        "f_p",
        "f_p(f, df1, df2)",
        "upper tail of F: the p-value of an F statistic",
        (3, 3),
        groups::f_p,
    ),
    of("f_quantile", "f_quantile(p, df1, df2)", "the F with P(F ≤ f) = p", (3, 3), groups::f_at),
    of(
        "anova_f",
        "anova_f(sample, …)",
        "F of a one-way analysis of variance, of lists or of moments(n, mean, sd)",
        (2, MANY),
        groups::anova_f,
    ),
    of("anova_p", "anova_p(sample, …)", "its p-value", (2, MANY), groups::anova_p),
    of(
        "levene_p",
        "levene_p(list, …)",
        "p-value of Levene's test for equal spreads",
        (2, MANY),
        groups::levene_p,
    ),
    of(
        "brown_forsythe_p",
        "brown_forsythe_p(list, …)",
        "the same with distances from medians",
        (2, MANY),
        groups::brown_forsythe_p,
    ),
    of(
        "mann_whitney_p",
        "mann_whitney_p(a, b)",
        "two-sided p-value of the rank-sum test",
        (2, 2),
        groups::mann_whitney_p,
    ),
    of(
        "signed_rank_p",
        "signed_rank_p(a, b)",
        "two-sided p-value of Wilcoxon's signed-rank test of pairs",
        (2, 2),
        groups::signed_rank_p,
    ),
    of(
        "kruskal_p",
        "kruskal_p(list, …)",
        "p-value of Kruskal and Wallis's test",
        (2, MANY),
        groups::kruskal_p,
    ),
    of(
        "tost_p",
        "tost_p(a, b, reach)",
        "p-value of 'the means differ by reach or more' (two one-sided tests, Welch)",
        (3, 3),
        groups::tost_p,
    ),
    of(
        "holm",
        "holm(p, …)",
        "p-values adjusted by Holm's method, in their order",
        (1, MANY),
        groups::holm,
    ),
    of(
        "repeated",
        "repeated(list, …)",
        "how many rows are the same as an earlier one in all these columns",
        (1, MANY),
        groups::repeated,
    ),
    of("corr", "corr(a, b)", "Pearson's correlation of two lists", (2, 2), inference::corr),
    of(
        "is_increasing",
        "is_increasing(list)",
        "whether each value is greater than the one before",
        (1, 1),
        |a| monotone(&a[0], |x, y| x < y),
    ),
    of(
        "is_decreasing",
        "is_decreasing(list)",
        "whether each value is less than the one before",
        (1, 1),
        |a| monotone(&a[0], |x, y| x > y),
    ),
    of("all", "all(comparison, …)", "whether all hold", (1, MANY), |a| {
        Ok(Value::Truth(truths(a)?.into_iter().all(|truth| truth)))
    }),
    of("any", "any(comparison, …)", "whether one of them holds", (1, MANY), |a| {
        Ok(Value::Truth(truths(a)?.into_iter().any(|truth| truth)))
    }),
    of("not", "not(comparison)", "whether it does not hold", (1, 1), |a| match &a[0] {
        Value::Truth(truth) => Ok(Value::Truth(!truth)),
        other => Err(format!("one comparison is needed here and this is {}", other.kind())),
    }),
    of("count", "count(comparison, …)", "how many of them hold", (1, MANY), |a| {
        number(truths(a)?.into_iter().filter(|truth| *truth).count() as f64)
    }),
];

/// The nearest name, as the end of a message; empty if none is near.
pub(super) fn hint(name: &str) -> String {
    let near =
        FUNCTIONS.iter().map(|function| function.name).min_by_key(|known| distance(name, known));
    match near {
        Some(known) if distance(name, known) <= 2 => format!("; `{known}(…)` is near"),
        _ => String::new(),
    }
}

/// Edit distance between two words (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

fn empty() -> String {
    "the list has no values".to_owned()
}

fn summary(list: &[f64]) -> Result<Summary, String> {
    Summary::of(list).ok_or_else(empty)
}

fn spread(list: &[f64]) -> Result<f64, String> {
    summary(list)?
        .sd
        .ok_or_else(|| "two values are needed for a spread and there is one".to_owned())
}

fn mean_of(value: &Value) -> Result<f64, String> {
    Ok(summary(&value.list()?)?.mean)
}

fn flat(values: &[Value]) -> Result<Vec<f64>, String> {
    Ok(values.iter().map(Value::list).collect::<Result<Vec<_>, _>>()?.concat())
}

fn truths(values: &[Value]) -> Result<Vec<bool>, String> {
    let all = values.iter().map(Value::truths).collect::<Result<Vec<_>, _>>()?.concat();
    if all.is_empty() { Err("there is nothing to compare".to_owned()) } else { Ok(all) }
}

fn each(value: &Value, change: impl Fn(f64) -> f64) -> Result<Value, String> {
    match value {
        Value::Number(number) => Ok(Value::Number(change(*number))),
        other => Ok(Value::List(other.list()?.into_iter().map(change).collect())),
    }
}

fn ratio_pct(over: &Value, under: &Value) -> Result<Value, String> {
    let under = mean_of(under)?;
    if under == 0.0 {
        return Err("a percentage of zero".to_owned());
    }
    number(100.0 * (mean_of(over)? / under - 1.0))
}

fn scale(digits: &Value) -> Result<f64, String> {
    match whole(digits)? {
        digits @ 0..=12 => Ok(10f64.powi(digits as i32)),
        digits => Err(format!("{digits} digits are more than a number has; 12 are the most")),
    }
}

fn monotone(value: &Value, in_order: fn(f64, f64) -> bool) -> Result<Value, String> {
    let list = value.list()?;
    if list.len() < 2 {
        return Err("two values are needed for a direction".to_owned());
    }
    Ok(Value::Truth(list.windows(2).all(|pair| in_order(pair[0], pair[1]))))
}
