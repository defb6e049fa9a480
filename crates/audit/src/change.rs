//! By how much one figure is more than another: percentages with and without their base, and factors.

use stormeter_replicate::{Base, Printed, Relation};

use crate::finding::{Explanation, Level};
use crate::law::Law;
use crate::span::Span;

/// What is wrong with a printed difference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wrong {
    pub(crate) law: Law,
    pub(crate) level: Level,
    /// What follows from the figures, in percent or as a factor.
    pub(crate) follows: Span,
    pub(crate) why: Vec<Explanation>,
}

/// Checks a printed difference of `lhs` to `rhs`. `None`: it follows.
pub(crate) fn check(
    lhs: Span,
    rhs: Span,
    relation: Relation,
    base: Option<Base>,
    printed: &Printed,
) -> Option<Wrong> {
    let candidates = match relation {
        Relation::Times => {
            vec![(lhs.over(rhs), Vec::new()), (rhs.over(lhs), vec![Explanation::Exchanged])]
        }
        _ => {
            let of_rhs = percent(lhs, rhs);
            let of_lhs = percent(rhs, lhs);
            let other = Explanation::OtherBase;
            let whole = (lhs.over(rhs).scaled(100.0), vec![Explanation::RatioForChange]);
            match base {
                Some(Base::Rhs) => vec![(of_rhs, Vec::new()), (of_lhs, vec![other]), whole],
                Some(Base::Lhs) => vec![(of_lhs, Vec::new()), (of_rhs, vec![other]), whole],
                // The usual base is the second figure; the first is a base as well if nothing is stated.
                None => vec![(of_rhs, Vec::new()), (of_lhs, Vec::new()), whole],
            }
        }
    };
    let follows = candidates[0].0;
    let stated = Span::around(printed.value.abs(), printed.half_unit());
    for (span, why) in &candidates {
        if stated.meets(*span) {
            return (!why.is_empty()).then(|| Wrong {
                law: if matches!(why[..], [Explanation::OtherBase]) {
                    Law::Base
                } else {
                    Law::Claim
                },
                level: Level::Broken,
                follows,
                why: why.clone(),
            });
        }
    }
    // Cut digits: the value lies in the unit above the printed one.
    let cut = Span {
        low: printed.value.abs(),
        middle: printed.value.abs(),
        high: printed.value.abs() + printed.last_unit(),
    };
    for (span, why) in &candidates {
        if cut.meets(*span) {
            let mut why = why.clone();
            let is_other = !why.is_empty();
            why.push(Explanation::Cut);
            let (law, level) =
                if is_other { (Law::Base, Level::Broken) } else { (Law::Rounding, Level::Note) };
            return Some(Wrong { law, level, follows, why });
        }
    }
    let apart = stated.apart(follows).unwrap_or(f64::INFINITY);
    let (level, why) = match apart < 1.02 {
        true => (Level::Doubtful, vec![Explanation::RoundedOnTheWay]),
        false => (Level::Broken, Vec::new()),
    };
    Some(Wrong { law: Law::Claim, level, follows, why })
}

/// By how many percent of the second the first is more or less, without sign.
fn percent(of: Span, base: Span) -> Span {
    let change = of.over(base).minus(Span::exact(1.0)).scaled(100.0);
    if change.middle >= 0.0 {
        return Span { low: change.low.max(0.0), ..change };
    }
    Span { low: (-change.high).max(0.0), middle: -change.middle, high: -change.low }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lhs: f64, rhs: f64, base: Option<Base>, text: &str) -> Option<Wrong> {
        let printed = Printed::read(text).unwrap();
        check(Span::exact(lhs), Span::exact(rhs), Relation::Faster, base, &printed)
    }

    #[test]
    fn a_percentage_has_a_base() {
        assert_eq!(of(125.0, 100.0, Some(Base::Rhs), "25"), None);
        assert_eq!(of(125.0, 100.0, Some(Base::Lhs), "20"), None);
        assert_eq!(of(125.0, 100.0, None, "20"), None);
        let wrong = of(125.0, 100.0, Some(Base::Rhs), "20").unwrap();
        assert_eq!((wrong.law, wrong.why), (Law::Base, vec![Explanation::OtherBase]));
        let wrong = of(125.0, 100.0, Some(Base::Rhs), "125").unwrap();
        assert_eq!((wrong.law, wrong.why), (Law::Claim, vec![Explanation::RatioForChange]));
        let wrong = of(125.0, 100.0, Some(Base::Rhs), "40").unwrap();
        assert_eq!((wrong.law, wrong.level), (Law::Claim, Level::Broken));
    }

    #[test]
    fn cut_digits_are_a_note() {
        let wrong = of(124.38, 100.0, Some(Base::Rhs), "24.3").unwrap();
        assert_eq!((wrong.law, wrong.level), (Law::Rounding, Level::Note));
        assert_eq!(of(124.34, 100.0, Some(Base::Rhs), "24.3"), None);
    }

    #[test]
    fn factors_have_a_direction() {
        let printed = Printed::read("2.46").unwrap();
        let check =
            |lhs, rhs| check(Span::exact(lhs), Span::exact(rhs), Relation::Times, None, &printed);
        assert_eq!(check(246.0, 100.0), None);
        assert_eq!(check(100.0, 246.0).unwrap().why, [Explanation::Exchanged]);
    }
}
