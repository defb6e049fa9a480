//! Mean, SD, SE, variance, n, median, least, greatest value, range and sum of one sample.
//!
//! Inequalities that hold for every sample: |mean − median| is at most the SD (Hotelling & Solomons, *Annals of
//! Mathematical Statistics* 3 (1932) 141-142); the SD is at most R/2 · √(n/(n−1)) with the range R (Popoviciu,
//! *Mathematica* 9 (1935) 129-145) and at least R / √(2(n−1)), reached when all values but two are in the middle.

use stormeter_replicate::Role;

use crate::finding::{Amount, Detail, Explanation, Finding, Level};
use crate::identities::level;
use crate::law::Law;
use crate::span::Span;

/// What a row states of a sample, all in one unit (the variance in its square).
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Stated {
    pub(crate) figures: Vec<(Role, Span)>,
    pub(crate) unit: String,
}

impl Stated {
    fn get(&self, role: Role) -> Option<Span> {
        self.figures.iter().find(|(found, _)| *found == role).map(|(_, span)| *span)
    }

    fn amount(&self, role: Role, span: Span) -> Amount {
        let unit = match role {
            Role::N => String::new(),
            Role::Variance if self.unit.is_empty() => String::new(),
            Role::Variance => format!("{}²", self.unit),
            _ => self.unit.clone(),
        };
        Amount::new(role.word(), span, unit)
    }
}

/// All that does not fit together.
pub(crate) fn check(place: &str, stated: &Stated) -> Vec<Finding> {
    let check = Check { place, stated };
    [
        check.standard_error(),
        check.variance(),
        check.range(),
        check.sum(),
        check.order(Role::Min, Role::Mean),
        check.order(Role::Min, Role::Median),
        check.order(Role::Mean, Role::Max),
        check.order(Role::Median, Role::Max),
        check.median(),
        check.spread().or_else(|| check.tails()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

struct Check<'a> {
    place: &'a str,
    stated: &'a Stated,
}

impl Check<'_> {
    fn mismatch(
        &self,
        role: Role,
        follows: Span,
        from: &[Role],
        why: Vec<Explanation>,
    ) -> Option<Finding> {
        let stated = self.stated.get(role)?;
        let apart = stated.apart(follows)?;
        let from = from
            .iter()
            .filter_map(|&role| Some(self.stated.amount(role, self.stated.get(role)?)))
            .collect();
        let detail = Detail::Mismatch {
            stated: self.stated.amount(role, stated),
            follows: self.stated.amount(role, follows),
            from,
        };
        Some(Finding::new(Law::Summary, level(apart), self.place, detail).explained(why))
    }

    fn standard_error(&self) -> Option<Finding> {
        let (sd, se, n) =
            (self.stated.get(Role::Sd)?, self.stated.get(Role::Se)?, self.stated.get(Role::N)?);
        let follows = sd.over(n.root());
        let mut why = Vec::new();
        let with_n_less_one = sd.over(n.minus(Span::exact(1.0)).root());
        if se.meets(with_n_less_one) {
            why.push(Explanation::OneLess);
        } else if se.meets(sd) {
            why.push(Explanation::SdForSe);
        } else if se.middle > 0.0 {
            why.push(Explanation::SampleOf((sd.middle / se.middle).powi(2)));
        }
        self.mismatch(Role::Se, follows, &[Role::Sd, Role::N], why)
    }

    fn variance(&self) -> Option<Finding> {
        let sd = self.stated.get(Role::Sd)?;
        let variance = self.stated.get(Role::Variance)?;
        let mut why = Vec::new();
        if variance.meets(sd) {
            why.push(Explanation::Exchanged);
        } else if let Some(n) = self.stated.get(Role::N)
            && let one_less = n.minus(Span::exact(1.0))
            && (variance.meets(sd.times(sd).times(one_less).over(n))
                || variance.meets(sd.times(sd).times(n).over(one_less)))
        {
            why.push(Explanation::OneLess);
        }
        self.mismatch(Role::Variance, sd.times(sd), &[Role::Sd], why)
    }

    fn range(&self) -> Option<Finding> {
        let follows = self.stated.get(Role::Max)?.minus(self.stated.get(Role::Min)?);
        self.mismatch(Role::Range, follows, &[Role::Min, Role::Max], Vec::new())
    }

    fn sum(&self) -> Option<Finding> {
        let follows = self.stated.get(Role::Mean)?.times(self.stated.get(Role::N)?);
        self.mismatch(Role::Sum, follows, &[Role::Mean, Role::N], Vec::new())
    }

    /// The first is not above the second.
    fn order(&self, less: Role, more: Role) -> Option<Finding> {
        let (low, high) = (self.stated.get(less)?, self.stated.get(more)?);
        low.is_above(high).then(|| {
            let detail = Detail::Limit {
                stated: self.stated.amount(more, high),
                limit: self.stated.amount(less, low),
                is_least: true,
                beyond: (1, 1),
            };
            Finding::new(Law::Summary, Level::Broken, self.place, detail)
                .explained([Explanation::Exchanged])
        })
    }

    fn median(&self) -> Option<Finding> {
        let (mean, median, sd) = (
            self.stated.get(Role::Mean)?,
            self.stated.get(Role::Median)?,
            self.stated.get(Role::Sd)?,
        );
        let distance = [mean.minus(median), median.minus(mean)]
            .into_iter()
            .max_by(|a, b| a.middle.total_cmp(&b.middle))?;
        distance.is_above(sd).then(|| {
            let detail = Detail::Limit {
                stated: Amount::new("mean less median", distance, self.stated.unit.clone()),
                limit: self.stated.amount(Role::Sd, sd),
                is_least: false,
                beyond: (1, 1),
            };
            Finding::new(Law::Summary, Level::Broken, self.place, detail)
        })
    }

    /// The range as stated, or as it follows.
    fn width(&self) -> Option<Span> {
        self.stated
            .get(Role::Range)
            .or_else(|| Some(self.stated.get(Role::Max)?.minus(self.stated.get(Role::Min)?)))
    }

    fn spread(&self) -> Option<Finding> {
        let (sd, range) = (self.stated.get(Role::Sd)?, self.width()?);
        // Without n, the smallest sample that has an SD.
        let n = self.stated.get(Role::N).map_or(2.0, |n| n.middle);
        if n < 2.0 {
            return None;
        }
        let most = range.scaled(0.5 * (n / (n - 1.0)).sqrt());
        let least = range.scaled(1.0 / (2.0 * (n - 1.0)).sqrt());
        let limit = |limit: Span, is_least: bool| {
            let detail = Detail::Limit {
                stated: self.stated.amount(Role::Sd, sd),
                limit: Amount::new(
                    "SD of any sample with this range",
                    limit,
                    self.stated.unit.clone(),
                ),
                is_least,
                beyond: (1, 1),
            };
            Finding::new(Law::Summary, Level::Broken, self.place, detail)
        };
        if sd.is_above(most) {
            return Some(limit(most, false));
        }
        let knows_n = self.stated.get(Role::N).is_some();
        (knows_n && least.is_above(sd)).then(|| limit(least, true))
    }

    /// A range that a normal sample does not have: outliers.
    fn tails(&self) -> Option<Finding> {
        let (sd, range, n) =
            (self.stated.get(Role::Sd)?, self.width()?, self.stated.get(Role::N)?.middle);
        if n < 20.0 || sd.low <= 0.0 {
            return None;
        }
        let widths = range.over(sd);
        // Both ends of a normal sample are within this with a probability of 999 in 1000 (Bonferroni).
        let usual = 2.0 * stormeter_statistics::quantile::normal_quantile(1.0 - 0.0005 / n);
        (widths.low > usual).then(|| {
            let detail = Detail::Limit {
                stated: Amount::new("range in SDs", widths, ""),
                limit: Amount::new("range in SDs of a normal sample", Span::exact(usual), ""),
                is_least: false,
                beyond: (1, 1),
            };
            Finding::new(Law::Summary, Level::Note, self.place, detail)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(figures: &[(Role, f64, f64)]) -> Vec<Finding> {
        let figures = figures
            .iter()
            .map(|(role, value, half)| (*role, Span::around(*value, *half)))
            .collect();
        check("here", &Stated { figures, unit: "ms".into() })
    }

    #[test]
    fn a_sound_summary_raises_nothing() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, SD 2.138.
        let sound = [
            (Role::N, 8.0, 0.0),
            (Role::Mean, 5.0, 0.05),
            (Role::Sd, 2.14, 0.005),
            (Role::Se, 0.756, 0.0005),
            (Role::Variance, 4.57, 0.005),
            (Role::Median, 4.5, 0.05),
            (Role::Min, 2.0, 0.05),
            (Role::Max, 9.0, 0.05),
            (Role::Range, 7.0, 0.05),
            (Role::Sum, 40.0, 0.5),
        ];
        assert_eq!(sample(&sound), []);
    }

    #[test]
    fn each_moment_is_bound_to_the_others() {
        let law = |figures: &[(Role, f64, f64)]| {
            let found = sample(figures);
            assert_eq!(found.len(), 1, "{found:?}");
            (found[0].level, found[0].explanations.clone())
        };
        let n = (Role::N, 100.0, 0.0);
        let sd = (Role::Sd, 5.0, 0.05);
        assert_eq!(
            law(&[n, sd, (Role::Se, 0.25, 0.005)]),
            (Level::Broken, vec![Explanation::SampleOf(400.0)])
        );
        assert_eq!(law(&[n, sd, (Role::Se, 5.0, 0.05)]).1, [Explanation::SdForSe]);
        assert_eq!(law(&[sd, (Role::Variance, 5.0, 0.05)]).1, [Explanation::Exchanged]);
        assert_eq!(law(&[sd, (Role::Mean, 20.0, 0.5), (Role::Median, 27.0, 0.5)]).0, Level::Broken);
        assert_eq!(law(&[(Role::Min, 3.0, 0.1), (Role::Mean, 2.0, 0.1)]).0, Level::Broken);
        assert_eq!(law(&[n, (Role::Sd, 9.0, 0.05), (Role::Range, 12.0, 0.5)]).0, Level::Broken);
        assert_eq!(law(&[n, (Role::Sd, 0.5, 0.05), (Role::Range, 12.0, 0.5)]).0, Level::Broken);
        assert_eq!(law(&[n, sd, (Role::Range, 60.0, 0.5)]).0, Level::Note);
    }
}
