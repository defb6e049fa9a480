//! Interleaved pairs of runs, and their ratios.

use crate::failure::Failure;

/// Medians of both sides and of the ratios of the pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Paired {
    pub(crate) ours: f64,
    pub(crate) theirs: f64,
    pub(crate) ratio: f64,
    /// The smallest and the largest ratio of a pair.
    pub(crate) spread: (f64, f64),
}

/// Runs both sides in turn, alternating which goes first. A side yields several figures at once;
/// there is one result for each.
pub(crate) fn interleave<const N: usize>(
    pairs: usize,
    mut ours: impl FnMut() -> Result<[f64; N], Failure>,
    mut theirs: impl FnMut() -> Result<[f64; N], Failure>,
) -> Result<[Paired; N], Failure> {
    let mut runs = Vec::new();
    for pair in 0..pairs {
        runs.push(if pair % 2 == 0 {
            let first = ours()?;
            (first, theirs()?)
        } else {
            let first = theirs()?;
            (ours()?, first)
        });
    }
    Ok(std::array::from_fn(|figure| {
        let values: Vec<_> = runs.iter().map(|(a, b)| (a[figure], b[figure])).collect();
        summarise(&values)
    }))
}

fn summarise(pairs: &[(f64, f64)]) -> Paired {
    let ratios: Vec<f64> = pairs.iter().map(|(ours, theirs)| ours / theirs).collect();
    Paired {
        ours: median(pairs.iter().map(|pair| pair.0)),
        theirs: median(pairs.iter().map(|pair| pair.1)),
        ratio: median(ratios.iter().copied()),
        spread: (
            ratios.iter().copied().fold(f64::INFINITY, f64::min),
            ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ),
    }
}

/// The middle value, or the mean of the two middle ones.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => values[half],
        _ => (values[half - 1] + values[half]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_that_hits_both_sides_leaves_the_ratio() {
        let (mut ours, mut theirs) = (0.0, 0.0);
        let [paired] = interleave(
            5,
            || {
                ours += 20.0;
                Ok([ours])
            },
            || {
                theirs += 10.0;
                Ok([theirs])
            },
        )
        .unwrap();
        assert_eq!((paired.ratio, paired.spread), (2.0, (2.0, 2.0)));
        assert_eq!((paired.ours, paired.theirs), (60.0, 30.0));
    }

    #[test]
    fn sides_take_turns_in_going_first() {
        let order = std::cell::RefCell::new(String::new());
        let side = |name: char| {
            order.borrow_mut().push(name);
            Ok([1.0])
        };
        interleave(3, || side('a'), || side('b')).unwrap();
        assert_eq!(*order.borrow(), "abbaab");
    }

    #[test]
    fn the_median_lies_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
    }
}
