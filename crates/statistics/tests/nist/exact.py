#!/usr/bin/env python3
"""What exact arithmetic makes of NIST's reference data once they are doubles.

    python3 exact.py > exact.rs

NIST certifies its values for the decimal numbers. A double of 1000000000000.4 is another number,
and its statistics are others too: that, and not the arithmetic, is the limit of what can be
reached. So the tests ask two things: agreement with the certified values to as many digits as
these exact results have, and agreement with these exact results to nearly all digits.

Needs nothing but Python and mpmath (for square roots of fractions).
"""

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import mpmath

mpmath.mp.dps = 50
SOURCE = Path(__file__).with_name("data.rs").read_text()


def data(name):
    body = re.search(rf"const {name}: &\[f64\] = &\[(.*?)\];", SOURCE, re.S).group(1)
    return [Fraction(float(text)) for text in body.replace("\n", " ").split(",") if text.strip()]


def doubles(texts):
    return [Fraction(float(text)) for text in texts]


def real(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def univariate(values):
    mean = sum(values) / len(values)
    deviations = [value - mean for value in values]
    squares = sum(d * d for d in deviations)
    sd = mpmath.sqrt(real(squares / (len(values) - 1)))
    lag1 = sum(a * b for a, b in zip(deviations, deviations[1:])) / squares
    return float(mean), float(sd), float(lag1)


def pattern(centre, pairs):
    """NIST's made sets: a centre, then pairs 0.1 below and above it."""
    centre = Decimal(centre)
    step = Decimal("0.1")
    return doubles([centre] + [centre - step, centre + step] * pairs)


def anova(groups):
    n = sum(len(group) for group in groups)
    grand = sum(sum(group) for group in groups) / n
    means = [sum(group) / len(group) for group in groups]
    between = sum(len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means))
    within = sum((x - mean) ** 2 for group, mean in zip(groups, means) for x in group)
    k = len(groups)
    return float(between), float(within), float((between / (k - 1)) / (within / (n - k)))


def split(values, size):
    return [values[start : start + size] for start in range(0, len(values), size)]


def table(name, comment, rows):
    print(f"\n/// {comment}")
    print(f"pub(crate) const {name}: &[(&str, f64, f64, f64)] = &[")
    for label, values in rows:
        print(f'    ("{label}", ' + ", ".join(repr(value) for value in values) + "),")
    print("];")


def main():
    print("//! Made by exact.py; not to be edited.")
    mpmath.mp.dps = 5010
    digits = [Fraction(int(d)) for d in mpmath.nstr(mpmath.pi, 5005).replace(".", "")[:5000]]
    # NIST's file has a 3 here where pi has an 8.
    digits[956] = Fraction(3)
    mpmath.mp.dps = 50
    table("UNIVARIATE", "Name, mean, SD, lag-1 autocorrelation.", [
        ("PiDigits", univariate(digits)),
        ("Lottery", univariate(data("LOTTERY"))),
        ("Lew", univariate(data("LEW"))),
        ("Mavro", univariate(data("MAVRO"))),
        ("Michelso", univariate(data("MICHELSO"))),
        ("NumAcc1", univariate(doubles([10000001, 10000003, 10000002]))),
        ("NumAcc2", univariate(pattern("1.2", 500))),
        ("NumAcc3", univariate(pattern("1000000.2", 500))),
        ("NumAcc4", univariate(pattern("10000000.2", 500))),
    ])
    rows = [("SiRstv", anova(split(data("SI_RSTV"), 5)))]
    tenths = [4, 3, 5, 3, 5, 3, 5, 3, 5]
    number = 0
    for base in [1, 10**6, 10**12]:
        for pairs in [10, 100, 1000]:
            number += 1
            rows.append((f"SmLs0{number}", anova([pattern(f"{base}.{t}", pairs) for t in tenths])))
    rows.append(("AtmWtAg", anova(split(data("ATM_WT_AG"), 24))))
    table("ANOVA", "Name, sum of squares between and within, F.", rows)


if __name__ == "__main__":
    main()
