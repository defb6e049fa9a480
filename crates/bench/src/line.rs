//! One line of the table: a claim, the figures of both sides, and whether the claim holds.

use crate::pairs::Paired;

/// The limit on the ratio of ours to the other's (or on the figure itself).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    /// At most.
    Most(f64),
    /// At least.
    Least(f64),
    /// At least, within the noise of the pairs: violated if every pair is below it.
    LeastWithinNoise(f64),
    /// Within this share of one.
    Within(f64),
    /// No limit: shown for comparison.
    Shown,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) what: String,
    /// The name of the other side.
    pub(crate) reference: String,
    pub(crate) ours: String,
    pub(crate) theirs: String,
    pub(crate) measure: String,
    pub(crate) bound: String,
    pub(crate) bounded: bool,
    pub(crate) holds: bool,
    /// Whether the bench fails if it does not hold.
    pub(crate) gate: bool,
}

impl Line {
    /// For figures paired with fio's, each formatted by `show`.
    pub(crate) fn paired(
        what: impl Into<String>,
        paired: &Paired,
        bound: Bound,
        show: impl Fn(f64) -> String,
    ) -> Self {
        let Paired { ours, theirs, ratio, spread: (low, high) } = *paired;
        let measure = if low == high {
            format!("{ratio:.3}")
        } else {
            format!("{ratio:.3} ({low:.3} to {high:.3})")
        };
        Self {
            what: what.into(),
            reference: "fio".into(),
            ours: show(ours),
            theirs: show(theirs),
            measure,
            bound: bound.text(),
            bounded: bound != Bound::Shown,
            holds: bound.holds(ratio, high),
            gate: false,
        }
    }

    /// For a single figure and its target, each formatted by `show`.
    pub(crate) fn single(
        what: impl Into<String>,
        (ours, theirs): (f64, f64),
        bound: Bound,
        show: impl Fn(f64) -> String,
    ) -> Self {
        let ratio = ours / theirs;
        Self::paired(what, &Paired { ours, theirs, ratio, spread: (ratio, ratio) }, bound, show)
    }

    /// Names another reference than fio.
    pub(crate) fn reference(mut self, other: impl Into<String>) -> Self {
        self.reference = other.into();
        self
    }

    /// Makes the bench fail if it does not hold.
    pub(crate) fn gate(mut self) -> Self {
        self.gate = true;
        self
    }

    /// The line as a row of a Markdown table.
    pub(crate) fn row(&self) -> String {
        let holds = match (self.bounded, self.holds) {
            (false, _) => "-",
            (true, true) => "yes",
            (true, false) => "**no**",
        };
        let Self { what, reference, ours, theirs, measure, bound, .. } = self;
        format!("| {what} | {reference} | {ours} | {theirs} | {measure} | {bound} | {holds} |")
    }
}

impl Bound {
    fn text(self) -> String {
        match self {
            Bound::Most(most) => format!("≤ {most:.2}"),
            Bound::Least(least) => format!("≥ {least:.2}"),
            Bound::LeastWithinNoise(least) => format!("≥ {least:.2} within noise"),
            Bound::Within(share) => format!("1 ± {share:.2}"),
            Bound::Shown => "-".into(),
        }
    }

    fn holds(self, ratio: f64, highest: f64) -> bool {
        match self {
            Bound::Most(most) => ratio <= most,
            Bound::Least(least) => ratio >= least,
            Bound::LeastWithinNoise(least) => highest >= least,
            Bound::Within(share) => (ratio - 1.0).abs() <= share,
            Bound::Shown => true,
        }
    }
}

/// A count with three significant digits and its unit of a thousand: `1.23 M`.
pub(crate) fn rate(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.1} k", v / 1e3),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ratio: f64, spread: (f64, f64), bound: Bound) -> Line {
        let paired = Paired { ours: ratio, theirs: 1.0, ratio, spread };
        Line::paired("what", &paired, bound, rate)
    }

    #[test]
    fn bounds_are_judged_by_the_median() {
        for (ratio, bound, holds) in [
            (0.1, Bound::Most(0.1), true),
            (0.11, Bound::Most(0.1), false),
            (8.0, Bound::Least(8.0), true),
            (7.9, Bound::Least(8.0), false),
            (1.019, Bound::Within(0.02), true),
            (0.97, Bound::Within(0.02), false),
            (f64::NAN, Bound::Most(1.0), false),
        ] {
            assert_eq!(line(ratio, (0.0, 100.0), bound).holds, holds, "{ratio} {bound:?}");
        }
    }

    #[test]
    fn noise_excuses_a_bound_that_some_pair_kept() {
        let bound = Bound::LeastWithinNoise(1.0);
        assert!(line(0.98, (0.9, 1.01), bound).holds);
        assert!(!line(0.98, (0.9, 0.99), bound).holds);
    }

    #[test]
    fn a_row_says_loudly_what_does_not_hold() {
        let row = line(2.0, (1.0, 3.0), Bound::Most(1.5)).row();
        assert_eq!(row, "| what | fio | 2 | 1 | 2.000 (1.000 to 3.000) | ≤ 1.50 | **no** |");
        let row = line(2.0, (2.0, 2.0), Bound::Shown).reference("libnfs").row();
        assert!(
            row.starts_with("| what | libnfs |") && row.ends_with("| 2.000 | - | - |"),
            "{row}"
        );
    }
}
