#!/usr/bin/env python3
"""Makes the reference values that the tests of this crate compare with.

    python3 -m venv /tmp/reference && /tmp/reference/bin/pip install scipy mpmath
    /tmp/reference/bin/python values.py > values.rs

Quantiles come from scipy, polished to 30 digits with mpmath's error function and incomplete beta,
so that scipy's own rounding is no limit. The few values that stand in the source files' own tests
are printed to stderr.
"""

import sys

import mpmath
import numpy as np
import scipy
from scipy import stats

mpmath.mp.dps = 40
mpf = mpmath.mpf


def normal_cdf(x):
    return mpmath.ncdf(x)


def t_cdf(x, df):
    x, df = mpf(x), mpf(df)
    tail = mpmath.betainc(df / 2, mpf(1) / 2, 0, df / (df + x * x), regularized=True) / 2
    return 1 - tail if x > 0 else tail


def chi2_cdf(x, df):
    return mpmath.gammainc(mpf(df) / 2, 0, mpf(x) / 2, regularized=True)


def f_cdf(x, a, b):
    x, a, b = mpf(x), mpf(a), mpf(b)
    return mpmath.betainc(a / 2, b / 2, 0, a * x / (a * x + b), regularized=True)


def polish(cdf, p, start):
    """Secant steps from scipy's quantile to the root of cdf(x) = p."""
    if start == 0:
        return mpf(0)
    p = mpf(p)
    return mpmath.findroot(
        lambda x: cdf(x) - p, (mpf(start), mpf(start) * (1 + mpf(10) ** -9)), tol=mpf(10) ** -60
    )


def row(*values):
    print("    (" + ", ".join(repr(float(value)) for value in values) + "),")


def table(name, columns, comment):
    print(f"\n/// {comment}")
    print(f"pub(crate) const {name}: &[({', '.join(['f64'] * columns)})] = &[")


def main():
    print("//! Made by values.py; not to be edited.")
    print(f"//! scipy {scipy.__version__}, mpmath {mpmath.__version__}.")
    tails = [1e-10, 0.001, 0.025, 0.05, 0.3, 0.6, 0.9, 0.95, 0.975, 0.995, 0.9999]

    table("NORMAL_QUANTILES", 2, "p, z.")
    for p in tails:
        row(p, polish(normal_cdf, p, stats.norm.ppf(p)))
    print("];")

    table("T_QUANTILES", 3, "p, degrees of freedom, t.")
    for df in [1, 2, 4, 9, 29, 499, 998]:
        row(0.975, df, polish(lambda x: t_cdf(x, df), 0.975, stats.t.ppf(0.975, df)))
    for df in [1, 2.7, 4, 19, 120, 100000]:
        for p in tails:
            row(p, df, polish(lambda x: t_cdf(x, df), p, stats.t.ppf(p, df)))
    print("];")

    table("CHI_SQUARED_QUANTILES", 3, "p, degrees of freedom, x.")
    for df in [1, 2, 4.5, 30, 500]:
        for p in tails:
            row(p, df, polish(lambda x: chi2_cdf(x, df), p, stats.chi2.ppf(p, df)))
    print("];")

    table("F_QUANTILES", 4, "p, degrees of freedom of numerator and denominator, x.")
    for a, b in [(1, 1), (1, 10), (3, 8), (2, 1996), (50, 40)]:
        for p in tails:
            row(p, a, b, polish(lambda x: f_cdf(x, a, b), p, stats.f.ppf(p, a, b)))
    print("];")

    table("T_TWO_SIDED", 3, "t, degrees of freedom, two-sided p-value.")
    for t in [1e-8, 0.3, 1, 2.776, 10, 30]:
        for df in [1, 4, 29, 998]:
            row(t, df, 2 * t_cdf(-mpf(t), df))
    print("];")

    def note(*values):
        print(*values, file=sys.stderr)

    sample = np.array([2.0, 3.5, 1.0, 9.0, 4.0, 4.5])
    note("describe", sample.var(ddof=1), sample.std(ddof=1), stats.sem(sample),
         sample.std(ddof=1) / sample.mean(), stats.skew(sample, bias=False))
    five = [1, 2, 3, 4, 5]
    note("estimate", stats.t.interval(0.95, 4, np.mean(five), stats.sem(five)))
    blocks = np.array([(100, 110), (98, 109), (103, 111.5), (101, 112), (99.5, 107), (102, 113)])
    d = np.log(blocks[:, 1]) - np.log(blocks[:, 0])
    note("ratio", np.exp(d.mean()), *map(repr, np.exp(stats.t.interval(0.95, 5, d.mean(), stats.sem(d)))))
    line = [10.0, 10.6, 9.9, 10.9, 10.4, 11.3, 10.7, 11.6, 11.0, 11.8]
    note("series", stats.linregress(range(10), line).slope, stats.linregress(range(10), line).pvalue)


if __name__ == "__main__":
    main()
