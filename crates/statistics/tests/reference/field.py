#!/usr/bin/env python3
"""Makes the reference values for the statistics of the field: t tests, equivalence, analysis of
variance, ranks, power, series.

    python3 -m venv /tmp/reference && /tmp/reference/bin/pip install scipy statsmodels mpmath pandas
    /tmp/reference/bin/python field.py > field.rs && rustfmt field.rs

The data are made here from a seed and rounded, and printed with the values. Where scipy and
statsmodels have the procedure, the values are theirs; p-values are recomputed with mpmath so that
their far tails are no limit. Where neither has it (type III in a mixed design, Shapiro-Francia,
intervals of shifts, Geyer's sequence) it is written out below in another way than in the crate.
"""

import itertools
import math

import mpmath
import numpy as np
import pandas as pd
import scipy
import statsmodels
import statsmodels.api as sm
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats import power as smpower
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

mpmath.mp.dps = 40
mpf = mpmath.mpf
random = np.random.default_rng(20260101)
VALUES = []
DATA = []


def value(name, number):
    VALUES.append((name, float(number)))


def data(name, numbers):
    DATA.append((name, [float(x) for x in numbers]))
    return np.array(numbers, dtype=float)


def t_upper(t, df):
    t, df = mpf(float(t)), mpf(float(df))
    tail = mpmath.betainc(df / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return tail if t > 0 else 1 - tail


def t_upper_exact(t, df):
    return mpmath.betainc(mpf(df) / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2


def f_upper(f, a, b):
    f, a, b = mpf(float(f)), mpf(float(a)), mpf(float(b))
    return mpmath.betainc(b / 2, a / 2, 0, b / (a * f + b), regularized=True)


def two_samples():
    a = data("FIRST", np.round(random.normal(105, 4, 9), 2))
    b = data("SECOND", np.round(random.normal(100, 7, 13), 2))
    for name, equal in [("welch", False), ("pooled", True)]:
        test = stats.ttest_ind(a, b, equal_var=equal)
        value(f"{name}.t", test.statistic)
        value(f"{name}.df", test.df)
        value(f"{name}.p", 2 * t_upper(abs(test.statistic), test.df))
        value(f"{name}.greater", t_upper(test.statistic, test.df))
        value(f"{name}.less", t_upper(-test.statistic, test.df))
        interval = test.confidence_interval(0.99)
        value(f"{name}.low", interval.low)
        value(f"{name}.high", interval.high)
    # Far tail, from summaries.
    test = stats.ttest_ind_from_stats(875.65, 18.34, 500, 1059.7, 32.1, 500, equal_var=True)
    value("published.t", test.statistic)
    test = stats.ttest_ind_from_stats(875.65, 18.34, 500, 930, 32.1, 500, equal_var=False)
    value("tail.t", test.statistic)
    df = (18.34**2 / 500 + 32.1**2 / 500) ** 2 / (
        (18.34**2 / 500) ** 2 / 499 + (32.1**2 / 500) ** 2 / 499
    )
    value("tail.df", df)
    value("tail.p", 2 * t_upper(abs(test.statistic), df))
    n, m = len(a), len(b)
    sp = math.sqrt(((n - 1) * a.var(ddof=1) + (m - 1) * b.var(ddof=1)) / (n + m - 2))
    d = (a.mean() - b.mean()) / sp
    k = mpf(n + m - 2)
    correction = mpmath.gamma(k / 2) / (mpmath.sqrt(k / 2) * mpmath.gamma((k - 1) / 2))
    value("effect.d", d)
    g = float(d * correction)
    value("effect.g", g)
    reach = stats.norm.ppf(0.995) * math.sqrt((n + m) / (n * m) + g * g / (2 * (n + m)))
    value("effect.low", g - reach)
    value("effect.high", g + reach)

    c = data("PAIRED", np.round(a - random.normal(2, 3, 9), 2))
    test = stats.ttest_rel(a, c)
    value("paired.t", test.statistic)
    value("paired.p", 2 * t_upper(abs(test.statistic), 8))
    value("paired.low", test.confidence_interval(0.9).low)
    value("paired.high", test.confidence_interval(0.9).high)

    means = CompareMeans(DescrStatsW(a), DescrStatsW(b))
    for name, kind in [("tost.welch", "unequal"), ("tost.pooled", "pooled")]:
        p, (low, high) = means.ttost_ind(-1, 9, usevar=kind)
        value(f"{name}.p", p)
        value(f"{name}.lower", low[1])
        value(f"{name}.upper", high[1])
    p, low, high = DescrStatsW(a - c).ttost_mean(-5, 6)
    value("tost.paired.p", p)
    p, (low, high) = CompareMeans(DescrStatsW(np.log(a)), DescrStatsW(np.log(b))).ttost_ind(
        -math.log(1.1), math.log(1.1), usevar="unequal"
    )
    value("tost.ratio.p", p)


def anova_values(name, frame, formula, kinds):
    model = ols(formula, frame).fit()
    for kind in kinds:
        table = sm.stats.anova_lm(model, typ=kind)
        residual = table.loc["Residual"]
        for term in table.index:
            if term in ("Intercept", "Residual"):
                continue
            row = table.loc[term]
            f = row["sum_sq"] / row["df"] / (residual["sum_sq"] / residual["df"])
            short = term.replace("C(", "").replace(", Sum)", "")
            value(f"{name}.{kind}.{short}.ss", row["sum_sq"])
            value(f"{name}.{kind}.{short}.f", f)
            value(f"{name}.{kind}.{short}.p", f_upper(f, row["df"], residual["df"]))
    value(f"{name}.residual.ss", model.ssr)
    value(f"{name}.residual.df", model.df_resid)
    value(f"{name}.r2", model.rsquared)
    return model


def layout(name, frame, factors):
    """Prints observations as rows: the levels, then the value."""
    rows = [[*(float(row[f]) for f in factors), row["y"]] for _, row in frame.iterrows()]
    DATA.append((name, [x for row in rows for x in row]))


def factorial():
    # Unbalanced, 2 x 3.
    rows = []
    for (a, b), n in zip(itertools.product(range(2), range(3)), [4, 2, 5, 3, 6, 1]):
        for _ in range(n):
            rows.append((a, b, round(50 + 4 * a - 3 * b + 2.5 * a * b + random.normal(0, 2), 2)))
    frame = pd.DataFrame(rows, columns=["a", "b", "y"])
    layout("UNBALANCED", frame, "ab")
    model = anova_values("two", frame, "y ~ C(a, Sum) * C(b, Sum)", [1, 2, 3])
    value("two.residual.last", model.resid.iloc[-2])
    anova_values("additive", frame, "y ~ C(a, Sum) + C(b, Sum)", [2, 3])
    table = sm.stats.anova_lm(ols("y ~ C(a, Sum) * C(b, Sum)", frame).fit(), typ=2)
    ss, df = table.loc["C(a, Sum):C(b, Sum)", ["sum_sq", "df"]]
    mse = table.loc["Residual", "sum_sq"] / table.loc["Residual", "df"]
    total = ((frame.y - frame.y.mean()) ** 2).sum()
    value("two.interaction.eta", ss / total)
    value("two.interaction.partial", ss / (ss + table.loc["Residual", "sum_sq"]))
    value("two.interaction.omega", (ss - df * mse) / (total + mse))
    # The effect of a at each level of b, by the error of the whole.
    df_e = table.loc["Residual", "df"]
    for b in range(3):
        part = frame[frame.b == b]
        groups = [g.y for _, g in part.groupby("a")]
        ss = sum(len(g) * (g.mean() - part.y.mean()) ** 2 for g in groups)
        value(f"simple.{b}.f", ss / mse)
        value(f"simple.{b}.p", f_upper(ss / mse, 1, df_e))

    # Balanced, 2 x 2 x 3.
    rows = []
    for a, b, c in itertools.product(range(2), range(2), range(3)):
        for _ in range(3):
            rows.append((a, b, c, round(1e4 + 30 * a + 9 * b * c + random.normal(0, 9), 1)))
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "y"]).drop(index=[4, 17, 18])
    layout("THREE", frame, "abc")
    anova_values("three", frame, "y ~ C(a, Sum) * C(b, Sum) * C(c, Sum)", [2, 3])

    # Randomized blocks with one trial lost.
    rows = []
    for block in range(6):
        shift = random.normal(0, 10)
        for a in range(3):
            rows.append((block, a, round(500 + shift + 8 * a + random.normal(0, 4), 1)))
    frame = pd.DataFrame(rows, columns=["block", "a", "y"]).drop(index=[7])
    layout("BLOCKS", frame, ["block", "a"])
    anova_values("blocks", frame, "y ~ C(block, Sum) + C(a, Sum)", [2])

    # A far tail: F of about 1e4.
    rows = [(a, round(100 * a + random.normal(0, 1), 3)) for a in range(4) for _ in range(8)]
    frame = pd.DataFrame(rows, columns=["a", "y"])
    layout("FAR", frame, "a")
    anova_values("far", frame, "y ~ C(a, Sum)", [2])
    groups = [g.y.to_numpy() for _, g in frame.groupby("a")]
    for name, centre in [("levene", "mean"), ("brown_forsythe", "median")]:
        test = stats.levene(*groups, center=centre)
        value(f"{name}.f", test.statistic)
        value(f"{name}.p", test.pvalue)


def mixed():
    """Subjects as dummies, models compared by their residual sums of squares."""
    sizes, k = [5, 3, 4], 4
    subjects, groups = [], []
    for group, size in enumerate(sizes):
        for _ in range(size):
            base = random.normal(200 + 6 * group, 8)
            drift = random.normal(0, 2)
            subjects.append([
                round(base + 5 * level + 2 * level * group + drift * level + random.normal(0, 3), 2)
                for level in range(k)
            ])
            groups.append(group)
    y = np.array(subjects)
    DATA.append(("MIXED", [x for g, row in zip(groups, subjects) for x in (float(g), *row)]))
    n, g = len(subjects), len(sizes)
    flat = y.reshape(-1)
    who = np.repeat(np.arange(n), k)
    group = np.repeat(groups, k)
    level = np.tile(np.arange(k), n)
    code = lambda index, size: np.stack(
        [(index == c).astype(float) - (index == size - 1) for c in range(size - 1)], axis=1
    )
    dummies = (who[:, None] == np.arange(n)).astype(float)
    w, b = code(level, k), code(group, g)
    wb = np.concatenate([w[:, [i]] * b[:, [j]] for i in range(k - 1) for j in range(g - 1)]).reshape(
        (k - 1) * (g - 1), -1
    ).T
    rss = lambda *parts: float(
        np.sum((flat - (x := np.hstack(parts)) @ np.linalg.lstsq(x, flat, rcond=None)[0]) ** 2)
    )
    full = rss(dummies, w, wb)
    ss_w, ss_wb = rss(dummies, wb) - full, rss(dummies, w) - full
    df_e = (k - 1) * (n - g)
    means = y.mean(axis=1)
    one = sm.stats.anova_lm(ols("m ~ C(g)", pd.DataFrame({"m": means, "g": groups})).fit(), typ=2)
    value("mixed.between.ss", k * one.loc["C(g)", "sum_sq"])
    value("mixed.subjects.ss", k * one.loc["Residual", "sum_sq"])
    value("mixed.between.p", f_upper(one.loc["C(g)", "F"], g - 1, n - g))
    value("mixed.within.ss", ss_w)
    value("mixed.interaction.ss", ss_wb)
    value("mixed.error.ss", full)
    f_w = ss_w / (k - 1) / (full / df_e)
    f_wb = ss_wb / ((k - 1) * (g - 1)) / (full / df_e)
    value("mixed.within.p", f_upper(f_w, k - 1, df_e))
    value("mixed.interaction.p", f_upper(f_wb, (k - 1) * (g - 1), df_e))
    # Box's form of epsilon, from the pooled covariance matrix of the levels.
    s = sum(
        np.cov(y[np.array(groups) == i].T) * (size - 1) for i, size in enumerate(sizes)
    ) / (n - g)
    top = k * k * (np.trace(s) / k - s.mean()) ** 2
    bottom = (k - 1) * (
        (s**2).sum() - 2 * k * (s.mean(axis=1) ** 2).sum() + k * k * s.mean() ** 2
    )
    epsilon = top / bottom
    value("mixed.epsilon", epsilon)
    value("mixed.within.gg", f_upper(f_w, epsilon * (k - 1), epsilon * df_e))


def shapiro_francia(x):
    n = len(x)
    m = stats.norm.ppf((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    w = np.corrcoef(np.sort(x), m)[0, 1] ** 2
    u, v = math.log(n), math.log(math.log(n))
    z = (math.log(1 - w) - (-1.2725 + 1.0521 * (v - u))) / (1.0308 - 0.26758 * (v + 2 / u))
    return w, stats.norm.sf(z)


def ranks():
    a = data("RANK_A", np.round(random.gamma(2, 3, 11), 3))
    b = data("RANK_B", np.round(random.gamma(3, 3, 8), 3))
    for side in ["two-sided", "greater", "less"]:
        value(f"mwu.exact.{side}", stats.mannwhitneyu(a, b, alternative=side, method="exact").pvalue)
    value("mwu.u", stats.mannwhitneyu(a, b).statistic)
    ta, tb = np.round(a), np.round(b)
    for side in ["two-sided", "greater", "less"]:
        test = stats.mannwhitneyu(ta, tb, alternative=side, method="asymptotic")
        value(f"mwu.ties.{side}", test.pvalue)
    d = data("RANK_D", np.round(random.normal(0.8, 1.5, 14), 3))
    for side in ["two-sided", "greater", "less"]:
        value(f"wilcoxon.exact.{side}", stats.wilcoxon(d, alternative=side, method="exact").pvalue)
    td = np.round(d)
    for side in ["two-sided", "greater", "less"]:
        test = stats.wilcoxon(td, alternative=side, method="asymptotic", correction=True)
        value(f"wilcoxon.ties.{side}", test.pvalue)
    test = stats.kruskal(ta, tb, np.round(d) + 5)
    value("kruskal.h", test.statistic)
    value("kruskal.p", test.pvalue)

    # Shifts: all that the exact test does not reject, found by trying them.
    differences = np.sort((a[:, None] - b).reshape(-1))
    value("shift.two", np.median(differences))
    middles = (differences[1:] + differences[:-1]) / 2
    kept = [
        x for x in middles if stats.mannwhitneyu(a - x, b, method="exact").pvalue >= 0.05
    ]
    value("shift.two.low", differences[differences < min(kept)].max())
    value("shift.two.high", differences[differences > max(kept)].min())
    walsh = np.sort([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])
    value("shift.paired", np.median(walsh))
    middles = (walsh[1:] + walsh[:-1]) / 2
    kept = [x for x in middles if stats.wilcoxon(d - x, method="exact").pvalue >= 0.05]
    value("shift.paired.low", walsh[walsh < min(kept)].max())
    value("shift.paired.high", walsh[walsh > max(kept)].min())

    w, p = shapiro_francia(a)
    value("francia.w", w)
    value("francia.p", p)


def nct_upper(t, df, delta):
    """The definition as an integral over S, with 40 digits."""
    t, df, delta = mpf(t), mpf(df), mpf(delta)
    scale = 2 * (df / 2) ** (df / 2) / mpmath.gamma(df / 2)
    integrand = lambda s: (
        scale * s ** (df - 1) * mpmath.exp(-df * s * s / 2) * mpmath.ncdf(delta - t * s)
    )
    cuts = [0] + [mpf(10) ** (mpf(k) / 16 - 4) for k in range(84)]
    return mpmath.quad(integrand, cuts)


def power():
    mpmath.mp.dps = 25
    rows = []
    for df in [1, 2, 4.5, 9, 38, 198]:
        for t, delta in [(0.0, 1.0), (2.2, 0.5), (2.2, 3.0), (-1.5, 2.0), (12.0, 3.0), (3.0, 25.0), (1000.0, 3.0)]:
            if df < 100 or t < 100:  # Else below all doubles.
                rows.append((t, df, delta, nct_upper(t, df, delta)))
    DATA.append(("NONCENTRAL", [float(x) for row in rows for x in row]))

    def found(n, df, delta, alpha, two_sided=True):
        tail = alpha / 2 if two_sided else alpha
        t = mpmath.findroot(lambda t: t_upper_exact(t, df) - tail, stats.t.isf(tail, df))
        return nct_upper(t, df, delta) + (nct_upper(t, df, -delta) if two_sided else 0)

    value("power.paired.two", found(20, 19, 0.5 * math.sqrt(20), 0.05))
    value("power.paired.one", found(20, 19, 0.5 * math.sqrt(20), 0.05, False))
    value("power.samples.two", found(20, 38, 0.5 * math.sqrt(10), 0.05))
    root = mpmath.findroot(lambda d: found(12, 11, d * mpmath.sqrt(12), 0.05) - 0.8, (0.88, 0.89))
    value("power.paired.detectable", root)
    root = mpmath.findroot(lambda d: found(12, 22, d * mpmath.sqrt(6), 0.05) - 0.8, (1.19, 1.2))
    value("power.samples.detectable", root)
    mpmath.mp.dps = 40
    one, two = smpower.TTestPower(), smpower.TTestIndPower()
    value("power.paired.n", math.ceil(one.solve_power(0.3, None, 0.05, 0.9)))
    value("power.samples.n", math.ceil(two.solve_power(0.3, None, 0.01, 0.8, alternative="larger")))


def series():
    x = [10.0]
    for _ in range(149):
        x.append(round(10 + 0.7 * (x[-1] - 10) + random.normal(0, 1), 3))
    x = data("SERIES", x)
    value("g1", stats.skew(x))
    value("G1", stats.skew(x, bias=False))
    value("G2", stats.kurtosis(x, bias=False))
    value("q1", np.quantile(x, 0.25))
    value("q3", np.quantile(x, 0.75))
    counts, edges = np.histogram(x, bins="fd")
    DATA.append(("FD_COUNTS", [float(c) for c in counts]))
    value("fd.width", edges[1] - edges[0])
    middle = edges[4]
    value("fd.expected", len(x) * (edges[1] - edges[0]) * stats.norm.pdf(middle, x.mean(), x.std(ddof=1)))


def main():
    two_samples()
    factorial()
    mixed()
    ranks()
    power()
    series()
    print("//! Made by field.py; not to be edited.")
    print(f"//! scipy {scipy.__version__}, statsmodels {statsmodels.__version__}, ", end="")
    print(f"mpmath {mpmath.__version__}, numpy {np.__version__}.")
    for name, numbers in DATA:
        print(f"\npub(crate) const {name}: &[f64] = &[")
        for start in range(0, len(numbers), 6):
            print("    " + ", ".join(repr(float(x)) for x in numbers[start : start + 6]) + ",")
        print("];")
    print("\n/// Name, value.")
    print("pub(crate) const VALUES: &[(&str, f64)] = &[")
    for name, number in VALUES:
        print(f'    ("{name}", {number!r}),')
    print("];")


if __name__ == "__main__":
    main()
